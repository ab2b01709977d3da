/** The ledger: one row a call. */

import type { Database } from 'better-sqlite3';
import type { CallRequest, Outcome } from '../events/call.events.ts';
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
}

type CallFactType = 'CallHeld' | 'CallApproved' | 'CallStarted' | 'CallSettled';
type CallRecorded = { [Type in CallFactType]: RecordedOf<Type> }[CallFactType];

/** The row after one more fact. A call's first fact says what is asked. */
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
        }
      );
    }
  }
}

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
});

const inserter = (db: Database): ((row: CallRow) => void) => {
  const insert = db.prepare(
    `insert into calls (seq, id, server, tool, name, state, outcome, mode, client, door, verdict, requested_at, started_at,
      settled_at, expires_at, args_hash, args_bytes, result_bytes, truncated, decided_by, reason, unusual)
     values (${Array(22).fill('?').join(', ')})`,
  );
  return (row) => {
    const { seq, id, server, tool, name, state, outcome, mode, client, door, verdict, requestedAt, startedAt } = row;
    const { settledAt, expiresAt, argsHash, argsBytes, resultBytes, truncated, decidedBy, reason, unusual } = row;
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
      JSON.stringify(unusual),
    );
  };
};

export const calls: Projection = {
  name: 'calls',
  tables: ['calls'],
  on(db) {
    const insert = inserter(db);
    const start = db.prepare("update calls set state = 'running', verdict = ?, started_at = ? where id = ?");
    const approve = db.prepare("update calls set state = 'approved', decided_by = ? where id = ?");
    const settle = db.prepare(
      `update calls set state = 'settled', outcome = ?, settled_at = ?, result_bytes = ?, truncated = ?, reason = ?,
        decided_by = coalesce(?, decided_by) where id = ?`,
    );
    const begin = (fact: CallRecorded): void => {
      const row = evolveCallRow(null, fact);
      if (row) insert(row);
    };
    // Rows are changed in place: this is the way of every call, and reading a row first would double its cost.
    return {
      CallHeld: begin,
      CallApproved: ({ stream, data }) => void approve.run(data.by, callOf(stream)),
      CallStarted: (fact) => {
        if (fact.version === 1) begin(fact);
        else start.run(fact.data.verdict, fact.at, callOf(fact.stream));
      },
      CallSettled: (fact) => {
        const { outcome, request, reason = null, by = null, resultBytes = null, truncated } = fact.data;
        const flag = truncated === undefined ? null : Number(truncated);
        if (request) begin(fact);
        else settle.run(outcome, fact.at, resultBytes, flag, reason, by, callOf(fact.stream));
      },
    };
  },
  fill(db) {
    const insert = inserter(db);
    const open = new Map<string, CallRow>();
    const apply = (fact: CallRecorded): void => {
      const row = evolveCallRow(open.get(fact.stream) ?? null, fact);
      if (!row) return;
      if (row.state !== 'settled') open.set(fact.stream, row);
      else {
        open.delete(fact.stream);
        insert(row);
      }
    };
    return {
      handlers: { CallHeld: apply, CallApproved: apply, CallStarted: apply, CallSettled: apply },
      finish: () => [...open.values()].forEach(insert),
    };
  },
};

const COLUMNS = `seq, id, server, tool, name, state, outcome, mode, client, door, verdict, requested_at as requestedAt, started_at as startedAt,
  settled_at as settledAt, expires_at as expiresAt, args_hash as argsHash, args_bytes as argsBytes, result_bytes as resultBytes, truncated,
  decided_by as decidedBy, reason, unusual`;

type Row = Omit<CallRow, 'truncated' | 'unusual'> & { truncated: number | null; unusual: string };
const typed = (row: Row): CallRow => ({
  ...row,
  truncated: row.truncated === null ? null : row.truncated === 1,
  unusual: JSON.parse(row.unusual),
});

export function readCall(db: Database, id: string): CallRow | null {
  const row = db.prepare<[string], Row>(`select ${COLUMNS} from calls where id = ?`).get(id);
  return row ? typed(row) : null;
}

/** Newest first. `before` is the `seq` of a row. */
export function readCalls(
  db: Database,
  query: { state?: string | undefined; server?: string | undefined; before?: number | undefined; limit: number },
): CallRow[] {
  const where = ['1 = 1'];
  if (query.state !== undefined) where.push('state = @state');
  if (query.server !== undefined) where.push('server = @server');
  if (query.before !== undefined) where.push('seq < @before');
  return (
    db
      .prepare(`select ${COLUMNS} from calls where ${where.join(' and ')} order by seq desc limit @limit`)
      .all(query) as Row[]
  ).map(typed);
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
