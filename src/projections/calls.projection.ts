/** The ledger: one row a call. */

import type { Database } from 'better-sqlite3';
import type { CallFinding, CallRequest, Outcome } from '../events/call.events.ts';
import { callOf } from '../events/envelope.ts';
import type { Projection, RecordedOf } from './projection.ts';

/** Times are ms since the epoch; sizes in bytes. */
export interface CallRow {
  readonly seq: number;
  readonly id: string;
  readonly server: string;
  readonly tool: string;
  readonly name: string;
  readonly state: 'held' | 'approved' | 'running' | 'settled';
  readonly outcome: Outcome | null;
  readonly mode: string;
  readonly client: string;
  readonly door: string;
  readonly verdict: string | null;
  readonly requestedAt: number;
  readonly startedAt: number | null;
  readonly settledAt: number | null;
  readonly expiresAt: number | null;
  readonly argsHash: string;
  readonly argsBytes: number;
  readonly resultBytes: number | null;
  readonly truncated: boolean | null;
  /** Who approved, denied or cancelled it. */
  readonly decidedBy: string | null;
  readonly reason: string | null;
  readonly unusual: readonly string[];
  /** Of the server and of the tool's definition, when it was asked for. */
  readonly identity: string;
  readonly definition: string;
  readonly resultHash: string | null;
  /** From start to end, in ms. */
  readonly tookMs: number | null;
  /** What a person found out about a call whose outcome was unknown. */
  readonly closed: CallClosing | null;
}

export interface CallClosing {
  readonly finding: CallFinding;
  readonly note: string | null;
  readonly by: string;
  readonly at: number;
}

type CallFactType = 'CallHeld' | 'CallApproved' | 'CallStarted' | 'CallSettled' | 'CallClosed';
type CallRecorded = { [Type in CallFactType]: RecordedOf<Type> }[CallFactType];

/** The row after one more fact; a fact that shows in no row leaves it as it is. A call's first fact says what is asked. */
export function evolveCallRow(row: CallRow | null, fact: CallRecorded): CallRow | null {
  switch (fact.type) {
    case 'CallHeld': {
      const { expiresAt, unusual } = fact.data;
      return { ...asked(fact, fact.data), state: 'held', expiresAt, unusual };
    }
    case 'CallApproved':
      return row && { ...row, state: 'approved', decidedBy: fact.data.by };
    case 'CallStarted':
      return { ...(row ?? asked(fact, fact.data)), state: 'running', verdict: fact.data.verdict, startedAt: fact.at };
    case 'CallSettled': {
      const { outcome, request, reason = null, by, resultBytes = null, truncated = null } = fact.data;
      const { resultHash = null, tookMs = null } = fact.data;
      const before = row ?? (request ? asked(fact, request) : null);
      const decidedBy = by ?? before?.decidedBy ?? null;
      return (
        before && {
          ...before,
          state: 'settled',
          outcome,
          settledAt: fact.at,
          reason,
          decidedBy,
          resultBytes,
          truncated,
          resultHash,
          tookMs,
        }
      );
    }
    case 'CallClosed':
      return row && { ...row, closed: closingOf(fact) };
    default:
      return row;
  }
}

const closingOf = ({ at, data }: RecordedOf<'CallClosed'>): CallClosing => ({
  finding: data.finding,
  note: data.note ?? null,
  by: data.by,
  at,
});

const asked = ({ stream, position, at }: CallRecorded, request: CallRequest): CallRow => ({
  seq: position,
  id: callOf(stream),
  server: request.server,
  tool: request.tool,
  name: request.name,
  state: 'running',
  outcome: null,
  mode: request.mode,
  client: request.client,
  door: request.door,
  verdict: null,
  requestedAt: at,
  startedAt: null,
  settledAt: null,
  expiresAt: null,
  argsHash: request.argsHash,
  argsBytes: request.argsBytes,
  resultBytes: null,
  truncated: null,
  decidedBy: null,
  reason: null,
  unusual: [],
  identity: request.identity,
  definition: request.definition,
  resultHash: null,
  tookMs: null,
  closed: null,
});

