import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';

export class NewerDatabase extends Error {
  override readonly name = 'NewerDatabase';
}

/**
 * Brings the database to the newest of `folder`'s `NNN_name.sql`, each in a transaction of its own; `user_version` holds
 * the number of the last one. Throws `NewerDatabase` if the file was written by a newer version.
 */
export function migrate(db: Database, folder: string): void {
  const files = readdirSync(folder)
    .filter((file) => /^\d{3}_.*\.sql$/.test(file))
    .sort();
  const newest = files.length === 0 ? 0 : Number(files.at(-1)?.slice(0, 3));
  const present = Number(db.pragma('user_version', { simple: true }));
  if (present > newest) {
    throw new NewerDatabase(
      `The database has format ${present}, this version of watchkeeper knows ${newest}. Use the newer version, or another data directory (--data).`,
    );
  }
  for (const file of files) {
    const number = Number(file.slice(0, 3));
    if (number <= present) continue;
    db.transaction(() => {
      db.exec(readFileSync(join(folder, file), 'utf8'));
      db.pragma(`user_version = ${number}`);
    })();
  }
}
