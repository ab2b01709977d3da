import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { type Steered, stdioEntry, steered } from '../support/fixtures.ts';
import { legacyClient, modernClient, nextOf, streamed } from './client.ts';

const prompt = { name: 'greet', description: 'Greets', arguments: [{ name: 'who' }] };
const shared = { uri: 'test://shared', name: 'shared', mimeType: 'text/plain' };

let one: Steered;
let two: Steered;
let daemon: Daemon;

beforeAll(async () => {
  one = steered({
    behaviour: {
      tools: ['echo', 'sleep', 'progress', 'rpc_error'],
      instructions: 'One echoes.',
      prompts: [prompt],
      resources: [shared, { uri: 'test://one', name: 'one' }],
      completions: ['paris', 'park'],
      logging: true,
    },
  });
  two = steered({ era: 'modern', behaviour: { tools: ['echo', 'add'], resources: [shared], prompts: [prompt] } });
  daemon = await startDaemon({
    servers: {
      one: stdioEntry(one.options),
      two: stdioEntry(two.options),
      slow: stdioEntry({ behaviour: { start: { delayMs: 600_000 } } }),
    },
    allow: ['mcp__one__*', 'mcp__two__*'],
  });
  await daemon.waitForServer('one', 'ready');
  await daemon.waitForServer('two', 'ready');
});

const textOf = ({ body }: { body: any }): string => body.result.content[0].text;
const namesIn = ({ body }: { body: any }, list = 'tools', key = 'name'): string[] =>
  body.result[list].map((entry: any) => entry[key]);

describe('the guard', () => {
  it('lets nobody in without the token', async () => {
    const { status } = await daemon.api('POST', '/mcp', {}, { authorization: 'Bearer wrong' });
    expect(status).toBe(401);
  });

  it('answers for its own names alone', async () => {
    expect((await daemon.api('POST', '/mcp', {}, { origin: 'http://evil.example' })).status).toBe(403);
  });

  it('knows the servers of the file', async () => {
    expect((await daemon.api('POST', '/mcp/nobody', {})).body).toMatchObject({ code: 'unknown-server' });
  });
});

describe('a session', () => {
  it('begins with initialize and says what all servers say', async () => {
    const { greeting, session } = await legacyClient(daemon, '/mcp', { revision: '2025-06-18' });
    expect(session).toMatch(/^[0-9a-f]{32}$/);
    expect(greeting).toMatchObject({ protocolVersion: '2025-06-18', serverInfo: { name: 'watchkeeper' } });
    expect(greeting.instructions).toContain('One echoes.');
  });

  it('runs in the newest revision it can when another is asked for', async () => {
    const { greeting } = await legacyClient(daemon, '/mcp', { revision: '1999-01-01' });
    expect(greeting.protocolVersion).toBe('2025-11-25');
  });

  it('is needed, known, and over once it was ended', async () => {
    const client = await legacyClient(daemon);
    expect((await daemon.api('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' })).status).toBe(400);
    expect((await client.ask('ping')).body.result).toEqual({});
    expect(await client.leave()).toBe(200);
    expect((await client.ask('ping')).status).toBe(404);
  });

  it('belongs to the endpoint it was opened at', async () => {
    const { session } = await legacyClient(daemon);
    const body = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect((await daemon.api('POST', '/mcp/one', body, { 'mcp-session-id': session })).status).toBe(404);
  });

  it('takes no revision it does not know', async () => {
    const client = await legacyClient(daemon);
    const headers = { 'mcp-protocol-version': '1999-01-01' };
    expect((await client.ask('ping', {}, { headers })).status).toBe(400);
  });

  it('answers a batch with a batch', async () => {
    const client = await legacyClient(daemon, '/mcp', { revision: '2025-03-26' });
    const answer = await daemon.api(
      'POST',
      '/mcp',
      [
        { jsonrpc: '2.0', id: 1, method: 'ping' },
        { jsonrpc: '2.0', id: 2, method: 'nonsense' },
      ],
      { 'mcp-session-id': client.session },
    );
    expect(answer.body.toSorted((a: any, b: any) => a.id - b.id)).toEqual([
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', id: 2, error: { code: -32601, message: 'Method not found: nonsense' } },
    ]);
  });
});

