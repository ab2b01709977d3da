/** Every list of tools a server ever had: what it offered at any moment, and what changed when. */

import type { Database } from 'better-sqlite3';
import { serverOf } from '../events/envelope.ts';
import type { ToolDefinition } from '../events/shapes.ts';
import type { Projection } from './projection.ts';

export interface CatalogRow {
  readonly position: number;
  readonly server: string;
  readonly at: number;
  readonly tools: readonly ToolDefinition[];
}

export const catalog: Projection = {
  name: 'catalog',
  tables: ['catalog'],
  on(db) {
    const add = db.prepare('insert into catalog (position, server, at, tools) values (?, ?, ?, ?)');
    return {
      ToolsListed: ({ stream, position, at, data }) => {
        if (data.tools) add.run(position, serverOf(stream), at, JSON.stringify(data.tools));
      },
      // A server that is gone offers nothing: its next list, if it comes back, is all new.
      ServerRemoved: ({ stream, position, at }) => void add.run(position, serverOf(stream), at, '[]'),
    };
  },
};

type Row = Omit<CatalogRow, 'tools'> & { tools: string };
const parsed = (row: Row): CatalogRow => ({ ...row, tools: JSON.parse(row.tools) });

/** All lists, oldest first, of one server or of all. */
export function readCatalog(db: Database, server?: string): CatalogRow[] {
  const rows =
    server === undefined
      ? db.prepare('select * from catalog order by position').all()
      : db.prepare('select * from catalog where server = ? order by position').all(server);
  return (rows as Row[]).map(parsed);
}

/** Lists of one server since a time (ms since the epoch) and the one it had before that, newest first; at most 100. */
export function recentLists(db: Database, server: string, since: number): CatalogRow[] {
  const rows = db
    .prepare<[string], Row>('select * from catalog where server = ? order by position desc limit 100')
    .iterate(server);
  const found: CatalogRow[] = [];
  for (const row of rows) {
    found.push(parsed(row));
    if (row.at < since) break;
  }
  return found;
}

/** The list one server had when the log stood at `position`; null when it had none yet. */
export function catalogOf(db: Database, server: string, position: number): readonly ToolDefinition[] | null {
  const row = db
    .prepare('select tools from catalog where server = ? and position <= ? order by position desc limit 1')
    .pluck()
    .get(server, position) as string | undefined;
  return row === undefined ? null : JSON.parse(row);
}

/** The list each server had when the log stood at `position`; sorted by server. */
export function catalogAt(db: Database, position: number): CatalogRow[] {
  const rows = db
    .prepare(
      'select * from catalog where position in (select max(position) from catalog where position <= ? group by server) order by server',
    )
    .all(position);
  return (rows as Row[]).map(parsed);
}
