import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Connection } from '../../src/mcp/connection.ts';
import { keepPush, NoPush, type OpenPush } from '../../src/mcp/push.ts';
import { type HttpFakeOptions, startHttpFake } from '../fixtures/http-server.mjs';
import type { PushMode } from '../support/behaviour.ts';
import { atEnd } from '../support/cleanup.ts';
import { until } from '../support/wait.ts';
import { call, fakeEntry, httpEntry, list, open, textOf } from './opening.ts';

async function fakeHttp(options: HttpFakeOptions = {}) {
  const fake = await startHttpFake(options);
  atEnd(() => fake.close());
  return fake;
}

/** What a connection says of pushes and changes. */
function watched(connection: Connection) {
  const pushes: [boolean, string?][] = [];
  let changes = 0;
  connection.onPush((push, reason) => pushes.push(reason === undefined ? [push] : [push, reason]));
  connection.onToolsChanged(() => {
    changes += 1;
  });
  return { pushes, changes: () => changes };
}

describe('keepPush', () => {
  const times = { firstMs: 20, longestMs: 80, healthyMs: 60, settleMs: 10 };

  /** Runs the script of openings for a while: how long each stream lives, or why there is none. */
  async function run(script: (number | NoPush)[], forMs: number, { healthyMs = times.healthyMs } = {}) {
    const told: string[] = [];
    const openedAt: number[] = [];
    const stop = new AbortController();
    const openPush: OpenPush = async () => {
      openedAt.push(performance.now());
      const next = script.length > 1 ? script.shift() : script[0];
      if (next instanceof NoPush) throw next;
      return { ended: pause(next, 'it ended', { signal: stop.signal }).catch(() => 'it was stopped') };
    };
    const done = keepPush(
      openPush,
      (push, reason) => told.push(push ? 'push' : `no push: ${reason}`),
      () => told.push('gap'),
      stop.signal,
      { ...times, healthyMs },
    );
    await Promise.race([done, pause(forMs)]);
    stop.abort();
    await done;
    return { told, opened: openedAt.length, gaps: openedAt.slice(1).map((at, n) => at - (openedAt[n] ?? 0)) };
  }

  /** Timers may be late and never early. */
  function expectGrowth(gaps: readonly number[]) {
    for (const [n, least] of [20, 40, 80, 80].entries()) {
      if (n < gaps.length) expect(gaps[n]).toBeGreaterThanOrEqual(least - 2);
    }
  }

  it('stops for good where there is nothing to be had', async () => {
    expect(await run([new NoPush('not offered', true)], 300)).toMatchObject({
      told: ['no push: not offered'],
      opened: 1,
    });
  });

  it('tries again ever more slowly, and says each change once', async () => {
    const { told, gaps } = await run([new NoPush('refused', false)], 400);
    expect(told).toEqual(['no push: refused']);
    expectGrowth(gaps);
  });

  it('never reports a stream that ends at once, and does not open it once after the other', async () => {
    const { told, gaps } = await run([0], 400);
    expect(told.filter((word) => word !== 'gap')).toEqual(['no push: it ended']);
    expectGrowth(gaps);
  });

  it('says that announcements may have been missed when the stream is back', async () => {
    expect((await run([new NoPush('refused', false), 10_000], 200)).told).toEqual(['no push: refused', 'gap', 'push']);
    // However late a timer is, so short a life is no healthy one.
    const { told } = await run([30, new NoPush('refused', false), 10_000], 400, { healthyMs: 60_000 });
    expect(told).toEqual(['push', 'no push: it ended', 'gap', 'push']);
  });

  it('opens a stream again at once, and without a word, that ended after a healthy life', async () => {
    const { told } = await run([100, 10_000], 300);
    expect(told).toEqual(['push', 'gap']);
  });
});

describe('over a pipe', () => {
  it.each(['legacy', 'modern'] as const)('announcements of a %s server arrive', async (era) => {
    const { connection } = await open(fakeEntry({ era }));
    const { pushes, changes } = watched(connection);
    await until(() => pushes.length === 1);
    expect(pushes).toEqual([[true]]);
    await call(connection, 'grow', { name: 'new_tool' });
    await until(() => changes() === 1);
    expect((await list(connection)).tools.map(({ name }) => name)).toContain('new_tool');
    await call(connection, 'announce', { times: 12, overMs: 50 });
    await until(() => changes() === 13);
  });

  it('announcements that were never declared arrive as well', async () => {
    const { connection } = await open(fakeEntry({ behaviour: { declareListChanged: false } }));
    const { pushes, changes } = watched(connection);
    await call(connection, 'announce');
    await until(() => changes() === 1);
    expect(pushes).toEqual([[false, 'the server does not say that it announces changes']]);
  });

  it('a listener that was taken off hears nothing', async () => {
    const { connection } = await open(fakeEntry());
    let heard = 0;
    connection.onToolsChanged(() => {
      heard += 1;
    })();
    connection.onPush(() => {
      heard += 1;
    })();
    const { changes } = watched(connection);
    await call(connection, 'announce');
    await until(() => changes() === 1);
    expect(heard).toBe(0);
  });
});

