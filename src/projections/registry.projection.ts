/** The last known tools of each server, as received. */
import type { Database } from 'better-sqlite3';
import type { ToolDefinition } from '../events/shapes.ts';
import { type Projection, serverOf } from './projection.ts';

export interface RegistryRow {
  readonly server: string;
  readonly position: number;
  readonly signature: string;
  readonly tools: readonly ToolDefinition[];
  readonly warnings: readonly string[];
}

export const registry: Projection = {
  name: 'registry',
  tables: ['registry'],
  on(db) {
    const put = db.prepare(
      'insert or replace into registry (server, position, signature, tools, warnings) values (?, ?, ?, ?, ?)',
    );
    const drop = db.prepare('delete from registry where server = ?');
    return {
      ToolsListed: ({ stream, position, data }) => {
        if (!data.tools) return;
        put.run(
          serverOf(stream),
          position,
          data.signature,
          JSON.stringify(data.tools),
          JSON.stringify(data.warnings ?? []),
        );
      },
      ServerRemoved: ({ stream }) => void drop.run(serverOf(stream)),
    };
  },
};

/** Sorted by server. */
export function readRegistry(db: Database): RegistryRow[] {
  const rows = db.prepare('select * from registry order by server').all() as {
    server: string;
    position: number;
    signature: string;
    tools: string;
    warnings: string;
  }[];
  return rows.map((row) => ({ ...row, tools: JSON.parse(row.tools), warnings: JSON.parse(row.warnings) }));
}
