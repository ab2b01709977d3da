import { once } from 'node:events';
import { lchownSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createNetServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Client, connectTo, isHeld } from '../../src/api/client.ts';
import { ApiError, DaemonUnreachable } from '../../src/api/errors.ts';
import type { Followed } from '../../src/api/follow.ts';
import { Problem } from '../../src/http/problem.ts';
import { recorded, time } from '../http/fake.keeper.ts';
import { token } from '../http/given.app.ts';
import { type GivenServer, givenServer } from '../http/given.server.ts';
import { tempDir } from '../support/temp.ts';
import { until } from '../support/wait.ts';

interface Given {
  readonly client: Client;
  readonly server: GivenServer;
  readonly dataDir: string;
}

/** What the daemon writes for its clients. */
function announce(dataDir: string, { port, socket }: { port: number; socket: string | null }, pid = process.pid): void {
  const url = `http://127.0.0.1:${port}`;
  writeFileSync(
    join(dataDir, 'daemon.json'),
    JSON.stringify({ pid, port, url, socket, version: '1.2.3', startedAt: time }),
  );
  writeFileSync(join(dataDir, 'token'), `${token}\n`);
}

async function givenClient(door: 'socket' | 'tcp' = 'socket'): Promise<Given> {
  const dataDir = tempDir();
  const server = await givenServer({ socket: door === 'socket' ? join(dataDir, 'daemon.sock') : null });
  announce(dataDir, server);
  return { client: connectTo({ dataDir }), server, dataDir };
}

/** No process has it: the highest one Linux gives is 2^22. */
const deadPid = 2 ** 30;

describe('The client asks for every route', () => {
  it.each<[string, (client: Client) => Promise<unknown>, unknown[] | null]>([
    ['health', (client) => client.health(), ['health', true]],
    ['config', (client) => client.config(), null],
    ['addServer', (client) => client.addServer('a', { command: 'x' }), ['addServer', 'a', { command: 'x' }]],
    ['removeServer', (client) => client.removeServer('a'), ['removeServer', 'a']],
    ['enableServer', (client) => client.enableServer('a'), ['setDisabled', 'a', false]],
    ['disableServer', (client) => client.disableServer('a'), ['setDisabled', 'a', true]],
    ['testServer', (client) => client.testServer({ url: 'x' }), ['testServer', { url: 'x' }, undefined]],
    ['testServer of a known one', (client) => client.testServer({ url: 'x' }, 'a'), ['testServer', { url: 'x' }, 'a']],
    ['stderr', (client) => client.stderr('a'), ['stderr', 'a']],
    ['status', (client) => client.status(), null],
    ['status of a position', (client) => client.status({ at: 7 }), ['statusAt', { position: 7 }]],
    [
      'status of a time',
      (client) => client.status({ at: '2026-03-01T14:00:00+02:00' }),
      ['statusAt', { time: Date.parse(time) }],
    ],
    ['reconnect', (client) => client.reconnect(), ['reconnect', undefined, undefined]],
    ['reconnect of one', (client) => client.reconnect({ name: 'a', timeoutMs: 9 }), ['reconnect', 'a', 9]],
    ['tools', (client) => client.tools({ server: 'a', at: 3 }), ['tools', { server: 'a', at: { position: 3 } }]],
    ['toolsHistory', (client) => client.toolsHistory({ server: 'a' }), ['toolsHistory', { server: 'a' }]],
    ['instructions', (client) => client.instructions(), null],
    [
      'history',
      (client) => client.history({ name: 'a', from: time }),
      ['history', { name: 'a', from: Date.parse(time) }],
    ],
    ['allowlist', (client) => client.allowlist('mcp__a__'), ['allowlist', 'mcp__a__']],
    [
      'replaceGrants',
      (client) => client.replaceGrants('mcp__a__', ['x']),
      ['replaceGrants', 'mcp__a__', ['x'], 'socket'],
    ],
    ['calls', (client) => client.calls({ state: 'held', limit: 3 }), ['calls', { state: 'held', limit: 3 }]],
    ['callById', (client) => client.callById('c1'), null],
    ['approve', (client) => client.approve('c1', 'tool'), ['approve', 'c1', 'tool', 'socket']],
    ['deny', (client) => client.deny('c1', 'no'), ['deny', 'c1', 'no', 'socket']],
    ['events', (client) => client.events({ after: 2, limit: 5 }), ['events', { after: 2, limit: 5 }]],
    ['rebuild', (client) => client.rebuild(), null],
    ['metrics', (client) => client.metrics(), null],
    ['shutdown', (client) => client.shutdown(), ['shutdown']],
  ])('%s', async (_name, run, expected) => {
    const { client, server } = await givenClient();
    expect(await run(client)).toBeTruthy();
    if (expected !== null) expect(server.keeper.asked.at(-1)).toEqual(expected);
  });

  it('and an id is no part of the path', async () => {
    const { client } = await givenClient();
    await expect(client.callById('../c1?x=/')).rejects.toMatchObject({ code: 'unknown-call' });
  });
});