describe('over Streamable HTTP, legacy', () => {
  it('announcements arrive on the stream of a GET', async () => {
    const fake = await fakeHttp();
    const { connection } = await open(httpEntry(fake.url));
    const { pushes, changes } = watched(connection);
    await until(() => pushes.length === 1);
    expect(pushes).toEqual([[true]]);
    fake.control.announce();
    await until(() => changes() === 1);
    await connection.close();
    await until(() => fake.control.streams() === 0);
  });

  it.concurrent.each<[string, PushMode]>([
    ['405', { mode: 'status', status: 405 }],
    ['501', { mode: 'status', status: 501 }],
  ])('after %s the server is not asked again', async (_, get) => {
    const fake = await fakeHttp({ behaviour: { get } });
    const { connection } = await open(httpEntry(fake.url));
    const { pushes } = watched(connection);
    await until(() => pushes.length === 1);
    expect(pushes).toEqual([[false, 'the server offers no push stream']]);
    await pause(1_300);
    expect(fake.received('GET')).toBe(1);
  });

  it.concurrent.each<[string, PushMode, boolean?]>([
    ['404', { mode: 'status', status: 404 }],
    ['400', { mode: 'status', status: 400, body: 'Session not found' }],
    ['406', { mode: 'status', status: 406 }],
    ['401', { mode: 'status', status: 401, headers: { 'www-authenticate': 'Bearer' } }],
    ['500', { mode: 'status', status: 500 }],
    ['JSON', { mode: 'json' }],
    ['a reset', { mode: 'reset' }],
    ['silence', { mode: 'hang' }],
    ['a stream that closes at once', { mode: 'close' }],
    ['a stream that is cut', { mode: 'cut', afterMs: 200 }],
    ['405 without a session', { mode: 'status', status: 405 }, false],
  ])('a GET answered with %s decides nothing about the connection', async (_, get, sessions = true) => {
    const fake = await fakeHttp({ behaviour: { get, sessions } });
    const { connection } = await open(httpEntry(fake.url));
    const { pushes } = watched(connection);
    if (get.mode !== 'hang') await until(() => pushes.at(-1)?.[0] === false);
    expect(textOf(await call(connection, 'echo', { text: 'x' }))).toBe('x');
    expect((await list(connection)).tools.length).toBeGreaterThan(0);
    await pause(1_600);
    expect(fake.received('GET')).toBeLessThanOrEqual(3);
    await expect(Promise.race([connection.lost, Promise.resolve('pending')])).resolves.toBe('pending');
  });

  it('a stream that comes late, or comes back after a gap, counts as a change', async () => {
    const fake = await fakeHttp({ behaviour: { get: { mode: 'status', status: 503 } } });
    const { connection } = await open(httpEntry(fake.url));
    const { pushes, changes } = watched(connection);
    await until(() => pushes.length === 1);
    fake.control.set({ get: { mode: 'stream' } });
    await until(() => pushes.length === 2);
    expect(changes()).toBe(1);
    fake.control.cutStreams();
    await until(() => pushes.length === 4);
    expect(pushes.map(([push]) => push)).toEqual([false, true, false, true]);
    expect(changes()).toBe(2);
  });

  it('what is known is told to those who come later', async () => {
    const fake = await fakeHttp();
    const { connection } = await open(httpEntry(fake.url));
    await until(() => fake.control.streams() === 1);
    await pause(300);
    const { pushes } = watched(connection);
    await until(() => pushes.length === 1);
    expect(pushes).toEqual([[true]]);
  });
});

describe('over Streamable HTTP, modern', () => {
  it('announcements arrive on a subscription, which is taken out again when it ended', async () => {
    const fake = await fakeHttp({ era: 'modern' });
    const { connection } = await open(httpEntry(fake.url));
    const { pushes, changes } = watched(connection);
    await until(() => pushes.length === 1);
    fake.control.announce();
    await until(() => changes() === 1);
    fake.control.endSubscriptions();
    await until(() => pushes.length === 2);
    expect(pushes[1]).toEqual([false, 'the server ended the subscription']);
    await until(() => fake.received('subscriptions/listen') === 2 && pushes.length === 3);
    expect(changes()).toBe(2);
    fake.control.cutStreams();
    await until(() => pushes.length === 4);
    expect(pushes[3]?.[0]).toBe(false);
    expect(textOf(await call(connection, 'echo', { text: 'x' }))).toBe('x');
    await connection.close();
  });

  it('is not asked for when the server does not declare it', async () => {
    const fake = await fakeHttp({ era: 'modern', behaviour: { declareListChanged: false } });
    const { connection } = await open(httpEntry(fake.url));
    const { pushes } = watched(connection);
    await until(() => pushes.length === 1);
    expect(pushes[0]?.[0]).toBe(false);
    expect(fake.received('subscriptions/listen')).toBe(0);
  });

  it('is given up when the server does not know it', async () => {
    const fake = await fakeHttp({
      era: 'modern',
      behaviour: {
        status: {
          'subscriptions/listen': {
            status: 404,
            body: { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'Method not found' } },
          },
        },
      },
    });
    const { connection } = await open(httpEntry(fake.url));
    const { pushes } = watched(connection);
    await until(() => pushes.length === 1);
    expect(pushes).toEqual([[false, 'the server does not know subscriptions/listen']]);
    await pause(1_300);
    expect(fake.received('subscriptions/listen')).toBe(1);
  });
});

it('the older transport pushes on its one stream', async () => {
  const fake = await fakeHttp({ behaviour: { transport: 'sse' } });
  const { connection } = await open(httpEntry(fake.url, { transport: 'sse' }));
  const { pushes, changes } = watched(connection);
  fake.control.announce();
  await until(() => changes() === 1);
  expect(pushes).toEqual([[true]]);
});
