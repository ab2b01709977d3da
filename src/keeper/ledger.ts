/** Whether log and ledger are what was written: the chain of hashes, missing facts, and rows that say something else. */
import type { Database } from 'better-sqlite3';
import type { z } from 'zod';
import { allowlistRules } from '../actors/allowlist/allowlist.rules.ts';
import type { AllowlistContext } from '../actors/allowlist/allowlist.state.ts';
import type { Head, Heard } from '../actors/head.ts';
import { canonicalJson } from '../canonical.ts';
import type { AllowlistFact } from '../events/allowlist.events.ts';
import type { CallFact } from '../events/call.events.ts';
import { callOf, type Recorded } from '../events/envelope.ts';
import type { EventLog } from '../events/log.ts';
import { chainHash, readLog } from '../events/sqlite.ts';
import { upcast } from '../events/upcast.ts';
import type { ledgerVerified } from '../http/contract.ledger.ts';
import { type CallRow, evolveCallRow, rowReader } from '../projections/calls.projection.ts';
import { ChainCheck, type Finding, type Row } from '../replay/chain.ts';
import { foldByTable } from '../replay/fold.ts';
import { counted } from '../replay/words.ts';
import { iso } from './answers.ts';

const PAGE = 500;
const MOST = 100;

/**
 * Looks at every fact up to the newest one of now, page by page. Needs no daemon: a database that is only read will do.
 * Throws when the database was never opened by a version with a chain.
 */
export function* verifyLedger(
  db: Database,
  expected: string | undefined,
): Generator<void, z.infer<typeof ledgerVerified>> {
  const check = new ChainCheck(chainHash, expected);
  const ledger = new LedgerCheck(db);
  const findings: Finding[] = [];
  let all = 0;
  const note = (finding: Finding): void => {
    all += 1;
    if (findings.length < MOST) findings.push(finding);
  };
  // What is there now; the daemon may write on meanwhile.
  const newest = db.prepare<[], number | null>('select max(position) from events').pluck().get() ?? 0;
  const streams = [...cutStreams(db), ...cutCalls(db, newest), ...forgedGrants(db)];
  const page = db.prepare<[number, number], Row>(
    `select position, stream, version, type, schema, at, cause, data, chain from events
     where position > ? and position <= ? order by position limit ${PAGE}`,
  );
  for (let after = 0; ; ) {
    const rows = page.all(after, newest);
    const last = rows.at(-1);
    if (!last) break;
    after = last.position;
    for (const row of rows) {
      for (const finding of check.take(row)) note(finding);
      const other = ledger.take(row);
      if (other) note(other);
    }
    yield;
  }
  for (const finding of [...streams, ...ledger.end(newest)]) note(finding);
  const { facts, unchained, from, tip, expectedAt } = check;
  // Whoever writes a chain begins it when it starts: a log in which nothing has a hash has lost all of them.
  if (facts > 0 && from === null)
    note({ position: newest, kind: 'unchained', message: `None of ${counted(facts, 'fact')} has a hash.` });
  return {
    ok: all === 0 && (expected === undefined || expectedAt !== null),
    facts,
    unchained,
    from,
    tip: tip && { position: tip.position, hash: tip.hash, at: iso(tip.at) },
    findings,
    more: all - findings.length,
    expected: expected === undefined ? null : { hash: expected, position: expectedAt },
  };
}

/** Streams of which something was remembered that no longer stands in the log. */
function cutStreams(db: Database): Finding[] {
  const cut = db.prepare<[], { stream: string; version: number; found: number; newest: number }>(
    `select stream, version, found, (select coalesce(max(position), 0) from events) as newest
     from (select h.stream, h.version,
             coalesce((select max(version) from events e where e.stream = h.stream), 0) as found from heads h)
     where found < version order by stream`,
  );
  return cut.all().map(({ stream, version, found, newest }) => ({
    position: newest,
    kind: 'cut',
    message: `${stream} had ${version} facts; ${version - found} of them are no longer at the end of the log.`,
  }));
}

/** Calls that began behind the newest fact there is. */
function cutCalls(db: Database, newest: number): Finding[] {
  const beyond = db.prepare<[number], number>('select count(*) from calls where seq > ?').pluck().get(newest) ?? 0;
  if (beyond === 0) return [];
  const message = `The ledger shows ${counted(beyond, 'call')} whose facts are no longer at the end of the log.`;
  return [{ position: newest, kind: 'cut', message }];
}

