import { beforeAll, describe, expect, it } from 'vitest';
import type { HttpFake } from '../fixtures/http-server.mjs';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { type Steered, stdioEntry, steered } from '../support/fixtures.ts';
import { beginCall, callsOf, factsOf, httpEntry, httpFake, meanwhile, textOf } from './given.ts';

const limit = 1_048_576;
/** A picture of one pixel. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** One daemon, and the same tools behind every kind of connection. */
let daemon: Daemon;
const servers = ['pipe', 'newpipe', 'web', 'stream', 'modern'] as const;

beforeAll(async () => {
  const web = await httpFake();
  const stream = await httpFake({ behaviour: { reply: 'sse' } });
  const modern = await httpFake({ era: 'modern' });
  daemon = await startDaemon({
    servers: {
      pipe: stdioEntry(),
      newpipe: stdioEntry({ era: 'modern' }),
      web: httpEntry(web),
      stream: httpEntry(stream),
      modern: httpEntry(modern),
    },
  });
  for (const name of servers) await daemon.waitForServer(name, 'ready');
});

/** Lets the tool `answer` give exactly this result. */
const answered = (server: string, result: Record<string, unknown>, tool = 'answer') =>
  daemon.call(`mcp__${server}__${tool}`, { result });

describe('a result', () => {
  const results: Record<string, Record<string, unknown>> = {
    'text, pictures, sounds, links and embedded resources in their order': {
      content: [
        {
          type: 'text',
          text: 'first',
          annotations: { audience: ['user'], priority: 0.5 },
          _meta: { 'fake/kept': true },
        },
        { type: 'image', data: png, mimeType: 'image/png', annotations: { priority: 1 } },
        { type: 'audio', data: 'UklGRiQAAABXQVZF', mimeType: 'audio/wav' },
        { type: 'resource_link', uri: 'file:///tmp/a.txt', name: 'a.txt', mimeType: 'text/plain', _meta: { n: 1 } },
        {
          type: 'resource',
          resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'embedded', _meta: { n: 2 } },
        },
        { type: 'resource', resource: { uri: 'file:///a.bin', mimeType: 'application/octet-stream', blob: 'AAEC' } },
        { type: 'text', text: 'last: Grüße, 你好, 🔧, \u0000 and \u2028' },
      ],
      _meta: { 'fake/trace': { id: 'abc', list: [1, 2.5, null, true] } },
    },
    'structured content beside text': { content: [{ type: 'text', text: '{"n":1}' }], structuredContent: { n: 1 } },
    'structured content alone': { content: [], structuredContent: { deep: { er: [{ n: 1 }] } } },
    'blocks of a kind nobody knows': {
      content: [
        { type: 'text', text: 'before' },
        { type: 'hologram', frames: [1, 2, 3], _meta: { 'fake/kept': true } },
        { type: 'text', text: 'after' },
      ],
    },
    'members nobody knows': { content: [{ type: 'text', text: 'x', colour: 'red' }], mood: 'good', later: { a: 1 } },
    'no content at all': { content: [] },
    'an error of the tool': { content: [{ type: 'text', text: 'it went wrong' }], isError: true },
    'an error of the tool with structured content': {
      content: [{ type: 'text', text: 'it went wrong' }],
      isError: true,
      structuredContent: { reason: 'because' },
    },
    'a result that says it is no error': { content: [{ type: 'text', text: 'fine' }], isError: false },
  };

  it.each(Object.entries(results))('passes as it is: %s', async (_title, result) => {
    const outcome = result.isError === true ? 'tool-error' : 'succeeded';
    for (const server of servers) {
      const { status, body } = await answered(server, result);
      const { call, outcome: ended, ...rest } = body;
      expect([server, status, ended, typeof call]).toEqual([server, 200, outcome, 'string']);
      if (server === 'modern' || server === 'newpipe') {
        // A server of the modern era adds members of its own to every result.
        const { _meta, resultType, ...own } = rest;
        expect({ ...own, ...(result._meta === undefined ? {} : { _meta: expect.anything() }) }).toEqual(
          result._meta === undefined ? result : { ...result, _meta: expect.anything() },
        );
        expect(_meta).toMatchObject((result._meta ?? {}) as object);
        expect(resultType).toBe('complete');
      } else expect(rest).toEqual(result);
    }
  });

  it('is not held against the schema its tool declares when it is an error', async () => {
    for (const server of servers) {
      for (const structured of [false, true]) {
        const { status, body } = await daemon.call(`mcp__${server}__error`, { structured });
        expect([status, body.outcome, body.isError, textOf({ body } as never)]).toEqual([
          200,
          'tool-error',
          true,
          'it went wrong',
        ]);
      }
    }
  });

  it('that does not fit the schema of its tool is handed on, and the server stays connected', async () => {
    for (const server of servers) {
      const { status, body } = await daemon.call(`mcp__${server}__mismatch`);
      expect([status, body.structuredContent]).toEqual([200, { n: 'not a number' }]);
      expect(await daemon.server(server)).toMatchObject({ state: 'ready', error: null });
      expect((await factsOf(daemon, server)).filter(({ type }) => type === 'SessionLost')).toEqual([]);
    }
  });

  it('that is an error of the protocol reaches the caller as an error of the tool', async () => {
    const { status, body } = await daemon.call('mcp__pipe__rpc_error', { code: -32050, message: 'not today' });
    expect([status, body.outcome, body.isError]).toEqual([200, 'tool-error', true]);
    expect(textOf({ body } as never)).toContain('not today');
  });

  it.each([-32601, -32600, -32700])('with the code %i says that the tool surely did not run', async (code) => {
    const { status, body } = await daemon.call('mcp__web__rpc_error', { code, message: 'no such thing' });
    expect([status, body.outcome, body.code]).toEqual([502, 'failed', 'call-rejected']);
    expect(body.detail).toContain('no such thing');
  });
});

