import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

/** The token in `file`; a new one is made where there is none. The file is readable by its owner only. */
export function readOrMakeToken(file: string): string {
  try {
    const token = readFileSync(file, 'utf8').trim();
    if (token !== '') {
      chmodSync(file, 0o600);
      return token;
    }
  } catch {
    // There is none yet.
  }
  return writeNewToken(file);
}

/** Puts a new token in the place of the old one, in one step. */
export function writeNewToken(file: string): string {
  const token = `wk_${randomBytes(32).toString('base64url')}`;
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, `${token}\n`, { mode: 0o600 });
  renameSync(temporary, file);
  return token;
}