/** What is granted is kept beside the log, for speed; it must be what the facts lead to. */
function forgedGrants(db: Database): Finding[] {
  // Read in one transaction: facts and head are written in one.
  const read = db.transaction(() => {
    const log = readLog(db);
    return { head: log.head('allowlist'), folded: grantsInLog(log), newest: log.lastPosition() };
  });
  const { head, folded, newest } = read();
  // A head that stands on more or fewer facts was found as such.
  if (head === null || folded === null || head.version !== folded.version) return [];
  const kept = (head.context as AllowlistContext).grants ?? {};
  const differing = [...new Set([...Object.keys(kept), ...Object.keys(folded.context.grants)])]
    .filter((entry) => canonicalJson(kept[entry]) !== canonicalJson(folded.context.grants[entry]))
    .sort();
  if (differing.length === 0) return [];
  const message = `What is kept of the grants is not what the facts say: ${differing.join(', ')}.`;
  return [{ position: newest, kind: 'ledger', message }];
}

/** The grants as the facts lead to them; null where a fact cannot be read. */
export function grantsInLog(log: Pick<EventLog, 'read'>): Head<AllowlistContext> | null {
  try {
    return foldByTable(allowlistRules, log.read({ stream: 'allowlist' }) as unknown as Heard<AllowlistFact>[]);
  } catch {
    return null;
  }
}

/** Compares the rows people are shown with what the facts say. */
class LedgerCheck {
  readonly #read: (id: string) => CallRow | null;
  readonly #count: (newest: number) => number;
  /** Whether facts came behind the newest one that is looked at. */
  readonly #wentOn: (stream: string, newest: number) => boolean;
  readonly #open = new Map<string, CallRow>();
  #rows = 0;

  constructor(db: Database) {
    this.#read = rowReader(db);
    const count = db.prepare<[number], number>('select count(*) from calls where seq <= ?').pluck();
    this.#count = (newest) => count.get(newest) ?? 0;
    const later = db
      .prepare<[string, number], number>('select 1 from events where stream = ? and position > ?')
      .pluck();
    this.#wentOn = (stream, newest) => later.get(stream, newest) !== undefined;
  }

  take(row: Row): Finding | null {
    if (!row.stream.startsWith('call-')) return null;
    const fact = readFact(row);
    // A row that cannot be read is found by its hash.
    if (fact === null) return null;
    const before = this.#open.get(row.stream) ?? null;
    const after = evolveCallRow(before, fact as Parameters<typeof evolveCallRow>[1]);
    if (after === null) return null;
    if (before === null) this.#rows += 1;
    this.#open.set(row.stream, after);
    if (after.state !== 'settled') return null;
    // What a person says later of a call whose end nobody knows changes its row once more.
    if (after.outcome !== 'unknown' || after.closed !== null) this.#open.delete(row.stream);
    return this.#compared(row, after);
  }

  *end(newest: number): Generator<Finding> {
    for (const [stream, row] of this.#open) {
      const finding = this.#wentOn(stream, newest) ? null : this.#compared({ position: row.seq, stream }, row, true);
      if (finding) yield finding;
    }
    const extra = this.#count(newest) - this.#rows;
    if (extra === 0) return;
    const message =
      extra > 0
        ? `The ledger shows ${counted(extra, 'call')} of which no fact stands in the log.`
        : `The ledger lacks ${counted(-extra, 'call')} of the log.`;
    yield { position: newest, kind: 'ledger', message };
  }

  /** `whole`: nothing came after these facts, so that nothing else can be shown either. */
  #compared({ position, stream }: Pick<Row, 'position' | 'stream'>, expected: CallRow, whole = false): Finding | null {
    const id = callOf(stream);
    const shown = this.#read(id);
    if (shown === null) return { position, kind: 'ledger', message: `The ledger does not show call ${id}.` };
    const differing = differences(expected, shown, whole);
    if (differing.length === 0) return null;
    const message = `The ledger shows another ${differing.join(', ')} for call ${id} than fact ${position} says.`;
    return { position, kind: 'ledger', message };
  }
}

/** A call that was closed after the facts that were looked at may show more than they say. */
function differences(expected: CallRow, shown: CallRow, whole: boolean): string[] {
  return (Object.keys(expected) as (keyof CallRow)[]).filter(
    (key) =>
      JSON.stringify(expected[key]) !== JSON.stringify(shown[key]) &&
      !(key === 'closed' && expected.closed === null && !whole),
  );
}

function readFact({ data, ...row }: Row): Recorded<CallFact> | null {
  try {
    const read = upcast(row.type, row.schema, JSON.parse(data));
    return { ...row, ...read } as unknown as Recorded<CallFact>;
  } catch {
    return null;
  }
}
