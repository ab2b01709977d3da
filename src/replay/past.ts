/**
 * The past of one server in the terms an analysis asks in: how long it was ready, what failed, what happened just before.
 * Gathered fact by fact, in order. Pure.
 */
import type { Recorded } from '../events/envelope.ts';
import type { ServerFact } from '../events/server.events.ts';
import type { Failure } from '../events/shapes.ts';
import { type Fingerprint, fingerprintOf } from './fingerprint.ts';
import { endedBy, type Standing, standingOf } from './standing.ts';
import { overlap, type Span, Tally } from './statistics.ts';

/** What is read of a fact here. */
export type Told = Pick<Recorded, 'position' | 'type' | 'at' | 'data'>;

/** A fact an analysis points at; `at` in ms since the epoch. */
export interface Mark {
  readonly at: number;
  readonly position: number;
}

/** A connection that was ready and ended unasked. */
export interface Loss extends Mark {
  readonly fingerprint: string;
  readonly class: Failure['class'];
  /** When its connection was made; null when that lies before what was read. */
  readonly connectedAt: number | null;
}

export interface SeenFailure extends Fingerprint {
  count: number;
  readonly first: Mark;
  last: Mark;
  /** The newest ones, ascending. */
  positions: number[];
  /** The newest message as it was. */
  example: string;
}

/** Something became another thing: a version, a revision. */
export interface Change extends Mark {
  readonly from: string;
  readonly to: string;
}

/**
 * The facts an analysis has to be told. The others change nothing in here: they lead from one state to another in which
 * the server is as ready as before.
 */
export const TOLD = [
  'ServerConfigured',
  'ServerEnabled',
  'ConnectStarted',
  'Connected',
  'ConnectFailed',
  'LoginRequired',
  'ServerFailed',
  'ToolsListed',
  'ListFailed',
  'SessionLost',
  'StopRequested',
  'ServerStopped',
] as const satisfies readonly ServerFact['type'][];

/** How many positions a failure keeps. */
const EXAMPLES = 5;
/** Messages whose fingerprint is remembered: most servers fail in few ways. */
const REMEMBERED = 1_000;

/** How things stood before the first fact that is added. */
export interface Before {
  readonly at: number;
  readonly state: string;
  readonly connectedAt: number | null;
}

export class Past {
  starts = 0;
  failedAttempts = 0;
  listFailures = 0;
  readonly ready: Span[] = [];
  readonly losses: Loss[] = [];
  readonly repairs: number[] = [];
  readonly failures = new Map<string, SeenFailure>();
  readonly connects = new Tally();
  readonly lists = new Tally();
  readonly listChanges: Mark[] = [];
  readonly entryChanges: Change[] = [];
  readonly serverVersions: Change[] = [];
  readonly spent: Record<Standing, number> = { ready: 0, down: 0, resting: 0 };

  /** Since when it is down through a failure, and not on purpose. */
  failingSince: number | null = null;
  #state: string;
  #standing: Standing;
  #since: number;
  #connectedAt: number | null;
  #revision: string | null = null;
  #version: string | null = null;
  readonly #unobserved: readonly Span[];
  readonly #known = new Map<string, Fingerprint>();
  #last: { readonly failure: Failure; readonly print: Fingerprint } | null = null;

  /** `unobserved`: when nobody watched, ascending. */
  constructor(before: Before, unobserved: readonly Span[]) {
    this.#state = before.state;
    this.#standing = standingOf(before.state);
    this.#since = before.at;
    this.#connectedAt = before.connectedAt;
    this.#unobserved = unobserved;
  }

