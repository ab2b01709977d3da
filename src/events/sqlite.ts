/** The embedded log: one SQLite file in WAL mode. */
import { hash } from 'node:crypto';
import Database from 'better-sqlite3';
import { Subject } from 'rxjs';
import type { FactType } from './catalogue.ts';
import { CHAIN_START, chainText } from './chain.ts';
import type { Recorded, Unrecorded } from './envelope.ts';
import { type EventLog, type HeadRow, type ReadQuery, VersionConflict } from './log.ts';
import { migrate, pendingMigrations } from './migrate.ts';
import { UnreadableFact, upcast } from './upcast.ts';

/** Turns committed-to-be facts into rows, inside the transaction of their append. */
export type Project = (facts: readonly Recorded[]) => void;

export interface SqliteLogOptions {
  readonly file: string;
  readonly migrations: string;
  /** `process`: survives a crash of the process; `power`: survives a loss of power. */
  readonly durability: 'process' | 'power';
  readonly project?: (db: Database.Database) => Project;
}

/** In the order of the columns below; arrays are read in half the time of objects. */
type EventRow = readonly [
  position: number,
  stream: string,
  version: number,
  type: string,
  schema: number,
  at: number,
  cause: string | null,
  data: string,
];
const COLUMNS = 'position, stream, version, type, schema, at, cause, data';

type Data = Parameters<typeof upcast>[2];

const recorded = ([position, stream, version, type, written, at, cause]: EventRow, read: Data): Recorded => {
  const { schema, data } = upcast(type, written, read);
  return { position, stream, version, type: type as FactType, schema, at, cause, data: data as Recorded['data'] };
};

/** Throws `UnreadableFact`, which names the row and quotes nothing of it. */
function readRow(row: EventRow): Recorded {
  try {
    const data = asObject(row[7]);
    if (data === null) throw new Error('its data is no JSON object.');
    return recorded(row, data);
  } catch (error) {
    const [position, stream, version, type] = row;
    throw new UnreadableFact({ position, stream, version, type }, error);
  }
}

function asObject(text: string): Data | null {
  try {
    const data: unknown = JSON.parse(text);
    return typeof data === 'object' ? (data as Data | null) : null;
  } catch {
    return null;
  }
}

/**
 * The whole log, oldest first, `size` facts at a time. SQLite makes each page one JSON text, which is read at once: reading
 * rows one by one and the data of each by itself takes half as long again.
 */
export function* pagesOf(db: Database.Database, size = 1_000): Generator<readonly Recorded[]> {
  const page = db
    .prepare<[number, number], string>(
      `select json_group_array(json_array(position, stream, version, type, schema, at, cause, json(data)))
       from (select ${COLUMNS} from events where position > ? order by position limit ?)`,
    )
    .pluck();
  for (let after = 0; ; ) {
    const rows = JSON.parse(page.get(after, size) ?? '[]') as EventRow[];
    const facts = rows.map((row) => recorded(row, row[7] as unknown as Data));
    const last = facts.at(-1);
    if (!last) return;
    after = last.position;
    yield facts;
  }
}

/** Opens a database for reading what another process writes; throws when the file is missing. */
export function openReader(file: string): Database.Database {
  return new Database(file, { readonly: true, fileMustExist: true });
}

/** What analyses of many facts read of each. */
export type Told = Pick<Recorded, 'position' | 'type' | 'at' | 'data'>;

/**
 * Facts of a stream, of some types, by their versions: above `after`, up to `upTo`, ascending. Half the work of `read`,
 * since SQLite makes one JSON text of all and versions need no search.
 */
export function toldFacts(
  db: Database.Database,
): (query: {
  readonly stream: string;
  readonly types: readonly string[];
  readonly after: number;
  readonly upTo: number;
}) => Told[] {
  const page = db
    .prepare<[string, number, number, string], string | null>(
      `select group_concat('[' || position || ',"' || type || '",' || schema || ',' || at || ',' || data || ']')
       from (select position, type, schema, at, data from events
             where stream = ? and version > ? and version <= ? and +type in (select value from json_each(?)) order by version)`,
    )
    .pluck();
  return ({ stream, types, after, upTo }) => {
    const text = page.get(stream, after, upTo, JSON.stringify(types)) ?? '';
    const rows = JSON.parse(`[${text}]`) as [number, string, number, number, Data][];
    return rows.map(([position, type, schema, at, data]) => ({
      position,
      type: type as FactType,
      at,
      data: upcast(type, schema, data).data as Told['data'],
    }));
  };
}

