/** The port to the log. The loop relies on order within a stream and on an asynchronous append, and on nothing else. */
import type { Observable } from 'rxjs';
import type { Recorded, Unrecorded } from './envelope.ts';

/** The fold of a stream: written with the facts it comes from. */
export interface HeadRow {
  readonly stream: string;
  readonly version: number;
  readonly state: string;
  readonly context: unknown;
}

/** Somebody else appended to the stream first. */
export class VersionConflict extends Error {
  override readonly name = 'VersionConflict';
  constructor(
    readonly stream: string,
    readonly version: number,
  ) {
    super(`Version ${version} of stream "${stream}" is already in the log.`);
  }
}

export interface ReadQuery {
  /** Positions above this one. */
  readonly after?: number;
  /** Versions above this one; with `stream` only. Pages of a long stream are found by it at once. */
  readonly afterVersion?: number;
  readonly stream?: string | undefined;
  readonly type?: string | undefined;
  /** Positions up to and with this one. */
  readonly upTo?: number;
  readonly limit?: number;
  /** Descending by position: the newest of what fits comes first, and `limit` leaves out the oldest. */
  readonly newestFirst?: boolean;
}

export interface EventLog {
  /**
   * Writes all facts, the rows that follow from them and the heads as one transaction, or nothing.
   * `version` of each fact is the expected one: rejects with `VersionConflict` if it is taken.
   */
  append(facts: readonly Unrecorded[], heads: readonly HeadRow[]): Promise<readonly Recorded[]>;
  /** Ascending by position, unless the newest are wanted first. */
  /** Ascending by position; a stream by version. Throws `UnreadableFact` where a row cannot be read. */
  read(query: ReadQuery): Recorded[];
  /** Facts as they are committed, a batch at a time, in order. */
  readonly committed$: Observable<readonly Recorded[]>;
  /** Position of the newest fact; 0 when the log is empty. */
  lastPosition(): number;
  /** Position of the newest fact at or before `time` (ms since the epoch); 0 when there is none. */
  positionAt(time: number): number;
  head(stream: string): HeadRow | null;
  heads(): HeadRow[];
  /** Not an event: remembers that the daemon lives at `time`. */
  touch(time: number): void;
  lastAlive(): number | null;
  close(): void;
}
