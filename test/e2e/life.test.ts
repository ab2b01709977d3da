import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { type Steered, stdioEntry, steered } from '../support/fixtures.ts';
import { isAlive, signal, untilGone } from '../support/processes.ts';
import { until } from '../support/wait.ts';
import { factsOf, isUnbroken, lastPosition, textOf, typesOf } from './asking.ts';

const post = (daemon: Daemon, route: string, body: unknown) => daemon.api('POST', `/v1/mcp/${route}`, body);

/** What the history says of a server from one moment on: its states in order, and whether they are unbroken. */
async function statesSince(daemon: Daemon, name: string, from: string): Promise<string[]> {
  const intervals = await daemon.history(name);
  expect(isUnbroken(intervals)).toBe(true);
  return intervals.filter((interval) => interval.from >= from).map(({ state }) => state);
}

describe('A server whose process is killed', { timeout: 60_000 }, () => {
  let daemon: Daemon;
  let victim: Steered;
  let away: Steered;
  let bystander: Steered;

  beforeAll(async () => {
    victim = steered();
    away = steered();
    bystander = steered();
    daemon = await startDaemon({
      servers: {
        victim: stdioEntry(victim.options),
        away: stdioEntry(away.options),
        bystander: stdioEntry(bystander.options),
      },
    });
    for (const name of ['victim', 'away', 'bystander']) await daemon.waitForServer(name, 'ready');
  });
  afterAll(() => daemon.stop());

  it('is lost with signal and last words, is ready again, and offers the same tools as before', async () => {
    await daemon.call('mcp__victim__noise', { stderr: ['cache warmed', 'serving'] });
    const tools = (await daemon.api('GET', '/v1/mcp/tools')).body;
    const before = await lastPosition(daemon);
    const { since, pid } = await daemon.server('victim');

    signal(pid, 'SIGKILL');
    const row = await daemon.waitForServer('victim', (now) => now.state === 'ready' && now.pid !== pid);
    expect(row).toMatchObject({ connected: true, error: null, nextAttemptAt: null, attempt: 2 });
    expect(row.pid).toBe(victim.pid());

    const facts = (await daemon.events({ stream: 'server-victim' })).filter(({ position }) => position > before);
    expect(facts.map(({ type, data }) => [type, data.to])).toEqual([
      ['SessionLost', 'session-lost'],
      ['ReconnectStarted', 'reconnecting'],
      ['ProcessStarted', 'reconnecting'],
      ['Connected', 'listing'],
      ['ToolsListed', 'ready'],
    ]);
    expect(facts[0].data.failure).toMatchObject({ class: 'exit', phase: 'watch', exitCode: null, signal: 'SIGKILL' });
    expect(facts[0].data.failure.stderrTail).toBe('cache warmed\nserving\n');
    expect(facts.at(-1).data).not.toHaveProperty('tools');
    expect((await daemon.api('GET', '/v1/mcp/tools')).body).toEqual(tools);
    expect(
      (await daemon.api('GET', '/v1/mcp/tools/history?server=victim')).body.changes.every(
        (change: any) => change.position <= before,
      ),
    ).toBe(true);

    const states = await statesSince(daemon, 'victim', since);
    expect(states).toEqual(['ready', 'session-lost', 'reconnecting', 'listing', 'ready']);
    expect(bystander.counted('spawn')).toBe(1);
  });

  it('serves its known tools, marked stale, while it is away, and calls wait for the renewal', async () => {
    const { pid } = await daemon.server('away');
    away.set({ start: { delayMs: 600 } });
    signal(pid, 'SIGKILL');
    await daemon.waitForServer('away', ({ connected }) => !connected);
    const known = await daemon.tools('away');
    expect(known.length).toBeGreaterThan(10);
    expect(known.every(({ stale }) => stale)).toBe(true);
    expect((await daemon.tools('bystander')).some(({ stale }) => stale)).toBe(false);
    expect(textOf(await daemon.call('mcp__away__echo', { text: 'patience' }))).toBe('patience');
    expect((await daemon.tools('away')).some(({ stale }) => stale)).toBe(false);
  });

  it('is seen as lost when it dies between two calls, and after each of several deaths', async () => {
    const before = (await factsOf(daemon, 'victim', 'SessionLost')).length;
    for (let n = 1; n <= 3; n += 1) {
      const { pid } = await daemon.waitForServer('victim', 'ready', 20_000);
      signal(pid, n === 2 ? 'SIGTERM' : 'SIGKILL');
      await daemon.waitForServer('victim', (row) => row.state === 'ready' && row.pid !== pid, 20_000);
      expect(await factsOf(daemon, 'victim', 'SessionLost')).toHaveLength(before + n);
    }
    expect(isUnbroken(await daemon.history('victim'))).toBe(true);
    expect(await typesOf(daemon, 'bystander')).not.toContain('SessionLost');
  });

  it('can be asked about any moment of the past', async () => {
    const facts = await factsOf(daemon, 'victim');
    const lost = facts.find(({ type }) => type === 'SessionLost');
    const at = async (position: number) => {
      const { servers } = (await daemon.api('GET', `/v1/mcp/status?at=${position}`)).body;
      return servers.find(({ name }: any) => name === 'victim');
    };
    expect(await at(lost.position - 1)).toMatchObject({ state: 'ready', error: null });
    expect(await at(lost.position)).toMatchObject({ state: 'session-lost', error: { class: 'exit' } });
    const earliest = (await daemon.api('GET', `/v1/mcp/tools?at=${facts[0].position}&server=victim`)).body.tools;
    expect(earliest).toEqual([]);
  });
});