describe('A call through the client', () => {
  it('carries its mode, limit and whether to wait', async () => {
    const { client, server } = await givenClient();
    const result = await client.call({ tool: 't', arguments: { a: 'ü' }, mode: 'deny', timeoutMs: 5, wait: false });
    expect(isHeld(result)).toBe(false);
    expect(result).toMatchObject({ outcome: 'succeeded' });
    expect(server.keeper.asked[0]?.[1]).toMatchObject({
      arguments: { a: 'ü' },
      mode: 'deny',
      timeoutMs: 5,
      wait: false,
    });
  });

  it('that is held says so', async () => {
    const { client, server } = await givenClient();
    server.keeper.onCall = async () => ({ kind: 'held', body: { call: 'c1', state: 'held', expiresAt: time } });
    expect(isHeld(await client.call({ tool: 't' }))).toBe(true);
  });

  it('that fails carries what the daemon said', async () => {
    const { client, server } = await givenClient();
    server.keeper.onCall = async () => {
      throw new Problem('server-lost', 'The server was lost.', { call: 'c1', outcome: 'unknown' });
    };
    const error = await client.call({ tool: 't' }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      code: 'server-lost',
      status: 502,
      message: 'The server was lost.',
      call: 'c1',
      outcome: 'unknown',
      next: expect.stringContaining('took effect'),
    });
  });

  it('ends when its signal does, and the daemon hears of it', async () => {
    const { client, server } = await givenClient();
    let left = false;
    server.keeper.onCall = ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          left = true;
          reject(new Problem('call-cancelled', 'The caller went away.'));
        });
      });
    const ending = new AbortController();
    const answer = client.call({ tool: 't' }, { signal: ending.signal });
    await until(() => server.keeper.asked.length === 1);
    ending.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
    await until(() => left);
  });
});

