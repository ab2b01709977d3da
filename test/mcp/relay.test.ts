import { describe, expect, it } from 'vitest';
import { CallError, ConnectionError, type ListKind, type RequestOptions } from '../../src/mcp/connection.ts';
import { until } from '../support/wait.ts';
import { type Behind, behind, type Way, ways } from './behind.ts';
import { call, callError, limits, textOf } from './opening.ts';

const odd = { title: 'T', icons: [{ src: 'data:,' }], vendor: { deep: [1, null] }, _meta: { 'vendor/x': 1 } };
const offers = {
  prompts: ['a', 'b', 'c'].map((name) => ({ name, ...odd })),
  resources: ['fake://1', 'fake://2', 'ui://app'].map((uri) => ({ uri, name: uri, ...odd })),
  resourceTemplates: [{ uriTemplate: 'fake://item/{id}', name: 'item', ...odd }],
  completions: ['red', 'rose', 'blue'],
  logging: true,
} as const;

const ask = ({ connection }: Behind, method: string, params = {}, more: Partial<RequestOptions> = {}) =>
  connection.request(method, params, limits(more));

async function failure(answer: Promise<unknown>): Promise<CallError> {
  const error = await answer.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(CallError);
  return error as CallError;
}

const everyWay = [...ways, ['old-http', 'legacy']] as const;

describe.each(everyWay)('a request over %s, %s', (way: Way, era) => {
  const from = (more = {}) => behind(way, era, { ...offers, ...more });

  it.each([
    ['prompts/get', { name: 'a', arguments: { x: '1' } }, { vendor: 'kept', messages: [{ content: { odd: [1] } }] }],
    ['resources/read', { uri: 'fake://1' }, { contents: [{ uri: 'fake://1', vendor: { kept: true } }] }],
    ['resources/read', { uri: 'fake://item/\u00e4' }, { contents: [{ text: 'content of fake://item/\u00e4' }] }],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'a' }, argument: { name: 'x', value: 'r' } },
      { completion: { values: ['red', 'rose'], vendor: 1 } },
    ],
  ])('%s is answered with everything the server sent', async (method, params, expected) => {
    const server = await from();
    const answer = await ask(server, method, params);
    expect(answer).toMatchObject({ kind: 'result', result: expected });
    expect(server.received(method)).toBe(1);
  });

  it('gives the server\u2019s error with its code and data', async () => {
    const server = await from();
    const answer = await ask(server, 'resources/read', { uri: 'none://x' });
    const code = era === 'modern' ? -32602 : -32002;
    expect(answer).toEqual({
      kind: 'error',
      error: { code, message: 'Unknown resource: none://x', data: { uri: 'none://x' } },
    });
  });

  it('gives an unknown method as the error it is, and the connection goes on', async () => {
    const server = await from();
    expect(await ask(server, 'no/such')).toMatchObject({ kind: 'error', error: { code: -32601 } });
    expect(await ask(server, 'prompts/get', { name: 'a' })).toMatchObject({ kind: 'result' });
  });

  it('is cancelled at the server when the caller goes, and no other request is', async () => {
    const server = await from({ answers: { 'prompts/get': { delayMs: 400, times: 2 } } });
    const caller = new AbortController();
    const ids: number[] = [];
    const given = failure(
      ask(server, 'prompts/get', { name: 'a' }, { signal: caller.signal, onSent: (id) => ids.push(id) }),
    );
    const other = ask(server, 'prompts/get', { name: 'b' }, { onSent: (id) => ids.push(id) });
    await until(() => server.received('prompts/get') === 2);
    caller.abort();
    expect(await given).toMatchObject({ kind: 'cancelled', detail: { sent: true } });
    expect(await other).toMatchObject({ kind: 'result' });
    expect(new Set(ids).size).toBe(2);
  });

  it('ends at the limit, and says which', async () => {
    const server = await from({ answers: { 'prompts/get': { never: true } } });
    expect(await failure(ask(server, 'prompts/get', { name: 'a' }, { idleMs: 150 }))).toMatchObject({
      kind: 'timeout',
      detail: { limit: 'callTimeoutMs' },
    });
  });

  it('is not sent after the connection was closed, and no id is told', async () => {
    const server = await from();
    await server.connection.close();
    const ids: number[] = [];
    expect(await failure(ask(server, 'prompts/get', {}, { onSent: (id) => ids.push(id) }))).toMatchObject({
      kind: 'not-sent',
      detail: { sent: false },
    });
    expect(ids).toEqual([]);
  });

  it('takes an answer that is no result for one that was lost', async () => {
    const server = await from({ answers: { 'prompts/get': { replace: 'text' as never } } });
    expect(await failure(ask(server, 'prompts/get', { name: 'a' }))).toMatchObject({ kind: 'lost' });
  });
});