describe('Reconnecting', { timeout: 60_000 }, () => {
  let daemon: Daemon;
  const fakes: Record<string, Steered> = { a: steered(), b: steered(), c: steered() };

  beforeAll(async () => {
    const servers = Object.fromEntries(Object.entries(fakes).map(([name, fake]) => [name, stdioEntry(fake.options)]));
    daemon = await startDaemon({
      servers: {
        ...servers,
        off: stdioEntry({}, { disabled: true }),
        wrong: { command: 'x', url: 'http://127.0.0.1:9' },
      },
    });
    for (const name of Object.keys(servers)) await daemon.waitForServer(name, 'ready');
  });
  afterAll(() => daemon.stop());

  it('one server starts it anew, answers when it is ready, and leaves the calls of others alone', async () => {
    const sleeping = daemon.call('mcp__b__sleep', { ms: 1_500 });
    const { pid } = await daemon.server('a');
    const { status, body } = await post(daemon, 'reconnect', { name: 'a' });
    expect(status).toBe(200);
    expect(body).toEqual({ ok: true, servers: [{ name: 'a', ok: true, state: 'ready', error: null }] });
    expect((await daemon.server('a')).pid).not.toBe(pid);
    expect(isAlive(pid)).toBe(false);
    expect(textOf(await sleeping)).toBe('slept 1500 ms');
    expect(fakes.b?.counted('spawn')).toBe(1);
    expect((await factsOf(daemon, 'a', 'StopRequested'))[0].data.reason).toBe('reconnect');
  });

  it('all servers answers for each that can be started, and is not ok when one fails', async () => {
    const { status, body } = await post(daemon, 'reconnect', {});
    expect(status).toBe(200);
    expect(body.ok).toBe(false);
    expect(body.servers.map(({ name, ok, state }: any) => [name, ok, state])).toEqual([
      ['a', true, 'ready'],
      ['b', true, 'ready'],
      ['c', true, 'ready'],
      ['wrong', false, 'failed'],
    ]);
    expect(body.servers.at(-1).error).toMatchObject({ class: 'config' });
    expect(fakes.c?.counted('spawn')).toBe(2);
  });

  it('a server that cannot start answers with what is wrong, and once it can, with ready', async () => {
    fakes.c?.set({ start: { exit: { code: 4, stderr: 'disk full' } } });
    const failed = await post(daemon, 'reconnect', { name: 'c' });
    expect(failed.body).toMatchObject({ ok: false, servers: [{ name: 'c', ok: false, state: 'backing-off' }] });
    expect(failed.body.servers[0].error.message).toContain('exited with code 4: disk full');
    fakes.c?.set({ start: {} });
    const mended = await post(daemon, 'reconnect', { name: 'c' });
    expect(mended.body).toMatchObject({ ok: true, servers: [{ state: 'ready' }] });
  });

  it('answers when its own limit is over, although the server is still on its way', async () => {
    fakes.c?.set({ start: { delayMs: 2_000 } });
    const { body } = await post(daemon, 'reconnect', { name: 'c', timeout_ms: 300 });
    expect(body).toMatchObject({ ok: false, servers: [{ name: 'c', ok: false, state: 'connecting' }] });
    fakes.c?.set({ start: {} });
    await daemon.waitForServer('c', 'ready');
  });

  it('makes calls under way end with an unknown outcome', async () => {
    const sleeping = daemon.call('mcp__a__sleep', { ms: 20_000 });
    await until(async () => (await daemon.api('GET', '/v1/mcp/calls?state=running&server=a')).body.calls.length === 1);
    await post(daemon, 'reconnect', { name: 'a' });
    expect(await sleeping).toMatchObject({ status: 502, body: { outcome: 'unknown' } });
  });

  it('is refused for servers that are disabled or not there', async () => {
    expect(await post(daemon, 'reconnect', { name: 'off' })).toMatchObject({ status: 409 });
    expect(await post(daemon, 'reconnect', { name: 'nobody' })).toMatchObject({ status: 404 });
  });

  it('many times at once ends with one process', async () => {
    const before = fakes.b?.counted('spawn') ?? 0;
    const replies = await Promise.all(Array.from({ length: 8 }, () => post(daemon, 'reconnect', { name: 'b' })));
    expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(200));
    await daemon.waitForServer('b', 'ready');
    expect(fakes.b?.counted('spawn')).toBeLessThanOrEqual(before + 8);
    const alive = new Set((fakes.b?.counts() ?? []).map(({ pid }) => pid).filter(isAlive));
    expect(alive.size).toBe(1);
  });
});

