/**
 * What is known of the world around one server: when it was asked to connect and what came of it, when it was lost, what
 * people and the daemon did, and how late each timer was. Gathered from the log, input by input.
 */
import type { ServerCommand } from '../actors/server/server.commands.ts';
import { decideServer } from '../actors/server/server.decide.ts';
import { serverMachine } from '../actors/server/server.machine.ts';
import type { ServerContext } from '../actors/server/server.state.ts';
import type { Failure } from '../events/shapes.ts';
import { type Input, NEUTRAL } from './inputs.ts';
import { type Life, livesOf, type Timer } from './life.ts';

export type ServerTimer = Timer<ServerContext, ServerCommand>;

/** What the server's machine does in each state, by the state's name. */
export const serverLives = livesOf<ServerContext, ServerCommand>(serverMachine);

const NO_LIFE: Life<ServerContext, ServerCommand> = { effects: new Set(), timers: [] };
export const lifeIn = (state: string): Life<ServerContext, ServerCommand> => serverLives.get(state) ?? NO_LIFE;

/** A report at the time it came. */
interface Came<Command extends ServerCommand['type']> {
  readonly at: number;
  /** Index of the input. */
  readonly rank: number;
  readonly command: Extract<ServerCommand, { type: Command }>;
}

/** One attempt to connect, and the connection that may have come of it. Times in ms since the epoch. */
export interface Attempt {
  readonly connection: number;
  readonly startedAt: number;
  /** Of the fact that began it. */
  readonly position: number;
  process: Came<'ReportProcess'> | null;
  connected: Came<'ReportConnected'> | null;
  /** The first list: it was ready from then on. */
  listed: Came<'ReportTools'> | null;
  end: End | null;
  /** What the dice showed when it ended. */
  random: number;
}

export type End =
  /** The outside said no, before it was ready. */
  | { readonly kind: 'failed'; readonly at: number; readonly rank: number; readonly failure: Failure }
  /** A limit of ours was over before there was an answer. */
  | { readonly kind: 'cut'; readonly of: 'connect' | 'list'; readonly at: number }
  /** It was ready and was lost. */
  | { readonly kind: 'lost'; readonly at: number }
  /** We ended it, for whatever reason. */
  | { readonly kind: 'ended'; readonly at: number };

/** How a timer went: set, perhaps fired, its state left. */
export interface TimerRecord {
  readonly setAt: number;
  readonly delayMs: number;
  firedAt: number | null;
  rank: number;
  /** The state was left by then though the timer was due and would have counted: it did not fire. */
  missedUntil: number | null;
}

/** Something that took time: from `from`; null: it was not over when it ended otherwise. */
export interface Lasted {
  readonly from: number;
  tookMs: number | null;
  rank: number;
}

/** What happened whatever the server's state was, and happens at the same moment in any other run. */
export interface Event {
  readonly at: number;
  readonly rank: number;
  readonly position: number;
  readonly command: ServerCommand;
  /** In which state the server was. */
  readonly state: string;
  /** Number of the connection it was about. */
  readonly connection: number;
  /** It can have been noticed by a poll, which then asked so often. */
  readonly polledEveryMs: number | null;
  /** The last sign of life before it. */
  readonly after: number;
}

export interface Outside {
  /** Ascending by start. */
  readonly attempts: readonly Attempt[];
  readonly events: readonly Event[];
  /** Times from which nobody watched until the next `CloseOpenEnds`. */
  readonly deaths: readonly { readonly at: number; readonly rank: number }[];
  /** Ascending by start: how long it took until nothing of a connection was left. */
  readonly closings: readonly Lasted[];
  /** Ascending by start: how long the server waited for its turn to start. */
  readonly waits: readonly Lasted[];
  timer(connection: number, timer: ServerTimer): TimerRecord | undefined;
}

export interface Gathering {
  take(input: Input): void;
  outside(): Outside;
}

