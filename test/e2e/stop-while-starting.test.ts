import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeHome, runCli, startIn } from '../support/daemon.ts';
import { stdioEntry } from '../support/fixtures.ts';

/** Tells the process to end as soon as the n-th part of it listens for that. */
const asksForTheEnd = (n: number) => `
let listening = 0;
process.on('newListener', (event) => {
  if (event !== 'SIGTERM' || ++listening !== ${n}) return;
  setImmediate(() => process.kill(process.pid, 'SIGTERM'));
});
`;

describe('A daemon that is told to end while it starts', { timeout: 30_000 }, () => {
  it.each([
    ['its program is loaded', 1],
    ['its log is opened', 2],
  ])('does so while %s: no server was started, and the next one starts as usual', async (_when, n) => {
    const home = makeHome({ servers: { memory: stdioEntry({ behaviour: { tools: ['echo'] } }) } });
    const preload = join(home.home, 'before.mjs');
    writeFileSync(preload, asksForTheEnd(n));
    const started = await runCli(home, ['up', '--json', '--port', '0'], {
      env: { NODE_OPTIONS: `--import ${preload}` },
    });
    expect(started).toMatchObject({ code: 0, signal: null, stdout: '' });
    expect(existsSync(join(home.dir, 'daemon.json'))).toBe(false);

    const next = await startIn(home);
    const told = (await next.events()).map(({ type }) => type);
    const before = told.slice(0, told.lastIndexOf('DaemonStarted'));
    // What was begun was also ended in good order.
    expect([[], ['DaemonStarted', 'DaemonStopped']]).toContainEqual(before);
    await next.stop();
  });
});
