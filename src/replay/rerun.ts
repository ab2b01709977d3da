/**
 * The life of one server once more, under a virtual clock: the rules and the machine are the real ones, the outside answers
 * what it answered. Where it was never asked, an answer has to be assumed, and each of these is told.
 */
import { type Heard, type Stamp, step } from '../actors/head.ts';
import { isRefusal } from '../actors/refusal.ts';
import type { Backoff } from '../actors/server/backoff.ts';
import type { ServerCommand } from '../actors/server/server.commands.ts';
import { decideServer } from '../actors/server/server.decide.ts';
import { serverRules } from '../actors/server/server.rules.ts';
import type { ServerFact } from '../events/server.events.ts';
import type { Failure, Limits } from '../events/shapes.ts';
import { type Agenda, agenda } from './agenda.ts';
import { type Evidence, evidenceOf, type Temper } from './evidence.ts';
import { NEUTRAL, type ServerHead } from './inputs.ts';
import { type Attempt, type Event, lifeIn, type Outside, type ServerTimer } from './outside.ts';

/** What had to be assumed: an attempt nobody made, an answer that was cut short, and so on. */
export type AssumptionKind = 'attempt' | 'connect' | 'list' | 'loss' | 'poll' | 'command' | 'close';

export interface Assumption {
  readonly kind: AssumptionKind;
  /** When it was needed, under the virtual clock (ms since the epoch). */
  readonly at: number;
  /** Of the fact it was taken from; null: there is none. */
  readonly position: number | null;
}

export interface RerunOptions {
  readonly outside: Outside;
  /** Where it begins: at rest. */
  readonly head: ServerHead;
  /** Nothing after this moment (ms since the epoch). */
  readonly until: number;
  readonly temper: Temper;
  /** In place of the recorded ones. */
  readonly limits: Partial<Limits>;
  readonly backoff: Backoff;
  readonly onFact: (fact: Heard<ServerFact>, to: string) => void;
  readonly onAssumption: (assumption: Assumption) => void;
}

/** How early a poll comes on average, as a share of the interval: half of what the watch of a server takes off at most. */
const POLL_EARLY = 0.05;
/** How long after it was cut an answer would have come, for the hopeful, in ms. */
const MOMENT_MS = 1;
/** Of what was not recorded: after everything that was. */
const LAST = Number.POSITIVE_INFINITY;
/** Tasks between two breaths. */
const BREATH = 200;

/** The connection there is, or the one there was last. */
interface Link {
  readonly number: number;
  readonly attempt: Attempt | null;
  /** It is the recorded attempt itself, begun at the same moment: not only one like it. */
  readonly same: boolean;
  /** Where its first list is taken from. */
  listFrom: Attempt | null;
}

type Task =
  | { readonly kind: 'event' | 'noticed'; readonly event: Event }
  | { readonly kind: 'report'; readonly command: ServerCommand; readonly days: number }
  | { readonly kind: 'timer'; readonly timer: ServerTimer; readonly armed: object }
  | { readonly kind: 'silence'; readonly of: 'connect' | 'list'; readonly link: Link }
  | { readonly kind: 'death' };

/** Runs to the end, yielding now and then. */
export function* rerun(options: RerunOptions): Generator<undefined, void> {
  const run = new Rerun(options);
  for (const [index, event] of options.outside.events.entries()) {
    run.expect(event);
    if (index % 1_000 === 999) yield;
  }
  for (let turns = 1; run.turn(); turns += 1) if (turns % BREATH === 0) yield;
}

class Rerun {
  readonly #options: RerunOptions;
  readonly #evidence: Evidence;
  readonly #due: Agenda<Task> = agenda();
  #head: ServerHead;
  #now = 0;
  #link: Link | null = null;
  /** Timers that are set; a new object each time, so that one that was left and set again is another. */
  #armed = new Map<string, object>();
  #readySince = 0;
  /** Grows when the daemon dies: what was under way then comes to nothing. */
  #days = 0;

  constructor(options: RerunOptions) {
    this.#options = options;
    const { outside, temper, head, limits } = options;
    this.#evidence = evidenceOf(outside, temper);
    this.#head = { ...head, context: { ...head.context, limits: { ...head.context.limits, ...limits } } };
    for (const { at, rank } of outside.deaths) this.#due.put(at, rank, { kind: 'death' });
  }

  /** It happens whatever the server does. */
  expect(event: Event): void {
    this.#due.put(this.#happenedAt(event), event.rank, { kind: 'event', event });
  }

