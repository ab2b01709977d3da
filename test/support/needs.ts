/** Tests that need something this machine may lack are skipped aloud: the reason is printed with the result. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import type { TestContext } from 'vitest';
import { setupReport } from './paths.ts';

interface SetupReport {
  readonly python: boolean;
  readonly reason: string | null;
  readonly noTmux?: string | null;
}

function report(): SetupReport {
  if (!existsSync(setupReport)) return { python: false, reason: 'scripts/setup-tests.mjs has not run' };
  return JSON.parse(readFileSync(setupReport, 'utf8'));
}

/** Skips the test when the servers from PyPI are not there. */
export function needsPythonServers(context: TestContext): void {
  const { python, reason } = report();
  if (!python) context.skip(reason ?? 'the Python servers are missing');
}

/** Skips the test when there is no `python3`. */
export function needsPython(context: TestContext): void {
  if (spawnSync('python3', ['--version']).status !== 0) context.skip('there is no python3 on this machine');
}

/** Skips the test when there is no `tmux`. */
export function needsTmux(context: TestContext): void {
  if (spawnSync('tmux', ['-V']).status !== 0) context.skip(report().noTmux ?? 'there is no tmux on this machine');
}

/** Skips the test when there is no `openssl`. */
export function needsOpenssl(context: TestContext): void {
  if (spawnSync('openssl', ['version']).status !== 0) context.skip('there is no openssl on this machine');
}
