/** Everything that is asked about the past at once: whether the log is explained, and how it would have gone otherwise. */
import type { EventLog } from '../events/log.ts';
import type { Changes } from './changes.ts';
import { type ServerRecorded, Unexplained } from './inputs.ts';
import { type Divergence, type LogReader, type Means, verifying } from './verify.ts';
import { asking, type Run, stretchOf, type WhatIf } from './what-if.ts';
import { iso } from './words.ts';

/** A log position, or a time in ms since the epoch. */
export type Moment = { readonly position: number } | { readonly time: number };

export interface ReplayQuery {
  /** Name of a server; without it the whole log is verified. */
  readonly name?: string | undefined;
  readonly from?: Moment | undefined;
  readonly to?: Moment | undefined;
  readonly by: Means;
  /** Other limits; only with a name. */
  readonly set?: Changes | undefined;
  /** Up to when the last state lasted, unless `to` says otherwise (ms since the epoch). */
  readonly until: number;
}

export type ReplayLog = LogReader & Pick<EventLog, 'positionAt'>;

/** Times of it are ISO 8601: this is the shape that HTTP and `--json` answer with. */
export type Replayed = ReturnType<typeof replaying> extends Generator<undefined, infer Answer> ? Answer : never;

/** Yields now and then. Throws `TooMany`. */
export function* replaying(log: ReplayLog, { name, from, to, by, set, until }: ReplayQuery) {
  const stream = name === undefined ? undefined : `server-${name}`;
  const upTo = to === undefined ? undefined : 'position' in to ? to.position : log.positionAt(to.time);
  const verdict = yield* verifying(log, { by, stream, upTo });
  const { facts, streams, heads } = verdict;
  const found = { by, facts, streams, heads };
  if (verdict.divergence) return { ok: false, ...found, divergence: verdict.divergence };
  if (stream === undefined || set === undefined) return { ok: true, ...found };
  const begin = from && timeOf(log, from);
  const end = to === undefined ? until : Math.min(timeOf(log, to) ?? until, until);
  try {
    const stretch = yield* stretchOf(factsOf(log, stream, upTo), begin);
    const answer = yield* asking(stretch, { set, from: begin, until: end });
    return { ok: true, ...found, whatIf: whatIfInWords(answer) };
  } catch (error) {
    if (!(error instanceof Unexplained)) throw error;
    return { ok: false, ...found, divergence: unexplained(error) };
  }
}

/** A position as the time of its fact, or of the next one; undefined when nothing comes there. */
function timeOf(log: ReplayLog, moment: Moment): number | undefined {
  return 'time' in moment ? moment.time : log.read({ after: Math.max(0, moment.position - 1), limit: 1 })[0]?.at;
}

/** All facts of a stream, page by page. */
export function* factsOf(log: Pick<EventLog, 'read'>, stream: string, upTo?: number): Generator<ServerRecorded> {
  for (let afterVersion = 0; ; ) {
    const page = log.read({ stream, afterVersion, limit: 500, ...(upTo === undefined ? {} : { upTo }) });
    const last = page.at(-1);
    if (!last) return;
    yield* page as ServerRecorded[];
    afterVersion = last.version;
  }
}

/** The place where the rules of today lead elsewhere. */
export const unexplained = ({ fact, recorded, decided, message }: Unexplained): Divergence => ({
  position: fact.position,
  stream: fact.stream,
  version: fact.version,
  type: fact.type,
  kind: 'rules',
  recorded,
  folded: decided,
  reason: message,
});

const runInWords = ({ assumed, ...figures }: Run) => ({
  ...figures,
  assumed: assumed.map(({ examples, ...one }) => ({
    ...one,
    examples: examples.map(({ at, position }) => ({ at: iso(at), position })),
  })),
});

export const whatIfInWords = ({ from, until, changed, atBest, ...rest }: WhatIf) => ({
  from: iso(from),
  until: iso(until),
  ...rest,
  changed: runInWords(changed),
  atBest: runInWords(atBest),
});
