import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FileError, linkTarget, readText, writeAtomic } from './files.ts';
import { withFileLock } from './lock.ts';

/**
 * Reads a file, changes its text and replaces it, alone among all writers that use this function.
 * `change` gets null when there is no file; giving back the same text (or null) writes nothing. What somebody else,
 * an editor say, wrote meanwhile is not lost: the change is then made again on the newer text.
 * Resolves with the text now in the file. Rejects with a FileError or whatever `change` throws.
 */
export async function updateFile(file: string, change: (text: string | null) => string | null): Promise<string | null> {
  const target = await linkTarget(file);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 }).catch(() => undefined);
  return withFileLock(target, async () => {
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const before = await readText(target);
      const after = change(before);
      if (after === before || after === null) return before;
      if ((await readText(target)) !== before) continue;
      await writeAtomic(target, after);
      return after;
    }
    throw new FileError(`${file} keeps changing while it is to be written; try again`);
  });
}
