import type { Database } from 'better-sqlite3';
import type { RunEntry } from '../config/entry.ts';
import type { EventLog } from '../events/log.ts';
import { hash8, sha256Hex } from '../hash.ts';
import { toolFilter } from '../mcp/globs.ts';
import { registeredNames } from '../mcp/naming.ts';
import { readTools } from '../mcp/tools.ts';
import { catalogAt } from '../projections/catalog.projection.ts';
import { statusMarks } from '../projections/status.projection.ts';
import { isAllowed, type Judged } from './answers.ts';
import { configuredAsOf, grantsAsOf, statusAsOf } from './as-of.ts';
import type { ListedTool } from './directory.ts';

export interface ToolsAsOfParts {
  readonly log: Pick<EventLog, 'read' | 'heads'>;
  readonly db: Database;
  readonly maxLength: number;
  /** The entry as it is now. */
  readonly entry: (server: string) => RunEntry | undefined;
}

/**
 * The tools as they were listed when the log stood at `position`, sorted by name. Which tools an entry included is known
 * only while the entry is still the same; of an older entry all are shown.
 */
export function toolsAsOf(
  { log, db, maxLength, entry }: ToolsAsOfParts,
  position: number,
): (ListedTool & { readonly judged: Judged })[] {
  const marks = statusMarks(db);
  const states = new Map(statusAsOf(log, position, marks).map((row) => [row.server, row.state]));
  const servers = catalogAt(db, position).flatMap(({ server, tools: received }) => {
    const configured = states.has(server) ? configuredAsOf(log, server, position, marks) : null;
    if (configured?.wanted !== 'on') return [];
    const now = entry(server);
    const { include, exclude } =
      now?.entry && now.revision === configured.revision ? now.entry : { include: [], exclude: [] };
    const shows = toolFilter(include, exclude);
    const { tools } = readTools(received, sha256Hex);
    return [{ server, identity: configured.identity, tools: new Map(tools.map((tool) => [tool.name, tool])), shows }];
  });
  const names = registeredNames(
    servers.map(({ server, tools, shows }) => ({ server, tools: [...tools.keys()].filter(shows) })),
    { maxLength, hash8 },
  );
  const grants = grantsAsOf(log, position);
  return [...names.toolOf]
    .flatMap(([name, ref]) => {
      const of = servers.find(({ server }) => server === ref.server);
      const tool = of?.tools.get(ref.tool);
      if (!of || !tool) return [];
      const listed = { name, server: ref.server, tool };
      const judged = { allowed: isAllowed(grants, listed, of.identity), stale: states.get(ref.server) !== 'ready' };
      return [{ ...listed, judged }];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
