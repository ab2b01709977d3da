import { request } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { toolsHistory } from '../../src/http/contract.catalog.ts';
import * as contract from '../../src/http/contract.ts';
import { problems } from '../../src/http/problem.ts';
import { atEnd } from '../support/cleanup.ts';
import { type ApiReply, type Daemon, startDaemon } from '../support/daemon.ts';
import { type Steered, stdioEntry, steered } from '../support/fixtures.ts';
import { beginCall, heldCall, httpEntry, httpFake, meanwhile, positionOf } from './given.ts';

/** The body, once it has the shape the contract gives it. */
function shaped<Shape extends z.ZodType>(shape: Shape, { status, body }: ApiReply): any {
  const read = shape.safeParse(body);
  if (!read.success) throw new Error(`HTTP ${status}: ${read.error.message}\n${JSON.stringify(body).slice(0, 2000)}`);
  return body;
}

/** Everything that is shown of the present, apart from what moves by itself. */
async function shown(daemon: Daemon): Promise<Record<string, unknown>> {
  const paths = [
    '/health',
    '/v1/mcp',
    '/v1/mcp/status',
    '/v1/mcp/tools',
    '/v1/mcp/tools/history',
    '/v1/mcp/instructions',
    '/v1/mcp/history',
    '/v1/mcp/calls',
    '/v1/allowlist',
    '/v1/events?limit=1000',
  ];
  const bodies = await Promise.all(paths.map(async (path) => [path, (await daemon.api('GET', path)).body] as const));
  return JSON.parse(JSON.stringify(Object.fromEntries(bodies), (key, value) => (key === 'lastSeen' ? '' : value)));
}