describe.concurrent('Disabling and enabling', { timeout: 60_000 }, () => {
  it('ends the process, hides the tools and keeps the entry; enabling brings them back', async () => {
    const fake = steered();
    const daemon = await startDaemon({ servers: { one: stdioEntry(fake.options), two: stdioEntry() } });
    const { pid } = await daemon.waitForServer('one', 'ready');
    const tools = await daemon.tools('one');

    expect((await post(daemon, 'disable', { name: 'one' })).body).toEqual({ ok: true });
    const row = await daemon.waitForServer('one', 'disabled');
    expect(row).toMatchObject({ connected: false, pid: null, error: null, nextAttemptAt: null });
    await untilGone(pid);
    expect(await daemon.tools('one')).toEqual([]);
    expect(await daemon.call('mcp__one__echo', { text: 'hello' })).toMatchObject({ status: 404 });
    expect((await daemon.api('GET', '/v1/mcp')).body.servers.one).toMatchObject({ disabled: true });
    expect((await post(daemon, 'disable', { name: 'one' })).body).toEqual({ ok: true });

    // It stays so over a restart.
    await daemon.restart();
    await daemon.waitForServer('two', 'ready');
    expect((await daemon.server('one')).state).toBe('disabled');
    expect(fake.counted('spawn')).toBe(1);

    expect((await post(daemon, 'enable', { name: 'one' })).body).toEqual({ ok: true });
    await daemon.waitForServer('one', 'ready');
    expect(await daemon.tools('one')).toEqual(tools);
    expect(fake.counted('spawn')).toBe(2);
    expect(await post(daemon, 'disable', { name: 'nobody' })).toMatchObject({ status: 404 });
    await daemon.stop();
  });

  it('in the middle of a start leaves nothing of it', async () => {
    const fake = steered({ behaviour: { start: { delayMs: 5_000 } } });
    const daemon = await startDaemon({ servers: { slow: stdioEntry(fake.options) } });
    await until(() => fake.counted('spawn') === 1);
    await daemon.waitForServer('slow', ({ pid }) => pid !== null);
    await post(daemon, 'disable', { name: 'slow' });
    await daemon.waitForServer('slow', 'disabled');
    await untilGone(fake.pid());
    fake.set({ start: {} });
    await post(daemon, 'enable', { name: 'slow' });
    await daemon.waitForServer('slow', 'ready');
    expect(fake.counted('spawn')).toBe(2);
    await daemon.stop();
  });

  it('quickly one after the other ends as the last one said', async () => {
    const fake = steered();
    const daemon = await startDaemon({ servers: { one: stdioEntry(fake.options) } });
    await daemon.waitForServer('one', 'ready');
    await Promise.all(['disable', 'enable', 'disable', 'enable'].map((route) => post(daemon, route, { name: 'one' })));
    await daemon.waitForServer('one', 'ready');
    const alive = new Set(
      fake
        .counts()
        .map(({ pid }) => pid)
        .filter(isAlive),
    );
    expect(alive.size).toBe(1);
    await daemon.stop();
  });
});

