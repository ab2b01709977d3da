/** The last known tools of each server, as received. */

import type { Database } from 'better-sqlite3';
import { serverOf } from '../events/envelope.ts';
import type { ToolDefinition } from '../events/shapes.ts';
import type { Handlers, Projection } from './projection.ts';

export interface RegistryRow {
  readonly server: string;
  readonly position: number;
  readonly signature: string;
  readonly tools: readonly ToolDefinition[];
  readonly warnings: readonly string[];
}

type Columns = readonly [server: string, position: number, signature: string, tools: string, warnings: string];

const writer = (db: Database): ((columns: Columns) => void) => {
  const put = db.prepare(
    'insert or replace into registry (server, position, signature, tools, warnings) values (?, ?, ?, ?, ?)',
  );
  return (columns) => void put.run(...columns);
};

const handlersOn = (put: (columns: Columns) => void, drop: (server: string) => void): Handlers => ({
  ToolsListed: ({ stream, position, data }) => {
    if (!data.tools) return;
    const { signature, tools, warnings = [] } = data;
    put([serverOf(stream), position, signature, JSON.stringify(tools), JSON.stringify(warnings)]);
  },
  ServerRemoved: ({ stream }) => drop(serverOf(stream)),
});

export const registry: Projection = {
  name: 'registry',
  tables: ['registry'],
  on(db) {
    const drop = db.prepare('delete from registry where server = ?');
    return handlersOn(writer(db), (server) => void drop.run(server));
  },
  fill(db) {
    const rows = new Map<string, Columns>();
    return {
      handlers: handlersOn(
        (columns) => rows.set(columns[0], columns),
        (server) => rows.delete(server),
      ),
      finish: () => [...rows.values()].forEach(writer(db)),
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
