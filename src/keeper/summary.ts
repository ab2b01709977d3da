/** Summaries of servers in the shape of the contract. */
import type { Database } from 'better-sqlite3';
import type { z } from 'zod';
import type { EventLog } from '../events/log.ts';
import { toldFacts } from '../events/sqlite.ts';
import type * as contract from '../http/contract.summary.ts';
import { sentCalls } from '../projections/calls.projection.ts';
import type { SeenFailure } from '../replay/past.ts';
import { type ServerSummary, type Sources, summarise } from '../replay/summary.ts';
import { iso } from './answers.ts';

type Answer = z.infer<typeof contract.serverSummary>;

export const sourcesOf = (log: Sources['log'], db: Database): Sources => ({
  log,
  facts: toldFacts(db),
  calls: sentCalls(db),
});

/** Of each server something is known of in that time; `names` are in order. Times in ms since the epoch. */
export function* summaries(
  log: Pick<EventLog, 'read' | 'positionAt'>,
  db: Database,
  query: { readonly names: readonly string[]; readonly from: number | undefined; readonly to: number },
): Generator<void, { servers: Answer[] }> {
  const { names, from, to } = query;
  const sources = sourcesOf(log, db);
  const servers: Answer[] = [];
  for (const server of names) {
    const summary = yield* summarise(sources, { server, from, to });
    if (summary) servers.push(summaryAnswer(summary));
  }
  return { servers };
}

const failureAnswer = ({ id, first, last, ...failure }: SeenFailure): Answer['failures'][number] => ({
  fingerprint: id,
  phase: failure.phase,
  class: failure.class,
  code: failure.code,
  message: failure.message,
  example: failure.example,
  count: failure.count,
  first: { at: iso(first.at), position: first.position },
  last: { at: iso(last.at), position: last.position },
  positions: failure.positions,
});

export function summaryAnswer(summary: ServerSummary): Answer {
  const { server, from, to, time, mtbf, mttr, failingSince, failures, hints, ...same } = summary;
  return {
    name: server,
    from: iso(from),
    to: iso(to),
    state: same.state,
    facts: same.facts,
    time: {
      readyMs: time.ready,
      downMs: time.down,
      restingMs: time.resting,
      unobservedMs: time.unobserved,
    },
    availability: same.availability,
    losses: same.losses,
    starts: same.starts,
    failedAttempts: same.failedAttempts,
    listFailures: same.listFailures,
    mtbfMs: mtbf,
    mttrMs: mttr,
    repairs: same.repairs,
    failingSince: failingSince === null ? null : iso(failingSince),
    flapScore: same.flapScore,
    latency: same.latency,
    failures: failures.map(failureAnswer),
    hints: hints.map((hint) => ({ ...hint, positions: [...hint.positions], related: [...hint.related] })),
  };
}
