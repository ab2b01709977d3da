/** Tests that need something this machine may lack are skipped aloud: the reason is printed with the result. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import type { TestContext } from 'vitest';
import { setupReport } from './paths.ts';

/** What scripts/setup-tests.mjs installs where it can; the names are those of its report. */
export type Purpose = 'python' | 'chromium' | 'postgresql' | 'keyring' | 'tmux';

/** Null when it is there, else why not. */
export function missing(purpose: Purpose): string | null {
  if (!existsSync(setupReport)) return 'scripts/setup-tests.mjs has not run';
  const report: Partial<Record<Purpose, string | null>> = JSON.parse(readFileSync(setupReport, 'utf8'));
  const reason = report[purpose];
  return reason === undefined ? `scripts/setup-tests.mjs has not looked for ${purpose}` : reason;
}

/** Skips the test when one of them is not there. */
export function needs(context: TestContext, ...purposes: Purpose[]): void {
  for (const purpose of purposes) {
    const reason = missing(purpose);
    if (reason !== null) context.skip(reason);
  }
}

/** Skips the test when the servers from PyPI are not there. */
export const needsPythonServers = (context: TestContext): void => needs(context, 'python');

/** Skips the test when there is no `python3`. */
export function needsPython(context: TestContext): void {
  if (spawnSync('python3', ['--version']).status !== 0) context.skip('there is no python3 on this machine');
}

/** Skips the test when there is no `openssl`. */
export function needsOpenssl(context: TestContext): void {
  if (spawnSync('openssl', ['version']).status !== 0) context.skip('there is no openssl on this machine');
}
