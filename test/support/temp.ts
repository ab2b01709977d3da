import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from './cleanup.ts';

/** A new directory under the system's temp folder, removed when the test file is over. Short, so that socket paths in it fit. */
export function tempDir(prefix = 'wk-'): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), prefix)));
  atEnd(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));
  return dir;
}
