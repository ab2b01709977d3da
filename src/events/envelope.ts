import type { Fact } from './catalogue.ts';

/**
 * A fact as it stands in the log (contract of the `events` table).
 * `version` counts within the stream from 1, `position` over the whole log from 1 with gaps allowed.
 */
export interface Recorded<F extends Fact = Fact> {
  readonly position: number;
  readonly stream: string;
  readonly version: number;
  readonly type: F['type'];
  readonly schema: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Position of the fact, or id of the command, that led to this one. */
  readonly cause: string | null;
  readonly data: F['data'] & { readonly to?: string };
}

/** A fact on its way into the log: all but the position, which the log gives. */
export type Unrecorded<F extends Fact = Fact> = Omit<Recorded<F>, 'position'>;

/** The server a stream is about. */
export const serverOf = (stream: string): string => stream.slice('server-'.length);

/** The call a stream is about. */
export const callOf = (stream: string): string => stream.slice('call-'.length);
