import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Connection, ServerNotification, ServerReply, ServerRequest } from '../../src/mcp/connection.ts';
import { startHttpFake } from '../fixtures/http-server.mjs';
import { until } from '../support/wait.ts';
import { behind, legacyWays, type Way, ways } from './behind.ts';
import { call, callError, httpEntry, open, textOf } from './opening.ts';

function heardBy(connection: Connection): ServerNotification[] {
  const heard: ServerNotification[] = [];
  connection.onNotification((notification) => heard.push(notification));
  return heard;
}

/** Answers the server's requests by a function, and keeps them. */
function answering(connection: Connection, answer: (request: ServerRequest) => ServerReply | Promise<ServerReply>) {
  const requests: ServerRequest[] = [];
  connection.onServerRequest(async (request) => {
    requests.push(request);
    return answer(request);
  });
  return requests;
}

const result = (value: unknown): ServerReply => ({ result: value });
const offers = { prompts: [{ name: 'a' }], resources: [{ uri: 'fake://1' }], logging: true } as const;

describe.each([...ways, ['old-http', 'legacy']] as const)('what a server says (%s, %s)', (way: Way, era) => {
  it('comes as it was sent, with the request on whose stream it came', async () => {
    const { connection } = await behind(way, era, offers);
    const heard = heardBy(connection);
    const params = { level: 'info', data: { deep: [1] }, vendor: true, _meta: { 'vendor/x': 1 } };
    let id = 0;
    await call(connection, 'tell', { params }, { onSent: (sent) => (id = sent) });
    await until(() => heard.length === 1);
    expect(heard[0]).toEqual({ method: 'notifications/message', params, related: way === 'http' ? id : null });
  });

  it('is heard by nobody who has left', async () => {
    const { connection } = await behind(way, era, offers);
    const heard = heardBy(connection);
    const gone: unknown[] = [];
    connection.onNotification((notification) => gone.push(notification))();
    await call(connection, 'tell', { method: 'notifications/vendor' });
    await until(() => heard.length === 1);
    expect(gone).toEqual([]);
  });

  it('does not hold progress of ours, nor changes of tools', async () => {
    const { connection } = await behind(way, era, offers);
    const heard = heardBy(connection);
    let changes = 0;
    connection.onToolsChanged(() => {
      changes += 1;
    });
    await call(connection, 'progress', { ms: 60, every: 20 });
    await call(connection, 'tell', { method: 'notifications/tools/list_changed' });
    await call(connection, 'tell', { method: 'notifications/last' });
    await until(() => heard.some(({ method }) => method === 'notifications/last'));
    expect(changes).toBeGreaterThan(0);
    expect(heard.map(({ method }) => method)).toEqual(['notifications/last']);
  });

  it.each(['prompts', 'resources'])('tells that the list of %s changed, without the id of our stream', async (kind) => {
    const server = await behind(way, era, offers);
    const heard = heardBy(server.connection);
    await until(async () => {
      server.tell(`notifications/${kind}/list_changed`, { vendor: 1 });
      await pause(30);
      return heard.length > 0;
    });
    expect(heard[0]).toEqual({
      method: `notifications/${kind}/list_changed`,
      params: expect.anything(),
      related: null,
    });
    expect(heard[0]?.params).toMatchObject({ vendor: 1 });
    expect(JSON.stringify(heard[0])).not.toContain('subscriptionId');
  });
});

