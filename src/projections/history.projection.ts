/** Intervals of each server's state: no gaps, no overlaps, the last one open. */
import type { Database } from 'better-sqlite3';
import { type Recorded, serverOf } from '../events/envelope.ts';
import { serverFacts } from '../events/server.events.ts';
import { bulkInsert } from './bulk.ts';
import type { Handlers, Projection } from './projection.ts';

/** Cause of the last interval of a server that was removed. */
const REMOVED = 'ServerStopped: removed';

/** Nobody watched: the daemon was dead. */
export const UNOBSERVED = 'unobserved';

export interface Interval {
  readonly server: string;
  readonly state: string;
  /** Milliseconds since the epoch. */
  readonly from: number;
  /** Null: still so. */
  readonly to: number | null;
  /** The fact that began it, in words. */
  readonly cause: string;
  /** Position of that fact. */
  readonly position: number;
}

/** The fact in words: its type, and the reason where it has one. */
export function causeOf({ type, data }: Recorded): string {
  const { failure, reason } = data as { failure?: { class: string; message: string }; reason?: string };
  if (failure) return `${type} (${failure.class}): ${failure.message}`;
  return reason ? `${type}: ${reason}` : type;
}

interface Open {
  readonly server: string;
  readonly seq: number;
  readonly state: string;
  readonly started: number;
  readonly cause: string;
  readonly position: number;
}

/** Where intervals are kept: in the table as they come, or in memory until they are closed. */
interface Intervals {
  latest(server: string): Open | undefined;
  everyOpen(): Open[];
  begin(open: Open): void;
  end(open: Open, at: number): void;
}

export const history: Projection = {
  name: 'history',
  tables: ['history'],
  on: (db) => handlersOn(inTable(db)),
  fill(db) {
    const open = new Map<string, Open>();
    const byKey = (a: readonly unknown[], b: readonly unknown[]): number =>
      a[0] === b[0] ? Number(a[1]) - Number(b[1]) : String(a[0]) < String(b[0]) ? -1 : 1;
    const bulk = bulkInsert(db, 'history', COLUMNS, byKey);
    const add = ({ server, seq, state, started, cause, position }: Open, ended: number | null): void =>
      bulk.add([server, seq, state, started, ended, cause, position]);
    return {
      handlers: handlersOn({
        latest: (server) => open.get(server),
        everyOpen: () => [...open.values()],
        begin: (interval) => void open.set(interval.server, interval),
        end: add,
      }),
      finish: () => {
        for (const interval of open.values()) add(interval, null);
        bulk.finish();
      },
    };
  },
};

const COLUMNS = ['server', 'seq', 'state', 'started', 'ended', 'cause', 'position'];

function inserter(db: Database): (interval: Open, ended: number | null) => void {
  const insert = db.prepare(
    'insert into history (server, seq, state, started, ended, cause, position) values (?, ?, ?, ?, ?, ?, ?)',
  );
  return ({ server, seq, state, started, cause, position }, ended) =>
    void insert.run(server, seq, state, started, ended, cause, position);
}

function inTable(db: Database): Intervals {
  const latest = db.prepare<[string], Open>('select * from history where server = ? order by seq desc limit 1');
  const everyOpen = db.prepare<[], Open>('select * from history where ended is null');
  const end = db.prepare('update history set ended = ? where server = ? and seq = ?');
  const insert = inserter(db);
  return {
    latest: (server) => latest.get(server),
    everyOpen: () => everyOpen.all(),
    begin: (interval) => insert(interval, null),
    end: ({ server, seq }, at) => void end.run(at, server, seq),
  };
}

function handlersOn(intervals: Intervals): Handlers {
  const turn = (server: string, open: Open | undefined, state: string, at: number, fact: Recorded): void => {
    if (open) intervals.end(open, at);
    const { position } = fact;
    intervals.begin({ server, seq: (open?.seq ?? 0) + 1, state, started: at, cause: causeOf(fact), position });
  };
  const move = (fact: Recorded): void => {
    const { to } = fact.data;
    const server = serverOf(fact.stream);
    const open = intervals.latest(server);
    if (to !== undefined && open?.state !== to) turn(server, open, to, fact.at, fact);
  };
  return {
    ...(Object.fromEntries(Object.keys(serverFacts).map((type) => [type, move])) as Handlers),
    DaemonStarted: (fact) => {
      const { lastAlive } = fact.data;
      if (lastAlive === null) return;
      for (const open of intervals.everyOpen()) {
        const { server, state } = open;
        // A server that was removed is nobody's to watch.
        if (open.cause === REMOVED) continue;
        const diedAt = Math.max(lastAlive, open.started);
        turn(server, open, UNOBSERVED, diedAt, fact);
        // What was at rest still is; for the others the daemon's own end follows as a fact of theirs.
        if (state === 'stopped' || state === 'disabled') turn(server, intervals.latest(server), state, fact.at, fact);
      }
    },
  };
}

/** Ascending by server and time; clipped to `from` and `to` (ms since the epoch) where given. */
export function readHistory(
  db: Database,
  query: { name?: string | undefined; from?: number | undefined; to?: number | undefined },
): Interval[] {
  const where = ['1 = 1'];
  if (query.name !== undefined) where.push('server = @name');
  if (query.from !== undefined) where.push('(ended is null or ended > @from)');
  if (query.to !== undefined) where.push('started < @to');
  const rows = db
    .prepare(
      `select server, state, started, ended, cause, position from history where ${where.join(' and ')} order by server, seq`,
    )
    .all(query) as {
    server: string;
    state: string;
    started: number;
    ended: number | null;
    cause: string;
    position: number;
  }[];
  return rows.map(({ server, state, started, ended, cause, position }) => ({
    server,
    state,
    from: Math.max(started, query.from ?? started),
    to: query.to === undefined ? ended : Math.min(ended ?? query.to, query.to),
    cause,
    position,
  }));
}
