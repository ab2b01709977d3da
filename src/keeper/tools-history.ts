/** How the tools of servers changed, out of the catalog and the allowlist's stream. */
import type { Database } from 'better-sqlite3';
import type { z } from 'zod';
import type { AllowlistFact } from '../events/allowlist.events.ts';
import type { Recorded } from '../events/envelope.ts';
import type { EventLog } from '../events/log.ts';
import type { toolsHistory } from '../http/contract.catalog.ts';
import { Problem } from '../http/problem.ts';
import { readCatalog } from '../projections/catalog.projection.ts';
import { type CatalogWindow, catalogHistory } from '../replay/catalog.history.ts';

export interface ToolsHistoryParts {
  readonly log: Pick<EventLog, 'read'>;
  readonly db: Database;
  /** The registered name. */
  readonly nameOf: (server: string, tool: string) => string;
}

/** Of one server, or of all; `from` and `to` are positions. Throws `invalid-request` when they are the wrong way round. */
export function toolsHistoryOf(
  { log, db, nameOf }: ToolsHistoryParts,
  { server, ...window }: { readonly server: string | undefined } & CatalogWindow,
): z.infer<typeof toolsHistory> {
  const { from = 0, to = Number.POSITIVE_INFINITY } = window;
  if (from > to) throw new Problem('invalid-request', '`from` is after `to`; exchange them.');
  const grants = log.read({ stream: 'allowlist' }) as Recorded<AllowlistFact>[];
  return catalogHistory(readCatalog(db, server), grants, nameOf, window) as z.infer<typeof toolsHistory>;
}
