/** One row a server: its state now, and why. */
import type { Database } from 'better-sqlite3';
import { type Recorded, serverOf } from '../events/envelope.ts';
import { type ServerFact, serverFacts } from '../events/server.events.ts';
import type { Era, FailureClass, ServerInfo, Transport } from '../events/shapes.ts';
import type { Handlers, Projection } from './projection.ts';

/** Times are ms since the epoch. */
export interface StatusRow {
  readonly server: string;
  readonly position: number;
  readonly transport: Transport | null;
  readonly state: string;
  readonly since: number;
  readonly error: { readonly class: FailureClass; readonly message: string; readonly at: number } | null;
  readonly attempt: number;
  readonly nextAttemptAt: number | null;
  readonly pid: number | null;
  readonly era: Era | null;
  readonly protocolVersion: string | null;
  readonly serverInfo: ServerInfo | null;
  readonly instructions: string | null;
  readonly tools: number;
  readonly lastSeen: number | null;
  readonly push: boolean | null;
  readonly gone: boolean;
}

const blank = (server: string, at: number): StatusRow => ({
  server,
  position: 0,
  transport: null,
  state: 'stopped',
  since: at,
  error: null,
  attempt: 0,
  nextAttemptAt: null,
  pid: null,
  era: null,
  protocolVersion: null,
  serverInfo: null,
  instructions: null,
  tools: 0,
  lastSeen: null,
  push: null,
  gone: false,
});

/** The row after one more fact. Pure, so that the status of any moment can be folded from a stream. */
export function evolveStatus(before: StatusRow | null, fact: Recorded<ServerFact>): StatusRow {
  const row = before ?? blank(serverOf(fact.stream), fact.at);
  return { ...row, ...step(row, fact) };
}

function step(row: StatusRow, fact: Recorded<ServerFact>): Changes {
  const state = fact.data.to ?? row.state;
  return {
    position: fact.position,
    state,
    since: state === row.state ? row.since : fact.at,
    nextAttemptAt: state === 'backing-off' ? row.nextAttemptAt : null,
    ...changes(row, fact as never),
  };
}

type Changes = Partial<StatusRow>;
const unlinked: Changes = { pid: null, push: null };

function changes(
  row: StatusRow,
  fact: {
    [T in ServerFact['type']]: { type: T; at: number; data: Extract<ServerFact, { type: T }>['data'] };
  }[ServerFact['type']],
): Changes {
  switch (fact.type) {
    case 'ServerConfigured': {
      const sameKind = row.transport === fact.data.transport;
      return {
        transport: fact.data.transport,
        error: null,
        gone: false,
        ...(sameKind ? {} : { era: null, protocolVersion: null, serverInfo: null }),
      };
    }
    case 'ServerRemoved':
      return { gone: true, tools: 0, instructions: null };
    case 'ConnectStarted':
    case 'ReconnectStarted':
      return { attempt: fact.data.attempt, ...unlinked };
    case 'ProcessStarted':
      return { pid: fact.data.pid };
    case 'Connected': {
      const { transport, era, protocolVersion, serverInfo, instructions } = fact.data;
      return { transport, era, protocolVersion, serverInfo, instructions, lastSeen: fact.at };
    }
    case 'ConnectFailed':
      return { error: seen(fact), nextAttemptAt: fact.at + fact.data.delayMs, ...unlinked };
    case 'ReconnectDelayed':
      return { nextAttemptAt: fact.at + fact.data.delayMs };
    case 'LoginRequired':
    case 'ServerFailed':
    case 'SessionLost':
      return { error: seen(fact), ...unlinked };
    case 'ToolsListed':
      return { tools: fact.data.count, error: null, lastSeen: fact.at };
    case 'ListFailed':
      return { error: seen(fact) };
    case 'PushChanged':
      return { push: fact.data.push };
    case 'ServerStopped':
      return { error: null, attempt: 0, ...unlinked };
    default:
      return {};
  }
}

const seen = (fact: {
  at: number;
  data: { failure: { class: FailureClass; message: string } };
}): StatusRow['error'] => ({
  class: fact.data.failure.class,
  message: fact.data.failure.message,
  at: fact.at,
});

interface Columns {
  server: string;
  position: number;
  transport: Transport | null;
  state: string;
  since: number;
  error: string | null;
  attempt: number;
  next_attempt_at: number | null;
  pid: number | null;
  era: Era | null;
  protocol_version: string | null;
  server_info: string | null;
  instructions: string | null;
  tools: number;
  last_seen: number | null;
  push: number | null;
  gone: number;
}

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

