/** Verifying the chain out of the file, for when no daemon runs. Nothing in it is changed. */
import type { LedgerVerified } from '../api/client.ts';
import { CommandError } from './failure.ts';
import { unreadable } from './offline.log.ts';

/** In the shape of the API. */
export async function verifyOffline(file: string, expect: string | undefined): Promise<LedgerVerified> {
  const { openReader } = await import('../events/sqlite.ts');
  const { verifyLedger } = await import('../keeper/ledger.ts');
  const { atOnce } = await import('../replay/unhurried.ts');
  let db: ReturnType<typeof openReader> | undefined;
  try {
    db = openReader(file);
    const chained = db.prepare("select 1 from pragma_table_info('events') where name = 'chain'").get() !== undefined;
    if (!chained)
      throw new CommandError(`${file} was written by a version without a chain of hashes.`, { next: ['up --detach'] });
    return atOnce(verifyLedger(db, expect));
  } catch (error) {
    throw unreadable(file, error);
  } finally {
    db?.close();
  }
}