describe.each(legacyWays)('a request of a legacy server (%s)', (way) => {
  const params = { messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 9, vendor: 1 };

  it.each(['sampling/createMessage', 'elicitation/create', 'roots/list', 'vendor/thing'])(
    '%s is answered by whoever answers, as it came',
    async (method) => {
      const { connection } = await behind(way, 'legacy');
      const requests = answering(connection, () => result({ any: { thing: [1] } }));
      let id = 0;
      const told = await call(connection, 'ask', { method, params }, { onSent: (sent) => (id = sent) });
      expect(JSON.parse(textOf(told)).result).toEqual({ any: { thing: [1] } });
      expect(requests).toMatchObject([{ method, params, related: way === 'http' ? id : null }]);
    },
  );

  it('gets the error it was answered with', async () => {
    const { connection } = await behind(way, 'legacy');
    const error = { code: -1, message: 'User rejected', data: { x: 1 } };
    answering(connection, () => ({ error }));
    expect(JSON.parse(textOf(await call(connection, 'ask', { method: 'sampling/createMessage' }))).error).toEqual(
      error,
    );
  });

  it('gets an internal error when answering fails', async () => {
    const { connection } = await behind(way, 'legacy');
    answering(connection, () => {
      throw new Error('no room');
    });
    expect(JSON.parse(textOf(await call(connection, 'ask', { method: 'roots/list' }))).error).toEqual({
      code: -32603,
      message: 'no room',
    });
  });

  it('is told that there is no such method while nobody answers, and ping is answered all the same', async () => {
    const { connection } = await behind(way, 'legacy');
    const asked = async (method: string) => JSON.parse(textOf(await call(connection, 'ask', { method })));
    expect((await asked('roots/list')).error.code).toBe(-32601);
    expect((await asked('ping')).result).toEqual({});
    const requests = answering(connection, () => result({}));
    expect((await asked('ping')).result).toEqual({});
    expect(requests).toEqual([]);
    connection.onServerRequest(null);
    expect((await asked('roots/list')).error.code).toBe(-32601);
  });

  it('may take longer than the call may be silent', async () => {
    const { connection } = await behind(way, 'legacy');
    answering(connection, async () => {
      await pause(700);
      return result({ action: 'accept' });
    });
    const told = await call(connection, 'ask', { method: 'elicitation/create' }, { idleMs: 250 });
    expect(JSON.parse(textOf(told)).result).toEqual({ action: 'accept' });
  });

  it('does not outlast the limit of the call in all', async () => {
    const { connection } = await behind(way, 'legacy');
    const requests = answering(connection, () => new Promise(() => {}));
    const error = await callError(connection, 'ask', { method: 'elicitation/create' }, { idleMs: 100, maxMs: 400 });
    expect(error).toMatchObject({ kind: 'timeout', detail: { limit: 'callMaxMs' } });
    expect(requests[0]?.signal.aborted).toBe(way === 'http');
  });

  it('ends when the server cancels it, and is not answered then', async () => {
    const { connection, received } = await behind(way, 'legacy');
    const requests = answering(connection, async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      return result({ late: true });
    });
    const told = await call(connection, 'ask', { method: 'elicitation/create', giveUpMs: 100 });
    expect(JSON.parse(textOf(told))).toEqual({ gaveUp: true });
    await until(() => requests[0]?.signal.aborted);
    expect(received('notifications/cancelled')).toBe(0);
  });

  it('ends with the connection', async () => {
    const { connection } = await behind(way, 'legacy');
    const requests = answering(connection, () => new Promise(() => {}));
    void callError(connection, 'ask', { method: 'elicitation/create' });
    await until(() => requests.length === 1);
    await connection.close();
    expect(requests[0]?.signal.aborted).toBe(true);
  });

  it('hears that roots changed', async () => {
    const server = await behind(way, 'legacy', {}, { capabilities: { roots: { listChanged: true } } });
    server.connection.notify('notifications/roots/list_changed');
    await until(() => server.received('notifications/roots/list_changed') === 1);
  });
});

it('declares nothing to a legacy server by itself, and what it was told to', async () => {
  for (const [opening, expected] of [
    [{}, {}],
    [{ capabilities: { sampling: {}, roots: { listChanged: true } } }, { sampling: {}, roots: { listChanged: true } }],
  ] as const) {
    const fake = await startHttpFake();
    await (await open(httpEntry(fake.url), opening)).connection.close();
    const sent = fake.log.find(({ rpc }) => rpc === 'initialize');
    expect(sent?.message.params.capabilities).toEqual(expected);
    await fake.close();
  }
});

it('refuses a request of a modern server on a pipe, which knows none', async () => {
  const { connection } = await behind('pipe', 'modern');
  answering(connection, () => result({}));
  expect(JSON.parse(textOf(await call(connection, 'ask', { method: 'roots/list' }))).error.code).toBe(-32601);
});
