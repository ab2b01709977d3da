/**
 * How well a server did over a time, out of the log. Pure: the log and the ledger are asked through what is handed in.
 * Everything is a generator that yields after every few milliseconds of work, so that the daemon can do other things in
 * between (`inTurns`) and a command need not (`atOnce`).
 */
import type { DaemonFact } from '../events/daemon.events.ts';
import type { Recorded } from '../events/envelope.ts';
import type { EventLog } from '../events/log.ts';
import { type Evidence, type Hint, hintsOf, type SeenCall } from './correlation.ts';
import { type Before, type Change, type Mark, Past, type SeenFailure, TOLD, type Told } from './past.ts';
import { availabilityOf } from './standing.ts';
import { type Percentiles, type Span, Tally } from './statistics.ts';

/** A call of a server that was sent, as the ledger has it; times in ms since the epoch. */
export interface LedgerCall extends SeenCall {
  /** The server gave an answer: how long it took says something. */
  readonly answered: boolean;
}

export interface Sources {
  readonly log: Pick<EventLog, 'read' | 'positionAt'>;
  /** Facts of a stream, of some types, whose versions are above `after` and up to `upTo`; ascending. */
  readonly facts: (query: { stream: string; types: readonly string[]; after: number; upTo: number }) => readonly Told[];
  /** Calls of a server whose first fact stands behind `after` and up to `upTo`, ascending. */
  readonly calls: (query: { server: string; after: number; upTo: number }) => readonly LedgerCall[];
}

export interface SummaryQuery {
  readonly server: string;
  /** Ms since the epoch; undefined: from the first fact on. */
  readonly from?: number | undefined;
  /** Ms since the epoch, not later than what was watched: what lasts is counted until then. */
  readonly to: number;
}

/** Times in ms since the epoch, lengths in ms. */
export interface ServerSummary {
  readonly server: string;
  readonly from: number;
  readonly to: number;
  readonly facts: number;
  /** State at `to`. */
  readonly state: string;
  /** `resting`: off or asleep, not meant to run. `unobserved`: no daemon watched. The four together are the whole time. */
  readonly time: {
    readonly ready: number;
    readonly down: number;
    readonly resting: number;
    readonly unobserved: number;
  };
  /** Ready share of the time it was watched and meant to run; null when there was none. */
  readonly availability: number | null;
  readonly starts: number;
  /** Connections that were ready and ended unasked. */
  readonly losses: number;
  readonly failedAttempts: number;
  readonly listFailures: number;
  /** Ready time for each loss; null without a loss. */
  readonly mtbf: number | null;
  /** Mean watched time from a failure until it was ready again, over `repairs` such times; null when there was none. */
  readonly mttr: number | null;
  readonly repairs: number;
  /** Since when it has been down through a failure; null when it is not. */
  readonly failingSince: number | null;
  /** 0 (never lost) to 100, by losses an hour of watched time: 1 an hour is 50, 9 an hour are 90. */
  readonly flapScore: number;
  readonly latency: { readonly connect: Percentiles; readonly list: Percentiles; readonly call: Percentiles };
  /** Most frequent first. */
  readonly failures: readonly SeenFailure[];
  readonly hints: readonly Hint[];
}

/** Versions read at once: a few milliseconds of work. */
const PAGE = 500;
/** Positions of the log in which calls are looked for at once. */
const STRETCH = 5_000;
/** Calls that are compared with losses, the newest ones and at least half as many; all count for the latency. */
const CALLS = 50_000;
/** Kinds of failures shown. */
const SHOWN = 50;
const HOUR = 3_600_000;

