import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type HttpFakeOptions, sessionRefusals, startHttpFake } from '../fixtures/http-server.mjs';
import type { StatusRule } from '../support/behaviour.ts';
import { atEnd } from '../support/cleanup.ts';
import { until } from '../support/wait.ts';
import { json, legacy, littleHttp } from './little-http.ts';
import { call, callError, httpEntry, list, listFailure, open, openFailure, remembered, textOf } from './opening.ts';

async function fakeHttp(options: HttpFakeOptions = {}) {
  const fake = await startHttpFake(options);
  atEnd(() => fake.close());
  return fake;
}

describe('Streamable HTTP', () => {
  it('connects in the legacy era, with a session that is ended on close', async () => {
    const fake = await fakeHttp();
    const { connection } = await open(httpEntry(fake.url));
    expect(connection.agreement).toMatchObject({
      transport: 'streamable-http',
      era: 'legacy',
      session: true,
      protocolVersion: '2025-11-25',
    });
    expect(textOf(await call(connection, 'echo', { text: 'x' }))).toBe('x');
    const { headers } = fake.log.findLast(({ rpc }) => rpc === 'tools/call') ?? {};
    expect(headers).toMatchObject({
      'mcp-protocol-version': '2025-11-25',
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    });
    await connection.close();
    expect(fake.received('DELETE')).toBe(1);
    expect(fake.control.sessions()).toBe(0);
  });

  it('connects without a session to a server that gives none', async () => {
    const fake = await fakeHttp({ behaviour: { sessions: false } });
    const { connection } = await open(httpEntry(fake.url));
    expect(connection.agreement.session).toBe(false);
    await connection.close();
    expect(fake.received('DELETE')).toBe(0);
  });

  it('connects in the modern era and repeats in headers what the body says', async () => {
    const fake = await fakeHttp({ era: 'modern', behaviour: { tools: ['echo', { name: 'Grüße', inputSchema: {} }] } });
    const { connection } = await open(httpEntry(fake.url));
    expect(connection.agreement).toMatchObject({ era: 'modern', session: false, protocolVersion: '2026-07-28' });
    expect(textOf(await call(connection, 'echo', { text: 'x' }))).toBe('x');
    const { headers } = fake.log.findLast(({ rpc }) => rpc === 'tools/call') ?? {};
    expect(headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'echo',
    });
    expect(headers).not.toHaveProperty('mcp-session-id');
    await call(connection, 'Grüße');
    expect(fake.log.findLast(({ rpc }) => rpc === 'tools/call')?.headers['mcp-name']).toBe(
      `=?base64?${Buffer.from('Grüße').toString('base64')}?=`,
    );
  });

  it('mirrors marked arguments in headers, and leaves out tools whose marks break the rules', async () => {
    const marked = (header: string) => ({
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': header } },
    });
    const tools = [
      { name: 'good', inputSchema: marked('Region') },
      { name: 'bad', inputSchema: marked('not a header') },
    ];
    const fake = await fakeHttp({ era: 'modern', behaviour: { tools } });
    const { connection } = await open(httpEntry(fake.url));
    const listed = await list(connection);
    expect(listed.tools.map(({ name }) => name)).toEqual(['good']);
    expect(listed.warnings[0]).toMatch(/^tool bad is left out: region/);
    await call(connection, 'good', { region: 'eu' });
    expect(fake.log.findLast(({ rpc }) => rpc === 'tools/call')?.headers).toMatchObject({ 'mcp-param-region': 'eu' });
  });

  it.each(['json', 'sse'] as const)('takes answers of many megabytes (%s)', async (reply) => {
    const fake = await fakeHttp({ behaviour: { reply } });
    const { connection } = await open(httpEntry(fake.url));
    expect(textOf(await call(connection, 'big', { bytes: 12 * 1_048_576 }))).toHaveLength(12 * 1_048_576);
    expect(textOf(await call(connection, 'multibyte', { lead: 1, count: 300_000 }))).toBe(`x${'€'.repeat(300_000)}`);
  });

  it('keeps its sockets for requests that follow one another', async () => {
    const sockets = new Set<unknown>();
    const server = await littleHttp(
      legacy(({ message }, response) => {
        sockets.add(response.socket);
        if (message?.method !== 'tools/call') return false;
        json(response, { jsonrpc: '2.0', id: message.id, result: { content: [] } });
        return true;
      }),
    );
    const { connection } = await open(httpEntry(server.url, { explicitType: true }));
    sockets.clear();
    for (let n = 0; n < 20; n += 1) await call(connection, 'x');
    // One, and another that the GET meanwhile may have opened.
    expect(sockets.size).toBeLessThanOrEqual(2);
  });

  it('comes back for the rest of an answer whose stream the server closed', async () => {
    const server = await littleHttp(
      legacy(({ http, message, headers }, response) => {
        if (message?.method === 'tools/call') {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.end(`id: e-1\nretry: 20\ndata:\n\n`);
          calls.push(message.id);
          return true;
        }
        if (http !== 'GET' || headers['last-event-id'] === undefined) return false;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        resumed.push(headers['last-event-id']);
        const answer = { jsonrpc: '2.0', id: calls[0], result: { content: [{ type: 'text', text: 'late' }] } };
        response.end(resumed.length < 3 ? `id: e-${resumed.length + 1}\n\n` : `data: ${JSON.stringify(answer)}\n\n`);
        return true;
      }, 's1'),
    );
    const calls: number[] = [];
    const resumed: unknown[] = [];
    const { connection } = await open(httpEntry(server.url));
    expect(textOf(await call(connection, 'x'))).toBe('late');
    expect(resumed).toEqual(['e-1', 'e-2', 'e-3']);
  });
});

