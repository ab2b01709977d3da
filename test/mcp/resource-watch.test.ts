import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { until } from '../support/wait.ts';
import { type Behind, behind, type Way, ways } from './behind.ts';

const resources = ['fake://1', 'fake://2', 'fake://3'].map((uri) => ({ uri, name: uri }));
const soon = () => AbortSignal.timeout(10_000);

/** URIs of the updates that came, and a way to cause one and see whether it comes. */
function updates(server: Behind) {
  const heard: string[] = [];
  server.connection.onNotification(({ method, params }) => {
    if (method === 'notifications/resources/updated') heard.push(String(params?.uri));
  });
  const comes = async (uri: string) => {
    const before = heard.length;
    server.tell('notifications/resources/updated', { uri });
    await until(() => heard.length > before, { limitMs: 3_000 }).catch(() => {});
    return heard.slice(before).includes(uri);
  };
  const stays = async (uri: string) => {
    const before = heard.length;
    server.tell('notifications/resources/updated', { uri });
    await pause(150);
    return heard.length === before;
  };
  return { heard, comes, stays };
}

const uris = (...numbers: number[]) => numbers.map((n) => `fake://${n}`);

describe.each([...ways, ['old-http', 'legacy']] as const)('watched resources (%s, %s)', (way: Way, era) => {
  const start = () => behind(way, era, { resources });

  it('tells of changes of those, and of no others', async () => {
    const server = await start();
    const { comes, stays } = updates(server);
    expect(await server.connection.watchResources(uris(1, 2), soon())).toEqual({ watched: uris(1, 2), refused: [] });
    expect(await comes('fake://1')).toBe(true);
    expect(await comes('fake://2')).toBe(true);
    expect(await stays('fake://3')).toBe(true);
  });

  it('is one set: the next replaces it', async () => {
    const server = await start();
    const { comes, stays } = updates(server);
    await server.connection.watchResources(uris(1, 2), soon());
    expect(await server.connection.watchResources(uris(2, 3), soon())).toEqual({ watched: uris(2, 3), refused: [] });
    expect(await comes('fake://3')).toBe(true);
    expect(await comes('fake://2')).toBe(true);
    expect(await stays('fake://1')).toBe(true);
    expect(await server.connection.watchResources([], soon())).toEqual({ watched: [], refused: [] });
    expect(await stays('fake://2')).toBe(true);
  });

  it('says which the server does not have', async () => {
    const { connection } = await start();
    const error = era === 'legacy' ? { code: -32002, message: 'Unknown resource: none://x' } : null;
    expect(await connection.watchResources(['none://x', 'fake://1'], soon())).toEqual({
      watched: uris(1),
      refused: [{ uri: 'none://x', error }],
    });
  });

  it('carries out wishes in the order they came', async () => {
    const server = await start();
    const { comes, stays } = updates(server);
    const wishes = [uris(1), uris(1, 2), [], uris(3)].map((set) => server.connection.watchResources(set, soon()));
    expect((await Promise.all(wishes)).map(({ watched }) => watched)).toEqual([uris(1), uris(1, 2), [], uris(3)]);
    expect(await comes('fake://3')).toBe(true);
    expect(await stays('fake://1')).toBe(true);
  });

  it('watches nothing once the connection is closed, and says so', async () => {
    const { connection } = await start();
    await connection.close();
    expect(await connection.watchResources(uris(1), soon())).toMatchObject({
      watched: [],
      refused: [{ uri: 'fake://1' }],
    });
  });
});

it('listens again when the stream breaks, and tells of what may have been missed', async () => {
  const server = await behind('http', 'modern', { resources });
  const { heard, comes } = updates(server);
  await server.connection.watchResources(uris(1, 2), soon());
  server.cutStreams();
  await until(() => heard.length === 2);
  expect(heard).toEqual(uris(1, 2));
  expect(await comes('fake://1')).toBe(true);
});

it('refuses them all when a modern server knows no subscriptions', async () => {
  const { connection } = await behind('http', 'modern', {
    resources,
    answers: { 'subscriptions/listen': { error: { code: -32601, message: 'Method not found' } } },
    status: {
      'subscriptions/listen': {
        status: 404,
        body: { jsonrpc: '2.0', id: null, error: { code: -32601, message: 'Method not found' } },
      },
    },
  });
  expect(await connection.watchResources(uris(1), soon())).toEqual({
    watched: [],
    refused: [{ uri: 'fake://1', error: null }],
  });
});