  add(fact: Told): void {
    this.#hear(fact);
    const { to } = fact.data;
    if (to !== undefined && to !== this.#state) this.#turn(to, fact.at);
  }

  /** Counts what lasts until `at`. Nothing is added after that. */
  close(at: number): void {
    this.#account(at);
    this.#since = at;
  }

  #hear(fact: Told): void {
    const { at, position } = fact;
    const mark = { at, position };
    switch (fact.type) {
      case 'ServerConfigured': {
        const { revision } = dataOf<'ServerConfigured'>(fact);
        if (this.#revision !== null && this.#revision !== revision)
          this.entryChanges.push({ ...mark, from: this.#revision, to: revision });
        this.#revision = revision;
        return;
      }
      case 'ConnectStarted':
        this.starts += 1;
        return;
      case 'Connected': {
        const { tookMs, serverInfo } = dataOf<'Connected'>(fact);
        this.connects.add(tookMs);
        this.#connectedAt = at;
        const version = serverInfo?.version ?? null;
        if (version !== null && this.#version !== null && version !== this.#version)
          this.serverVersions.push({ ...mark, from: this.#version, to: version });
        this.#version = version ?? this.#version;
        return;
      }
      case 'ToolsListed': {
        const { tookMs, tools } = dataOf<'ToolsListed'>(fact);
        this.lists.add(tookMs);
        if (tools) this.listChanges.push(mark);
        return;
      }
      case 'ListFailed':
        this.listFailures += 1;
        this.#failed(dataOf<'ListFailed'>(fact).failure, mark);
        return;
      case 'SessionLost':
      case 'ConnectFailed':
      case 'LoginRequired':
      case 'ServerFailed': {
        const { failure } = dataOf<'SessionLost'>(fact);
        const { id } = this.#failed(failure, mark);
        const ended = endedBy(fact.type, this.#state);
        if (ended === 'attempt') this.failedAttempts += 1;
        else if (ended === 'connection')
          this.losses.push({ ...mark, fingerprint: id, class: failure.class, connectedAt: this.#connectedAt });
        this.failingSince ??= at;
        return;
      }
    }
  }

  #failed(failure: Failure, mark: Mark): Fingerprint {
    const print = this.#fingerprint(failure);
    const seen = this.failures.get(print.id);
    if (!seen) {
      const positions = [mark.position];
      this.failures.set(print.id, { ...print, count: 1, first: mark, last: mark, positions, example: failure.message });
      return print;
    }
    seen.count += 1;
    seen.last = mark;
    seen.example = failure.message;
    seen.positions.push(mark.position);
    if (seen.positions.length > EXAMPLES) seen.positions.shift();
    return print;
  }

  #fingerprint(failure: Failure): Fingerprint {
    // The same as the last one, most of the time; comparing is cheaper than looking up.
    const same = this.#last && alike(this.#last.failure, failure) ? this.#last.print : null;
    const print = same ?? this.#lookedUp(failure);
    this.#last = { failure, print };
    return print;
  }

  #lookedUp(failure: Failure): Fingerprint {
    const { phase, class: kind, message, exitCode, signal, httpStatus } = failure;
    const key = `${phase} ${kind} ${exitCode} ${signal} ${httpStatus} ${message}`;
    const known = this.#known.get(key);
    if (known) return known;
    const print = fingerprintOf(failure);
    if (this.#known.size >= REMEMBERED) this.#known.clear();
    this.#known.set(key, print);
    return print;
  }

  #turn(to: string, at: number): void {
    const now = standingOf(to);
    this.#state = to;
    if (now === this.#standing) return;
    this.#account(at);
    this.#standing = now;
    if (now === 'ready' && this.failingSince !== null) {
      const down = { from: this.failingSince, to: at };
      this.repairs.push(down.to - down.from - overlap([down], this.#unobserved));
    }
    // Whoever stops it on purpose ends an outage without mending it.
    if (now !== 'down') this.failingSince = null;
    this.#since = at;
  }

  #account(at: number): void {
    const standing = this.#standing;
    const span = { from: this.#since, to: Math.max(this.#since, at) };
    const unseen = this.#unobserved.length === 0 ? 0 : overlap([span], this.#unobserved);
    this.spent[standing] += span.to - span.from - unseen;
    if (standing !== 'ready' || span.to === span.from) return;
    if (unseen === 0) this.ready.push(span);
    else this.ready.push(...without(span, this.#unobserved));
  }
}

type DataOf<Type extends ServerFact['type']> = Extract<ServerFact, { type: Type }>['data'];
const dataOf = <Type extends ServerFact['type']>(fact: Told): DataOf<Type> => fact.data as DataOf<Type>;

const alike = (one: Failure, other: Failure): boolean =>
  one.message === other.message &&
  one.phase === other.phase &&
  one.class === other.class &&
  one.exitCode === other.exitCode &&
  one.signal === other.signal &&
  one.httpStatus === other.httpStatus;

/** What is left of a stretch without others. */
function without(span: Span, others: readonly Span[]): Span[] {
  const left: Span[] = [];
  let { from } = span;
  for (const other of others) {
    if (other.to <= from || other.from >= span.to) continue;
    if (other.from > from) left.push({ from, to: other.from });
    from = Math.max(from, other.to);
  }
  if (from < span.to) left.push({ from, to: span.to });
  return left;
}