describe('headers', () => {
  it('are sent with every request, and cannot replace those of the protocol', async () => {
    const fake = await fakeHttp();
    const headers = {
      Authorization: 'Bearer my-token',
      'X-Team': 'blue',
      'Mcp-Session-Id': 'forged',
      'MCP-Protocol-Version': '1999-01-01',
      Accept: 'text/html',
      'Content-Type': 'text/plain',
      'Last-Event-ID': '9',
      'Content-Length': '1',
    };
    const { connection } = await open(httpEntry(fake.url, { headers, secrets: ['my-token'] }));
    await call(connection, 'echo');
    await until(() => fake.received('GET') === 1);
    await connection.close();
    expect(fake.log.map(({ http }) => http)).toEqual(expect.arrayContaining(['POST', 'GET', 'DELETE']));
    for (const { headers: sent, http, rpc } of fake.log) {
      expect(sent).toMatchObject({ authorization: 'Bearer my-token', 'x-team': 'blue' });
      expect(sent['mcp-session-id']).not.toBe('forged');
      expect(sent).not.toHaveProperty('last-event-id');
      expect(sent.accept ?? '').not.toContain('html');
      if (http === 'POST') expect(sent['content-type']).toBe('application/json');
      if (rpc === 'tools/call') expect(sent['mcp-protocol-version']).toBe('2025-11-25');
    }
  });

  it('are made of user and password in the URL', async () => {
    const fake = await fakeHttp();
    const { connection } = await open(httpEntry(fake.url.replace('//', '//me:p%40ss@')));
    expect(fake.log[0]?.headers.authorization).toBe(`Basic ${Buffer.from('me:p@ss').toString('base64')}`);
    await connection.close();
  });

  it('follow a redirect within the server and go nowhere else', async () => {
    const other = await littleHttp((_, response) => response.writeHead(500).end());
    const server = await littleHttp((seen, response) => {
      if (seen.url === '/mcp') response.writeHead(307, { location: '/real' }).end();
      else if (seen.url === '/away') response.writeHead(307, { location: `${other.origin}/mcp?token=abc` }).end();
      else legacy(() => false)(seen, response);
    });
    const headers = { authorization: 'Bearer abcdefgh' };
    const { connection } = await open(httpEntry(server.url, { headers }));
    expect(connection.agreement.serverInfo?.name).toBe('little');
    expect(
      server.seen
        .filter(({ url }) => url === '/real')
        .every((seen) => seen.headers.authorization === headers.authorization),
    ).toBe(true);

    const failure = await openFailure(httpEntry(`${server.origin}/away`, { headers }));
    expect(failure).toMatchObject({ class: 'http-status', httpStatus: 307 });
    expect(failure.message).toContain(`use ${other.origin}/mcp as the URL`);
    expect(other.seen).toEqual([]);
  });
});

