/**
 * From facts back to what was told: which command or report, decided by today's rules, leads to exactly these facts. The
 * log holds what was decided and not what was told; since `decide` is pure, the one follows from the other.
 */
import { type Head, type Heard, step } from '../actors/head.ts';
import { isRefusal } from '../actors/refusal.ts';
import { backoffMs } from '../actors/server/backoff.ts';
import type { Configuration, ServerCommand } from '../actors/server/server.commands.ts';
import { decideServer } from '../actors/server/server.decide.ts';
import { serverRules } from '../actors/server/server.rules.ts';
import type { ServerContext } from '../actors/server/server.state.ts';
import type { Recorded } from '../events/envelope.ts';
import type { ServerFact } from '../events/server.events.ts';
import type { ToolDefinition } from '../events/shapes.ts';
import { firstDifference } from './difference.ts';

export type ServerHead = Head<ServerContext>;
export type ServerRecorded = Recorded<ServerFact>;

/** Taken where nothing is known of the dice: the middle. */
export const NEUTRAL = 0.5;

/** One thing a server was told, and the facts it led to. */
export interface Input {
  /** Its place among all inputs, from 0. */
  readonly index: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Of its first fact. */
  readonly position: number;
  readonly command: ServerCommand;
  /** What the dice must have shown. */
  readonly random: number;
  readonly before: ServerHead;
  readonly after: ServerHead;
  readonly facts: readonly ServerRecorded[];
}

/** Today's rules do not lead to what stands in the log: it was decided by other ones, or it was changed. */
export class Unexplained extends Error {
  override readonly name = 'Unexplained';
  constructor(
    readonly fact: ServerRecorded,
    /** What stands in the log, and what the rules of today would have decided; null: nothing leads to such a fact here. */
    readonly recorded: string,
    readonly decided: string | null,
  ) {
    super(
      decided === null
        ? `Nothing leads to ${recorded} in that state by the rules of today.`
        : `By the rules of today it would be ${decided}, not ${recorded}.`,
    );
  }
}

/**
 * The inputs behind the facts of one server, from `head` on. Throws `Unexplained`.
 * `configuration`: the entry that holds at `head`, null before the first one.
 */
export function* inputsOf(
  facts: readonly ServerRecorded[],
  head: ServerHead,
  configuration: Configuration | null,
): Generator<Input> {
  let now = head;
  let entry = configuration;
  for (let from = 0, index = 0; from < facts.length; index += 1) {
    const first = facts[from];
    if (first === undefined) return;
    if (first.type === 'ServerConfigured') entry = withoutTo(first.data) as unknown as Configuration;
    const { command, random, count } = inputAt(facts, from, now, entry);
    const own = facts.slice(from, from + count);
    const after = own.reduce<ServerHead>(
      (at, fact) => step(serverRules, at, fact as unknown as Heard<ServerFact>),
      now,
    );
    yield { index, at: first.at, position: first.position, command, random, before: now, after, facts: own };
    now = after;
    from += count;
  }
}

function inputAt(
  facts: readonly ServerRecorded[],
  from: number,
  head: ServerHead,
  entry: Configuration | null,
): { command: ServerCommand; random: number; count: number } {
  const first = facts[from] as ServerRecorded;
  let nearest: Nearest | null = null;
  for (const command of candidates(first, head, entry)) {
    for (const random of [NEUTRAL, diceOf(facts, from, head)]) {
      const decided = decideServer(head, command, { at: first.at, id: '', random });
      if (isRefusal(decided) || decided.length === 0) continue;
      const other = decided.findIndex((fact, offset) => !isSame(fact, facts[from + offset], first.at));
      if (other < 0) return { command, random, count: decided.length };
      nearest ??= nearestOf(decided[other], facts[from + other]);
    }
  }
  throw new Unexplained(nearest?.fact ?? first, nearest?.recorded ?? first.type, nearest?.decided ?? null);
}

interface Nearest {
  readonly fact: ServerRecorded | undefined;
  readonly recorded: string;
  readonly decided: string;
}

function nearestOf(decided: ServerFact | undefined, fact: ServerRecorded | undefined): Nearest | null {
  if (decided === undefined) return null;
  if (fact?.type !== decided.type) return { fact, recorded: fact?.type ?? 'the end of the log', decided: decided.type };
  const found = firstDifference(decided.data, withoutTo(fact.data));
  const say = (value: unknown): string =>
    found ? `${fact.type} with ${found.path} ${JSON.stringify(value) ?? 'missing'}` : `${fact.type} at the same moment`;
  return { fact, recorded: found ? say(found.other) : `${fact.type} later`, decided: say(found?.one) };
}

