import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createNetServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Problem } from '../../src/http/problem.ts';
import { tempDir } from '../support/temp.ts';
import { until } from '../support/wait.ts';
import { signedIn, token } from './given.app.ts';
import { ask, givenServer, raw, textOf } from './given.server.ts';

const authorization = `Bearer ${token}`;
const call = { method: 'POST', path: '/v1/mcp/call', body: '{"tool":"t"}' };
const callHeaders = { authorization, 'content-type': 'application/json' };

describe('The port', () => {
  it('is any free one for 0, and its address is always the loopback one', async () => {
    const server = await givenServer();
    expect(server.port).toBeGreaterThan(0);
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    const answer = await ask(server, { path: '/v1/mcp/status', headers: { authorization } });
    expect(answer.statusCode).toBe(200);
  });

  it('that is taken is named, with the option that chooses another', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    await expect(givenServer({ port })).rejects.toMatchObject({
      name: 'ListenError',
      code: 'port-in-use',
      message: expect.stringMatching(new RegExp(`${port}.*--port`)),
    });
  });

  it('that is taken leaves no socket behind', async () => {
    const socket = join(tempDir(), 's');
    const { port } = await givenServer();
    await expect(givenServer({ port, socket })).rejects.toMatchObject({ code: 'port-in-use' });
    expect(existsSync(socket)).toBe(false);
  });

  it.each(['0.0.0.0', '::', '192.168.1.9', 'box.lan', '127.0.0.1.evil.example', ''])(
    'is not opened on "%s" unless that was allowed',
    async (host) => {
      await expect(givenServer({ host })).rejects.toMatchObject({ code: 'remote-host' });
    },
  );

  it('is opened on every address if that was allowed, and still asks for the token', async () => {
    const server = await givenServer({ host: '0.0.0.0', allowRemote: true });
    expect((await ask(server, { path: '/v1/mcp/status' })).statusCode).toBe(401);
  });

  it('that does not exist on this machine is named', async () => {
    await expect(givenServer({ host: '203.0.113.7', allowRemote: true })).rejects.toMatchObject({
      code: 'host-unknown',
      message: expect.stringContaining('--host'),
    });
  });
});

describe('A request that no client library would send', () => {
  it.each([
    ['without Host in HTTP/1.1', 'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n', 403, 'forbidden-host'],
    ['without Host in HTTP/1.0', 'GET /health HTTP/1.0\r\n\r\n', 403, 'forbidden-host'],
    [
      'with another address in its target',
      'GET http://evil.example/health HTTP/1.1\r\nHost: HERE\r\nConnection: close\r\n\r\n',
      403,
      'forbidden-host',
    ],
    [
      'that wants to speak another protocol',
      'GET /v1/events HTTP/1.1\r\nHost: evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      403,
      'forbidden-host',
    ],
    ['that is no HTTP', 'hello\r\n\r\n', 400, 'invalid-request'],
    ['with headers without end', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 400, 'invalid-request'],
  ])('is refused: %s', async (_what, bytes, status, code) => {
    const { port } = await givenServer();
    const text = await raw(
      port,
      bytes.replace('HERE', `127.0.0.1:${port}`).replace('Upgrade\r\nU', 'Upgrade, close\r\nU'),
    );
    const [head = '', body = ''] = text.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head.toLowerCase()).toContain('application/problem+json');
    expect(JSON.parse(body)).toMatchObject({ status, code });
  });
});