describe('The way to the daemon', () => {
  it('is the socket, without the token', async () => {
    const { client, server, dataDir } = await givenClient('socket');
    writeFileSync(join(dataDir, 'token'), 'not the token');
    await client.replaceGrants('p', []);
    expect(server.keeper.asked.at(-1)?.at(-1)).toBe('socket');
  });

  it('is the port with the token where there is no socket', async () => {
    const { client, server } = await givenClient('tcp');
    await client.replaceGrants('p', []);
    expect(server.keeper.asked.at(-1)?.at(-1)).toBe('main');
  });

  it('is the port if the socket has gone while the daemon lives', async () => {
    const { client, server, dataDir } = await givenClient('tcp');
    announce(dataDir, { port: server.port, socket: join(dataDir, 'gone.sock') });
    await client.replaceGrants('p', []);
    expect(server.keeper.asked.at(-1)?.at(-1)).toBe('main');
  });

  it('is looked up for each request, so a restarted daemon is found', async () => {
    const { client, server, dataDir } = await givenClient('tcp');
    await server.close();
    await expect(client.status()).rejects.toBeInstanceOf(DaemonUnreachable);
    announce(dataDir, await givenServer());
    expect(await client.status()).toBeTruthy();
  });

  it('is not there without a daemon, and the message says what to do', async () => {
    const client = connectTo({ dataDir: join(tempDir(), 'none') });
    await expect(client.status()).rejects.toThrow(/No daemon runs for .*none.*watchkeeper up/);
    await expect(client.status()).rejects.toBeInstanceOf(DaemonUnreachable);
  });

  it('is not there if the daemon was killed', async () => {
    const { client, server } = await givenClient();
    await server.close();
    await expect(client.status()).rejects.toThrow(/does not answer.*watchkeeper up/);
  });

  // Only root can make a file of somebody else's.
  it.skipIf(process.getuid?.() !== 0)('is no socket that another user put where it was', async () => {
    const dataDir = tempDir();
    const socket = join(tempDir(), 'there.sock');
    const heard: unknown[] = [];
    const stranger = createServer((request) => heard.push(request.url)).listen(socket);
    onTestFinished(() => void stranger.close());
    await once(stranger, 'listening');
    lchownSync(socket, 12_345, 12_345);
    announce(dataDir, { port: 1, socket }, deadPid);
    await expect(connectTo({ dataDir }).status()).rejects.toBeInstanceOf(DaemonUnreachable);
    expect(heard).toEqual([]);
  });

  it('gives the token to nobody who took the port of a dead daemon', async () => {
    const heard: unknown[] = [];
    const stranger = createServer((request) => heard.push(request.headers)).listen(0, '127.0.0.1');
    onTestFinished(() => void stranger.close());
    await once(stranger, 'listening');
    const dataDir = tempDir();
    announce(dataDir, { port: (stranger.address() as AddressInfo).port, socket: join(dataDir, 'gone.sock') }, deadPid);
    await expect(connectTo({ dataDir }).status()).rejects.toBeInstanceOf(DaemonUnreachable);
    expect(heard).toEqual([]);
  });

  it('does not repeat a request whose answer broke off', async () => {
    let connections = 0;
    const breaking = createNetServer((connection) => {
      connections += 1;
      connection.once('data', () => connection.destroy());
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void breaking.close());
    await once(breaking, 'listening');
    const dataDir = tempDir();
    announce(dataDir, { port: (breaking.address() as AddressInfo).port, socket: null });
    await expect(connectTo({ dataDir }).call({ tool: 't' })).rejects.toThrow(/broke off/);
    expect(connections).toBe(1);
  });

  it('tells a program that is not the daemon from it', async () => {
    const stranger = createServer((_request, response) => response.writeHead(500).end('<html>')).listen(0, '127.0.0.1');
    onTestFinished(() => void stranger.close());
    await once(stranger, 'listening');
    const dataDir = tempDir();
    announce(dataDir, { port: (stranger.address() as AddressInfo).port, socket: null });
    await expect(connectTo({ dataDir }).status()).rejects.toMatchObject({ code: 'unexpected-answer', status: 500 });
  });
});

describe('Following the log through the client', () => {
  const follow = (client: Client, query: Parameters<Client['followEvents']>[0] = {}) => {
    const ending = new AbortController();
    onTestFinished(() => ending.abort());
    const followed = client.followEvents({ ...query, signal: ending.signal });
    return {
      end: () => ending.abort(),
      next: async (): Promise<Followed | 'end'> => (await followed.next()).value ?? 'end',
    };
  };
  const at = (followed: Followed | 'end') =>
    followed === 'end' || followed.kind !== 'event' ? followed : followed.event.position;

  it('gives what is there, then what comes', async () => {
    const { client, server } = await givenClient();
    server.keeper.commit(recorded(1), recorded(2));
    const log = follow(client, { after: 1 });
    expect(at(await log.next())).toBe(2);
    server.keeper.commit(recorded(3));
    expect(at(await log.next())).toBe(3);
  });

  it('says which part of the log is gone', async () => {
    const { client, server } = await givenClient();
    server.keeper.commit(recorded(9));
    server.keeper.prunedBelow = 9;
    expect(await follow(client, { after: 0 }).next()).toEqual({ kind: 'gap', from: 1, to: 8 });
  });

  it('goes on where it was after the daemon has been restarted', async () => {
    const { client, server, dataDir } = await givenClient('tcp');
    server.keeper.commit(recorded(1), recorded(2));
    const log = follow(client, { after: 0 });
    expect([at(await log.next()), at(await log.next())]).toEqual([1, 2]);
    await server.close();
    expect(await log.next()).toEqual({ kind: 'lost' });
    const again = await givenServer();
    again.keeper.commit(recorded(1), recorded(2), recorded(3));
    announce(dataDir, again);
    expect(at(await log.next())).toBe(3);
  });

  it('ends with its signal, also while it waits for the daemon', async () => {
    const { client, server } = await givenClient();
    const log = follow(client, { after: 0 });
    server.keeper.commit(recorded(1));
    await log.next();
    const waiting = log.next();
    log.end();
    expect(await waiting).toBe('end');
    await until(() => server.keeper.followers === 0);

    const other = follow(client, { after: 0 });
    await other.next();
    await server.close();
    expect(await other.next()).toEqual({ kind: 'lost' });
    const reopening = other.next();
    other.end();
    expect(await reopening).toBe('end');
  });

  it('does not begin without a daemon, or with a question the daemon refuses', async () => {
    const nobody = connectTo({ dataDir: tempDir() });
    await expect(follow(nobody).next()).rejects.toBeInstanceOf(DaemonUnreachable);
    const { client } = await givenClient();
    await expect(follow(client, { after: -1 }).next()).rejects.toMatchObject({ code: 'invalid-request' });
  });
});
