/** Makes the views anew in the file itself, for when no daemon runs. Loads the database: import it only when needed. */
import { join } from 'node:path';
import type { Rebuilt } from '../api/client.ts';
import type { Paths } from '../config/paths.ts';
import { AlreadyOwned, takeOwnership } from '../daemon/owner.ts';
import { openLog } from '../events/sqlite.ts';
import { rebuildFromLog } from '../keeper/rebuild.ts';
import { packageRoot } from '../root.ts';
import { CommandError } from './failure.ts';
import { unreadable } from './offline.log.ts';

/** Owns the data directory meanwhile, so that no daemon starts over it. */
export async function rebuildOffline({
  dataDir,
  databaseFile,
}: Pick<Paths, 'dataDir' | 'databaseFile'>): Promise<Rebuilt> {
  try {
    const owner = takeOwnership(dataDir);
    try {
      const log = openLog({ file: databaseFile, migrations: join(packageRoot(), 'migrations'), durability: 'process' });
      try {
        return await rebuildFromLog(log);
      } finally {
        log.close();
      }
    } finally {
      owner.release();
    }
  } catch (error) {
    if (error instanceof AlreadyOwned) throw new CommandError(error.message, { next: ['down'] });
    throw unreadable(databaseFile, error);
  }
}
