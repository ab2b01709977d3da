/** The ledger: one row a call. */
import type { Database } from 'better-sqlite3';
import type { CallRequest, Outcome } from '../events/call.events.ts';
import { callOf, type Projection } from './projection.ts';

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

export const calls: Projection = {
  name: 'calls',
  tables: ['calls'],
  on(db) {
    const insert = db.prepare(
      `insert into calls (seq, id, server, tool, name, state, outcome, mode, client, door, verdict, requested_at, started_at, settled_at, expires_at, args_hash, args_bytes, reason, unusual)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const start = db.prepare("update calls set state = 'running', verdict = ?, started_at = ? where id = ?");
    const approve = db.prepare("update calls set state = 'approved', decided_by = ? where id = ?");
    const settle = db.prepare(
      "update calls set state = 'settled', outcome = ?, settled_at = ?, result_bytes = ?, truncated = ?, reason = ?, decided_by = coalesce(?, decided_by) where id = ?",
    );
    const add = (
      seq: number,
      id: string,
      at: number,
      request: CallRequest,
      more: {
        state: CallRow['state'];
        outcome?: Outcome;
        verdict?: string;
        startedAt?: number;
        settledAt?: number;
        expiresAt?: number;
        reason?: string | undefined;
        unusual?: readonly string[];
      },
    ): void => {
      insert.run(
        seq,
        id,
        request.server,
        request.tool,
        request.name,
        more.state,
        more.outcome ?? null,
        request.mode,
        request.client,
        request.door,
        more.verdict ?? null,
        at,
        more.startedAt ?? null,
        more.settledAt ?? null,
        more.expiresAt ?? null,
        request.argsHash,
        request.argsBytes,
        more.reason ?? null,
        JSON.stringify(more.unusual ?? []),
      );
    };
    return {
      CallHeld: ({ stream, position, at, data }) =>
        add(position, callOf(stream), at, data, { state: 'held', expiresAt: data.expiresAt, unusual: data.unusual }),
      CallApproved: ({ stream, data }) => void approve.run(data.by, callOf(stream)),
      CallStarted: ({ stream, position, version, at, data }) => {
        const id = callOf(stream);
        if (version === 1) add(position, id, at, data, { state: 'running', verdict: data.verdict, startedAt: at });
        else start.run(data.verdict, at, id);
      },
      CallSettled: ({ stream, position, at, data }) => {
        const id = callOf(stream);
        const { outcome, request, reason } = data;
        if (request) add(position, id, at, request, { state: 'settled', outcome, settledAt: at, reason });
        else
          settle.run(
            outcome,
            at,
            data.resultBytes ?? null,
            data.truncated === undefined ? null : Number(data.truncated),
            reason ?? null,
            data.by ?? null,
            id,
          );
      },
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
