import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { atEnd } from '../support/cleanup.ts';
import {
  type Daemon,
  DaemonExited,
  type DaemonOptions,
  type Home,
  makeHome,
  startDaemon,
  startIn,
} from '../support/daemon.ts';
import { stdioEntry, steered } from '../support/fixtures.ts';
import { findByEnv, isAlive, signal } from '../support/processes.ts';
import { tempDir } from '../support/temp.ts';
import { textOf } from './asking.ts';

/** Starts a daemon that is not to come up; resolves with how it ended. */
async function refusedStart(home: Home, options: DaemonOptions = {}): Promise<DaemonExited> {
  const started = await startIn(home, options).then(
    () => null,
    (error) => error,
  );
  expect(started).toBeInstanceOf(DaemonExited);
  return started as DaemonExited;
}

/** What a start that is refused must not touch. */
function traces(dir: string): unknown {
  return ['owner.pid', 'daemon.json', 'token', 'owner.lock'].map((name) => {
    const file = join(dir, name);
    return [name, readFileSync(file, 'latin1'), statSync(file).mtimeMs];
  });
}

describe('A data directory', { timeout: 60_000 }, () => {
  it('is taken by exactly one of two daemons that start at the same instant', async () => {
    const fake = steered();
    const home = makeHome({ servers: { one: stdioEntry(fake.options) } });
    const took: number[] = [];
    for (let round = 1; round <= 10; round += 1) {
      const began = performance.now();
      const both = await Promise.allSettled(
        [0, 1].map(() =>
          startIn(home).catch((error) => {
            throw Object.assign(error, { tookMs: performance.now() - began });
          }),
        ),
      );
      const winners = both.filter((one) => one.status === 'fulfilled').map(({ value }) => value);
      const losers = both.filter((one) => one.status === 'rejected').map(({ reason }) => reason);
      expect(winners).toHaveLength(1);
      const [winner] = winners as [Daemon];
      const [loser] = losers;
      expect(loser).toBeInstanceOf(DaemonExited);
      expect(loser.end).toEqual({ code: 1, signal: null });
      expect(loser.stderr).toContain(`pid ${winner.pid}`);
      expect(loser.stderr).toContain(home.dir);
      took.push(loser.tookMs);
      await winner.waitForServer('one', 'ready');
      expect(fake.counted('spawn')).toBe(round);
      // Every second round leaves the lock behind as a crash does.
      await (round % 2 === 0 ? winner.kill() : winner.stop());
    }
    // The quickest, since the others may have been kept waiting for a processor.
    expect(Math.min(...took)).toBeLessThan(2_000);
  }, 90_000);

  it('that is taken is left as it is by the one that comes later, which names the holder', async () => {
    const fake = steered();
    const daemon = await startDaemon({ servers: { one: stdioEntry(fake.options) } });
    await daemon.waitForServer('one', 'ready');
    const before = traces(daemon.dir);
    const config = readFileSync(daemon.config, 'utf8');
    for (const args of [[], ['--port', String(daemon.port)]]) {
      const { end, stderr } = await refusedStart(daemon, { args });
      expect(end).toEqual({ code: 1, signal: null });
      expect(stderr).toContain(`pid ${daemon.pid}`);
      expect(stderr).toContain(daemon.url);
    }
    expect(traces(daemon.dir)).toEqual(before);
    expect(readFileSync(daemon.config, 'utf8')).toBe(config);
    expect(fake.counted('spawn')).toBe(1);
    expect(textOf(await daemon.call('mcp__one__echo', { text: 'still here' }))).toBe('still here');
    await daemon.stop();
  });

  it('is free at once after its daemon was killed, and nothing of it runs twice', async () => {
    const fake = steered({ behaviour: { stubborn: 'eof' } });
    const daemon = await startDaemon({ servers: { one: stdioEntry(fake.options) } });
    for (let round = 0; round < 3; round += 1) {
      await daemon.waitForServer('one', 'ready');
      await daemon.kill();
      await daemon.restart();
      expect(daemon.ready.pid).toBe(daemon.pid);
      await daemon.waitForServer('one', 'ready');
      expect(findByEnv('HOME', daemon.home).map(({ pid }) => pid)).toHaveLength(2);
    }
    await daemon.stop();
  });

  it.each([
    ['the pid of an unrelated living process', (pid: number) => `${pid}\n`],
    ['nothing', () => ''],
    ['no number', () => 'watchkeeper\n'],
    ['a pid that is free', () => '4194303\n'],
    ['the pid of the init process', () => '1\n'],
  ])('is free though its pid file holds %s, and nobody is signalled', async (_what, text) => {
    const stranger = spawn('sleep', ['60'], { stdio: 'ignore' });
    const { pid = 0 } = stranger;
    atEnd(() => signal(pid, 'SIGKILL'));
    const home = makeHome();
    mkdirSync(home.dir, { recursive: true, mode: 0o700 });
    writeFileSync(join(home.dir, 'owner.pid'), text(pid));
    writeFileSync(join(home.dir, 'daemon.json'), JSON.stringify({ pid, port: 1, url: 'http://127.0.0.1:1' }));
    const daemon = await startIn(home);
    expect((await daemon.api('GET', '/health')).body.ready).toBe(true);
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    expect(isAlive(pid)).toBe(true);
    signal(pid, 'SIGKILL');
  });

  it('belongs to one daemon whatever configuration another one brings', async () => {
    const dataDir = join(tempDir(), 'data');
    const fake = steered();
    const first = await startDaemon({ dataDir });
    const second = makeHome({ dataDir, servers: { one: stdioEntry(fake.options) } });
    const { end, stderr } = await refusedStart(second);
    expect(end.code).toBe(1);
    expect(stderr).toContain(`pid ${first.pid}`);
    expect(fake.counted('spawn')).toBe(0);
    await first.stop();
    const now = await startIn(second);
    await now.waitForServer('one', 'ready');
    await now.stop();
  });

  it('is not needed twice: two daemons with directories of their own run side by side', async () => {
    const servers = { one: stdioEntry() };
    const [a, b] = await Promise.all([startDaemon({ servers }), startDaemon({ servers })]);
    await a.waitForServer('one', 'ready');
    await b.waitForServer('one', 'ready');
    await a.stop();
    expect((await b.server('one')).state).toBe('ready');
    await b.stop();
  });
});

describe('A port that belongs to somebody else', { timeout: 60_000 }, () => {
  it('is one clear error that names it and the option, and costs nothing else', async () => {
    const stranger = createServer(() => {});
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
    const { port } = stranger.address() as { port: number };
    const fake = steered();
    const home = makeHome({ servers: { one: stdioEntry(fake.options) } });
    const { end, stderr } = await refusedStart(home, { args: ['--port', String(port)] });
    expect(end).toEqual({ code: 1, signal: null });
    expect(stderr).toContain(String(port));
    expect(stderr).toContain('--port');
    expect(stderr).not.toContain('    at ');
    expect(fake.counted('spawn')).toBe(0);
    expect(findByEnv('HOME', home.home)).toEqual([]);
    expect(stranger.listening).toBe(true);

    await new Promise((resolve) => stranger.close(resolve));
    const daemon = await startIn(home, { args: ['--port', String(port)] });
    expect(daemon.port).toBe(port);
    await daemon.waitForServer('one', 'ready');
    await daemon.stop();
  });

  it('of a daemon that was killed is free for the next one', async () => {
    const daemon = await startDaemon();
    const { port } = daemon;
    await daemon.kill();
    await daemon.restart({ args: ['--port', String(port)] });
    expect(daemon.port).toBe(port);
    rmSync(daemon.config);
    await daemon.stop();
  });
});