describe('the answers', () => {
  let daemon: Daemon;
  let pipe: Steered;

  beforeAll(async () => {
    pipe = steered({
      behaviour: { tools: ['echo', 'add', 'structured'], instructions: 'Use echo to test.\n# Not a heading' },
    });
    const modern = await httpFake({ era: 'modern', behaviour: { tools: ['echo'], instructions: 'x'.repeat(20_000) } });
    daemon = await startDaemon({
      servers: {
        gone: { url: 'http://127.0.0.1:9/mcp' },
        modern: httpEntry(modern),
        off: stdioEntry({ behaviour: { instructions: 'never read' } }, { disabled: true }),
        s: stdioEntry(pipe.options),
        wrong: {},
      },
      allow: ['mcp__s__echo'],
      settings: { approval: { windowMs: 100 } },
    });
    for (const name of ['modern', 's']) await daemon.waitForServer(name, 'ready');
    await daemon.waitForServer('gone', 'backing-off');
  });

  it('about status have one row for every entry, sorted by name, in the promised shape', async () => {
    const { servers } = shaped(contract.status, await daemon.api('GET', '/v1/mcp/status'));
    expect(
      servers.map(({ name, transport, state, connected, era }: any) => [name, transport, state, connected, era]),
    ).toEqual([
      ['gone', 'streamable-http', expect.stringMatching(/backing-off|reconnecting/), false, null],
      ['modern', 'streamable-http', 'ready', true, 'modern'],
      ['off', 'stdio', 'disabled', false, null],
      ['s', 'stdio', 'ready', true, 'legacy'],
      ['wrong', null, 'failed', false, null],
    ]);
    const row = servers[3];
    expect(row).toMatchObject({
      error: null,
      attempt: 1,
      nextAttemptAt: null,
      pid: pipe.pid(),
      protocolVersion: '2025-11-25',
      serverInfo: { name: 'fake', version: '1.0.0' },
      tools: 3,
    });
    expect(Math.abs(Date.parse(row.since) - Date.now())).toBeLessThan(60_000);
    expect(servers[0].error).toMatchObject({ class: 'transport', message: expect.stringMatching(/^connect: /) });
    expect(servers[0].attempt).toBeGreaterThan(0);
    expect(servers[4].error).toMatchObject({ class: 'config', message: expect.stringMatching(/command.*url/) });
  });

  it('about tools give the whole definition under the registered name, sorted, byte for byte the same each time', async () => {
    const { tools } = shaped(contract.tools, await daemon.api('GET', '/v1/mcp/tools'));
    expect(tools.map(({ name }: any) => name)).toEqual([
      'mcp__modern__echo',
      'mcp__s__add',
      'mcp__s__echo',
      'mcp__s__structured',
    ]);
    expect(tools[2]).toEqual({
      name: 'mcp__s__echo',
      description: 'Gives the text back.',
      parameters: { type: 'object', properties: { text: { type: 'string' } } },
      server: 's',
      tool: 'echo',
      title: null,
      annotations: { readOnlyHint: true },
      outputSchema: null,
      allowed: true,
      stale: false,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(tools[3]).toMatchObject({ allowed: false, outputSchema: { type: 'object', required: ['n'] } });

    const text = async () => {
      const response = await fetch(`${daemon.url}/v1/mcp/tools`, {
        headers: { authorization: `Bearer ${daemon.token}` },
      });
      return response.text();
    };
    const first = await text();
    expect(await text()).toBe(first);
    await daemon.api('POST', '/v1/mcp/reconnect', { name: 's' });
    expect(await text()).toBe(first);
    await daemon.api('POST', '/v1/rebuild');
    expect(await text()).toBe(first);

    expect((await daemon.tools('modern')).map(({ name }) => name)).toEqual(['mcp__modern__echo']);
    expect((await daemon.api('GET', '/v1/mcp/tools?name=s')).body.tools).toHaveLength(3);
    expect((await daemon.api('GET', '/v1/mcp/tools?server=nobody')).body.code).toBe('unknown-server');
  });

  it('about instructions carry what servers say of themselves, fenced and cut to size', async () => {
    const { servers, prompt } = shaped(contract.instructions, await daemon.api('GET', '/v1/mcp/instructions'));
    expect(Object.keys(servers).sort()).toEqual(['modern', 's']);
    expect(servers.s).toBe('Use echo to test.\n# Not a heading');
    expect(servers.modern).toHaveLength(20_000);
    expect(prompt).toContain('Use echo to test.');
    expect(prompt).toMatch(/third.party/);
    expect(prompt).not.toMatch(/^# Not a heading/m);
    expect(prompt).not.toContain('x'.repeat(8193));
    expect(prompt).toContain('x'.repeat(8192));
  });

  it('about health need no token on this machine', async () => {
    const response = await fetch(`${daemon.url}/health`);
    const body = shaped(contract.health, {
      status: response.status,
      body: await response.json(),
      headers: response.headers,
    });
    expect(body).toMatchObject({ status: 'ok', ready: true, mount_mode: 'per-server', routed_path: '/mcp' });
    expect(body.version).toBe(daemon.ready.version);
    expect(body.routed).toEqual({ count: 4, longest: 's__structured'.length });
    expect(body.servers.map(({ name, state, tool_prefix, tools }: any) => [name, state, tool_prefix, tools])).toEqual([
      ['gone', expect.any(String), '', undefined],
      ['modern', 'ready', '', { count: 1, longest: 4, stale: false }],
      ['off', 'disabled', '', undefined],
      ['s', 'ready', '', { count: 3, longest: 10, stale: false }],
      ['wrong', 'failed', '', undefined],
    ]);
    expect((await daemon.api('GET', '/health')).body).toEqual(body);
  });

  it('for Prometheus count states, tools, facts and calls', async () => {
    await daemon.call('mcp__s__echo', { text: 'x' });
    // A server that is tried again writes facts meanwhile.
    const before = await positionOf(daemon);
    const { status, body, headers } = await daemon.api('GET', '/metrics');
    const after = await positionOf(daemon);
    expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/plain/)]);
    expect(body).toMatch(/^watchkeeper_server_state\{server="s",state="ready"\} 1$/m);
    expect(body).toMatch(/^watchkeeper_server_tools\{server="s"\} 3$/m);
    expect(body).toMatch(/^watchkeeper_calls_total\{outcome="succeeded"\} [1-9]/m);
    const position = Number(/^watchkeeper_log_position (\d+)$/m.exec(body)?.[1]);
    expect(position).toBeGreaterThanOrEqual(before);
    expect(position).toBeLessThanOrEqual(after);
    expect(body).toMatch(/^process_resident_memory_bytes /m);
  });

  it('to a reconnection say how each server fared', async () => {
    const one = shaped(contract.reconnect, await daemon.api('POST', '/v1/mcp/reconnect', { name: 's' }));
    expect(one).toEqual({ ok: true, servers: [{ name: 's', ok: true, state: 'ready', error: null }] });
    expect(pipe.counted('spawn')).toBeGreaterThan(1);
    const all = shaped(contract.reconnect, await daemon.api('POST', '/v1/mcp/reconnect'));
    expect(all.ok).toBe(false);
    expect(all.servers.map(({ name, ok, state }: any) => [name, ok, state])).toEqual([
      ['gone', false, 'backing-off'],
      ['modern', true, 'ready'],
      ['s', true, 'ready'],
      ['wrong', false, 'failed'],
    ]);
    const off = await daemon.api('POST', '/v1/mcp/reconnect', { name: 'off' });
    expect([off.status, off.body.code]).toEqual([409, 'server-disabled']);
  });

  it('about calls and the configuration have the promised shapes', async () => {
    const called = await daemon.call('mcp__s__structured', { n: 2 });
    shaped(contract.callResult, called);
    const { answer } = beginCall(daemon, { tool: 'mcp__s__add', arguments: { a: 1, b: 2 } });
    const { id } = await heldCall(daemon);
    const { status, body } = await answer;
    expect(status).toBe(202);
    shaped(contract.callHeld, { status, body, headers: new Headers() });
    shaped(contract.call, await daemon.api('GET', `/v1/mcp/calls/${id}`));
    shaped(contract.call, await daemon.api('POST', `/v1/mcp/calls/${id}/deny`, { reason: 'no' }));
    shaped(contract.calls, await daemon.api('GET', '/v1/mcp/calls'));
    shaped(contract.config, await daemon.api('GET', '/v1/mcp'));
    shaped(contract.allowlist, await daemon.api('GET', '/v1/allowlist'));
    shaped(
      contract.allowlistReplaced,
      await daemon.api('POST', '/v1/allowlist', { tool: { prefix: 'mcp__s__', entries: [] } }),
    );
    shaped(toolsHistory, await daemon.api('GET', '/v1/mcp/tools/history'));
    shaped(contract.history, await daemon.api('GET', '/v1/mcp/history'));
    shaped(contract.testResult, await daemon.api('POST', '/v1/mcp/test', { server: { command: 'no-such-command' } }));
    shaped(contract.rebuild, await daemon.api('POST', '/v1/rebuild'));
  });

  it.each([
    ['GET', '/v1/nowhere', undefined, 404, 'not-found'],
    ['GET', '/nothing/here', undefined, 404, 'not-found'],
    ['DELETE', '/v1/mcp/status', undefined, 405, 'method-not-allowed'],
    ['GET', '/v1/mcp/status?at=yesterday', undefined, 400, 'invalid-request'],
    ['GET', '/v1/mcp/status?colour=red', undefined, 400, 'invalid-request'],
    ['GET', '/v1/events?limit=1001', undefined, 400, 'invalid-request'],
    ['GET', '/v1/events?after=-1', undefined, 400, 'invalid-request'],
    ['GET', '/v1/mcp/history?from=2026-01-02&to=2026-01-01', undefined, 400, 'invalid-request'],
    ['GET', '/v1/mcp/tools?server=s&name=modern', undefined, 400, 'invalid-request'],
    ['POST', '/v1/mcp/call', { tool: 'mcp__s__nothing' }, 404, 'unknown-tool'],
    ['POST', '/v1/mcp/remove', { server: 's' }, 400, 'invalid-request'],
    ['POST', '/v1/mcp/call', undefined, 400, 'invalid-request'],
  ] as const)(
    'that are no success say what is wrong and where to read on: %s %s',
    async (method, path, body, status, code) => {
      const answer = await daemon.api(method, path, body);
      expect([answer.status, answer.body.code]).toEqual([status, code]);
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      shaped(contract.problem, answer);
      expect(answer.body).toMatchObject({ status, type: `/docs/errors/${code}`, title: problems[code].title });
      expect(answer.body.error).toBe(answer.body.detail);
      const page = await fetch(`${daemon.url}${answer.body.type}`, { headers: { accept: 'text/html' } });
      expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/html/)]);
    },
  );
});

