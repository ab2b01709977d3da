/** The ledger out of the file, for when no daemon runs. Nothing in it is changed. */
import type { Call, Calls, LedgerVerified } from '../api/client.ts';
import type { DaemonUnreachable } from '../api/errors.ts';
import { CommandError } from './failure.ts';
import { fromDatabase } from './offline.log.ts';
import type { Event } from './shapes.ts';

export interface CallsAsked {
  readonly server: string | undefined;
  readonly open: boolean | undefined;
  readonly outcome: string | undefined;
  readonly client: string | undefined;
  /** Id of a call; only older ones. */
  readonly before: string | undefined;
  readonly limit: number;
}

/** In the shape of the API; without arguments and results, which only a daemon remembers. Throws `why` when there is no file. */
export async function offlineCalls(file: string, asked: CallsAsked, why: DaemonUnreachable): Promise<Calls> {
  return fromDatabase(file, why, async ({ db }) => {
    const { readCallsPage } = await import('../projections/calls.projection.ts');
    const { callAnswer } = await import('../keeper/answers.ts');
    const page = readCallsPage(db, asked);
    if (page === null) throw unknownCall(asked.before ?? '');
    return { calls: page.rows.map((row) => callAnswer(row, {})), next: page.next };
  });
}

/** One call with its facts. */
export async function offlineCall(
  file: string,
  id: string,
  why: DaemonUnreachable,
): Promise<{ readonly call: Call; readonly events: Event[] }> {
  return fromDatabase(file, why, async ({ db, log }) => {
    const { readCall } = await import('../projections/calls.projection.ts');
    const { callAnswer } = await import('../keeper/answers.ts');
    const row = readCall(db, id);
    if (row === null) throw unknownCall(id);
    const facts = log.read({ stream: `call-${id}` });
    return {
      call: callAnswer(row, {}),
      events: facts.map((fact) => ({ ...fact, at: new Date(fact.at).toISOString() })) as Event[],
    };
  });
}

const unknownCall = (id: string): CommandError => new CommandError(`There is no call "${id}".`, { next: ['ledger'] });

/** In the shape of the API. Throws `why` when there is no file. */
export async function verifyOffline(file: string, expect: string | undefined, why: unknown): Promise<LedgerVerified> {
  const { verifyLedger } = await import('../keeper/ledger.ts');
  const { atOnce } = await import('../replay/unhurried.ts');
  return fromDatabase(file, why, ({ db }) => {
    const chained = db.prepare("select 1 from pragma_table_info('events') where name = 'chain'").get() !== undefined;
    if (!chained)
      throw new CommandError(`${file} was written by a version without a chain of hashes.`, { next: ['up --detach'] });
    return atOnce(verifyLedger(db, expect));
  });
}