const toColumns = (row: StatusRow): Columns => ({
  server: row.server,
  position: row.position,
  transport: row.transport,
  state: row.state,
  since: row.since,
  error: json(row.error),
  attempt: row.attempt,
  next_attempt_at: row.nextAttemptAt,
  pid: row.pid,
  era: row.era,
  protocol_version: row.protocolVersion,
  server_info: json(row.serverInfo),
  instructions: row.instructions,
  tools: row.tools,
  last_seen: row.lastSeen,
  push: row.push === null ? null : Number(row.push),
  gone: Number(row.gone),
});

const fromColumns = (row: Columns): StatusRow => ({
  server: row.server,
  position: row.position,
  transport: row.transport,
  state: row.state,
  since: row.since,
  error: row.error === null ? null : JSON.parse(row.error),
  attempt: row.attempt,
  nextAttemptAt: row.next_attempt_at,
  pid: row.pid,
  era: row.era,
  protocolVersion: row.protocol_version,
  serverInfo: row.server_info === null ? null : JSON.parse(row.server_info),
  instructions: row.instructions,
  tools: row.tools,
  lastSeen: row.last_seen,
  push: row.push === null ? null : row.push === 1,
  gone: row.gone === 1,
});

const handleAll = (apply: (fact: Recorded) => void): Handlers =>
  Object.fromEntries(Object.keys(serverFacts).map((type) => [type, apply])) as Handlers;

const writer = (db: Database): ((row: StatusRow) => void) => {
  const put = db.prepare(
    `insert or replace into status values (@server, @position, @transport, @state, @since, @error, @attempt, @next_attempt_at, @pid,
      @era, @protocol_version, @server_info, @instructions, @tools, @last_seen, @push, @gone)`,
  );
  return (row) => void put.run(toColumns(row));
};

/** A row is kept after every so many facts of a server: the most that has to be folded to know how it was at a moment. */
export const MARK_EVERY = 32;

/** Where the fold of a moment begins: the row after the fact at `position`. */
export interface StatusMark {
  readonly row: StatusRow;
  /** Position of the newest `ServerConfigured` up to there; null when it is not known. */
  readonly configured: number | null;
}

const isMarked = ({ type, version }: Recorded): boolean => version % MARK_EVERY === 0 || type === 'ServerConfigured';

const marker = (db: Database): ((fact: Recorded, row: StatusRow) => void) => {
  const latest = db
    .prepare<[string], number | null>(
      'select configured from status_marks where server = ? order by position desc limit 1',
    )
    .pluck();
  const put = db.prepare('insert into status_marks (server, position, configured, row) values (?, ?, ?, ?)');
  return (fact, row) => {
    if (!isMarked(fact)) return;
    const configured = fact.type === 'ServerConfigured' ? fact.position : (latest.get(row.server) ?? null);
    put.run(row.server, fact.position, configured, JSON.stringify(row));
  };
};

export const status: Projection = {
  name: 'status',
  tables: ['status', 'status_marks'],
  on(db) {
    const get = db.prepare<[string], Columns>('select * from status where server = ?');
    const put = writer(db);
    const mark = marker(db);
    return handleAll((fact) => {
      const before = get.get(serverOf(fact.stream));
      const after = evolveStatus(before ? fromColumns(before) : null, fact as Recorded<ServerFact>);
      put(after);
      mark(fact, after);
    });
  },
  fill(db) {
    const rows = new Map<string, StatusRow>();
    const mark = marker(db);
    return {
      // Changed in place: these rows are nobody else's, and copying them would be most of the work.
      handlers: handleAll((fact) => {
        const row = rows.get(fact.stream) ?? blank(serverOf(fact.stream), fact.at);
        rows.set(fact.stream, Object.assign(row, step(row, fact as Recorded<ServerFact>)));
        mark(fact, row);
      }),
      finish: () => [...rows.values()].forEach(writer(db)),
    };
  },
};

/** The newest mark of a server at or before a position; null when there is none, as in a view that has yet to be filled. */
export type StatusMarks = (server: string, position: number) => StatusMark | null;

export function statusMarks(db: Database): StatusMarks {
  const newest = db.prepare<[string, number], { configured: number | null; row: string }>(
    'select configured, row from status_marks where server = ? and position <= ? order by position desc limit 1',
  );
  return (server, position) => {
    const found = newest.get(server, position);
    return found ? { configured: found.configured, row: JSON.parse(found.row) } : null;
  };
}

/** Sorted by server; servers that are no longer in the configuration are left out. */
export function readStatus(db: Database): StatusRow[] {
  return (db.prepare('select * from status where gone = 0 order by server').all() as Columns[]).map(fromColumns);
}
