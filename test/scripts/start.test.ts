import { spawn } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Home, makeHome, plainEnv, type Ready } from '../support/daemon.ts';
import { stdioEntry } from '../support/fixtures.ts';
import { projectRoot } from '../support/paths.ts';
import { signal } from '../support/processes.ts';
import { until } from '../support/wait.ts';

/** `npm start` without npm: resolves when the daemon is ready. */
async function start({ home }: Home, env: Record<string, string> = {}, args: readonly string[] = []) {
  const child = spawn(process.execPath, [join(projectRoot, 'scripts/start.mjs'), '--json', '--port', '0', ...args], {
    cwd: projectRoot,
    env: plainEnv(home, env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (said.stdout += chunk));
  child.stderr.on('data', (chunk) => (said.stderr += chunk));
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const line = await until(() => /^\{.*\}$/m.exec(said.stdout)?.[0], { limitMs: 20_000, what: 'the ready line' });
  const ready: Ready = JSON.parse(line);
  return { ready, said, exited, stop: () => signal(child.pid ?? 0, 'SIGTERM') };
}

async function serverNames(ready: Ready, dataDir: string): Promise<string[]> {
  const authorization = `Bearer ${readFileSync(join(dataDir, 'token'), 'utf8').trim()}`;
  const response = await fetch(`${ready.url}/v1/mcp/status`, { headers: { authorization } });
  const body = (await response.json()) as { servers: { name: string }[] };
  return body.servers.map((row) => row.name);
}

describe('npm start', () => {
  it('runs the bundled example where there is no mcp.json, says so, and leaves when told', async () => {
    const home = makeHome();
    rmSync(home.config);
    const data = join(home.home, '.local/share/watchkeeper-example');
    const { ready, said, exited, stop } = await start(home);
    expect(await serverNames(ready, data)).toEqual(['everything', 'filesystem', 'flaky', 'memory']);
    expect(said.stderr).toContain('bundled example');
    expect(said.stderr).toContain(`status --data ${data}`);
    expect(existsSync(join(data, 'mcp.json'))).toBe(true);
    stop();
    expect(await exited).toBe(0);
  });

  it.each([
    ['in its usual place', '.config/agenvoy/mcp.json', (_file: string) => ({ env: {}, args: [] })],
    ['named by WATCHKEEPER_CONFIG', 'a.json', (file: string) => ({ env: { WATCHKEEPER_CONFIG: file }, args: [] })],
    ['named by --config', 'b.json', (file: string) => ({ env: {}, args: ['--config', file] })],
  ])('runs the mcp.json %s', async (_title, place, how) => {
    const home = makeHome({ servers: { mine: stdioEntry() } });
    const file = join(home.home, place);
    renameSync(home.config, file);
    const { env, args } = how(file);
    const { ready, said, exited, stop } = await start(home, env, args);
    expect(await serverNames(ready, home.dir)).toEqual(['mine']);
    expect(said.stderr).not.toContain('bundled example');
    stop();
    expect(await exited).toBe(0);
  });
});