/** null: nothing is known of the server in that time. */
export function* summarise(sources: Sources, query: SummaryQuery): Generator<void, ServerSummary | null> {
  const { log } = sources;
  const { server, to } = query;
  const stream = `server-${server}`;
  const upTo = log.positionAt(to);
  const first = log.read({ stream, upTo, limit: 1 })[0];
  if (!first) return null;
  const from = Math.max(query.from ?? first.at, first.at);
  // Positions up to here lie before the time asked for.
  const behind = from <= first.at ? first.position - 1 : log.positionAt(from - 1);
  const daemon = daemonsOf(log, from, to, upTo);
  const before = stateBefore(log, stream, behind, from);
  const newest = log.read({ stream, upTo, limit: 1, newestFirst: true })[0] ?? first;
  const past = new Past(before, daemon.unobserved);
  yield;

  for (let after = before.version; after < newest.version; after += PAGE) {
    const page = sources.facts({ stream, types: TOLD, after, upTo: Math.min(newest.version, after + PAGE) });
    for (const fact of page) past.add(fact);
    yield;
  }
  past.close(to);
  yield;

  const took = new Tally();
  let calls: LedgerCall[] = [];
  let callsFrom = from;
  for (let after = behind; after < upTo; after += STRETCH) {
    for (const call of sources.calls({ server, after, upTo: Math.min(upTo, after + STRETCH) })) {
      if (call.answered && call.endedAt !== null) took.add(call.endedAt - call.at);
      calls.push(call);
    }
    if (calls.length > CALLS) {
      calls = calls.slice(-CALLS / 2);
      callsFrom = calls[0]?.at ?? from;
    }
    yield;
  }
  calls.sort((a, b) => a.at - b.at);
  const hints = yield* hintsOf({
    losses: past.losses,
    ready: past.ready,
    listChanges: past.listChanges,
    entryChanges: past.entryChanges,
    serverVersions: past.serverVersions,
    daemonStarts: daemon.starts,
    daemonVersions: daemon.versions,
    calls,
    callsFrom,
  } satisfies Evidence);
  const facts = newest.version - before.version;
  const state = newest.data.to ?? before.state;
  return summaryOf({ server, from, to, facts, state }, past, took.percentiles(), hints);
}

function summaryOf(
  of: Pick<ServerSummary, 'server' | 'from' | 'to' | 'facts' | 'state'>,
  past: Past,
  call: Percentiles,
  hints: readonly Hint[],
): ServerSummary {
  const { ready, down, resting } = past.spent;
  const losses = past.losses.length;
  const perHour = losses / Math.max(1, (ready + down) / HOUR);
  return {
    ...of,
    time: { ready, down, resting, unobserved: Math.max(0, of.to - of.from - ready - down - resting) },
    availability: availabilityOf(ready, down),
    starts: past.starts,
    losses,
    failedAttempts: past.failedAttempts,
    listFailures: past.listFailures,
    mtbf: losses > 0 ? ready / losses : null,
    mttr: past.repairs.length > 0 ? past.repairs.reduce((sum, one) => sum + one, 0) / past.repairs.length : null,
    repairs: past.repairs.length,
    failingSince: past.failingSince,
    flapScore: Math.round((100 * perHour) / (1 + perHour)),
    latency: { connect: past.connects.percentiles(), list: past.lists.percentiles(), call },
    failures: [...past.failures.values()].sort((a, b) => b.count - a.count).slice(0, SHOWN),
    hints,
  };
}

/** When daemons started, under which versions, and when none watched. */
function daemonsOf(
  log: Pick<EventLog, 'read'>,
  from: number,
  to: number,
  upTo: number,
): { starts: Mark[]; versions: Change[]; unobserved: Span[] } {
  const facts = log.read({ stream: 'daemon', type: 'DaemonStarted', upTo }) as Recorded<
    Extract<DaemonFact, { type: 'DaemonStarted' }>
  >[];
  const versions = facts.flatMap(({ at, position, data }, index) => {
    const before = facts[index - 1]?.data.version;
    return before !== undefined && before !== data.version ? [{ at, position, from: before, to: data.version }] : [];
  });
  return {
    starts: facts.filter(({ at }) => at >= from).map(({ at, position }) => ({ at, position })),
    versions: versions.filter(({ at }) => at >= from),
    unobserved: facts.flatMap(({ at, data }) => {
      const span = { from: Math.max(from, data.lastAlive ?? at), to: Math.min(to, at) };
      return span.to > span.from ? [span] : [];
    }),
  };
}

function stateBefore(
  log: Pick<EventLog, 'read'>,
  stream: string,
  behind: number,
  at: number,
): Before & { readonly version: number } {
  const last = log.read({ stream, upTo: behind, limit: 1, newestFirst: true })[0];
  const state = last?.data.to ?? 'stopped';
  const version = last?.version ?? 0;
  if (state !== 'ready' && state !== 'listing') return { at, state, version, connectedAt: null };
  const connected = log.read({ stream, type: 'Connected', upTo: behind, limit: 1, newestFirst: true })[0];
  return { at, state, version, connectedAt: connected?.at ?? null };
}