describe.each(ways)('what goes with a request over %s, %s', (way, era) => {
  const meta = {
    progressToken: 'of the caller',
    'vendor/trace': { a: [1] },
    'io.modelcontextprotocol/clientInfo': { name: 'caller', version: '9' },
    'io.modelcontextprotocol/logLevel': 'debug',
  };

  it('passes the caller\u2019s _meta on and keeps what belongs to this connection', async () => {
    const { connection } = await behind(way, era);
    let sent = 0;
    const options = { meta, capabilities: { elicitation: {} }, onSent: (id: number) => (sent = id) };
    const heard = JSON.parse(textOf(await call(connection, 'heard', {}, options)));
    expect(heard._meta).toMatchObject({ 'vendor/trace': { a: [1] }, progressToken: sent });
    if (era === 'legacy') {
      expect(Object.keys(heard._meta).sort()).toEqual(['progressToken', 'vendor/trace']);
      return;
    }
    expect(heard._meta).toMatchObject({
      'io.modelcontextprotocol/logLevel': 'debug',
      'io.modelcontextprotocol/clientInfo': { name: 'watchkeeper' },
      'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
    });
  });

  it('takes _meta inside the params of a request for the caller\u2019s', async () => {
    const { connection } = await behind(way, era);
    const answer = await connection.request('tools/call', { name: 'heard', _meta: meta }, limits());
    const heard = JSON.parse(textOf(answer.kind === 'result' ? answer.result : null));
    expect(heard._meta).toMatchObject({ 'vendor/trace': { a: [1] }, progressToken: expect.any(Number) });
  });

  it('sends further members of a call, which cannot take the place of name and arguments', async () => {
    const { connection } = await behind(way, era);
    const more = { inputResponses: { a: { action: 'accept' } }, requestState: 'opaque', name: 'die', arguments: 1 };
    const heard = JSON.parse(textOf(await call(connection, 'heard', { x: 1 }, { more })));
    expect(heard).toMatchObject({
      name: 'heard',
      arguments: { x: 1 },
      inputResponses: { a: { action: 'accept' } },
      requestState: 'opaque',
    });
  });
});

it.each([
  ['nothing by itself', {}, {}],
  ['what it was told to', { capabilities: { elicitation: { form: {} } } }, { elicitation: { form: {} } }],
])('declares %s to a modern server', async (_, opening, expected) => {
  const { connection } = await behind('pipe', 'modern', {}, opening);
  const heard = JSON.parse(textOf(await call(connection, 'heard')));
  expect(heard._meta['io.modelcontextprotocol/clientCapabilities']).toEqual(expected);
});

const kinds: readonly [ListKind, string, readonly Record<string, unknown>[]][] = [
  ['prompts', 'prompts/list', offers.prompts],
  ['resources', 'resources/list', offers.resources],
  ['resourceTemplates', 'resources/templates/list', offers.resourceTemplates],
];