const withoutTo = ({ to: _, ...data }: ServerRecorded['data']): ServerFact['data'] => data as ServerFact['data'];

const isSame = (decided: ServerFact, recorded: ServerRecorded | undefined, at: number): boolean =>
  recorded !== undefined &&
  recorded.type === decided.type &&
  recorded.at === at &&
  firstDifference(decided.data, withoutTo(recorded.data)) === null;

/** What can have led to a fact; the likelier first. */
function candidates(fact: ServerRecorded, head: ServerHead, entry: Configuration | null): ServerCommand[] {
  const { connection } = head.context;
  const told = { type: fact.type, data: fact.data } as ServerFact;
  switch (told.type) {
    case 'ServerConfigured':
      return entry ? [{ type: 'ConfigureServer', configuration: entry }] : [];
    case 'ServerEnabled':
    case 'ServerDisabled':
      // The daemon started, and the entry was the same.
      return entry ? [{ type: 'ConfigureServer', configuration: entry }] : [];
    case 'ServerRemoved':
      return [{ type: 'RemoveServer' }];
    case 'ConnectStarted':
      return [{ type: 'StartServer' }, { type: 'ReconnectServer' }];
    case 'ProcessStarted':
      return [{ type: 'ReportProcess', connection, pid: told.data.pid, startedAt: told.data.startedAt }];
    case 'Connected': {
      const { connection: _, tookMs, to: __, ...agreement } = told.data as typeof told.data & { to?: string };
      return [{ type: 'ReportConnected', connection, agreement, tookMs }];
    }
    case 'ConnectFailed':
    case 'LoginRequired':
    case 'ServerFailed':
    case 'SessionLost': {
      const { failure } = told.data;
      const tail = failure.stderrTail === undefined ? {} : { stderrTail: failure.stderrTail };
      const of = head.state === 'listing' ? 'list' : 'connect';
      const report: ServerCommand = { type: 'ReportFailure', connection, failure };
      const timeout: ServerCommand = { type: 'ReportTimeout', connection, of, ...tail };
      return failure.class === 'timeout' ? [timeout, report] : [report];
    }
    case 'ToolsListed': {
      const { signature, count, tools, warnings = [], tookMs } = told.data;
      return [{ type: 'ReportTools', connection, signature, tools: tools ?? unnamed(count), warnings, tookMs }];
    }
    case 'ListFailed':
      return [{ type: 'ReportListFailed', connection, failure: told.data.failure }];
    case 'PushChanged': {
      const { push, reason } = told.data;
      return [{ type: 'ReportPush', connection, push, ...(reason === undefined ? {} : { reason }) }];
    }
    case 'BackoffElapsed':
      return [{ type: 'ReportBackoffElapsed', connection }];
    case 'SettledDown':
      return [{ type: 'ReportStable', connection }];
    case 'StopRequested':
      if (told.data.reason === 'idle') return [{ type: 'ReportUnused', connection }];
      return told.data.reason === 'daemon-stopping' ? [{ type: 'StopServer' }] : [{ type: 'ReconnectServer' }];
    case 'ServerStopped': {
      const { reason, endedAt } = told.data;
      if (reason === 'daemon-ended') return [{ type: 'CloseOpenEnds', lastAlive: endedAt ?? fact.at }];
      return [{ type: 'ReportStopped', connection }, { type: 'StopServer' }];
    }
    // Never the first fact of a decision.
    case 'ReconnectStarted':
    case 'ReconnectDelayed':
      return [];
  }
}

/** What the dice showed when a pause was chosen: the pause is in the log, and the rule is known. */
function diceOf(facts: readonly ServerRecorded[], from: number, { context }: ServerHead): number {
  for (const { type, data, at } of facts.slice(from, from + 2)) {
    if (type !== 'ConnectFailed' && type !== 'ReconnectDelayed') continue;
    const { delayMs } = data as { delayMs: number };
    const lost = type === 'ReconnectDelayed';
    const full = backoffMs(context.failures + (lost ? 0 : 1), 0);
    const upMs = lost && context.readySince !== null ? at - context.readySince : 0;
    if (full > 0) return Math.min(1, Math.max(0, 2 * (1 - (delayMs + upMs) / full)));
  }
  // Tried again at once although there were failures: most of the pause must have been taken off.
  return 1;
}

/** More tools than any server has; a number that somebody wrote into the log must not fill the memory. */
const MOST = 100_000;
const lists = new Map<number, readonly ToolDefinition[]>();

/** So many tools, where the log says only how many there were. */
function unnamed(count: number): readonly ToolDefinition[] {
  const known =
    lists.get(count) ?? Array.from({ length: Math.min(count, MOST) }, (_, index) => ({ name: `tool-${index + 1}` }));
  lists.set(count, known);
  return known;
}