describe.concurrent('Removing a server', { timeout: 60_000 }, () => {
  it('ends its process, its tools, its row and its grants, and its calls end', async () => {
    const daemon = await startDaemon({
      servers: { goes: stdioEntry(), stays: stdioEntry() },
      allow: ['mcp__goes__*', 'mcp__stays__echo'],
    });
    const { pid } = await daemon.waitForServer('goes', 'ready');
    await daemon.waitForServer('stays', 'ready');
    const sleeping = daemon.call('mcp__goes__sleep', { ms: 20_000 });
    await until(async () => (await daemon.api('GET', '/v1/mcp/calls?state=running')).body.calls.length === 1);

    expect((await post(daemon, 'remove', { name: 'goes' })).body).toEqual({ ok: true });
    expect(await sleeping).toMatchObject({ status: 502, body: { outcome: 'unknown' } });
    await untilGone(pid);
    expect((await daemon.status()).map(({ name }) => name)).toEqual(['stays']);
    expect((await daemon.tools()).every(({ server }) => server === 'stays')).toBe(true);
    await daemon.waitFor(
      async () => (await daemon.api('GET', '/v1/allowlist')).body.tool.entries.join() === 'mcp__stays__echo',
    );
    expect(await daemon.call('mcp__goes__echo')).toMatchObject({ status: 404 });
    expect(await post(daemon, 'remove', { name: 'goes' })).toMatchObject({ status: 404 });
    expect((await daemon.server('stays')).state).toBe('ready');
    // What it was stays known.
    expect((await daemon.history('goes')).at(-1)).toMatchObject({ state: 'stopped', to: null });
    await daemon.stop();
  });
});

describe.concurrent('A server that starts on first use', { timeout: 60_000 }, () => {
  it('waits as idle, starts for a call, and stops when nobody uses it', async () => {
    const fake = steered({ behaviour: { tools: ['echo', 'sleep'] } });
    const daemon = await startDaemon({
      servers: { lazy: stdioEntry(fake.options, { lazy: true, idleStopMs: 900 }), other: stdioEntry() },
    });
    await daemon.waitForServer('other', 'ready');
    expect(await daemon.server('lazy')).toMatchObject({ state: 'idle', connected: false, pid: null, error: null });
    expect(fake.counted('spawn')).toBe(0);

    // Its tools are not known before it ran once.
    expect((await post(daemon, 'reconnect', { name: 'lazy' })).body.ok).toBe(true);
    await daemon.waitForServer('lazy', 'idle');
    await untilGone(fake.pid());
    expect((await factsOf(daemon, 'lazy', 'StopRequested')).at(-1).data.reason).toBe('idle');

    const tools = await daemon.tools('lazy');
    expect(tools.map(({ name, stale }) => [name, stale])).toEqual([
      ['mcp__lazy__echo', true],
      ['mcp__lazy__sleep', true],
    ]);
    const replies = await Promise.all(['one', 'two', 'three'].map((text) => daemon.call('mcp__lazy__echo', { text })));
    expect(replies.map(textOf)).toEqual(['one', 'two', 'three']);
    expect(fake.counted('spawn')).toBe(2);

    // A call that takes longer than the idle limit is a use.
    expect(textOf(await daemon.call('mcp__lazy__sleep', { ms: 1_800 }))).toBe('slept 1800 ms');
    await daemon.waitForServer('lazy', 'idle');
    expect(fake.counted('spawn')).toBe(2);

    // A restart of the daemon starts nothing either, and the list is still known.
    await daemon.restart();
    await daemon.waitForServer('other', 'ready');
    expect((await daemon.server('lazy')).state).toBe('idle');
    expect(await daemon.tools('lazy')).toHaveLength(2);
    expect(textOf(await daemon.call('mcp__lazy__echo', { text: 'again' }))).toBe('again');
    expect(fake.counted('spawn')).toBe(3);
    await daemon.stop();
  });

  it('and cannot start fails the call with the reason, and is tried again by the next one', async () => {
    const fake = steered({ behaviour: { tools: ['echo'] } });
    const daemon = await startDaemon({ servers: { lazy: stdioEntry(fake.options, { lazy: true, idleStopMs: 400 }) } });
    await post(daemon, 'reconnect', { name: 'lazy' });
    await daemon.waitForServer('lazy', 'idle');
    fake.set({ start: { exit: { code: 7, stderr: 'no licence' } } });
    const failed = await daemon.call('mcp__lazy__echo', { text: 'hello' });
    expect(failed).toMatchObject({ status: 503, body: { outcome: 'failed' } });
    expect((await daemon.server('lazy')).error.message).toContain('no licence');
    fake.set({ start: {} });
    await daemon.waitForServer('lazy', ({ state }) => state === 'ready' || state === 'idle');
    expect(textOf(await daemon.call('mcp__lazy__echo', { text: 'hello' }))).toBe('hello');
    await daemon.stop();
  });
});