/** Takes the inputs of one server one after the other. */
export function gathering(): Gathering {
  const attempts: Attempt[] = [];
  const events: Event[] = [];
  const deaths: { at: number; rank: number }[] = [];
  const timers = new Map<string, TimerRecord>();
  const closings: Lasted[] = [];
  const waits: Lasted[] = [];
  /** Those that run in the present state. */
  let running: { readonly timer: ServerTimer; readonly record: TimerRecord }[] = [];
  let sign = 0;

  const enter = ({ at, after }: Input): void => {
    const { state, context } = after;
    running = lifeIn(state).timers.map((timer) => {
      const record: TimerRecord = {
        setAt: at,
        delayMs: timer.delayMs(context),
        firedAt: null,
        rank: 0,
        missedUntil: null,
      };
      timers.set(timerKey(context.connection, timer.id), record);
      return { timer, record };
    });
    if (lifeIn(state).effects.has('close')) closings.push({ from: at, tookMs: null, rank: 0 });
  };

  const leave = ({ at, before, command, index }: Input): void => {
    for (const { timer, record } of running) {
      const report = timer.report(before.context);
      if (report.type === command.type) {
        record.firedAt = at;
        record.rank = index;
      } else if (record.firedAt === null && record.setAt + record.delayMs <= at) {
        // One that would have come to nothing may well have fired.
        const stamp = { at, id: '', random: NEUTRAL };
        const counts = decideServer(before, report, stamp);
        if (Array.isArray(counts) && counts.length > 0) record.missedUntil = at;
      }
    }
  };

  const take = (input: Input): void => {
    const { index: rank, at, position, command, before, after, random } = input;
    const { state } = before;
    const attempt = attempts.at(-1);
    const open = attempt !== undefined && attempt.end === null;
    const ofAttempt = lifeIn(state).effects.has('connection') && attempt !== undefined;
    const starting = ofAttempt && state !== 'ready';
    const lasting = (list: Lasted[]): void => {
      const last = list.at(-1);
      if (last) Object.assign(last, { tookMs: at - last.from, rank });
    };

    const moved = after.state !== state || input.facts.some(({ data }) => data.to !== state);
    if (moved || command.type === 'ReportStable') leave(input);

    const goesItsOwnWay = (): boolean => {
      if (command.type === 'StartServer' && !before.context.lazy && before.context.stopReason !== 'idle') {
        lasting(waits);
        return true;
      }
      if (command.type === 'ReportStopped') {
        lasting(closings);
        return true;
      }
      if (command.type === 'ReportBackoffElapsed' || command.type === 'ReportStable') return true;
      if (attempt === undefined || !ofAttempt) return false;
      if (command.type === 'ReportTimeout') {
        attempt.end = { kind: 'cut', of: command.of, at };
        return true;
      }
      if (!starting) return false;
      if (command.type === 'ReportProcess') attempt.process = { at, rank, command };
      else if (command.type === 'ReportConnected') attempt.connected = { at, rank, command };
      else if (command.type === 'ReportTools') attempt.listed = { at, rank, command };
      else if (command.type === 'ReportFailure') attempt.end = { kind: 'failed', at, rank, failure: command.failure };
      else return false;
      return true;
    };
    if (!goesItsOwnWay()) {
      if (command.type === 'CloseOpenEnds')
        deaths.push({ at: Math.max(sign, Math.min(command.lastAlive, at)), rank: rank - 0.5 });
      events.push({
        at,
        rank,
        position,
        command,
        state,
        connection: before.context.connection,
        polledEveryMs: isPolled(input) ? before.context.limits.pollIntervalMs : null,
        after: sign,
      });
    }
    if (attempt && ofAttempt && !lifeIn(after.state).effects.has('connection')) closeAttempt(attempt, input);
    if (open && attempt.end !== null) attempt.random = random;

    for (const fact of input.facts) {
      if (fact.data.to === 'idle') waits.push({ from: at, tookMs: null, rank: 0 });
      if (fact.type !== 'ConnectStarted' && fact.type !== 'ReconnectStarted') continue;
      const { connection } = fact.data as { connection: number };
      attempts.push({
        connection,
        startedAt: at,
        position: fact.position,
        process: null,
        connected: null,
        listed: null,
        end: null,
        random: NEUTRAL,
      });
    }
    if (moved) enter(input);
    sign = at;
  };

  return {
    take,
    outside: () => ({
      attempts,
      events,
      deaths,
      closings,
      waits,
      timer: (connection, { id }) => timers.get(timerKey(connection, id)),
    }),
  };
}

const timerKey = (connection: number, id: string): string => `${connection} ${id}`;

function closeAttempt(attempt: Attempt, { at, command, before }: Input): void {
  if (attempt.end !== null) return;
  const lost = command.type === 'ReportFailure' && before.state === 'ready';
  attempt.end = { kind: lost ? 'lost' : 'ended', at };
}

/** Whether asking for the list, and nothing the server said by itself, showed it. */
function isPolled({ command, before }: Input): boolean {
  if (before.state !== 'ready') return false;
  switch (command.type) {
    case 'ReportListFailed':
      return true;
    case 'ReportTools':
      return before.context.push === false;
    case 'ReportFailure':
      return command.failure.phase === 'list';
    default:
      return false;
  }
}