describe('The Unix socket', () => {
  it('needs neither token nor Host, and says who asks', async () => {
    const socket = join(tempDir(), 'daemon.sock');
    const { keeper } = await givenServer({ socket });
    const answer = await ask(
      { socketPath: socket },
      { ...call, headers: { host: 'whatever', 'content-type': 'application/json' } },
    );
    expect(answer.statusCode).toBe(200);
    expect(keeper.asked.at(-1)?.[1]).toMatchObject({ caller: { client: 'socket', door: 'socket' } });
  });

  it('takes nothing from a web page', async () => {
    const socket = join(tempDir(), 'daemon.sock');
    await givenServer({ socket });
    for (const origin of ['http://localhost', 'null', 'https://evil.example']) {
      const answer = await ask({ socketPath: socket }, { path: '/v1/mcp/status', headers: { origin } });
      expect(answer.statusCode).toBe(403);
    }
  });

  it('takes nothing but JSON either', async () => {
    const socket = join(tempDir(), 'daemon.sock');
    await givenServer({ socket });
    const answer = await ask({ socketPath: socket }, { ...call, headers: { 'content-type': 'text/plain' } });
    expect(answer.statusCode).toBe(415);
  });

  it('belongs to its owner alone, however open the folder and the usual mode are', async () => {
    const folder = tempDir();
    chmodSync(folder, 0o777);
    const before = process.umask(0);
    onTestFinished(() => void process.umask(before));
    const socket = join(folder, 'daemon.sock');
    await givenServer({ socket });
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    expect(process.umask()).toBe(0);
  });

  it('is replaced if the daemon that made it is dead', async () => {
    const socket = join(tempDir(), 'daemon.sock');
    const script = `require('node:net').createServer().listen(${JSON.stringify(socket)}, () => console.log('up'))`;
    const dead = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(dead.stdout, 'data');
    dead.kill('SIGKILL');
    await once(dead, 'exit');
    expect(existsSync(socket)).toBe(true);
    await givenServer({ socket });
    expect((await ask({ socketPath: socket }, { path: '/v1/mcp/status' })).statusCode).toBe(200);
  });

  it('is left alone if somebody answers on it', async () => {
    const socket = join(tempDir(), 'daemon.sock');
    const other = createNetServer((connection) => connection.end()).listen(socket);
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    await expect(givenServer({ socket })).rejects.toMatchObject({
      code: 'socket-in-use',
      message: expect.stringContaining(socket),
    });
    expect(existsSync(socket)).toBe(true);
  });

  it('does not take the place of a file that is no socket', async () => {
    const socket = join(tempDir(), 'daemon.sock');
    writeFileSync(socket, 'mine');
    await expect(givenServer({ socket })).rejects.toMatchObject({ code: 'socket-in-use' });
    expect(statSync(socket).size).toBe(4);
  });
});

describe('The end', () => {
  it('leaves no socket and no open port', async () => {
    const socket = join(tempDir(), 'daemon.sock');
    const server = await givenServer({ socket });
    await server.close();
    expect(existsSync(socket)).toBe(false);
    await expect(ask(server, { path: '/health' })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('lets a running request finish, though its connection is kept alive', async () => {
    const server = await givenServer();
    let finish = () => {};
    server.keeper.onCall = () =>
      new Promise((resolve) => {
        finish = () => resolve({ kind: 'result', body: { content: [], call: 'c1', outcome: 'succeeded' } });
      });
    const answer = ask(server, { ...call, headers: { ...callHeaders, connection: 'keep-alive' } });
    await until(() => server.keeper.asked.length === 1);
    const closed = server.close(20_000);
    finish();
    expect(await textOf(await answer)).toContain('succeeded');
    await closed;
  });

  it('does not wait for a request longer than it was told to', async () => {
    const server = await givenServer();
    server.keeper.onCall = () => new Promise(() => {});
    const answer = ask(server, { ...call, headers: callHeaders });
    await until(() => server.keeper.asked.length === 1);
    const [cut] = await Promise.allSettled([answer, server.close(10)]);
    expect(cut.status).toBe('rejected');
  });

  it('ends streams of events', async () => {
    const server = await givenServer();
    const stream = await ask(server, { path: '/v1/events', headers: { authorization, accept: 'text/event-stream' } });
    const text = textOf(stream);
    await server.close(20_000);
    expect(await text).toContain(': watching');
    expect(server.keeper.followers).toBe(0);
  });
});

describe('A caller that goes away', () => {
  it('ends what it waited for', async () => {
    const server = await givenServer();
    let ended = false;
    server.keeper.onCall = ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          ended = true;
          reject(new Problem('call-cancelled', 'The caller went away.'));
        });
      });
    const leaving = new AbortController();
    const answer = ask(server, { ...call, headers: callHeaders, signal: leaving.signal });
    await until(() => server.keeper.asked.length === 1);
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await until(() => ended);
    expect(server.errors).toEqual([]);
  });

  it('is not one that has merely sent its whole request', async () => {
    const server = await givenServer();
    server.keeper.onCall = async ({ signal }) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return { kind: 'result', body: { content: [], call: String(signal.aborted), outcome: 'succeeded' } };
    };
    expect(JSON.parse(await textOf(await ask(server, { ...call, headers: callHeaders }))).call).toBe('false');
  });
});

it('The host of the tests of single routes is not one of a real port', async () => {
  const server = await givenServer();
  expect((await ask(server, { path: '/v1/mcp/status', headers: signedIn })).statusCode).toBe(403);
});
