/** What the log says about one server around a moment: all that is needed to tell why it was as it was. Pure. */
import type { ConfigFact, DaemonFact } from '../events/daemon.events.ts';
import type { Recorded } from '../events/envelope.ts';
import type { Limits, ToolDefinition } from '../events/shapes.ts';
import type { ServerTold, Told } from './trouble.ts';

/** Times are ms since the epoch. Facts ascend. */
export interface Evidence {
  readonly server: string;
  /** The moment that is asked about. */
  readonly at: number;
  /** Where the log stood then. */
  readonly position: number;
  /** Of the server, up to the moment: never empty. */
  readonly facts: readonly ServerTold[];
  /** Facts are missing before the one at this index: the trouble is longer than what is worth reading. */
  readonly gap: number | null;
  readonly daemon: readonly Told<DaemonFact>[];
  readonly config: readonly Told<ConfigFact>[];
  /** Losses and failures of other servers about the time the trouble began. */
  readonly others: readonly Recorded[];
  /** The list the server had before the first of its facts here; null when there was none, or nobody knows. */
  readonly listBefore: readonly ToolDefinition[] | null;
  /** Limits of its entry then, where they are known. */
  readonly limits: Limits | null;
  readonly lazy: boolean;
  /** The first fact after the moment that led to another state. */
  readonly later: ServerTold | null;
  /** No daemon lived at the moment: since when, and until when if one came back. */
  readonly dead: { readonly from: number; readonly to: number | null; readonly position: number | null } | null;
  /** Losses since this time count as those of today. */
  readonly dayStart: number;
  /** The facts reach back to `dayStart`. */
  readonly wholeDay: boolean;
}
