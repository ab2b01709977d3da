import { spawn } from 'node:child_process';
import { appendFileSync, cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeHome, plainEnv } from '../support/daemon.ts';
import { projectRoot } from '../support/paths.ts';
import { signal } from '../support/processes.ts';
import { tempDir } from '../support/temp.ts';
import { until } from '../support/wait.ts';

/** A copy of what is built, so that files can be changed. */
function copyOfProject(): string {
  const copy = tempDir();
  for (const name of ['src', 'migrations', 'scripts', 'examples', 'package.json', 'package-lock.json'])
    cpSync(join(projectRoot, name), join(copy, name), { recursive: true });
  symlinkSync(join(projectRoot, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

describe('npm run dev', () => {
  it('restarts the daemon when a source changes, keeps it when the build fails, and ends with it', async () => {
    const copy = copyOfProject();
    const { home } = makeHome();
    const child = spawn(process.execPath, [join(copy, 'scripts/dev.mjs'), '--json', '--port', '0'], {
      cwd: copy,
      env: plainEnv(home),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => (said.stdout += chunk));
    child.stderr.on('data', (chunk) => (said.stderr += chunk));
    const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
    const pids = (): number[] => [...said.stdout.matchAll(/"pid":(\d+)/g)].map(([, pid]) => Number(pid));
    const source = join(copy, 'src/root.ts');

    await until(() => pids().length === 1, { limitMs: 30_000, what: 'the first daemon' });
    appendFileSync(source, '\nexport const changed = true;\n');
    await until(() => pids().length === 2, { limitMs: 30_000, what: 'the second daemon' });
    expect(new Set(pids()).size).toBe(2);

    writeFileSync(source, 'export const = ;\n');
    await until(() => said.stderr.includes('the build failed'), { limitMs: 30_000, what: 'word of the failed build' });
    expect(pids()).toHaveLength(2);
    process.kill(pids()[1] ?? 0, 0);

    signal(child.pid ?? 0, 'SIGTERM');
    expect(await exited).toBe(0);
    expect(() => process.kill(pids()[1] ?? 0, 0)).toThrow();
  });
});
