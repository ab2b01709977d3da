/** Sessions that are open since before a server died, and what they see of its return. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { type Steered, stdioEntry, steered } from '../support/fixtures.ts';
import { legacyClient, modernClient, nextOf, streamed } from './client.ts';

const CHANGED = 'notifications/tools/list_changed';

let server: Steered;
let daemon: Daemon;

beforeAll(async () => {
  server = steered({ behaviour: { tools: ['echo'] } });
  daemon = await startDaemon({ servers: { one: stdioEntry(server.options) } });
});
beforeEach(async () => {
  server.set({ tools: ['echo'], start: {} });
  await daemon.api('POST', '/v1/mcp/reconnect', { name: 'one' });
  await daemon.waitForServer('one', (row) => row.state === 'ready' && row.tools === 1);
});

/** Whoever wants to hear of changes at a door, in either era: what is listed there, and the next message that says so. */
const listeners = {
  'a session': async (path: string) => {
    const client = await legacyClient(daemon, path);
    const stream = streamed(await client.listen());
    return { list: () => client.ask('tools/list'), told: () => nextOf(stream, ({ method }) => method === CHANGED) };
  },
  'a subscription': async (path: string) => {
    const client = modernClient(daemon, path);
    const wanted = { notifications: { toolsListChanged: true } };
    const stream = streamed(await client.open('subscriptions/listen', wanted));
    await nextOf(stream, ({ method }) => method === 'notifications/subscriptions/acknowledged');
    return { list: () => client.ask('tools/list'), told: () => nextOf(stream, ({ method }) => method === CHANGED) };
  },
};

const doors = [
  { path: '/mcp', prefix: 'one__' },
  { path: '/mcp/one', prefix: '' },
];
const cases = doors.flatMap((door) => Object.entries(listeners).map(([who, open]) => ({ ...door, who, open })));

/** `name` for a tool that can be called, `name (stale)` for one that is only known. */
async function listed(list: () => Promise<{ body: any }>): Promise<string[]> {
  return (await list()).body.result.tools.map(
    ({ name, _meta }: any) => `${name}${_meta?.['watchkeeper/stale'] ? ' (stale)' : ''}`,
  );
}

/** Ends the process and keeps the server down until it is told otherwise. */
async function die(): Promise<void> {
  server.set({ start: { exit: { code: 3 } } });
  process.kill((await daemon.server('one')).pid, 'SIGKILL');
  await daemon.waitForServer('one', (row) => row.state !== 'ready' && row.pid === null);
}

async function recover(): Promise<void> {
  server.set({ start: {} });
  await daemon.api('POST', '/v1/mcp/reconnect', { name: 'one' });
  await daemon.waitForServer('one', 'ready');
}

describe.each(cases)('$who that was open at $path before its server died', ({ path, prefix, open }) => {
  it('lists its tools again once it is ready', async () => {
    const { list } = await open(path);
    expect(await listed(list)).toEqual([`${prefix}echo`]);
    await die();
    expect(await listed(list)).toEqual([`${prefix}echo (stale)`]);
    await recover();
    expect(await listed(list)).toEqual([`${prefix}echo`]);
  });

  it('is told when it comes back with other tools, and lists those', async () => {
    const { list, told } = await open(path);
    await die();
    server.set({ tools: ['echo', 'add'] });
    await recover();
    await told();
    expect(await listed(list)).toEqual([`${prefix}add`, `${prefix}echo`]);
  });
});

describe('A server that was down when a client came', () => {
  it('is announced to that client and listed once it is ready', async () => {
    const late = steered({ behaviour: { tools: ['echo'], start: { exit: { code: 3 } } } });
    const own = await startDaemon({ servers: { late: stdioEntry(late.options) } });
    await own.waitForServer('late', (row) => row.error !== null);
    const client = await legacyClient(own);
    const stream = streamed(await client.listen());
    expect(await listed(() => client.ask('tools/list'))).toEqual([]);
    late.set({ start: {} });
    await own.api('POST', '/v1/mcp/reconnect', { name: 'late' });
    await nextOf(stream, ({ method }) => method === CHANGED);
    expect(await listed(() => client.ask('tools/list'))).toEqual(['late__echo']);
    await own.stop();
  });
});
