import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpFake, startHttpFake } from '../fixtures/http-server.mjs';
import { type ApiReply, type Daemon, startDaemon } from '../support/daemon.ts';
import { stdioEntry } from '../support/fixtures.ts';
import { findByEnv } from '../support/processes.ts';
import { factsOf, textOf } from './asking.ts';

/** How long the good ones need before they read their first line. */
const SLOW_MS = 3_000;
const number = (n: number) => String(n).padStart(2, '0');
const range = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

const good = range(40).map((n) => `good-${number(n)}`);
const web = range(10).map((n) => `web-${number(n)}`);
const mute = range(5).map((n) => `mute-${n}`);
const refused = range(3).map((n) => `refused-${n}`);
const unknown = range(2).map((n) => `unknown-${n}`);

/** Sixty entries, most of them slow or dead. */
function entries(fakes: readonly HttpFake[], closedPort: number): Record<string, unknown> {
  const silence = { initialize: { never: true }, 'server/discover': { never: true } };
  const each = (names: readonly string[], make: (n: number) => unknown) => names.map((name, n) => [name, make(n)]);
  return Object.fromEntries([
    ...each(mute, () => stdioEntry({ behaviour: { answers: silence } }, { connectTimeoutMs: 20_000 })),
    ...each(refused, () => ({ url: `http://127.0.0.1:${closedPort}/mcp` })),
    ...each(unknown, (n) => ({ url: `http://host-${n}.invalid/mcp` })),
    ...each(good, (n) => stdioEntry({ behaviour: { start: { delayMs: n < 38 ? SLOW_MS : 0 }, tools: ['echo'] } })),
    ...each(web, (n) => ({ url: fakes[n]?.url })),
  ]);
}

describe('A daemon with sixty servers, many of them slow or dead', { timeout: 60_000 }, () => {
  let fakes: HttpFake[];
  let closedPort: number;
  let daemon: Daemon;

  beforeAll(async () => {
    fakes = await Promise.all(range(10).map(() => startHttpFake({ behaviour: { tools: ['echo'] } })));
    const closed = await startHttpFake();
    closedPort = closed.port;
    await closed.close();
    daemon = await startDaemon({ servers: entries(fakes, closedPort) });
  });
  afterAll(async () => {
    await daemon.stop();
    await Promise.all(fakes.map((fake) => fake.close()));
  });

  /** Calls made before their servers had told anything. */
  let early: { good: Promise<ApiReply>; mute: Promise<ApiReply>; refused: Promise<ApiReply> };

  it('answers at once while they start, and shows every one of them', async () => {
    const took: number[] = [];
    const ask = async (path: string) => {
      const began = performance.now();
      const { status, body } = await daemon.api('GET', path);
      expect(status).toBe(200);
      took.push(performance.now() - began);
      return body;
    };
    expect(await ask('/health')).toMatchObject({ status: 'ok', ready: true });
    const { servers } = await ask('/v1/mcp/status');
    expect(servers).toHaveLength(60);
    expect(servers.some(({ state }: any) => state === 'connecting' || state === 'idle')).toBe(true);
    early = {
      good: daemon.call('mcp__good-01__echo', { text: 'early' }),
      mute: daemon.call('mcp__mute-1__echo', { text: 'early' }),
      refused: daemon.call('mcp__refused-1__echo', { text: 'early' }),
    };
    await ask('/v1/mcp/tools');
    await ask('/v1/mcp/history');
    await ask('/v1/events');
    for (let n = 0; n < 10; n += 1) {
      await ask('/v1/mcp/status');
      await pause(100);
    }
    // The middle one, since whoever asks may have been kept waiting for a processor.
    expect(took.sort((a, b) => a - b)[Math.floor(took.length / 2)]).toBeLessThan(1_000);
  });

  it('makes the good ones usable as they come, whatever became of the others', async () => {
    await daemon.waitForServer('web-10', 'ready', 20_000);
    expect(textOf(await daemon.call('mcp__web-10__echo', { text: 'hello' }))).toBe('hello');
    expect((await daemon.status()).filter(({ state }) => state !== 'ready').length).toBeGreaterThan(10);
    for (const name of [...web, ...good]) await daemon.waitForServer(name, 'ready', 25_000);
    expect(textOf(await daemon.call('mcp__good-01__echo', { text: 'hello' }))).toBe('hello');
    expect(await daemon.tools()).toHaveLength(50);

    const states = new Map((await daemon.status()).map(({ name, state }) => [name, state]));
    for (const name of [...mute, ...refused, ...unknown]) expect.soft(states.get(name), name).not.toBe('ready');
    expect((await daemon.server('refused-1')).error).toMatchObject({ class: 'transport' });
    expect((await daemon.server('unknown-1')).error).toMatchObject({ class: 'transport' });
  });

  it('lets a call that came too early wait a little, and then says which server it is about', async () => {
    expect(textOf(await early.good)).toBe('early');
    for (const [name, reply] of [
      ['mute-1', await early.mute],
      ['refused-1', await early.refused],
    ] as const) {
      expect(reply.status).toBe(404);
      expect(reply.body.detail).toContain(name);
    }
  });

  it('took only a few at a time, and gave the place of a silent one to the next', async () => {
    const starts = await Promise.all(
      [...mute, ...good].map(async (name) => Date.parse((await factsOf(daemon, name, 'ConnectStarted'))[0].at)),
    );
    starts.sort((a, b) => a - b);
    const within = starts.map((from) => starts.filter((at) => at >= from && at < from + 400).length);
    expect(Math.max(...within)).toBeLessThan(20);
    // Had they been waited for one after the other, the last would have begun after half an hour of silence and slowness.
    expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeLessThan(20_000);
  });

  it('leaves no process when it is told to stop in the middle of that', async () => {
    for (const ms of [0, 700]) {
      const early = await startDaemon({ servers: entries(fakes, closedPort) });
      await pause(ms);
      expect(await early.stop()).toEqual({ code: 0, signal: null });
      expect(findByEnv('HOME', early.home)).toEqual([]);
    }
  });
});