/** Reads a log that nobody, or another process, writes. `close` when done. */
export function readLog(
  db: Database.Database,
): Pick<EventLog, 'read' | 'lastPosition' | 'positionAt' | 'head' | 'heads' | 'lastAlive'> {
  const cached = new Map<string, Database.Statement>();
  const statement = (sql: string): Database.Statement => {
    const known = cached.get(sql) ?? db.prepare(sql).raw();
    cached.set(sql, known);
    return known;
  };
  const newest = db.prepare<[], number>('select position from events order by position desc limit 1').pluck();
  const oldest = db.prepare<[], number>('select position from events order by position limit 1').pluck();
  const near = db.prepare<[number], { position: number; at: number }>(
    'select position, at from events where position >= ? order by position limit 1',
  );
  const newestIn = db
    .prepare<[string], number>('select version from events where stream = ? order by version desc limit 1')
    .pluck();
  const nearIn = db.prepare<[string, number], { version: number; position: number }>(
    'select version, position from events where stream = ? and version >= ? order by version limit 1',
  );
  /** Version of the newest fact of a stream at or before a position; below the first one when there is none. Found by halving. */
  const versionAt = (stream: string, position: number): number => {
    let low = 0;
    let high = newestIn.get(stream) ?? 0;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const row = nearIn.get(stream, middle);
      if (row && row.position <= position) low = row.version;
      else high = middle - 1;
    }
    return low;
  };
  const oneHead = db.prepare<[string], { stream: string; version: number; state: string; context: string }>(
    'select * from heads where stream = ?',
  );
  const allHeads = db.prepare<[], { stream: string; version: number; state: string; context: string }>(
    'select * from heads order by stream',
  );
  // A fact is a sign of life as well: a second table in the transaction of every fact would be a page more to write.
  const alive = db
    .prepare<[], number | null>(
      'select max(at) from (select at from alive union all select at from (select at from events order by position desc limit 1))',
    )
    .pluck();
  return {
    read({ after = 0, afterVersion = 0, upTo, stream, type, limit, newestFirst = false }: ReadQuery): Recorded[] {
      // Within a stream the index is by version: a condition on positions would walk the stream from its beginning.
      const key = stream === undefined ? 'position' : 'version';
      const low = stream === undefined ? after : Math.max(afterVersion, after === 0 ? 0 : versionAt(stream, after));
      const high = stream === undefined || upTo === undefined ? upTo : versionAt(stream, upTo);
      const where = [`${key} > @low`];
      if (high !== undefined) where.push(`${key} <= @high`);
      if (stream !== undefined) where.push('stream = @stream');
      // Without the plus sign the planner may walk a whole stream to find one type; positions are the better path.
      if (type !== undefined) where.push('+type = @type');
      const order = `${key}${newestFirst ? ' desc' : ''}`;
      const sql = `select ${COLUMNS} from events where ${where.join(' and ')} order by ${order}${limit === undefined ? '' : ' limit @limit'}`;
      return (statement(sql).all({ low, high, stream, type, limit }) as EventRow[]).map(readRow);
    },
    lastPosition: () => newest.get() ?? 0,
    positionAt(time: number): number {
      // Times never go back along the log, so the position is found by halving.
      let low = oldest.get() ?? 0;
      let high = newest.get() ?? 0;
      if (high === 0 || (near.get(low)?.at ?? Number.POSITIVE_INFINITY) > time) return 0;
      while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        const row = near.get(middle);
        if (row && row.at <= time) low = row.position;
        else high = middle - 1;
      }
      return low;
    },
    head(stream: string): HeadRow | null {
      const row = oneHead.get(stream);
      return row ? { ...row, context: JSON.parse(row.context) } : null;
    },
    heads: () => allHeads.all().map((row) => ({ ...row, context: JSON.parse(row.context) })),
    lastAlive: () => alive.get() ?? null,
  };
}

type ChainEnd = readonly [position: number, chain: string];