describe.each(everyWay)('lists over %s, %s', (way: Way, era) => {
  const all = (server: Behind, kind: ListKind) => server.connection.listAll(kind, AbortSignal.timeout(10_000));

  it.each(kinds)('%s are complete and as received', async (kind, method, items) => {
    const server = await behind(way, era, { ...offers, list: { mode: 'pages' } });
    expect(await all(server, kind)).toMatchObject({ items, warnings: [] });
    expect(server.received(method)).toBe(3);
  });

  it.each(kinds)('%s are empty, without asking, when they are not declared', async (kind, method) => {
    const server = await behind(way, era);
    expect(await all(server, kind)).toEqual({ items: [], warnings: [] });
    expect(server.received(method)).toBe(0);
  });

  it.each(kinds)('%s are empty when they are declared and the method is unknown', async (kind) => {
    const server = await behind(way, era, { capabilities: { prompts: {}, resources: {} } });
    expect(await all(server, kind)).toEqual({ items: [], warnings: [] });
  });

  it('fails as a whole when a page fails', async () => {
    const server = await behind(way, era, { ...offers, list: { mode: 'page-error' } });
    const error = await all(server, 'prompts').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConnectionError);
    expect((error as ConnectionError).failure.message).toContain('The second page is broken');
  });

  it('keeps the first of two alike and leaves out what cannot be told apart', async () => {
    const prompts = [
      { name: 'a', n: 1 },
      { name: 'a', n: 2 },
      { title: 'no name' },
      'x' as never,
      { name: '__proto__' },
    ];
    const server = await behind(way, era, { prompts });
    const { items, warnings } = await all(server, 'prompts');
    expect(items).toEqual([prompts[0], prompts[4]]);
    expect(warnings).toEqual(['prompt a is listed twice; the first is kept', '2 entries without a name left out']);
  });
});

describe('how long a list may be kept', () => {
  const page = (more: Record<string, unknown>) => ({ replace: { prompts: [], resultType: 'complete', ...more } });
  const publicFor = (ttlMs: number) => ({ ttlMs, cacheScope: 'public' });

  it.each([
    ['one page says so', [publicFor(500)], publicFor(500)],
    ['the shortest counts', [publicFor(500), publicFor(200)], publicFor(200)],
    [
      'one private page makes it private',
      [publicFor(5), { ttlMs: 9, cacheScope: 'private' }],
      { ttlMs: 5, cacheScope: 'private' },
    ],
    ['a page without a hint may not be kept', [publicFor(500), {}], { ttlMs: 0, cacheScope: 'private' }],
    ['a first page without one neither', [{}, publicFor(500)], { ttlMs: 0, cacheScope: 'private' }],
    ['nobody says', [{}, {}], undefined],
    ['a hint that is none', [{ ttlMs: '5' }], undefined],
  ])('%s', async (_, pages, expected) => {
    const answers = pages.map((hint, n) => ({
      ...page({ ...hint, ...(n + 1 < pages.length ? { nextCursor: `c${n}` } : {}) }),
      id: n,
      times: 1,
    }));
    const { connection } = await behind('http', 'modern', { ...offers, answers: { 'prompts/list': answers } });
    const { cache } = await connection.listAll('prompts', AbortSignal.timeout(5_000));
    expect(cache).toEqual(expected);
  });

  it('is told of tools too', async () => {
    const { connection } = await behind('http', 'modern', { list: { extra: publicFor(70) } });
    expect((await connection.listTools(AbortSignal.timeout(5_000))).cache).toEqual(publicFor(70));
  });
});

it('refuses any request of a session that is gone, and the connection is lost', async () => {
  const server = await behind('http', 'legacy', offers);
  const body = { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } };
  server.set({ status: { 'prompts/get': { status: 404, body } } });
  expect(await failure(ask(server, 'prompts/get', { name: 'a' }))).toMatchObject({ kind: 'session-refused' });
  expect(await server.connection.lost).toMatchObject({ class: 'session' });
});

it('tells the id of a call before the server can answer it', async () => {
  const { connection } = await behind('pipe', 'legacy');
  const order: string[] = [];
  await call(connection, 'echo', {}, { onSent: (id) => order.push(`sent ${typeof id}`) }).then(() =>
    order.push('answered'),
  );
  expect(order).toEqual(['sent number', 'answered']);
  expect(
    await callError(connection, 'echo', {}, { signal: AbortSignal.abort(), onSent: () => order.push('never') }),
  ).toBeDefined();
  expect(order).not.toContain('never');
});