describe('the description of the API', () => {
  it('names every route of the daemon, and no route that is not there', async () => {
    const daemon = await startDaemon({ servers: {} });
    const description = (await (await fetch(`${daemon.url}/openapi.json`)).json()) as any;
    expect(description.openapi).toMatch(/^3\.1/);
    const routes = Object.entries<Record<string, any>>(description.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(routes.filter((route) => !/ \/(docs|openapi)/.test(route)).sort()).toEqual(
      [
        'GET /v1/mcp/oauth',
        'DELETE /v1/mcp/oauth',
        'POST /v1/mcp/oauth/adopt',
        'POST /v1/mcp/oauth/callback',
        'POST /v1/mcp/oauth/client',
        'GET /health',
        'GET /metrics',
        'GET /v1/allowlist',
        'GET /v1/allowlist/suspended',
        'GET /v1/ledger/verify',
        'GET /v1/mcp/tools/changes',
        'POST /v1/mcp/calls/{id}/close',
        'GET /v1/clients',
        'GET /v1/events',
        'GET /v1/mcp',
        'GET /v1/mcp/bundle',
        'GET /v1/mcp/calls',
        'GET /v1/mcp/calls/{id}',
        'GET /v1/mcp/doctor',
        'GET /v1/mcp/history',
        'GET /v1/mcp/history/summary',
        'GET /v1/mcp/instructions',
        'GET /v1/mcp/record',
        'GET /v1/mcp/status',
        'GET /v1/mcp/stderr',
        'GET /v1/mcp/tools',
        'GET /v1/mcp/tools/history',
        'GET /v1/mcp/why',
        'POST /v1/allowlist',
        'POST /v1/mcp',
        'POST /v1/mcp/call',
        'POST /v1/mcp/calls/{id}/approve',
        'POST /v1/mcp/calls/{id}/cancel',
        'POST /v1/mcp/calls/{id}/deny',
        'POST /v1/mcp/disable',
        'POST /v1/mcp/enable',
        'POST /v1/mcp/fixture',
        'POST /v1/mcp/record',
        'POST /v1/mcp/reconnect',
        'POST /v1/mcp/remove',
        'POST /v1/mcp/replay',
        'POST /v1/mcp/test',
        'POST /v1/rebuild',
        'POST /v1/shutdown',
      ].sort(),
    );
    for (const [path, methods] of Object.entries<Record<string, any>>(description.paths)) {
      for (const [method, { responses }] of Object.entries(methods)) {
        if (path === '/v1/shutdown' || path === '/v1/events') continue;
        const url = path.replace('{code}', 'unauthorized').replace('{id}', 'x');
        const answer = await daemon.api(method.toUpperCase(), url, method === 'post' ? {} : undefined);
        expect([method, path, answer.body?.code]).not.toEqual([method, path, 'not-found']);
        // What is answered is among what is described.
        expect([method, path, Object.keys(responses)]).toEqual([
          method,
          path,
          expect.arrayContaining([String(answer.status)]),
        ]);
      }
    }
    const page = await (await fetch(`${daemon.url}/docs`)).text();
    expect(page).toContain('/v1/mcp/call');
  });
});

describe('the daemon', () => {
  it('ends in good order when it is told to', async () => {
    const daemon = await startDaemon({ servers: { s: stdioEntry() } });
    await daemon.waitForServer('s', 'ready');
    expect((await daemon.api('POST', '/v1/shutdown')).body).toEqual({ ok: true });
    expect(await daemon.exited).toEqual({ code: 0, signal: null });
  });
});

describe('the past', () => {
  it('is shown as it was at any position and at any time', async () => {
    const pipe = steered({ behaviour: { tools: ['echo'] } });
    const web = await httpFake({ behaviour: { tools: ['echo', 'add', 'error'] } });
    const daemon = await startDaemon({
      servers: { s: stdioEntry(pipe.options), web: httpEntry(web, { exclude: ['err*'] }) },
    });
    const moments: { at: number; position: number; status: unknown; tools: unknown }[] = [];
    const present = async (at?: number | string) => {
      const query = at === undefined ? '' : `?at=${encodeURIComponent(at)}`;
      const { servers } = shaped(contract.status, await daemon.api('GET', `/v1/mcp/status${query}`));
      return {
        // A poll that found nothing new is no fact, so nobody can know later when a server was last seen.
        status: servers.map(({ lastSeen: _lastSeen, ...row }: any) => row),
        tools: shaped(contract.tools, await daemon.api('GET', `/v1/mcp/tools${query}`)).tools,
      };
    };
    /** What is shown now, once nothing happens any more. */
    const remember = async () => {
      let position = await positionOf(daemon);
      for (;;) {
        await meanwhile(250);
        const seen = await present();
        const now = await positionOf(daemon);
        if (now === position) {
          moments.push({ at: Date.now(), position, ...seen });
          return;
        }
        position = now;
      }
    };
    for (const name of ['s', 'web']) await daemon.waitForServer(name, 'ready');
    await remember();
    pipe.set({ tools: ['echo', 'add'], orders: [{ id: 1, do: 'announce' }] });
    await daemon.waitForServer('s', (row) => row.tools === 2);
    await daemon.api('POST', '/v1/allowlist', { tool: { prefix: 'mcp__s__', entries: ['mcp__s__add'] } });
    await remember();
    process.kill(pipe.pid(), 'SIGKILL');
    await daemon.waitFor(() => pipe.counted('spawn') === 2);
    await daemon.waitForServer('s', 'ready');
    await remember();
    await daemon.api('POST', '/v1/mcp/disable', { name: 's' });
    await daemon.waitForServer('s', 'disabled');
    await remember();
    await daemon.api('POST', '/v1/mcp/remove', { name: 'web' });
    await remember();
    await daemon.restart();
    await remember();

    expect(
      moments.map(({ tools }) => (tools as any[]).map(({ name, allowed }) => `${name}${allowed ? ' allowed' : ''}`)),
    ).toEqual([
      ['mcp__s__echo', 'mcp__web__add', 'mcp__web__echo'],
      ['mcp__s__add allowed', 'mcp__s__echo', 'mcp__web__add', 'mcp__web__echo'],
      ['mcp__s__add allowed', 'mcp__s__echo', 'mcp__web__add', 'mcp__web__echo'],
      ['mcp__web__add', 'mcp__web__echo'],
      [],
      [],
    ]);
    for (const { at, position, status, tools } of moments) {
      // The entry of the removed server is gone, and with it what it left out.
      const comparable = (list: unknown) => (list as any[]).filter(({ tool }) => tool !== 'error');
      for (const moment of [position, new Date(at).toISOString()]) {
        const then = await present(moment);
        expect({ moment, status: then.status }).toEqual({ moment, status });
        expect({ moment, tools: comparable(then.tools) }).toEqual({ moment, tools: comparable(tools) });
      }
    }
    expect((await present(0)).status).toEqual([]);
    expect((await present('2000-01-01T00:00:00.000Z')).tools).toEqual([]);
  });

  it('has an interval for every moment, also for those in which no daemon watched', async () => {
    const daemon = await startDaemon({ servers: { a: stdioEntry(), b: stdioEntry({}, { disabled: true }) } });
    await daemon.waitForServer('a', 'ready');
    await daemon.kill();
    await meanwhile(300);
    await daemon.restart();
    await daemon.waitForServer('a', 'ready');
    const { intervals } = shaped(contract.history, await daemon.api('GET', '/v1/mcp/history'));
    for (const name of ['a', 'b']) {
      const own = intervals.filter(({ server }: any) => server === name);
      for (const [n, interval] of own.slice(1).entries()) {
        expect(interval.from).toBe(own[n].to);
        expect(interval.state).not.toBe(own[n].state);
      }
      expect(own.filter(({ to }: any) => to === null)).toEqual([own.at(-1)]);
      expect(own.map(({ from }: any) => from)).toEqual(own.map(({ from }: any) => from).sort());
    }
    const states = intervals.filter(({ server }: any) => server === 'a').map(({ state }: any) => state);
    expect(states).toContain('unobserved');
    expect(states.at(-1)).toBe('ready');

    const own = await daemon.history('a');
    const [from, to] = [own[1].from, own.at(-2).to];
    const clipped = (await daemon.api('GET', `/v1/mcp/history?name=a&from=${from}&to=${to}`)).body.intervals;
    expect(clipped[0].from >= from).toBe(true);
    expect(clipped.every((interval: any) => interval.to === null || interval.to <= to)).toBe(true);
    expect(clipped.map(({ state }: any) => state)).toEqual(
      own.filter((interval: any) => interval.from < to && (interval.to ?? '9') > from).map(({ state }: any) => state),
    );
  });
});

describe('the log', () => {
  let daemon: Daemon;
  beforeAll(async () => {
    daemon = await startDaemon({ servers: { s: stdioEntry({ behaviour: { tools: ['echo'] } }) } });
    await daemon.waitForServer('s', 'ready');
    for (let n = 0; n < 10; n += 1) await daemon.call('mcp__s__echo', { text: String(n) });
  });

  it('is read page by page, whole, by stream or by type', async () => {
    const pages = async (query: string) => {
      const found: any[] = [];
      for (let after: number | null = 0, n = 0; after !== null; n += 1) {
        expect(n).toBeLessThan(100);
        const body: any = shaped(contract.events, await daemon.api('GET', `/v1/events?after=${after}&limit=3${query}`));
        expect(body.events.length).toBeLessThanOrEqual(3);
        found.push(...body.events);
        if (body.next !== null) expect(body.next).toBe(body.events.at(-1).position);
        after = body.next;
      }
      return found;
    };
    const all = await daemon.events();
    expect(await pages('')).toEqual(all);
    expect(all.map(({ position }) => position)).toEqual(all.map((_, n) => n + 1));
    for (const stream of new Set(all.map((event) => event.stream))) {
      const own = await pages(`&stream=${stream}`);
      expect(own).toEqual(all.filter((event) => event.stream === stream));
      expect(own.map(({ version }) => version)).toEqual(own.map((_, n) => n + 1));
    }
    expect(await pages('&type=CallSettled')).toHaveLength(10);
    expect((await daemon.api('GET', `/v1/events?after=${all.length}`)).body).toEqual({ events: [], next: null });
  });

  const doors: readonly [string, () => { host: string; port: number } | { socketPath: string }][] = [
    ['port', () => ({ host: '127.0.0.1', port: daemon.port })],
    ['socket', () => ({ socketPath: daemon.ready.socket })],
  ];

  it.each(doors)('can be followed, and taken up again where a reader left it (%s)', async (_door, where) => {
    const before = await positionOf(daemon);
    const first = await follow(daemon, where(), {});
    await daemon.call('mcp__s__echo', { text: 'live' });
    await daemon.waitFor(() => first.events.length === 2);
    first.leave();
    expect(first.events.map(({ type }) => type)).toEqual(['CallStarted', 'CallSettled']);
    expect(first.ids).toEqual([before + 1, before + 2].map(String));

    for (let n = 0; n < 3; n += 1) await daemon.call('mcp__s__echo', { text: 'while nobody looks' });
    const second = await follow(daemon, where(), { 'last-event-id': first.ids.at(-1) ?? '' });
    await daemon.call('mcp__s__echo', { text: 'live again' });
    await daemon.waitFor(() => second.events.length >= 8);
    expect(second.events).toEqual(await daemon.events({ after: before + 2 }));
    expect(second.ids).toEqual(second.events.map(({ position }) => String(position)));
    second.leave();

    const filtered = await follow(daemon, where(), {}, `?after=${before}&type=CallSettled`);
    await daemon.waitFor(() => filtered.events.length === 5);
    expect(new Set(filtered.events.map(({ type }) => type))).toEqual(new Set(['CallSettled']));
    filtered.leave();
  });

  it('is followed across a restart of the daemon without a gap or a repetition', async () => {
    const start = await positionOf(daemon);
    const first = await follow(daemon, doors[0]?.[1]() as never, {}, `?after=${start}`);
    await daemon.call('mcp__s__echo', { text: 'before' });
    await daemon.waitFor(() => first.events.length === 2);
    await daemon.restart();
    expect(first.ended()).toBe(true);
    const second = await follow(daemon, doors[0]?.[1]() as never, { 'last-event-id': first.ids.at(-1) ?? '' });
    await daemon.waitForServer('s', 'ready');
    await daemon.call('mcp__s__echo', { text: 'after' });
    const all = await daemon.events({ after: start });
    await daemon.waitFor(() => first.events.length + second.events.length >= all.length);
    expect([...first.events, ...second.events].slice(0, all.length)).toEqual(all);
    second.leave();
  });

  it('makes every view anew, and nothing shown changes by that', async () => {
    const web = await httpFake({ behaviour: { tools: ['echo', 'add'] } });
    await daemon.api('POST', '/v1/mcp', { name: 'web', server: httpEntry(web) });
    await daemon.waitForServer('web', 'ready');
    await daemon.api('POST', '/v1/allowlist', { tool: { prefix: 'mcp__web__', entries: ['mcp__web__add'] } });
    await daemon.call('mcp__web__add', { a: 1, b: 2 }, { permission_mode: 'ask', wait: false });
    await daemon.call('mcp__web__echo', { text: 'held' }, { permission_mode: 'ask', wait: false });
    await daemon.call('mcp__s__echo', { text: 'denied' }, { permission_mode: 'deny' });
    await meanwhile(300);
    const before = await shown(daemon);
    const { ok, facts } = shaped(contract.rebuild, await daemon.api('POST', '/v1/rebuild'));
    expect([ok, facts]).toEqual([true, await positionOf(daemon)]);
    expect(await shown(daemon)).toEqual(before);
    // And the daemon goes on with what it rebuilt.
    expect((await daemon.call('mcp__web__add', { a: 1, b: 2 }, { permission_mode: 'ask' })).status).toBe(200);
  });
});

/** Reads `GET /v1/events` as a stream. Resolves when the daemon listens to it. */
function follow(
  daemon: Daemon,
  where: { host: string; port: number } | { socketPath: string },
  headers: Record<string, string>,
  query = '',
): Promise<{ events: any[]; ids: string[]; ended: () => boolean; leave: () => void }> {
  return new Promise((resolve, reject) => {
    const events: any[] = [];
    const ids: string[] = [];
    let rest = '';
    let ended = false;
    const asked = request(
      {
        ...where,
        path: `/v1/events${query}`,
        headers: { accept: 'text/event-stream', authorization: `Bearer ${daemon.token}`, ...headers },
      },
      (response) => {
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          rest += chunk;
          for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
            const lines = rest.slice(0, end).split('\n');
            rest = rest.slice(end + 2);
            const data = lines.find((line) => line.startsWith('data: '));
            if (data === undefined) resolve({ events, ids, ended: () => ended, leave: () => asked.destroy() });
            else {
              events.push(JSON.parse(data.slice('data: '.length)));
              ids.push(lines.find((line) => line.startsWith('id: '))?.slice('id: '.length) ?? '');
            }
          }
        });
        response.on('close', () => {
          ended = true;
        });
        response.on('error', () => {});
      },
    );
    atEnd(() => void asked.destroy());
    asked.on('error', reject);
    asked.end();
  });
}