const inserter = (db: Database): ((row: CallRow) => void) => {
  const insert = db.prepare(
    `insert into calls (seq, id, server, tool, name, state, outcome, mode, client, door, verdict, requested_at, started_at,
      settled_at, expires_at, args_hash, args_bytes, result_bytes, truncated, decided_by, reason, unusual, identity, definition,
      result_hash, took_ms, closed)
     values (${Array(27).fill('?').join(', ')})`,
  );
  return (row) => {
    const { seq, id, server, tool, name, state, outcome, mode, client, door, verdict, requestedAt, startedAt } = row;
    const { settledAt, expiresAt, argsHash, argsBytes, resultBytes, truncated, decidedBy, reason, unusual } = row;
    const { identity, definition, resultHash, tookMs, closed } = row;
    const flag = truncated === null ? null : Number(truncated);
    insert.run(
      seq,
      id,
      server,
      tool,
      name,
      state,
      outcome,
      mode,
      client,
      door,
      verdict,
      requestedAt,
      startedAt,
      settledAt,
      expiresAt,
      argsHash,
      argsBytes,
      resultBytes,
      flag,
      decidedBy,
      reason,
      unusual.length === 0 ? '[]' : JSON.stringify(unusual),
      identity,
      definition,
      resultHash,
      tookMs,
      closed && JSON.stringify(closed),
    );
  };
};

