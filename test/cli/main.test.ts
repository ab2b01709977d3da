import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/root.ts';
import { fakeDaemon } from './fake.daemon.ts';
import { serverStatus } from './shapes.ts';

let home = '';
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'wk-main-'));
});
afterAll(() => rm(home, { recursive: true }));

const start = (...argv: string[]) =>
  spawn(process.execPath, [join(packageRoot(), 'dist/cli/main.js'), ...argv], {
    env: { PATH: process.env.PATH, HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

const textOf = async (stream: NodeJS.ReadableStream): Promise<string> => {
  let text = '';
  for await (const chunk of stream) text += chunk;
  return text;
};

async function run(...argv: string[]) {
  const child = start(...argv);
  const [[exit], out, err] = await Promise.all([once(child, 'close'), textOf(child.stdout), textOf(child.stderr)]);
  return { exit, out, err };
}

describe('the program', () => {
  it.each([
    [['version'], 0],
    [['enable'], 2],
    [[], 2],
    [['status'], 3],
  ])('%j ends with exit code %d', async (argv, exit) => {
    expect(await run(...argv)).toMatchObject({ exit });
  });

  it('keeps stdout for data', async () => {
    expect(await run('status')).toMatchObject({ out: '', err: expect.stringContaining('watchkeeper up --detach') });
    expect(await run()).toMatchObject({ out: '', err: expect.stringContaining('Usage: watchkeeper') });
    expect(await run('--help')).toMatchObject({ exit: 0, out: expect.stringContaining('Usage: watchkeeper'), err: '' });
  });

  it('prints a large answer to its end', async () => {
    const servers = Array.from({ length: 3000 }, (_, index) => serverStatus(`server-${index}`));
    const fake = await fakeDaemon({ 'GET /v1/mcp/status': { servers } });
    const { exit, out } = await run('status', '--json', '--data', fake.dataDir);
    expect([exit, JSON.parse(out).servers.length]).toEqual([0, 3000]);
    await fake.close();
  });

  it('says nothing when its reader goes away', async () => {
    const servers = Array.from({ length: 3000 }, (_, index) => serverStatus(`server-${index}`));
    const fake = await fakeDaemon({ 'GET /v1/mcp/status': { servers } });
    const child = start('status', '--json', '--data', fake.dataDir);
    child.stdout.destroy();
    const [[exit], err] = await Promise.all([once(child, 'close'), textOf(child.stderr)]);
    expect([exit, err]).toEqual([0, '']);
    await fake.close();
  });

  it('ends what goes on when it is interrupted', async () => {
    const fake = await fakeDaemon({
      'GET /v1/events': (
        { query }: { query: Record<string, string> },
        response: import('node:http').ServerResponse,
      ) => {
        if ('limit' in query) return { events: [], next: null };
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.flushHeaders();
        child.kill('SIGINT');
        return undefined;
      },
    });
    const child = start('log', '--follow', '--data', fake.dataDir);
    const [[exit], err] = await Promise.all([once(child, 'close'), textOf(child.stderr)]);
    expect([exit, err]).toEqual([0, '']);
    await fake.close();
  });
});
