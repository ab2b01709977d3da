/** A real log in a file of its own, and the way facts get into it: with the state each leads to, as an actor writes them. */
import { join } from 'node:path';
import { allowlistRules } from '../../src/actors/allowlist/allowlist.rules.ts';
import { callRules } from '../../src/actors/call/call.rules.ts';
import { type Head, type Heard, type Rules, step } from '../../src/actors/head.ts';
import { journalRules } from '../../src/actors/journal.ts';
import { serverRules } from '../../src/actors/server/server.rules.ts';
import { catalogue, type Fact } from '../../src/events/catalogue.ts';
import type { Recorded, Unrecorded } from '../../src/events/envelope.ts';
import { openLog, type SqliteLog, type SqliteLogOptions } from '../../src/events/sqlite.ts';
import { projector } from '../../src/projections/projection.ts';
import { views } from '../../src/projections/views.ts';
import { atEnd } from './cleanup.ts';
import { projectRoot } from './paths.ts';
import { tempDir } from './temp.ts';

export const migrations = join(projectRoot, 'migrations');

/** Opens a log with all views; closed when the test file is over. */
export function givenLog(options: Partial<SqliteLogOptions> = {}): SqliteLog {
  const log = openLog({
    file: options.file ?? join(tempDir(), 'watchkeeper.db'),
    migrations,
    durability: 'process',
    project: (db) => projector(db, views),
    ...options,
  });
  atEnd(() => {
    if (log.db.open) log.close();
  });
  return log;
}

/** A fact of a stream, not yet written. */
export function unrecorded(stream: string, version: number, fact: Fact, more: Partial<Unrecorded> = {}): Unrecorded {
  const { type, data } = fact;
  return { stream, version, type, schema: catalogue[type].schema, at: 1_000, cause: null, data, ...more };
}

// biome-ignore lint/suspicious/noExplicitAny: the rules of all kinds of streams behind one name
type AnyRules = Rules<any, any, any, any>;

const rulesOf = (stream: string): AnyRules => {
  if (stream.startsWith('server-')) return serverRules;
  if (stream.startsWith('call-')) return callRules;
  return stream === 'allowlist' ? allowlistRules : journalRules();
};

export interface Story {
  /** Writes facts of one stream at a time (ms since the epoch), in one transaction. */
  tell(at: number, stream: string, ...facts: readonly Fact[]): Promise<readonly Recorded[]>;
  /** Writes facts of several streams in one transaction. */
  batch(at: number, ...parts: readonly (readonly [stream: string, ...facts: Fact[]])[]): Promise<readonly Recorded[]>;
  head(stream: string): Head<unknown>;
}

/** Writes facts as actors do: `to` and heads come from the rules, so a fact that its stream does not hear throws. */
export function storyOn(log: SqliteLog): Story {
  const heads = new Map<string, Head<unknown>>();
  const headOf = (stream: string): Head<unknown> =>
    heads.get(stream) ?? { ...rulesOf(stream).initial, version: log.head(stream)?.version ?? 0 };

  const batch: Story['batch'] = (at, ...parts) => {
    const written: Unrecorded[] = [];
    for (const [stream, ...facts] of parts) {
      for (const fact of facts) {
        const head = step(rulesOf(stream), headOf(stream), { ...fact, at } as Heard<Fact>);
        heads.set(stream, head);
        const data = head.state === '' ? fact.data : { ...fact.data, to: head.state };
        written.push(unrecorded(stream, head.version, fact, { at, data }));
      }
    }
    const kept = [...new Set(parts.map(([stream]) => stream))].filter((stream) => !stream.startsWith('call-'));
    return log.append(
      written,
      kept.map((stream) => ({ stream, ...headOf(stream) })),
    );
  };
  return { batch, tell: (at, stream, ...facts) => batch(at, [stream, ...facts]), head: headOf };
}

/** Every row of some tables, in a fixed order, to be compared. */
export function rowsOf({ db }: SqliteLog, tables: readonly string[]): Record<string, unknown[]> {
  return Object.fromEntries(
    tables.map((table) => {
      const columns = db.pragma(`table_info(${table})`) as { name: string }[];
      return [table, db.prepare(`select * from ${table} order by ${columns.map(({ name }) => name).join(', ')}`).all()];
    }),
  );
}
