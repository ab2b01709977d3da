import { chmodSync, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from '../command.ts';
import { bytes } from '../duration.ts';
import { CommandError } from '../failure.ts';

/** Copies the database page by page while the daemon may go on writing; the file appears whole or not at all. */
async function copy(from: string, to: string): Promise<void> {
  const { openReader } = await import('../../events/sqlite.ts');
  const partial = `${to}.${process.pid}.part`;
  const db = openReader(from);
  try {
    await db.backup(partial);
    chmodSync(partial, 0o600);
    renameSync(partial, to);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  } finally {
    db.close();
  }
}

export const backup: Command = {
  description: {
    name: 'backup',
    group: 'Files',
    summary: 'copy the database with the whole log',
    arguments: [{ name: '<file>', about: 'where to; must not exist yet' }],
    examples: [{ line: 'backup watch-2026-03-01.db', about: 'use it as watchkeeper.db in another data directory' }],
  },
  async run({ files, cwd }, { positional: [given = ''] }) {
    const from = files.databaseFile;
    const to = resolve(cwd, given);
    if (!existsSync(from))
      throw new CommandError(`There is no log to copy: ${from} does not exist.`, { next: ['up --detach'] });
    if (existsSync(to))
      throw new CommandError(`${to} exists already and is left as it is.`, { next: [`backup ${given}.new`] });
    await copy(from, to).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new CommandError(`${to} cannot be written: ${reason}.`, { next: ['backup <file>'] });
    });
    const { size } = statSync(to);
    return {
      kind: 'answer',
      json: { ok: true, file: to, bytes: size },
      text: () => `${to} (${bytes(size)})\n`,
      confirms: true,
    };
  },
};