describe('the cap of one mebibyte', () => {
  const text = (length: number, char = 'x') => ({ type: 'text', text: char.repeat(length) });
  const marker = (total: number, kept: number) => `\n\n[mcp output truncated: ${total} bytes total, ${kept} kept]`;
  const latest = async () => (await callsOf(daemon, '?limit=1'))[0];

  it.each(servers)('lets exactly that much through untouched, and cuts one byte more (%s)', async (server) => {
    const whole = await daemon.call(`mcp__${server}__big`, { bytes: limit });
    // What a modern server adds in `_meta` counts as well.
    const meta = whole.body._meta === undefined ? 0 : Buffer.byteLength(JSON.stringify(whole.body._meta));
    if (meta === 0) {
      expect(textOf(whole)).toHaveLength(limit);
      expect(await latest()).toMatchObject({ resultBytes: limit, truncated: false });
    }
    const exact = await daemon.call(`mcp__${server}__big`, { bytes: limit - meta });
    expect(textOf(exact)).toBe('x'.repeat(limit - meta));
    const more = await daemon.call(`mcp__${server}__big`, { bytes: limit - meta + 1 });
    expect(textOf(more)).toBe('x'.repeat(limit - meta) + marker(limit + 1, limit));
    expect(await latest()).toMatchObject({ outcome: 'succeeded', resultBytes: limit + 1, truncated: true });
  });

  it('cuts three mebibytes and says how much there was', async () => {
    const { status, body } = await daemon.call('mcp__pipe__big', { bytes: 3 * limit });
    expect(status).toBe(200);
    expect(body.content).toEqual([{ type: 'text', text: 'x'.repeat(limit) + marker(3 * limit, limit) }]);
  });

  it.each([
    ['€', 3],
    ['🔧', 4],
    ['é', 2],
  ])('never cuts through a character (%s)', async (char, width) => {
    for (let lead = 0; lead < width; lead += 1) {
      const count = Math.ceil(limit / width) + 10;
      const body = await daemon.call('mcp__pipe__multibyte', { lead, char, count });
      const fit = Math.floor((limit - lead) / width);
      const kept = lead + fit * width;
      expect(textOf(body)).toBe('x'.repeat(lead) + char.repeat(fit) + marker(lead + count * width, kept));
    }
  });

  it('drops later text, keeps small blocks that fit, and replaces a picture that is too big by a note', async () => {
    const small = { type: 'image', data: png, mimeType: 'image/png' };
    const huge = { type: 'image', data: 'A'.repeat(limit), mimeType: 'image/png' };
    const { body } = await answered('web', { content: [text(10), huge, text(5), small] });
    const total = 10 + limit + 5 + png.length;
    expect(body.content).toHaveLength(3);
    expect(body.content[0]).toEqual({ type: 'text', text: `xxxxxxxxxx${marker(total, 10 + png.length)}` });
    expect(body.content[1]).toMatchObject({
      type: 'text',
      text: expect.stringContaining(`image/png of ${limit} bytes`),
    });
    expect(body.content[2]).toEqual(small);
  });

  it('counts a sound and an embedded file by what is sent of them', async () => {
    const audio = { type: 'audio', data: 'A'.repeat(limit / 2), mimeType: 'audio/wav' };
    const file = (bytes: number) => ({ type: 'resource', resource: { uri: 'file:///a.bin', blob: 'A'.repeat(bytes) } });
    const exact = { content: [audio, file(limit / 2)] };
    const { call: _call, outcome: _outcome, ...rest } = (await answered('pipe', exact)).body;
    expect(rest).toEqual(exact);
    const { body } = await answered('pipe', { content: [audio, file(limit / 2 + 4)] });
    expect(body.content[0]).toEqual(audio);
    expect(body.content[1].text).toContain(`resource of ${limit / 2 + 4} bytes left out`);
    expect(body.content[1].text).toContain(marker(limit + 4, limit / 2).trim());
  });

  it('holds for error results as well', async () => {
    const { status, body } = await daemon.call('mcp__web__error', { message: 'e'.repeat(limit + 100) });
    expect([status, body.outcome, body.isError]).toEqual([200, 'tool-error', true]);
    expect(textOf({ body } as never)).toBe('e'.repeat(limit) + marker(limit + 100, limit));
  });

  it('makes a result an error when its structured content had to go and the tool declares a schema', async () => {
    const result = { content: [text(100)], structuredContent: { n: 1, filler: 'f'.repeat(limit) } };
    const plain = (await answered('pipe', result)).body;
    expect(plain.isError).toBeUndefined();
    expect(plain.structuredContent).toBeUndefined();
    expect(textOf({ body: plain } as never)).toContain('[mcp output truncated: ');

    const own = steered({
      behaviour: {
        tools: ['structured'],
        answers: { 'tools/call': { replace: result } },
      },
    });
    const other = await startDaemon({ servers: { s: stdioEntry(own.options) } });
    await other.waitForServer('s', 'ready');
    const { status, body } = await other.call('mcp__s__structured');
    expect([status, body.isError, body.structuredContent]).toEqual([200, true, undefined]);
    expect(textOf({ body } as never)).toMatch(/^x{100}\n\n\[mcp output truncated: /);
    // The tool itself did what it was asked.
    expect(body.outcome).toBe('succeeded');
  });

  it.each(['pipe', 'web', 'stream'])(
    'takes a line of twelve mebibytes without losing the server (%s)',
    async (server) => {
      const { status, body } = await daemon.call(`mcp__${server}__big`, { bytes: 12 * limit });
      expect([status, textOf({ body } as never)]).toEqual([200, 'x'.repeat(limit) + marker(12 * limit, limit)]);
      expect(textOf(await daemon.call(`mcp__${server}__echo`, { text: 'still here' }))).toBe('still here');
      expect((await daemon.server(server)).state).toBe('ready');
    },
  );
});

describe('the limits of a call', () => {
  let own: Daemon;
  let pipe: Steered;
  let web: HttpFake;
  const limits = { callTimeoutMs: 1000, callMaxMs: 3000 };

  beforeAll(async () => {
    pipe = steered();
    web = await httpFake({ behaviour: { reply: 'auto' } });
    own = await startDaemon({
      servers: {
        pipe: stdioEntry(pipe.options, limits),
        web: httpEntry(web, limits),
        patient: stdioEntry(),
      },
    });
    for (const name of ['pipe', 'web', 'patient']) await own.waitForServer(name, 'ready');
  });

  it.each(['pipe', 'web'])(
    'a call that reports progress may take longer than the limit for silence (%s)',
    async (server) => {
      const { status, body } = await own.call(`mcp__${server}__progress`, { ms: 2200, every: 100 });
      expect([status, body.outcome]).toEqual([200, 'succeeded']);
      expect(textOf({ body } as never)).toMatch(/^done after \d+ reports$/);
    },
  );

  it.each(['pipe', 'web'])(
    'a call that reports for ever is cut at the total limit, and the server is told (%s)',
    async (server) => {
      const { status, body } = await own.call(`mcp__${server}__endless`, { every: 100 });
      expect([status, body.outcome, body.code]).toEqual([504, 'unknown', 'call-timeout']);
      expect(body.detail).toMatch(/3000 ms.*callMaxMs/);
      const cancelled = () =>
        server === 'pipe' ? pipe.counted('notifications/cancelled') : web.received('notifications/cancelled');
      await own.waitFor(() => cancelled() === 1);
      expect((await own.server(server)).state).toBe('ready');
    },
  );

  it.each(['pipe', 'web'])('a call that says nothing is cut at the limit for silence (%s)', async (server) => {
    const { status, body } = await own.call(`mcp__${server}__sleep`, { ms: 20_000 });
    expect([status, body.outcome]).toEqual([504, 'unknown']);
    expect(body.detail).toMatch(/1000 ms.*callTimeoutMs/);
  });

  it('reports that carry the token of another call keep nothing alive', async () => {
    const { status, body } = await own.call('mcp__pipe__progress', { ms: 20_000, every: 100, wrongToken: true });
    expect([status, body.outcome]).toEqual([504, 'unknown']);
    expect(body.detail).toMatch(/1000 ms.*callTimeoutMs/);
    expect(textOf(await own.call('mcp__pipe__echo', { text: 'next' }))).toBe('next');
  });

  it('the caller may set a shorter one, and is told that it was this one', async () => {
    const silent = await own.call('mcp__patient__sleep', { ms: 20_000 }, { timeout_ms: 400 });
    expect([silent.status, silent.body.outcome]).toEqual([504, 'unknown']);
    expect(silent.body.detail).toMatch(/400 ms.*timeout_ms/);
    expect(silent.body.detail).not.toMatch(/callTimeoutMs|callMaxMs/);
    const busy = await own.call('mcp__patient__endless', { every: 50 }, { timeout_ms: 400 });
    expect(busy.body.detail).toMatch(/400 ms.*timeout_ms/);
    // A longer one does not lift those of the entry.
    const { body } = await own.call('mcp__pipe__sleep', { ms: 20_000 }, { timeout_ms: 60_000 });
    expect(body.detail).toMatch(/callTimeoutMs/);
  });

  it('a caller that goes away takes its call back at the server', async () => {
    for (const server of ['pipe', 'web'] as const) {
      const told = () =>
        server === 'pipe' ? pipe.counted('notifications/cancelled') : web.received('notifications/cancelled');
      const before = told();
      const { leave } = beginCall(own, {
        tool: `mcp__${server}__progress`,
        arguments: { ms: 20_000, every: 100 },
        permission_mode: 'allow-all',
      });
      const [running] = await own.waitFor(async () => {
        const calls = await callsOf(own, `?state=running&server=${server}`);
        return calls.length === 1 && calls;
      });
      leave();
      await own.waitFor(() => told() === before + 1);
      const ended = await own.waitFor(async () => {
        const { body } = await own.api('GET', `/v1/mcp/calls/${running.id}`);
        return body.state === 'settled' && body;
      });
      expect(ended).toMatchObject({ outcome: 'unknown', reason: expect.stringMatching(/may have run/) });
    }
  });

  it('a running call can be cancelled by its id', async () => {
    const { answer } = beginCall(own, {
      tool: 'mcp__patient__sleep',
      arguments: { ms: 20_000 },
      permission_mode: 'allow-all',
    });
    const [running] = await own.waitFor(async () => {
      const calls = await callsOf(own, '?state=running');
      return calls.length === 1 && calls;
    });
    const cancelled = await own.api('POST', `/v1/mcp/calls/${running.id}/cancel`);
    expect([cancelled.status, cancelled.body.state, cancelled.body.outcome]).toEqual([200, 'settled', 'unknown']);
    const { status, body } = await answer;
    expect([status, body.code, body.outcome, body.call]).toEqual([409, 'call-cancelled', 'unknown', running.id]);
    const again = await own.api('POST', `/v1/mcp/calls/${running.id}/cancel`);
    expect([again.status, again.body.code]).toEqual([409, 'call-not-held']);
  });

  it('a server may limit how many calls run at once; the others wait in order', async () => {
    const one = steered({ behaviour: { tools: ['sleep', 'echo'] } });
    const other = await startDaemon({ servers: { one: stdioEntry(one.options, { maxConcurrency: 1 }) } });
    await other.waitForServer('one', 'ready');
    const begun = [1, 2, 3].map(() =>
      beginCall(other, { tool: 'mcp__one__sleep', arguments: { ms: 300 }, permission_mode: 'allow-all' }),
    );
    const waiting = beginCall(other, { tool: 'mcp__one__echo', permission_mode: 'allow-all' });
    await other.waitFor(() => one.counted('tools/call') >= 1);
    // One that leaves while it waits for its turn is never sent.
    waiting.leave();
    const answers = await Promise.all(begun.map(({ answer }) => answer));
    expect(answers.map(({ body }) => body.outcome)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    const arrived = one.counts().filter(({ event }) => event === 'tools/call');
    expect(arrived.map(({ name }) => name)).toEqual(['sleep', 'sleep', 'sleep']);
    for (const [n, { at }] of arrived.slice(1).entries())
      expect(at - (arrived[n]?.at ?? 0)).toBeGreaterThanOrEqual(290);
    await meanwhile(200);
    expect(one.counted('tools/call', 'echo')).toBe(0);
  });
});

describe('a call to a server that is not connected', () => {
  it('waits while the server is starting', async () => {
    const slow = steered({ behaviour: { tools: ['echo'], start: { delayMs: 2000 } } });
    const own = await startDaemon({ servers: { slow: stdioEntry(slow.options) } });
    const first = await own.call('mcp__slow__echo', { text: 'first start' });
    expect([first.status, textOf(first)]).toEqual([200, 'first start']);
    // After a restart of the daemon the tools are known, though the server is not there yet.
    await own.restart();
    expect((await own.tools())[0]).toMatchObject({ name: 'mcp__slow__echo', stale: true });
    const second = await own.call('mcp__slow__echo', { text: 'second start' });
    expect([second.status, textOf(second)]).toEqual([200, 'second start']);
    expect(slow.counted('tools/call')).toBe(2);
  });

  it('fails at once while the server pauses between attempts, and nothing is sent later', async () => {
    const fake = await httpFake({ behaviour: { tools: ['echo'] } });
    const own = await startDaemon({ servers: { web: httpEntry(fake) } });
    await own.waitForServer('web', 'ready');
    fake.control.set({ status: { '*': { status: 503, headers: { 'retry-after': '600' } } } });
    fake.control.cutStreams();
    await own.api('POST', '/v1/mcp/reconnect', { name: 'web' });
    expect((await own.server('web')).state).toBe('backing-off');
    const { status, body } = await own.call('mcp__web__echo', { text: 'x' });
    expect([status, body.outcome, body.code]).toEqual([503, 'failed', 'server-not-connected']);
    expect(body.detail).toMatch(/backing-off/);
    expect(body.call).toEqual(expect.any(String));
    fake.control.set({ status: {} });
    await own.api('POST', '/v1/mcp/reconnect', { name: 'web' });
    await own.waitForServer('web', 'ready');
    await meanwhile(200);
    expect(fake.received('tools/call')).toBe(0);
  });

  it('starts a server that waits for its first use', async () => {
    const lazy = steered({ behaviour: { tools: ['echo'] } });
    const own = await startDaemon({ servers: { lazy: stdioEntry(lazy.options, { lazy: true, idleStopMs: 600 }) } });
    await own.waitForServer('lazy', 'idle');
    expect(lazy.counted('spawn')).toBe(0);
    expect(textOf(await own.call('mcp__lazy__echo', { text: 'awake' }))).toBe('awake');
    await own.waitForServer('lazy', 'idle');
    expect((await own.tools())[0]).toMatchObject({ stale: true });
    expect(textOf(await own.call('mcp__lazy__echo', { text: 'awake again' }))).toBe('awake again');
    expect(lazy.counted('spawn')).toBe(2);
  });

  it('may have run when the server died during it', async () => {
    const own = await startDaemon({ servers: { s: stdioEntry() } });
    await own.waitForServer('s', 'ready');
    const { status, body } = await own.call('mcp__s__die', { code: 3, message: 'out of luck' });
    expect([status, body.outcome, body.code]).toEqual([502, 'unknown', 'server-lost']);
    expect(body.detail).toMatch(/code 3.*out of luck/);
    await own.waitForServer('s', 'ready');
  });
});
