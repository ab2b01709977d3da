/** Servers built on the SDKs, and the reference server, with everything they offer beside tools. */
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Connection, ServerNotification, ServerRequest } from '../../src/mcp/connection.ts';
import { npmServers } from '../support/paths.ts';
import { until } from '../support/wait.ts';
import { rawServer } from './interop-http.ts';
import { call, httpEntry, limits, list, type Opening, open, scriptEntry, textOf } from './opening.ts';

const script = (name: string) => fileURLToPath(new URL(`servers/${name}.mjs`, import.meta.url));
const soon = () => AbortSignal.timeout(10_000);

async function start(name: string, way: string, opening: Opening = {}): Promise<Connection> {
  const entry = way === 'http' ? httpEntry(await rawServer(script(name), ['http'])) : scriptEntry([script(name)]);
  return (await open(entry, opening)).connection;
}

async function result(connection: Connection, method: string, params = {}): Promise<Record<string, unknown>> {
  const answer = await connection.request(method, params, limits());
  expect(answer.kind).toBe('result');
  return answer.kind === 'result' ? answer.result : {};
}

function heardBy(connection: Connection) {
  const heard: ServerNotification[] = [];
  connection.onNotification((notification) => heard.push(notification));
  return { heard, has: (method: string) => heard.some((one) => one.method === method) };
}

describe.each([
  ['sdk1', 'pipe', 'legacy'],
  ['sdk1', 'http', 'legacy'],
  ['sdk2', 'pipe', 'modern'],
  ['sdk2', 'http', 'modern'],
])('a server built on %s over %s', (name, way, era) => {
  it('lists and answers as it is asked', async () => {
    const connection = await start(name, way);
    expect(connection.agreement.era).toBe(era);
    expect((await connection.listAll('prompts', soon())).items).toEqual([{ name: 'p', title: 'P', vendor: 1 }]);
    expect((await connection.listAll('resources', soon())).items).toEqual([
      { uri: 'demo://1', name: 'one', vendor: 1 },
    ]);
    expect((await connection.listAll('resourceTemplates', soon())).items).toEqual([]);
    expect(await result(connection, 'prompts/get', { name: 'p', arguments: { who: 'me' } })).toMatchObject({
      messages: [{ content: { text: 'me' } }],
    });
    expect(await result(connection, 'resources/read', { uri: 'demo://1' })).toMatchObject({
      contents: [{ text: 'content' }],
    });
    const ref = { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'who', value: 'x' } };
    expect(await result(connection, 'completion/complete', ref)).toMatchObject({ completion: { values: ['x!'] } });
    const unknown = await connection.request('no/such', {}, limits());
    expect(unknown).toMatchObject({ kind: 'error', error: { code: -32601 } });
  });

  it('tells of the resources that are watched', async () => {
    const connection = await start(name, way);
    const { heard, has } = heardBy(connection);
    expect(await connection.watchResources(['demo://1'], soon())).toEqual({ watched: ['demo://1'], refused: [] });
    await until(async () => {
      await call(connection, 'touch', { uri: 'demo://1' });
      return has('notifications/resources/updated');
    });
    expect(heard[0]?.params).toMatchObject({ uri: 'demo://1' });
    await connection.watchResources([], soon());
    await pause(50);
    const before = heard.length;
    await call(connection, 'touch', { uri: 'demo://1' });
    await pause(100);
    expect(heard.length).toBe(before);
  });

  it('sends log messages when they are wanted', async () => {
    const connection = await start(name, way);
    const { has } = heardBy(connection);
    if (era === 'legacy') await result(connection, 'logging/setLevel', { level: 'debug' });
    const meta = { 'io.modelcontextprotocol/logLevel': 'debug' };
    await until(async () => {
      await call(connection, 'log', {}, { meta });
      return has('notifications/message');
    });
  });
});