describe('what the first request meets', () => {
  const refused = async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    return `http://127.0.0.1:${port}/mcp?token=t0psecret`;
  };

  it('nobody: the network error itself, and no other transport is tried', async () => {
    const failure = await openFailure(httpEntry(await refused()));
    expect(failure).toMatchObject({ class: 'transport', phase: 'connect' });
    expect(failure.message).toMatch(/^connect: http:\/\/127\.0\.0\.1:\d+\/mcp: nothing listens there/);
    expect(failure.message).not.toContain('t0psecret');
  });

  it.each<[string, StatusRule, object, RegExp]>([
    ['a reset', { reset: true }, { class: 'transport' }, /connection was reset/],
    ['401', { status: 401, headers: { 'www-authenticate': 'Bearer' } }, { class: 'auth', httpStatus: 401 }, /login/],
    ['401 without a challenge', { status: 401 }, { class: 'auth', httpStatus: 401 }, /login/],
    ['403', { status: 403, body: 'Forbidden' }, { class: 'http-status', httpStatus: 403 }, /HTTP 403: Forbidden/],
    [
      '403 with a challenge',
      { status: 403, headers: { 'www-authenticate': 'Bearer error="insufficient_scope"' } },
      { class: 'auth', httpStatus: 403 },
      /403/,
    ],
    ['408', { status: 408 }, { class: 'http-status', httpStatus: 408 }, /408/],
    [
      '429',
      { status: 429, headers: { 'retry-after': '17' } },
      { class: 'overload', httpStatus: 429, retryAfterMs: 17_000 },
      /429/,
    ],
    ['502', { status: 502 }, { class: 'http-status', httpStatus: 502 }, /502/],
    [
      '503',
      { status: 503, headers: { 'retry-after': '3' } },
      { class: 'overload', httpStatus: 503, retryAfterMs: 3_000 },
      /503/,
    ],
  ])('%s: exactly that, on one request', async (_, rule, expected, message) => {
    const fake = await fakeHttp({ behaviour: { transport: 'both', status: { POST: rule } } });
    const failure = await openFailure(httpEntry(fake.url));
    expect(failure).toMatchObject(expected);
    expect(failure.message).toMatch(message);
    expect(fake.received('GET')).toBe(0);
    expect(fake.log).toHaveLength(1);
  });

  it('500: the older handshake is tried on the same transport, since some servers break at an unknown request', async () => {
    const fake = await fakeHttp({ behaviour: { status: { 'server/discover': { status: 500 } } } });
    const { connection } = await open(httpEntry(fake.url));
    expect(connection.agreement).toMatchObject({ transport: 'streamable-http', era: 'legacy' });
    const broken = await fakeHttp({ behaviour: { status: { POST: { status: 500, body: 'boom' } } } });
    const failure = await openFailure(httpEntry(broken.url));
    expect(failure).toMatchObject({ class: 'http-status', httpStatus: 500 });
    expect(failure.message).toContain('boom');
    expect(broken.received('GET')).toBe(0);
  });

  it('silence: a timeout of initialize; unreachable: a timeout of the connection', async () => {
    const fake = await fakeHttp({ behaviour: { status: { POST: { hang: true } } } });
    expect(await openFailure(httpEntry(fake.url), { limitMs: 300 })).toMatchObject({
      class: 'timeout',
      phase: 'initialize',
    });
  });

  it('something that is not HTTP, or not MCP, or not a usable URL', async () => {
    const server = createServer((socket) => socket.end('220 mail ready\r\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    atEnd(() => void server.close());
    expect(await openFailure(httpEntry(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`))).toMatchObject({
      class: 'protocol',
    });

    const page = await littleHttp((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>hello</html>'),
    );
    expect(await openFailure(httpEntry(page.url))).toMatchObject({
      class: 'protocol',
      message: expect.stringContaining('text/html'),
    });

    expect(await openFailure(httpEntry('ftp://host/mcp'))).toMatchObject({ class: 'config' });
    expect(await openFailure(httpEntry('http://'))).toMatchObject({ class: 'config' });
    expect(await openFailure(httpEntry(page.url, { headers: { 'x-bad': 'a\nb' } }))).toMatchObject({ class: 'config' });
  });
});

describe('the older HTTP+SSE transport', () => {
  it.each([404, 405, 400, 406, 410])('is used after HTTP %i on the first POST', async (status) => {
    const fake = await fakeHttp({ behaviour: { transport: 'sse', status: { POST: [{ status, times: 2 }] } } });
    const { connection } = await open(httpEntry(fake.url));
    expect(connection.agreement).toMatchObject({ transport: 'sse', era: 'legacy' });
    expect(textOf(await call(connection, 'echo', { text: 'old' }))).toBe('old');
  });

  it('is used at once when it worked before, and given up when the server has moved on', async () => {
    const old = await fakeHttp({ behaviour: { transport: 'sse' } });
    const { connection } = await open(httpEntry(old.url), { verdict: remembered('legacy', 'sse') });
    expect(connection.agreement.transport).toBe('sse');
    expect(old.log[0]?.http).toBe('GET');
    const moved = await fakeHttp({ behaviour: { get: { mode: 'status', status: 405 } } });
    expect(
      (await open(httpEntry(moved.url), { verdict: remembered('legacy', 'sse') })).connection.agreement.transport,
    ).toBe('streamable-http');
  });

  it('is not used when the entry names its type', async () => {
    const fake = await fakeHttp({ behaviour: { transport: 'sse' } });
    expect(await openFailure(httpEntry(fake.url, { explicitType: true }))).toMatchObject({
      class: 'http-status',
      httpStatus: 405,
    });
    expect(fake.received('GET')).toBe(0);
    const { connection } = await open(httpEntry(fake.url, { transport: 'sse', explicitType: true }));
    expect(connection.agreement.transport).toBe('sse');
    const streamable = await fakeHttp({ behaviour: { sessions: false, get: { mode: 'status', status: 405 } } });
    expect(await openFailure(httpEntry(streamable.url, { transport: 'sse', explicitType: true }))).toMatchObject({
      httpStatus: 405,
    });
    expect(streamable.received('POST')).toBe(0);
  });

  it('leaves both reasons when it fails too', async () => {
    const fake = await fakeHttp({
      behaviour: { status: { POST: { status: 404, body: 'no such page' }, GET: { status: 410 } } },
    });
    const failure = await openFailure(httpEntry(fake.url));
    expect(failure).toMatchObject({ class: 'http-status', httpStatus: 404 });
    expect(failure.message).toMatch(
      /HTTP 404: no such page; the older SSE transport failed too \(connect: .* HTTP 410/,
    );
  });

  it('is lost when its stream ends, with every call at once', async () => {
    const fake = await fakeHttp({ behaviour: { transport: 'sse' } });
    const { connection } = await open(httpEntry(fake.url, { transport: 'sse' }));
    const error = callError(connection, 'sleep', { ms: 60_000 });
    await until(() => fake.received('tools/call') === 1);
    fake.control.endStreams();
    expect(await error).toMatchObject({ kind: 'lost', detail: { sent: true, failure: { class: 'transport' } } });
    expect(await connection.lost).toMatchObject({ class: 'transport', phase: 'watch' });
  });

  it('loses its session with any 404', async () => {
    const fake = await fakeHttp({ behaviour: { transport: 'sse', unknownSession: { status: 404, body: '' } } });
    const { connection } = await open(httpEntry(fake.url, { transport: 'sse' }));
    fake.control.forget();
    expect(await callError(connection, 'echo')).toMatchObject({
      kind: 'session-refused',
      detail: { failure: { class: 'session', httpStatus: 404 } },
    });
    expect(await connection.lost).toMatchObject({ class: 'session' });
  });

  it('posts to no other server than its own', async () => {
    const other = await littleHttp((_, response) => response.writeHead(202).end());
    const server = await littleHttp(({ http }, response) => {
      if (http === 'POST') response.writeHead(404).end();
      else
        response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .write(`event: endpoint\ndata: ${other.origin}/steal\n\n`);
    });
    expect(await openFailure(httpEntry(server.url, { transport: 'sse', explicitType: true }))).toMatchObject({
      class: 'protocol',
      message: expect.stringContaining('another server'),
    });
    expect(other.seen).toEqual([]);
  });
});

describe('a lost session', () => {
  it.each(sessionRefusals.map((refusal) => [refusal.title, refusal] as const))(
    'is seen in %s',
    async (_, { title: _title, ...unknownSession }) => {
      const fake = await fakeHttp({ behaviour: { unknownSession } });
      const { connection } = await open(httpEntry(fake.url));
      fake.control.forget();
      const errors = await Promise.all(Array.from({ length: 5 }, () => callError(connection, 'echo')));
      for (const error of errors) {
        expect(['session-refused', 'not-sent']).toContain(error.kind);
        expect(error.detail.failure).toMatchObject({ class: 'session' });
      }
      expect(await connection.lost).toMatchObject({ class: 'session', httpStatus: unknownSession.status });
      await connection.close();
      expect(fake.received('DELETE')).toBe(0);
      expect(fake.received('initialize')).toBe(1);
    },
  );

  it('is seen by a list as well', async () => {
    const fake = await fakeHttp();
    const { connection } = await open(httpEntry(fake.url));
    fake.control.forget();
    expect(await listFailure(connection)).toMatchObject({ class: 'session', phase: 'list' });
    expect(await connection.lost).toMatchObject({ class: 'session', phase: 'list' });
  });

  it('is seen in an error that comes with HTTP 200', async () => {
    const server = await littleHttp(
      legacy(({ message }, response) => {
        if (message?.method !== 'tools/call') return false;
        json(response, {
          jsonrpc: '2.0',
          id: message.id,
          error: { code: -32000, message: 'Bad Request: Server not initialized' },
        });
        return true;
      }, 's1'),
    );
    const { connection } = await open(httpEntry(server.url));
    expect(await callError(connection, 'x')).toMatchObject({ kind: 'session-refused' });
    expect(await connection.lost).toMatchObject({ class: 'session' });
  });

  it('lets calls that are being refused be refused, though the connection is closed at once', async () => {
    const delays = [1, 10, 20, 30];
    const server = await littleHttp(
      legacy(({ message }, response) => {
        if (message?.method !== 'tools/call') return false;
        setTimeout(() => response.writeHead(404).end(), delays.shift());
        return true;
      }, 's1'),
    );
    const { connection } = await open(httpEntry(server.url));
    const closing = connection.lost.then(() => connection.close());
    const errors = await Promise.all(delays.map(() => callError(connection, 'x')));
    expect(errors.map(({ kind }) => kind)).toEqual(Array(4).fill('session-refused'));
    await closing;
  });

  it('is no matter of a modern server, whose 404 means an unknown method', async () => {
    const fake = await fakeHttp({
      era: 'modern',
      behaviour: {
        status: {
          'tools/call': {
            status: 404,
            body: { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'Method not found' } },
          },
        },
      },
    });
    const { connection } = await open(httpEntry(fake.url));
    expect(await callError(connection, 'echo')).toMatchObject({ kind: 'rejected', detail: { code: -32601 } });
    expect((await list(connection)).tools.length).toBeGreaterThan(0);
  });
});

it('a call may be silent for longer than a socket may idle', async () => {
  const fake = await fakeHttp({ behaviour: { reply: 'json' } });
  const { connection } = await open(httpEntry(fake.url));
  expect(textOf(await call(connection, 'sleep', { ms: 3_500 }))).toBe('slept 3500 ms');
});

describe('a call whose answer does not come', () => {
  it.each([
    ['legacy', 'cut'],
    ['legacy', 'end'],
    ['modern', 'cut'],
    ['modern', 'end'],
  ] as const)('is lost at once when its stream breaks off, and only that call (%s, %s)', async (era, stream) => {
    const fake = await fakeHttp({ era, behaviour: { answers: { 'tools/call': { stream, times: 1 } } } });
    const { connection } = await open(httpEntry(fake.url));
    expect(await callError(connection, 'echo')).toMatchObject({
      kind: 'lost',
      detail: { sent: true, failure: { class: 'transport' } },
    });
    expect(textOf(await call(connection, 'echo', { text: 'next' }))).toBe('next');
  });

  it.each<[string, StatusRule, object]>([
    ['a reset', { reset: true }, { kind: 'lost', detail: { sent: true, failure: { class: 'transport' } } }],
    [
      '500',
      { status: 500, body: 'boom' },
      { kind: 'lost', detail: { sent: true, failure: { class: 'http-status', httpStatus: 500 } } },
    ],
    [
      '500 with a JSON-RPC error',
      { status: 500, body: { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'no' } } },
      { kind: 'rejected', detail: { code: -32603 } },
    ],
    ['502', { status: 502 }, { kind: 'lost' }],
    ['504', { status: 504 }, { kind: 'lost' }],
    ['403', { status: 403 }, { kind: 'rejected', detail: { failure: { class: 'http-status', httpStatus: 403 } } }],
    ['413', { status: 413 }, { kind: 'rejected' }],
    [
      '429',
      { status: 429, headers: { 'retry-after': '2' } },
      { kind: 'rejected', detail: { failure: { class: 'overload', retryAfterMs: 2_000 } } },
    ],
    [
      '400 with a JSON-RPC error',
      { status: 400, body: { jsonrpc: '2.0', id: null, error: { code: -32602, message: 'bad' } } },
      { kind: 'rejected', message: 'bad', detail: { code: -32602 } },
    ],
  ])('after %s, and the connection goes on', async (_, rule, expected) => {
    const fake = await fakeHttp({ behaviour: { status: { 'tools/call': { ...rule, times: 1 } } } });
    const { connection } = await open(httpEntry(fake.url));
    expect(await callError(connection, 'echo')).toMatchObject(expected);
    expect(textOf(await call(connection, 'echo', { text: 'next' }))).toBe('next');
  });

  it('after 401 the connection is lost to a login', async () => {
    const fake = await fakeHttp({ behaviour: { bearer: 'good' } });
    const { connection } = await open(httpEntry(fake.url, { headers: { authorization: 'Bearer good' } }));
    fake.control.set({ bearer: 'changed' });
    expect(await callError(connection, 'echo')).toMatchObject({
      kind: 'rejected',
      detail: { failure: { class: 'auth' } },
    });
    expect(await connection.lost).toMatchObject({ class: 'auth', httpStatus: 401 });
  });

  it('was never sent when nobody listens any more, and the connection is lost', async () => {
    const fake = await fakeHttp();
    const { connection } = await open(httpEntry(fake.url));
    await fake.control.stop();
    await pause(50);
    expect(await callError(connection, 'echo')).toMatchObject({ kind: 'not-sent', detail: { sent: false } });
    expect(await connection.lost).toMatchObject({ class: 'transport' });
  });

  it('fails when the server dies under way', async () => {
    const fake = await fakeHttp();
    const { connection } = await open(httpEntry(fake.url));
    const error = callError(connection, 'sleep', { ms: 60_000 });
    await until(() => fake.received('tools/call') === 1);
    await fake.control.stop();
    expect(await error).toMatchObject({ kind: 'lost', detail: { sent: true } });
  });

  it('fails when a JSON answer holds no response to it', async () => {
    const server = await littleHttp(
      legacy(({ message }, response) => {
        if (message?.method !== 'tools/call') return false;
        json(response, { hello: 'world' });
        return true;
      }),
    );
    const { connection } = await open(httpEntry(server.url));
    expect(await callError(connection, 'x')).toMatchObject({
      kind: 'lost',
      detail: { failure: { class: 'protocol' } },
    });
  });

  it('ends when the connection is closed', async () => {
    const fake = await fakeHttp();
    const { connection } = await open(httpEntry(fake.url));
    const error = callError(connection, 'sleep', { ms: 60_000 });
    await until(() => fake.received('tools/call') === 1);
    await connection.close();
    expect(await error).toMatchObject({ kind: 'lost', detail: { sent: true } });
    await expect(Promise.race([connection.lost, pause(50, 'pending')])).resolves.toBe('pending');
  });
});
