import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';

interface Migration {
  readonly number: number;
  readonly file: string;
}

export class NewerDatabase extends Error {
  override readonly name = 'NewerDatabase';
}

/**
 * What `folder` (files `NNN_name.sql`) has beyond the database, in order. Changes nothing. Throws
 * `NewerDatabase` if the file was written by a newer version.
 */
export function pendingMigrations(db: Database, folder: string): readonly Migration[] {
  const all = readdirSync(folder)
    .filter((file) => /^\d{3}_.*\.sql$/.test(file))
    .sort()
    .map((file) => ({ number: Number(file.slice(0, 3)), file: join(folder, file) }));
  const newest = all.at(-1)?.number ?? 0;
  const present = Number(db.pragma('user_version', { simple: true }));
  if (present > newest) {
    throw new NewerDatabase(
      `The database has format ${present}, this version of watchkeeper knows ${newest}. Use the newer version, or another data directory (--data).`,
    );
  }
  return all.filter(({ number }) => number > present);
}

/** Brings the database to the newest format, each step in a transaction of its own; `user_version` holds the number of the last one. */
export function migrate(db: Database, folder: string): void {
  for (const { number, file } of pendingMigrations(db, folder)) {
    db.transaction(() => {
      db.exec(readFileSync(file, 'utf8'));
      db.pragma(`user_version = ${number}`);
    })();
  }
}