describe.each(['pipe', 'http'])('what a server needs of its client over %s', (way) => {
  it('is asked by a legacy server in a request of its own', async () => {
    const capabilities = { elicitation: {}, sampling: {}, roots: {} };
    const connection = await start('sdk1', way, { capabilities });
    const requests: ServerRequest[] = [];
    connection.onServerRequest(async (request) => {
      requests.push(request);
      return { result: { action: 'accept', content: { name: 'me' } } };
    });
    let id = 0;
    const params = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } };
    const told = await call(
      connection,
      'ask',
      { method: 'elicitation/create', params },
      { onSent: (sent) => (id = sent) },
    );
    expect(JSON.parse(textOf(told))).toEqual({ action: 'accept', content: { name: 'me' } });
    expect(requests).toMatchObject([{ method: 'elicitation/create', params, related: way === 'http' ? id : null }]);
  });

  it('is wanted by a modern server as a result, and given with the next try', async () => {
    const connection = await start('sdk2', way);
    const capabilities = { elicitation: { form: {} } };
    const first = await call(connection, 'ask', {}, { capabilities });
    expect(first).toMatchObject({
      resultType: 'input_required',
      inputRequests: { who: { method: 'elicitation/create', params: { message: 'Who?' } } },
      requestState: 'opaque',
    });
    const inputResponses = { who: { action: 'accept', content: { name: 'me' } } };
    const second = await call(
      connection,
      'ask',
      {},
      { capabilities, more: { inputResponses, requestState: 'opaque' } },
    );
    expect(JSON.parse(textOf(second))).toEqual(inputResponses);
  });

  it('is refused by a modern server when the caller cannot do it', async () => {
    const connection = await start('sdk2', way);
    const answer = await connection.request('tools/call', { name: 'ask', arguments: {} }, limits());
    expect(answer).toMatchObject({ kind: 'error', error: { code: -32021 } });
  });
});

describe('the reference server', () => {
  const everything = (opening: Opening = {}) => open(scriptEntry([npmServers.everything, 'stdio']), opening);

  it('lists, answers, completes and tells of changes', async () => {
    const { connection } = await everything();
    const { has } = heardBy(connection);
    const prompts = await connection.listAll('prompts', soon());
    expect(prompts.items.map((prompt) => prompt.name)).toContain('completable-prompt');
    const { items } = await connection.listAll('resources', soon());
    const templates = await connection.listAll('resourceTemplates', soon());
    expect(templates.items.length).toBeGreaterThan(0);
    const uri = String(items[0]?.uri);
    expect(await result(connection, 'resources/read', { uri })).toMatchObject({ contents: [{ uri }] });
    const argument = { name: 'department', value: 'S' };
    const ref = { type: 'ref/prompt', name: 'completable-prompt' };
    expect(await result(connection, 'completion/complete', { ref, argument })).toMatchObject({
      completion: { values: ['Sales', 'Support'] },
    });
    await connection.watchResources([uri], soon());
    await call(connection, 'toggle-subscriber-updates');
    await until(() => has('notifications/resources/updated'));
  });

  it('has tools for those who can sample, elicit and give roots, and asks them', async () => {
    const { connection } = await everything({ capabilities: { sampling: {}, elicitation: {}, roots: {} } });
    const asked: string[] = [];
    connection.onServerRequest(async ({ method }) => {
      asked.push(method);
      if (method === 'roots/list') return { result: { roots: [{ uri: 'file:///tmp/wk-root', name: 'work' }] } };
      if (method === 'elicitation/create') return { result: { action: 'decline' } };
      return { result: { role: 'assistant', model: 'm', content: { type: 'text', text: 'sampled' } } };
    });
    await until(async () => (await list(connection)).tools.some(({ name }) => name === 'trigger-sampling-request'));
    expect(textOf(await call(connection, 'trigger-sampling-request', { prompt: 'x' }))).toContain('sampled');
    expect(textOf(await call(connection, 'trigger-elicitation-request'))).toContain('declined');
    expect(textOf(await call(connection, 'get-roots-list'))).toContain('wk-root');
    expect(asked).toEqual(expect.arrayContaining(['sampling/createMessage', 'elicitation/create', 'roots/list']));
  });

  it('has none of them without', async () => {
    const { connection } = await everything();
    await pause(100);
    const names = (await list(connection)).tools.map(({ name }) => name);
    expect(names).not.toContain('trigger-sampling-request');
    expect(names).not.toContain('get-roots-list');
  });
});
