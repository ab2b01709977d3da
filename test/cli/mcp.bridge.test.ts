/** The bridge of `watchkeeper mcp` against daemons that are restarted, go away at the wrong moment, or say the unexpected. */
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mcpExchange } from '../../src/api/mcp.ts';
import { Bridge } from '../../src/cli/mcp.bridge.ts';
import { atEnd } from '../support/cleanup.ts';
import { tempDir } from '../support/temp.ts';
import { until } from '../support/wait.ts';

interface Got {
  readonly http: string;
  readonly rpc: string | undefined;
  readonly session: string | undefined;
  readonly message: any;
}

type Answer = (got: Got, response: ServerResponse) => void;

const json = (response: ServerResponse, body: unknown, status = 200, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
};
const event = (response: ServerResponse, message: object): void => {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
};
const result = (id: unknown, more: object = {}): object => ({ jsonrpc: '2.0', id, result: more });
const unknownSession = { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'This session is not known.' } };

async function given({ patienceMs = 10_000 } = {}) {
  const dir = tempDir();
  const socket = join(dir, 's');
  const got: Got[] = [];
  const said: any[] = [];
  const streams: ServerResponse[] = [];
  let answer: Answer = ({ message }, response) => json(response, result(message?.id));
  const server = createServer((request: IncomingMessage, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      const message = text === '' ? undefined : JSON.parse(text);
      const session = request.headers['mcp-session-id'];
      const one: Got = {
        http: request.method ?? '',
        rpc: message?.method,
        session: typeof session === 'string' ? session : undefined,
        message,
      };
      got.push(one);
      if (one.http === 'GET') streams.push(response);
      answer(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  // Not alive, so that the socket is the only way.
  writeFileSync(join(dir, 'daemon.json'), JSON.stringify({ pid: 2 ** 30, url: 'http://127.0.0.1:1', socket }));
  const bridge = new Bridge({
    path: '/mcp',
    headers: {},
    exchange: mcpExchange(dir),
    emit: (line) => said.push(JSON.parse(line)),
    patienceMs,
  });
  atEnd(async () => {
    await bridge.close();
    server.closeAllConnections();
    server.close();
  });
  const send = (message: object): Promise<void> => bridge.receive(JSON.stringify({ jsonrpc: '2.0', ...message }));
  return {
    got,
    said,
    streams,
    bridge,
    send,
    /** From now on another daemon answers; streams end with the one before. */
    answerWith: (next: Answer) => {
      answer = next;
      for (const stream of streams.splice(0)) stream.destroy();
    },
    counted: (rpc: string) => got.filter((one) => one.rpc === rpc).length,
    saidTo: (id: unknown) => said.filter((one) => one.id === id && one.method === undefined),
  };
}

/** A daemon that knows one session, `s<n>`, and gives that one to whoever begins. */
function knowing(session: string, more: Answer = () => {}): Answer {
  return (got, response) => {
    if (got.rpc === 'initialize')
      return json(response, result(got.message.id, { protocolVersion: '2025-11-25' }), 200, {
        'mcp-session-id': session,
      });
    if (got.session !== session) {
      const status = got.session === undefined ? 400 : 404;
      return json(response, unknownSession, status);
    }
    if (got.http === 'GET') return void response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    more(got, response);
    if (response.headersSent) return;
    if (got.message?.id === undefined) response.writeHead(202).end();
    else json(response, result(got.message.id));
  };
}

const initialize = { id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } };
const call = (id: number | string) => ({ id, method: 'tools/call', params: { name: 'echo', arguments: {} } });

describe('A session', () => {
  async function begun() {
    const one = await given();
    one.answerWith(knowing('s1'));
    await one.send(initialize);
    await one.send({ method: 'notifications/initialized' });
    return one;
  }

  it('that another daemon does not know is opened anew, once, however many requests find out at the same time', async () => {
    const { send, answerWith, got, saidTo, said } = await begun();
    const next = knowing('s2');
    const held: (() => void)[] = [];
    answerWith((one, response) => {
      if (one.rpc === 'initialize') held.push(() => next(one, response));
      else next(one, response);
    });
    const before = got.length;
    const all = [send(call(1)), send(call(2))];
    await until(() => held.length === 1);
    // One that comes in the middle of it has to wait as well.
    all.push(send(call(3)));
    await until(() => got.slice(before).filter(({ rpc }) => rpc === 'tools/call').length === 3);
    for (const release of held) release();
    await Promise.all(all);
    for (const id of [1, 2, 3]) expect(saidTo(id)).toEqual([{ jsonrpc: '2.0', id, result: {} }]);
    expect(got.slice(before).filter(({ session }) => session === undefined)).toMatchObject([{ rpc: 'initialize' }]);
    expect(saidTo(0)).toHaveLength(1);
    await until(() => said.some(({ method }) => method === 'notifications/tools/list_changed'));
    expect(said.filter(({ method }) => method === 'notifications/tools/list_changed')).toHaveLength(1);
  });

  it('that is opened anew wants again what the client wanted of the one before', async () => {
    const { send, answerWith, got, said } = await begun();
    await send({ id: 1, method: 'resources/subscribe', params: { uri: 'test://a' } });
    await send({ id: 2, method: 'resources/subscribe', params: { uri: 'test://b' } });
    await send({ id: 3, method: 'resources/unsubscribe', params: { uri: 'test://b' } });
    await send({ id: 4, method: 'logging/setLevel', params: { level: 'debug' } });
    answerWith(knowing('s2'));
    const before = got.length;
    await send(call(5));
    const again = got.slice(before).filter(({ session, http }) => session === 's2' && http === 'POST');
    expect(again.map(({ message }) => [message.method, message.params?.uri ?? message.params?.level])).toEqual([
      ['notifications/initialized', undefined],
      ['logging/setLevel', 'debug'],
      ['resources/subscribe', 'test://a'],
      ['tools/call', undefined],
    ]);
    const updated = () => said.filter(({ method }) => method === 'notifications/resources/updated');
    await until(() => updated().length > 0);
    expect(updated()).toMatchObject([{ params: { uri: 'test://a' } }]);
  });

  it('asks again for a watched resource that was not there yet, once lists change', async () => {
    const { send, answerWith, counted, streams } = await begun();
    await send({ id: 1, method: 'resources/subscribe', params: { uri: 'test://a' } });
    answerWith(
      knowing('s2', ({ rpc, message }, response) => {
        const error = { code: -32602, message: 'Resource not found' };
        if (rpc === 'resources/subscribe' && counted(rpc) < 4)
          json(response, { jsonrpc: '2.0', id: message.id, error });
      }),
    );
    await send(call(2));
    expect(counted('resources/subscribe')).toBe(2);
    const stream = await until(() => streams[0]);
    for (const times of [3, 4]) {
      event(stream, { method: 'notifications/resources/list_changed' });
      await until(() => counted('resources/subscribe') === times);
    }
    // Found now: nothing more is asked.
    event(stream, { method: 'notifications/resources/list_changed' });
    await send(call(3));
    expect(counted('resources/subscribe')).toBe(4);
  });

  it('is asked for again when the daemon could not open it', async () => {
    const { send, answerWith, saidTo, counted } = await begun();
    const next = knowing('s2');
    let refusals = 0;
    answerWith((one, response) => {
      if (one.rpc !== 'initialize' || refusals > 0) return next(one, response);
      refusals += 1;
      json(response, { title: 'The daemon stops' }, 503, { 'content-type': 'application/problem+json' });
    });
    await send(call(1));
    expect(saidTo(1)).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
    expect(counted('initialize')).toBeGreaterThanOrEqual(3);
  });
});

describe('A request whose connection breaks before there is an answer', () => {
  it('is not sent again when it is a call: it may have run', async () => {
    const { send, answerWith, saidTo, counted } = await given();
    answerWith((_got, response) => void response.destroy());
    await send(call(1));
    expect(counted('tools/call')).toBe(1);
    expect(saidTo(1)).toMatchObject([{ error: { message: expect.stringContaining('may have run') } }]);
  });

  it('is sent again when it only asks', async () => {
    const { send, answerWith, saidTo, counted } = await given();
    answerWith(({ message }, response) => {
      if (counted('tools/list') === 1) response.destroy();
      else json(response, result(message.id));
    });
    await send({ id: 1, method: 'tools/list' });
    expect(counted('tools/list')).toBe(2);
    expect(saidTo(1)).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
  });

  it('is sent again when the daemon says that it stops', async () => {
    const { send, answerWith, saidTo, counted } = await given();
    answerWith(({ message }, response) => {
      if (counted('tools/call') === 1) json(response, {}, 503, { 'content-type': 'application/problem+json' });
      else json(response, result(message.id));
    });
    await send(call(1));
    expect(saidTo(1)).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
  });
});

describe('What is no request', () => {
  it('gets no answer, not even an error', async () => {
    const { send, answerWith, said } = await given();
    answerWith((_got, response) => json(response, unknownSession, 400));
    await send({ method: 'notifications/roots/list_changed' });
    await send({ id: 'wk-1', result: {} });
    expect(said).toEqual([]);
  });

  it('but a batch of requests is answered by a batch', async () => {
    const { bridge, answerWith, said } = await given();
    answerWith(({ message }, response) =>
      json(
        response,
        message.map(({ id }: any) => result(id)),
      ),
    );
    await bridge.receive('[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]');
    expect(said).toEqual([[result(1), result(2)]]);
  });
});

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const listen = (notifications: object) => ({
  id: 'sub',
  method: 'subscriptions/listen',
  params: { notifications, _meta: modernMeta },
});
const acknowledged = (notifications: object) => ({
  method: 'notifications/subscriptions/acknowledged',
  params: { notifications, _meta: { [SUBSCRIPTION]: 'sub' } },
});

describe('A subscription of the modern era', () => {
  it('goes on with another daemon: no end, one acknowledgement, and word of what may have changed', async () => {
    const { send, answerWith, said, counted } = await given();
    const wanted = { toolsListChanged: true, resourceSubscriptions: ['test://a'] };
    const open: ServerResponse[] = [];
    answerWith((_got, response) => {
      event(response, acknowledged(wanted));
      open.push(response);
    });
    const over = send(listen(wanted));
    await until(() => said.length === 1);
    // One daemon ends it in good order, the next breaks off.
    event(open[0] as ServerResponse, result('sub'));
    open[0]?.end();
    await until(() => said.length === 3);
    open[1]?.destroy();
    await until(() => said.length === 5);
    event(open[2] as ServerResponse, { method: 'notifications/tools/list_changed', params: { n: 1 } });
    await until(() => said.length === 6);
    const caughtUp = [
      { method: 'notifications/tools/list_changed', params: { _meta: { [SUBSCRIPTION]: 'sub' } } },
      {
        method: 'notifications/resources/updated',
        params: { uri: 'test://a', _meta: { [SUBSCRIPTION]: 'sub' } },
      },
    ];
    expect(said).toMatchObject([
      acknowledged(wanted),
      ...caughtUp,
      ...caughtUp,
      { method: 'notifications/tools/list_changed', params: { n: 1 } },
    ]);
    // Cancelling ends it, and the daemon hears of it by the end of the connection alone.
    const left = new Promise((resolve) => open[2]?.once('close', resolve));
    await send({ method: 'notifications/cancelled', params: { requestId: 'sub' } });
    await Promise.all([over, left]);
    expect(counted('notifications/cancelled')).toBe(0);
    expect(counted('subscriptions/listen')).toBe(3);
  });

  it.each([
    ['that tells of nothing', (response: ServerResponse) => event(response, acknowledged({}))],
    ['that was never acknowledged', () => {}],
  ])('%s ends with its result', async (_title, first) => {
    const { send, answerWith, saidTo, counted } = await given();
    answerWith((_got, response) => {
      first(response);
      event(response, result('sub'));
      response.end();
    });
    await send(listen({}));
    expect(saidTo('sub')).toMatchObject([{ result: {} }]);
    expect(counted('subscriptions/listen')).toBe(1);
  });

  it('that is refused is answered with the error, under its own id', async () => {
    const { send, answerWith, said } = await given();
    const error = { code: -32602, message: 'Invalid params' };
    answerWith((_got, response) => json(response, { jsonrpc: '2.0', id: null, error }, 400));
    await send(listen({ toolsListChanged: true }));
    expect(said).toEqual([{ jsonrpc: '2.0', id: 'sub', error }]);
  });

  it('to a server that is no longer there is answered with an error', async () => {
    const { send, answerWith, said } = await given();
    answerWith((_got, response) => json(response, {}, 404, { 'content-type': 'application/problem+json' }));
    await send(listen({ toolsListChanged: true }));
    expect(said).toMatchObject([{ id: 'sub', error: { code: -32603 } }]);
  });
});