/** The row of a call that runs at once: what is not known yet need not be handed over. */
const starter = (db: Database): ((fact: RecordedOf<'CallStarted'>) => void) => {
  const insert = db.prepare(
    `insert into calls (seq, id, server, tool, name, state, mode, client, door, verdict, requested_at, started_at, args_hash,
      args_bytes, identity, definition)
     values (?, ?, ?, ?, ?, 'running', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return ({ position, stream, at, data }) => {
    const { server, tool, name, mode, client, door, verdict, argsHash, argsBytes, identity, definition } = data;
    const id = callOf(stream);
    insert.run(
      position,
      id,
      server,
      tool,
      name,
      mode,
      client,
      door,
      verdict,
      at,
      at,
      argsHash,
      argsBytes,
      identity,
      definition,
    );
  };
};

export const calls: Projection = {
  name: 'calls',
  tables: ['calls'],
  on(db) {
    const insert = inserter(db);
    const run = starter(db);
    const start = db.prepare("update calls set state = 'running', verdict = ?, started_at = ? where id = ?");
    const approve = db.prepare("update calls set state = 'approved', decided_by = ? where id = ?");
    const settle = db.prepare(
      `update calls set state = 'settled', outcome = ?, settled_at = ?, result_bytes = ?, truncated = ?, reason = ?,
        decided_by = coalesce(?, decided_by), result_hash = ?, took_ms = ? where id = ?`,
    );
    const close = db.prepare('update calls set closed = ? where id = ?');
    const begin = (fact: CallRecorded): void => {
      const row = evolveCallRow(null, fact);
      if (row) insert(row);
    };
    // Rows are changed in place: this is the way of every call, and reading a row first would double its cost.
    return {
      CallHeld: begin,
      CallApproved: ({ stream, data }) => void approve.run(data.by, callOf(stream)),
      CallStarted: (fact) => {
        if (fact.version === 1) run(fact);
        else start.run(fact.data.verdict, fact.at, callOf(fact.stream));
      },
      CallSettled: (fact) => {
        const { outcome, request, reason = null, by = null, resultBytes = null, truncated } = fact.data;
        const { resultHash = null, tookMs = null } = fact.data;
        const flag = truncated === undefined ? null : Number(truncated);
        if (request) begin(fact);
        else settle.run(outcome, fact.at, resultBytes, flag, reason, by, resultHash, tookMs, callOf(fact.stream));
      },
      CallClosed: (fact) => void close.run(JSON.stringify(closingOf(fact)), callOf(fact.stream)),
    };
  },
  fill(db) {
    const insert = inserter(db);
    const open = new Map<string, CallRow>();
    const apply = (fact: CallRecorded): void => {
      const row = evolveCallRow(open.get(fact.stream) ?? null, fact);
      if (!row) return;
      // What nobody knows the end of may still be closed by a person.
      if (row.state !== 'settled' || (row.outcome === 'unknown' && row.closed === null)) open.set(fact.stream, row);
      else {
        open.delete(fact.stream);
        insert(row);
      }
    };
    return {
      handlers: { CallHeld: apply, CallApproved: apply, CallStarted: apply, CallSettled: apply, CallClosed: apply },
      finish: () => [...open.values()].forEach(insert),
    };
  },
};

const COLUMNS = `seq, id, server, tool, name, state, outcome, mode, client, door, verdict, requested_at as requestedAt, started_at as startedAt,
  settled_at as settledAt, expires_at as expiresAt, args_hash as argsHash, args_bytes as argsBytes, result_bytes as resultBytes, truncated,
  decided_by as decidedBy, reason, unusual, identity, definition, result_hash as resultHash, took_ms as tookMs, closed`;

type Row = Omit<CallRow, 'truncated' | 'unusual' | 'closed'> & {
  truncated: number | null;
  unusual: string;
  closed: string | null;
};
const typed = (row: Row): CallRow => ({
  ...row,
  truncated: row.truncated === null ? null : row.truncated === 1,
  unusual: JSON.parse(row.unusual),
  closed: row.closed === null ? null : JSON.parse(row.closed),
});

/** Reads rows by the ids of their calls. */
export function rowReader(db: Database): (id: string) => CallRow | null {
  const find = db.prepare<[string], Row>(`select ${COLUMNS} from calls where id = ?`);
  return (id) => {
    const row = find.get(id);
    return row ? typed(row) : null;
  };
}

export const readCall = (db: Database, id: string): CallRow | null => rowReader(db)(id);

export interface CallsQuery {
  readonly state?: string | undefined;
  readonly server?: string | undefined;
  readonly outcome?: string | undefined;
  readonly client?: string | undefined;
  /** Only calls whose outcome is unknown and that nobody has closed. */
  readonly open?: boolean | undefined;
  /** `seq` of a row; only older ones. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Newest first. */
export function readCalls(db: Database, { open, ...query }: CallsQuery): CallRow[] {
  const where = ['1 = 1'];
  if (query.state !== undefined) where.push('state = @state');
  if (query.server !== undefined) where.push('server = @server');
  if (query.outcome !== undefined) where.push('outcome = @outcome');
  if (query.client !== undefined) where.push('client = @client');
  if (open === true) where.push("outcome = 'unknown' and closed is null");
  if (query.before !== undefined) where.push('seq < @before');
  return (
    db
      .prepare(`select ${COLUMNS} from calls where ${where.join(' and ')} order by seq desc limit @limit`)
      .all(query) as Row[]
  ).map(typed);
}

/** The newest calls that are older than the call `before`, and whether there are more; null when there is no such call. */
export function readCallsPage(
  db: Database,
  { before, limit, ...query }: Omit<CallsQuery, 'before'> & { readonly before?: string | undefined },
): { readonly rows: readonly CallRow[]; readonly next: string | null } | null {
  const from = before === undefined ? undefined : readCall(db, before);
  if (from === null) return null;
  const found = readCalls(db, { ...query, before: from?.seq, limit: limit + 1 });
  const rows = found.slice(0, limit);
  return { rows, next: found.length > limit ? (rows.at(-1)?.id ?? null) : null };
}

/** How many calls are looked through for an earlier one of the same tool. */
const LOOKED = 50_000;

/** Whether a tool was sent a call before; `looked`: among how many of the last calls, null for all there were. */
export function calledBefore(db: Database, server: string, tool: string): { called: boolean; looked: number | null } {
  const from = db.prepare<[], number>(`select seq from calls order by seq desc limit 1 offset ${LOOKED}`).pluck().get();
  const called = db
    .prepare<[number, string, string], number>(
      'select 1 from calls where seq > ? and server = ? and tool = ? and started_at is not null limit 1',
    )
    .pluck()
    .get(from ?? 0, server, tool);
  return { called: called !== undefined, looked: from === undefined ? null : LOOKED };
}

/** Calls that have not ended: what a restart has to close. */
export function openCalls(db: Database): CallRow[] {
  return (db.prepare(`select ${COLUMNS} from calls where state <> 'settled' order by seq`).all() as Row[]).map(typed);
}

/** A call that was sent; times in ms since the epoch. */
export interface SentCall {
  readonly position: number;
  readonly tool: string;
  readonly at: number;
  /** Null: it still runs. */
  readonly endedAt: number | null;
  readonly answered: boolean;
}

/** Calls of a server that were sent, by the positions of their first facts: behind `after`, up to `upTo`, ascending. */
export function sentCalls(
  db: Database,
): (query: { readonly server: string; readonly after: number; readonly upTo: number }) => SentCall[] {
  const found = db.prepare<[number, number, string], Omit<SentCall, 'answered'> & { outcome: Outcome | null }>(
    `select seq as position, tool, started_at as at, settled_at as endedAt, outcome from calls
     where seq > ? and seq <= ? and server = ? and started_at is not null and outcome is not 'failed' order by seq`,
  );
  return ({ server, after, upTo }) =>
    found.all(after, upTo, server).map(({ outcome, ...call }) => ({
      ...call,
      answered: outcome === 'succeeded' || outcome === 'tool-error',
    }));
}