describe('lists', () => {
  it('hold the tools of all servers under the names of the endpoint, and do not wait for a slow one', async () => {
    const began = performance.now();
    const names = namesIn(await (await legacyClient(daemon)).ask('tools/list'));
    expect(names).toEqual(['one__echo', 'one__progress', 'one__rpc_error', 'one__sleep', 'two__add', 'two__echo']);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it('hold the tools of one server under its own names', async () => {
    const { body } = await modernClient(daemon, '/mcp/two').ask('tools/list');
    expect(body.result.tools.map(({ name }: any) => name)).toEqual(['add', 'echo']);
    expect(body.result).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' });
  });

  it('tell resources that two servers share apart, and find them again', async () => {
    const client = modernClient(daemon);
    const uris = namesIn(await client.ask('resources/list'), 'resources', 'uri');
    expect(uris).toEqual(['test://one', 'test://shared#watchkeeper=one', 'test://shared#watchkeeper=two']);
    const uri = 'test://shared#watchkeeper=two';
    const { body } = await client.ask('resources/read', { uri });
    expect(body.result.contents[0]).toMatchObject({ uri });
    expect(two.counted('resources/read')).toBe(1);
  });

  it('hold prompts under names like those of tools', async () => {
    expect(namesIn(await modernClient(daemon).ask('prompts/list'), 'prompts')).toEqual(['one__greet', 'two__greet']);
    expect(namesIn(await modernClient(daemon, '/mcp/one').ask('prompts/list'), 'prompts')).toEqual(['greet']);
  });

  it('begin at no cursor they did not give', async () => {
    const { body } = await (await legacyClient(daemon)).ask('tools/list', { cursor: 'nonsense' });
    expect(body.error.code).toBe(-32602);
  });
});

describe('a call', () => {
  it('runs at its server and carries its id and outcome', async () => {
    const answer = await (await legacyClient(daemon)).ask('tools/call', {
      name: 'one__echo',
      arguments: { text: 'hi' },
    });
    expect(textOf(answer)).toBe('hi');
    expect(answer.type).toContain('json');
    const { 'watchkeeper/call': id, 'watchkeeper/outcome': outcome } = answer.body.result._meta;
    expect(outcome).toBe('succeeded');
    expect((await daemon.api('GET', `/v1/mcp/calls/${id}`)).body).toMatchObject({ door: 'mcp', client: 'main' });
  });

  it('is known by its registered name as well, and by no other endpoint', async () => {
    const all = modernClient(daemon);
    expect(textOf(await all.ask('tools/call', { name: 'mcp__two__add', arguments: { a: 1, b: 2 } }))).toBe('3');
    const { body } = await modernClient(daemon, '/mcp/one').ask('tools/call', { name: 'mcp__two__add' });
    expect(body.error.code).toBe(-32602);
  });

  it('reports progress under the token of its caller', async () => {
    const params = { name: 'one__progress', arguments: { ms: 200, every: 50 }, _meta: { progressToken: 'mine' } };
    for (const client of [await legacyClient(daemon), modernClient(daemon)]) {
      const { messages, type } = await client.ask('tools/call', params);
      const reports = messages.filter(({ method }) => method === 'notifications/progress');
      expect(type).toContain('text/event-stream');
      expect(reports.length).toBeGreaterThan(1);
      expect(new Set(reports.map((report) => report.params.progressToken))).toEqual(new Set(['mine']));
    }
  });

  it('keeps an error of the protocol what it is', async () => {
    const { body } = await modernClient(daemon).ask('tools/call', {
      name: 'one__rpc_error',
      arguments: { code: -32042, message: 'open the page first' },
    });
    expect(body.error).toMatchObject({ code: -32042, message: 'open the page first' });
  });

  it('is refused in words for the model', async () => {
    const client = await legacyClient(daemon, '/mcp');
    const refused = await daemon.api('POST', '/v1/allowlist', { tool: { prefix: 'mcp__two__', entries: [] } });
    expect(refused.status).toBe(200);
    const headers = { 'watchkeeper-permission-mode': 'deny' };
    const answer = await client.ask('tools/call', { name: 'two__echo', arguments: {} }, { headers });
    expect(answer.body.result).toMatchObject({ isError: true, _meta: { 'watchkeeper/outcome': 'refused' } });
    expect(textOf(answer)).toContain('watchkeeper allow two');
  });

  it('that is held reports that it waits, and runs once a person lets it', async () => {
    const response = await modernClient(daemon).open('tools/call', {
      name: 'two__echo',
      arguments: { text: 'please' },
      _meta: { progressToken: 7 },
    });
    const stream = streamed(response);
    const waiting = await nextOf(stream, ({ method }) => method === 'notifications/progress');
    const id = /watchkeeper approve (\S+)/.exec(waiting.params.message)?.[1];
    expect(waiting.params.progressToken).toBe(7);
    expect((await daemon.api('POST', `/v1/mcp/calls/${id}/approve`)).status).toBe(200);
    const { result } = await nextOf(stream, (message) => message.id !== undefined);
    expect(result).toMatchObject({ content: [{ text: 'please' }], _meta: { 'watchkeeper/call': id } });
  });

  it('is cancelled for its caller alone, though another uses the same id', async () => {
    const [first, second] = [await legacyClient(daemon), await legacyClient(daemon)];
    const call = { name: 'one__sleep', arguments: { ms: 1_500 } };
    const before = one.counted('notifications/cancelled');
    const lost = first.ask('tools/call', call, { id: 'same' });
    const kept = second.ask('tools/call', call, { id: 'same' });
    await daemon.waitFor(() => one.counted('tools/call', 'sleep') >= 2);
    await first.notify('notifications/cancelled', { requestId: 'same' });
    expect((await lost).body).toBeUndefined();
    expect(textOf(await kept)).toBe('slept 1500 ms');
    expect(one.counted('notifications/cancelled') - before).toBe(1);
  });

  it('is cancelled by closing the stream in the modern era', async () => {
    const leave = new AbortController();
    const before = one.counted('notifications/cancelled');
    const sleeping = modernClient(daemon).open(
      'tools/call',
      { name: 'one__sleep', arguments: { ms: 60_000 } },
      { signal: leave.signal },
    );
    sleeping.catch(() => {});
    await daemon.waitFor(async () => (await daemon.api('GET', '/v1/mcp/calls?state=running')).body.calls.length > 0);
    leave.abort();
    await daemon.waitFor(() => one.counted('notifications/cancelled') > before);
  });
});

describe('what else servers offer', () => {
  it('is asked under the name of the endpoint and answered by the server', async () => {
    const client = await legacyClient(daemon);
    const { body } = await client.ask('prompts/get', { name: 'one__greet', arguments: { who: 'you' } });
    expect(body.result.messages).toBeDefined();
    const ref = { type: 'ref/prompt', name: 'one__greet' };
    const completed = await client.ask('completion/complete', { ref, argument: { name: 'who', value: 'pa' } });
    expect(completed.body.result.completion.values).toEqual(['paris', 'park']);
  });

  it('tells who watches a resource of its changes, under the URI it was asked for', async () => {
    const client = await legacyClient(daemon);
    const stream = streamed(await client.listen());
    const uri = 'test://shared#watchkeeper=one';
    expect((await client.ask('resources/subscribe', { uri })).body.result).toEqual({});
    one.set({
      orders: [{ id: 'u', do: 'tell', method: 'notifications/resources/updated', params: { uri: 'test://shared' } }],
    });
    const told = await nextOf(stream, ({ method }) => method === 'notifications/resources/updated');
    expect(told.params).toEqual({ uri });
  });

  it('is not found where nobody has it', async () => {
    const { body } = await modernClient(daemon).ask('resources/read', { uri: 'none://at-all' });
    expect(body.error).toMatchObject({ code: -32602, data: { uri: 'none://at-all' } });
  });
});

describe('changes', () => {
  it('of tools reach every kind of listener once', async () => {
    const client = await legacyClient(daemon);
    const session = streamed(await client.listen());
    const leave = new AbortController();
    const listening = await modernClient(daemon).open(
      'subscriptions/listen',
      { notifications: { toolsListChanged: true } },
      { signal: leave.signal },
    );
    const subscription = streamed(listening);
    const first = (await subscription.next()).value;
    expect(first).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { toolsListChanged: true } },
    });
    const heard: string[] = [];
    const hear = async (stream: AsyncGenerator<any>, who: string) => {
      for await (const { method } of stream) if (method === 'notifications/tools/list_changed') heard.push(who);
    };
    void hear(session, 'session').catch(() => {});
    void hear(subscription, 'subscription').catch(() => {});
    one.set({
      tools: ['echo', 'sleep', 'progress', 'rpc_error', 'add'],
      orders: [{ id: 'a', do: 'announce', times: 3 }],
    });
    await daemon.waitFor(async () => (await daemon.tools('one')).length === 5);
    await pause(500);
    expect(heard.toSorted()).toEqual(['session', 'subscription']);
    leave.abort();
  });

  it('are no changes when a server merely goes and comes', async () => {
    const client = await legacyClient(daemon);
    const stream = streamed(await client.listen());
    let changes = 0;
    const hear = async () => {
      for await (const { method } of stream) if (method === 'notifications/tools/list_changed') changes += 1;
    };
    void hear().catch(() => {});
    await daemon.api('POST', '/v1/mcp/reconnect', { name: 'one' });
    await pause(300);
    expect(changes).toBe(0);
  });
});

describe('tools of a server that is away', () => {
  it('are still listed, and marked', async () => {
    two.set({ start: { exit: { code: 3 } } });
    process.kill((await daemon.server('two')).pid, 'SIGKILL');
    await daemon.waitForServer('two', (row) => row.state !== 'ready');
    const { body } = await modernClient(daemon, '/mcp/two').ask('tools/list');
    expect(body.result.tools).toHaveLength(2);
    expect(body.result.tools[0]._meta).toEqual({ 'watchkeeper/stale': true });
  });
});