  /** Does what is due next; false when nothing is left. */
  turn(): boolean {
    const next = this.#due.next();
    if (next === null || next.at > this.#options.until) return false;
    this.#now = Math.max(this.#now, next.at);
    this.#do(next.what);
    return true;
  }

  #do(task: Task): void {
    switch (task.kind) {
      case 'event':
        if (this.#isPollMoved(task.event)) this.#poll(task.event);
        else this.#happen(task.event);
        return;
      case 'noticed':
        this.#happen(task.event);
        return;
      case 'report':
        if (task.days === this.#days) this.#deliver(task.command);
        return;
      case 'timer':
        if (this.#armed.get(task.timer.id) === task.armed) this.#deliver(task.timer.report(this.#head.context));
        return;
      case 'silence':
        this.#silence(task.of, task.link);
        return;
      case 'death':
        // Nobody is there any more to whom a timer or a server could report.
        this.#days += 1;
        this.#armed = new Map();
        this.#link = null;
        return;
    }
  }

  #assume(kind: AssumptionKind, position: number | null): void {
    this.#options.onAssumption({ kind, at: this.#now, position });
  }

  #report(at: number, rank: number, command: ServerCommand): void {
    this.#due.put(at, rank, { kind: 'report', command, days: this.#days });
  }

  #deliver(command: ServerCommand): void {
    const link = this.#link;
    const stamp: Stamp = { at: this.#now, id: '', random: link?.same ? (link.attempt?.random ?? NEUTRAL) : NEUTRAL };
    const decided = decideServer(this.#head, command, stamp, this.#options.backoff);
    if (isRefusal(decided)) return;
    for (const fact of decided) {
      const heard: Heard<ServerFact> = { ...fact, at: this.#now };
      const { state } = this.#head;
      this.#head = step(serverRules, this.#head, heard);
      this.#options.onFact(heard, this.#head.state);
      if (this.#head.state !== state) this.#moved(state);
      if (this.#head.state === 'idle') this.#waitForTurn();
    }
  }

  /** What the machine starts and sets in the state it has come to. */
  #moved(from: string): void {
    const [was, is] = [lifeIn(from), lifeIn(this.#head.state)];
    const starts = (effect: string): boolean => is.effects.has(effect) && !was.effects.has(effect);
    const stays = was.timers.filter(({ id }) => is.timers.some((timer) => timer.id === id));
    this.#armed = new Map([...this.#armed].filter(([id]) => stays.some((timer) => timer.id === id)));
    if (starts('connection')) this.#connect();
    if (starts('list')) this.#list();
    if (starts('watch')) this.#readySince = this.#now;
    if (starts('close')) this.#close();
    for (const timer of is.timers) if (!stays.includes(timer)) this.#arm(timer);
  }

  #arm(timer: ServerTimer): void {
    const delayMs = timer.delayMs(this.#head.context);
    const { attempt = null, same = false } = this.#link ?? {};
    const record = same && attempt ? this.#options.outside.timer(attempt.connection, timer) : undefined;
    const armed = {};
    this.#armed.set(timer.id, armed);
    const put = (at: number, rank: number): void => this.#due.put(at, rank, { kind: 'timer', timer, armed });
    if (record?.setAt !== this.#now) put(this.#now + delayMs, LAST);
    // As late as it was: a busy machine, a sleeping one, a log that took no facts.
    else if (record.firedAt !== null) put(record.firedAt + delayMs - record.delayMs, record.rank);
    // Of the same limit it is known that it did not strike before the state was left.
    else if (record.missedUntil === null || delayMs !== record.delayMs) put(this.#now + delayMs, LAST);
  }

  #connect(): void {
    const { thing: attempt, same } = this.#evidence.attempt(this.#now);
    const link: Link = { number: this.#head.context.connection, attempt, same, listFrom: attempt };
    this.#link = link;
    if (!same) this.#assume('attempt', attempt?.position ?? null);
    if (attempt === null) return;
    const { process: started, connected, end } = attempt;
    const { number: connection } = link;
    const shift = this.#now - attempt.startedAt;
    const report = (came: { at: number; rank: number }, command: ServerCommand): void =>
      this.#report(came.at + shift, same ? came.rank : LAST, command);
    if (started) report(started, { ...started.command, connection });
    if (connected) report(connected, { ...connected.command, connection });
    else if (end?.kind === 'failed') report(end, { type: 'ReportFailure', connection, failure: end.failure });
    else if (end?.kind === 'cut')
      this.#due.put(end.at + shift + MOMENT_MS, LAST, { kind: 'silence', of: 'connect', link });
  }

  #list(): void {
    const link = this.#link;
    const from = link?.listFrom;
    if (!link || !from?.connected) return;
    const { listed, end } = from;
    const { number: connection } = link;
    const shift = this.#now - from.connected.at;
    const report = (came: { at: number; rank: number }, command: ServerCommand): void =>
      this.#report(came.at + shift, link.same && shift === 0 ? came.rank : LAST, command);
    if (listed) report(listed, { ...listed.command, connection });
    else if (end?.kind === 'failed') report(end, { type: 'ReportFailure', connection, failure: end.failure });
    else if (end?.kind === 'cut')
      this.#due.put(end.at + shift + MOMENT_MS, LAST, { kind: 'silence', of: 'list', link });
  }

  /** The moment at which what was cut in the record had not answered yet, while a longer limit still waits. */
  #silence(of: 'connect' | 'list', link: Link): void {
    const { state } = this.#head;
    const waits = of === 'list' ? state === 'listing' : state === 'connecting' || state === 'reconnecting';
    if (!waits || link !== this.#link) return;
    this.#assume(of, link.attempt?.position ?? null);
    if (this.#options.temper === 'careful') return;
    const { number: connection } = link;
    if (of === 'list') {
      const { listed = null } = this.#evidence.listedNear(this.#now) ?? {};
      if (listed) this.#deliver({ ...listed.command, connection });
      return;
    }
    link.listFrom = this.#evidence.connectedNear(this.#now);
    const { connected = null } = link.listFrom ?? {};
    if (connected) this.#deliver({ ...connected.command, connection });
  }

  #close(): void {
    const { thing, same } = this.#evidence.closing(this.#now);
    if (same && thing?.tookMs === null) return;
    if (!same) this.#assume('close', null);
    const { connection } = this.#head.context;
    this.#report(this.#now + (thing?.tookMs ?? 0), same && thing ? thing.rank : LAST, {
      type: 'ReportStopped',
      connection,
    });
  }

  /** For a place among those that start; the daemon's own affair, and nothing that had to be asked outside. */
  #waitForTurn(): void {
    const { lazy, stopReason } = this.#head.context;
    // Looked up in any case: what was recorded of this moment is taken in its order.
    const { thing, same } = this.#evidence.waiting(this.#now);
    // Both wait for their next use.
    if (lazy || stopReason === 'idle') return;
    if (same && thing?.tookMs === null) return;
    this.#report(this.#now + (thing?.tookMs ?? 0), same && thing ? thing.rank : LAST, { type: 'StartServer' });
  }

  #happen(event: Event): void {
    const command = this.#asToldNow(event);
    if (command) this.#deliver(command);
  }

  /** What the server is told of something that happened, in the state it is in now; null: nothing. */
  #asToldNow({ command, position, state, connection: recorded }: Event): ServerCommand | null {
    const { limits, temper } = this.#options;
    const { context, state: present } = this.#head;
    const { connection } = context;
    switch (command.type) {
      case 'ConfigureServer': {
        const { configuration } = command;
        return { ...command, configuration: { ...configuration, limits: { ...configuration.limits, ...limits } } };
      }
      case 'ReportTools': {
        if (present !== 'ready') return null;
        const limit = limits.listTimeoutMs ?? Number.POSITIVE_INFINITY;
        if (command.tookMs <= limit) return { ...command, connection };
        return { type: 'ReportListFailed', connection, failure: tooLate(limit) };
      }
      case 'ReportListFailed': {
        if (present !== 'ready') return null;
        const cut = command.failure.class === 'timeout' && limits.listTimeoutMs !== undefined;
        if (cut) this.#assume('list', position);
        return cut && temper === 'hopeful' ? null : { ...command, connection };
      }
      case 'ReportFailure': {
        if (!lifeIn(present).effects.has('connection')) return null;
        const { attempt = null, same = false } = this.#link ?? {};
        if (!same || attempt?.connection !== recorded) this.#assume('loss', position);
        return { ...command, connection };
      }
      case 'ReportPush':
      case 'ReportUnused':
        return { ...command, connection };
      case 'ReconnectServer':
        // Whoever asked for it saw another state.
        if (present !== state) this.#assume('command', position);
        return command;
      default:
        return command;
    }
  }

  /** A poll may notice it at another time than it did. */
  #isPollMoved({ polledEveryMs }: Event): boolean {
    const { pollIntervalMs } = this.#options.limits;
    return polledEveryMs !== null && pollIntervalMs !== undefined && pollIntervalMs !== polledEveryMs;
  }

  /** What a poll noticed had happened before: when, nobody knows. */
  #happenedAt(event: Event): number {
    const { at, after, polledEveryMs } = event;
    if (this.#options.temper === 'careful' || !this.#isPollMoved(event)) return at;
    return Math.max(after, at - (polledEveryMs ?? 0));
  }

  /** Noticed by the first poll from now on; the watch polls since the server is ready. */
  #poll(event: Event): void {
    if (this.#head.state !== 'ready') return;
    const every = (this.#options.limits.pollIntervalMs ?? 1) * (1 - POLL_EARLY);
    const polls = Math.max(1, Math.ceil((this.#now - this.#readySince) / every));
    this.#assume('poll', event.position);
    this.#due.put(Math.max(this.#now, Math.round(this.#readySince + polls * every)), LAST, { kind: 'noticed', event });
  }
}

const tooLate = (limitMs: number): Failure => ({
  class: 'timeout',
  phase: 'list',
  message: `list: no answer within ${limitMs} ms (listTimeoutMs); the list known before stays`,
});