const endOf = (row: readonly [position: number, chain: string | null] | undefined): ChainEnd => [
  row?.[0] ?? 0,
  row?.[1] ?? CHAIN_START,
];

/** The hash of the audit chain over a text of `chainText`. */
export const chainHash = (text: string): string => hash('sha256', text, 'base64url');

/** Where the chain stands: the newest fact and its hash; null when the log is empty or nothing is chained yet. */
export function chainTip(db: Database.Database): { readonly position: number; readonly hash: string } | null {
  const row = db
    .prepare<[], { position: number; hash: string | null }>(
      'select position, chain as hash from events order by position desc limit 1',
    )
    .get();
  return row?.hash ? { position: row.position, hash: row.hash } : null;
}

export interface SqliteLog extends EventLog {
  readonly db: Database.Database;
}

function openDatabase({ file, migrations, durability }: SqliteLogOptions): Database.Database {
  const db = new Database(file);
  try {
    // Before anything else: a file of a newer version stays as it is.
    pendingMigrations(db, migrations);
    db.pragma('journal_mode = WAL');
    db.pragma(`synchronous = ${durability === 'power' ? 'FULL' : 'NORMAL'}`);
    db.pragma('busy_timeout = 2000');
    db.pragma('journal_size_limit = 16777216');
    // 4 MiB instead of 16: what is appended to is at the end of each table, and the rest is in the system's own cache.
    db.pragma('cache_size = -4096');
    migrate(db, migrations);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Opens the log, bringing the file to today's format. Throws, and leaves the file alone, if a newer version wrote it. */
export function openLog(options: SqliteLogOptions): SqliteLog {
  const db = openDatabase(options);
  const project = options.project?.(db);
  const committed$ = new Subject<readonly Recorded[]>();
  const insert = db.prepare(
    'insert into events (position, stream, version, type, schema, at, cause, data, chain) values (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const tip = db
    .prepare<[], [position: number, chain: string | null]>(
      'select position, chain from events order by position desc limit 1',
    )
    .raw();
  const upsertHead = db.prepare(
    'insert into heads (stream, version, state, context) values (?, ?, ?, ?) on conflict (stream) do update set version = excluded.version, state = excluded.state, context = excluded.context',
  );
  const touch = db.prepare(
    'insert into alive (one, at) values (1, ?) on conflict (one) do update set at = excluded.at',
  );

  // Where the chain stands, as long as nothing failed: this process is the only one that writes.
  let end: ChainEnd | null = null;
  let reached: ChainEnd | null = null;
  const write = db.transaction((facts: readonly Unrecorded[], heads: readonly HeadRow[]): Recorded[] => {
    let [position, chain] = end ?? endOf(tip.get());
    const written = facts.map((fact): Recorded => {
      const { stream, version, type, schema, at, cause } = fact;
      const data = JSON.stringify(fact.data);
      position += 1;
      chain = chainHash(chainText(chain, { position, stream, version, type, schema, at, cause, data }));
      insert.run(position, stream, version, type, schema, at, cause, data, chain);
      return { position, stream, version, type, schema, at, cause, data: fact.data };
    });
    project?.(written);
    for (const head of heads) upsertHead.run(head.stream, head.version, head.state, JSON.stringify(head.context));
    reached = [position, chain];
    return written;
  }).immediate;

  return {
    db,
    ...readLog(db),
    committed$,
    async append(facts, heads) {
      let written: Recorded[];
      try {
        written = write(facts, heads);
      } catch (error) {
        end = null;
        throw conflict(error, facts) ?? error;
      }
      end = reached;
      committed$.next(written);
      return written;
    },
    touch: (time) => void touch.run(time),
    close() {
      committed$.complete();
      db.close();
    },
  };

  function conflict(error: unknown, facts: readonly Unrecorded[]): VersionConflict | null {
    const taking = ['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY'];
    if (!(error instanceof Database.SqliteError) || !taking.includes(error.code)) return null;
    const taken = db.prepare('select 1 from events where stream = ? and version = ?');
    const fact = facts.find(({ stream, version }) => taken.get(stream, version) !== undefined);
    return fact ? new VersionConflict(fact.stream, fact.version) : null;
  }
}
