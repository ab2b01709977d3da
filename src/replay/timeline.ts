/** A stretch of the log as a story: what happened, and what state it led from and to. */
import { inPlainWords } from './fact.words.ts';

/** A fact that may come from the log, over HTTP or out of a file. */
export interface Told {
  readonly position: number;
  readonly stream: string;
  readonly version: number;
  readonly type: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>> | object;
}

export interface Line {
  readonly position: number;
  readonly stream: string;
  readonly type: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Since the line before; null for the first one. */
  readonly afterMs: number | null;
  /** State before and after; null where its stream has none, or the one before is not known. */
  readonly from: string | null;
  readonly to: string | null;
  /** The fact in plain words, with what servers wrote as they wrote it. */
  readonly text: string;
}

/** Where each kind of stream begins. */
const BORN: readonly (readonly [prefix: string, state: string])[] = [
  ['server-', 'stopped'],
  ['call-', 'requested'],
];

/** Facts in the order of the log, of one stream or of several; `since` (ms since the epoch): only lines from then on. */
export function* timeline(facts: Iterable<Told>, since = Number.NEGATIVE_INFINITY): Generator<Line> {
  const states = new Map<string, string>();
  let last: number | null = null;
  for (const fact of facts) {
    const { position, stream, version, type, at, data } = fact;
    const born = version === 1 ? BORN.find(([prefix]) => stream.startsWith(prefix))?.[1] : undefined;
    const from = states.get(stream) ?? born ?? null;
    const { to } = data as { to?: unknown };
    if (typeof to === 'string') states.set(stream, to);
    if (at < since) continue;
    yield {
      position,
      stream,
      type,
      at,
      afterMs: last === null ? null : at - last,
      from,
      to: typeof to === 'string' ? to : null,
      text: inPlainWords(fact),
    };
    last = at;
  }
}