describe.concurrent('A restart', { timeout: 60_000 }, () => {
  it('after a crash shows the time nobody watched as unobserved, and after a good end as stopped', async () => {
    const daemon = await startDaemon({ servers: { one: stdioEntry(), off: stdioEntry({}, { disabled: true }) } });
    await daemon.waitForServer('one', 'ready');
    await daemon.waitForServer('off', 'disabled');
    const crashed = new Date().toISOString();
    await daemon.kill();
    await daemon.restart();
    await daemon.waitForServer('one', 'ready');
    const started = (await daemon.events({ type: 'DaemonStarted' })).at(-1);
    expect(started.data.lastAlive).not.toBeNull();

    const intervals = await daemon.history('one');
    expect(isUnbroken(intervals)).toBe(true);
    const dark = intervals.find(({ state }) => state === 'unobserved');
    expect(dark.from <= crashed).toBe(true);
    expect(dark.to >= started.at).toBe(true);
    expect(dark.to).toBe((await factsOf(daemon, 'one', 'ServerStopped')).at(-1).at);
    expect(intervals.slice(intervals.indexOf(dark) - 1).map(({ state }) => state)).toEqual([
      'ready',
      'unobserved',
      'stopped',
      'idle',
      'connecting',
      'listing',
      'ready',
    ]);
    const off = await daemon.history('off');
    expect(isUnbroken(off)).toBe(true);
    expect(off.map(({ state }) => state).slice(-3)).toEqual(['disabled', 'unobserved', 'disabled']);
    expect((await factsOf(daemon, 'one', 'ServerStopped')).at(-1).data.reason).toBe('daemon-ended');

    await daemon.restart();
    await daemon.waitForServer('one', 'ready');
    const now = await daemon.history('one');
    expect(isUnbroken(now)).toBe(true);
    expect((await factsOf(daemon, 'one', 'ServerStopped')).at(-1).data.reason).toBe('daemon-stopping');
    const since = now.slice(intervals.length).map(({ state }) => state);
    expect(since.slice(0, 2)).toEqual(['stopping', 'stopped']);
    expect(since.at(-1)).toBe('ready');
    await daemon.stop();
  });
});

describe.concurrent('A daemon that is told to stop', { timeout: 60_000 }, () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('by %s ends what runs and leaves nothing', async (name) => {
    const daemon = await startDaemon({ servers: { one: stdioEntry(), two: stdioEntry({}, { lazy: true }) } });
    const { pid } = await daemon.waitForServer('one', 'ready');
    const sleeping = daemon.call('mcp__one__sleep', { ms: 20_000 });
    const held = await daemon.call('mcp__one__echo', { text: 'may I?' }, { permission_mode: 'ask', wait: false });
    expect(held.status).toBe(202);
    await until(async () => (await daemon.api('GET', '/v1/mcp/calls?state=running')).body.calls.length === 1);

    signal(daemon.pid, name);
    expect(await daemon.exited).toEqual({ code: 0, signal: null });
    expect((await sleeping).body.outcome).toBe('unknown');
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(join(daemon.dir, 'daemon.json'))).toBe(false);
    expect(existsSync(daemon.ready.socket)).toBe(false);

    await daemon.restart();
    const { body } = await daemon.api('GET', `/v1/mcp/calls/${held.body.call}`);
    expect(body).toMatchObject({ state: 'settled', outcome: 'abandoned' });
    expect((await daemon.events({ stream: 'daemon' })).map(({ type }) => type)).toEqual([
      'DaemonStarted',
      'DaemonStopped',
      'DaemonStarted',
    ]);
    await daemon.stop();
  });
});
