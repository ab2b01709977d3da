/** Makes the views anew in the file itself, for when no daemon runs. Loads the database: import it only when needed. */
import { join } from 'node:path';
import type { Paths } from '../config/paths.ts';
import { AlreadyOwned, takeOwnership } from '../daemon/owner.ts';
import type { Recorded } from '../events/envelope.ts';
import type { EventLog } from '../events/log.ts';
import { openLog } from '../events/sqlite.ts';
import { rebuildViews } from '../projections/views.ts';
import { packageRoot } from '../root.ts';
import { CommandError } from './failure.ts';
import { unreadable } from './offline.log.ts';

const page = 1000;

function* pagesOf(log: EventLog): Generator<readonly Recorded[], void> {
  for (let after = 0; ; ) {
    const facts = log.read({ after, limit: page });
    const last = facts.at(-1);
    if (!last) return;
    yield facts;
    after = last.position;
  }
}

/** Returns the number of facts read. Owns the data directory meanwhile, so that no daemon starts over it. */
export function rebuildOffline({ dataDir, databaseFile }: Pick<Paths, 'dataDir' | 'databaseFile'>): number {
  try {
    const owner = takeOwnership(dataDir);
    try {
      const log = openLog({ file: databaseFile, migrations: join(packageRoot(), 'migrations'), durability: 'process' });
      try {
        return rebuildViews(log.db, pagesOf(log));
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
