/** Clients number their requests alike: cancelling one ends the call of that client, at its server, and no other. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type HttpFake, startHttpFake } from '../fixtures/http-server.mjs';
import { atEnd } from '../support/cleanup.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { type Steered, stdioEntry, steered } from '../support/fixtures.ts';
import { tempDir } from '../support/temp.ts';
import { legacyClient, modernClient } from './client.ts';

const behaviour = { tools: ['sleep'] };
const SERVERS = ['pipe', 'modern', 'web'] as const;
type Server = (typeof SERVERS)[number];

let daemon: Daemon;
let pipe: Steered;
let modern: Steered;
let web: HttpFake;

beforeAll(async () => {
  pipe = steered({ behaviour });
  modern = steered({ era: 'modern', behaviour });
  web = await startHttpFake({ behaviour });
  atEnd(() => web.close());
  daemon = await startDaemon({
    servers: { pipe: stdioEntry(pipe.options), modern: stdioEntry(modern.options), web: { url: web.url } },
    allow: SERVERS.map((name) => `mcp__${name}__*`),
  });
  for (const name of SERVERS) await daemon.waitForServer(name, 'ready');
});

/** How many calls were cancelled at each server so far, as the servers counted. */
const heard = (): Record<Server, number> => ({
  pipe: pipe.counted('notifications/cancelled'),
  modern: modern.counted('notifications/cancelled'),
  web: web.received('notifications/cancelled'),
});
const sent = (): number => pipe.counted('tools/call') + modern.counted('tools/call') + web.received('tools/call');
/** How many calls run at each server, as the ledger has it. */
const running = async (): Promise<Record<Server, number>> => {
  const { calls } = (await daemon.api('GET', '/v1/mcp/calls?state=running')).body;
  const at = (server: Server): number => calls.filter((call: any) => call.server === server).length;
  return { pipe: at('pipe'), modern: at('modern'), web: at('web') };
};

/** Sends a call under the id that every client here uses; the function returned cancels it the way of its era. */
const ways = {
  'a notification': async (path: string, params: object) => {
    const client = await legacyClient(daemon, path);
    const answer = client.ask('tools/call', params, { id: 1 });
    answer.catch(() => {});
    return () => void client.notify('notifications/cancelled', { requestId: 1 });
  },
  'the end of its stream': async (path: string, params: object) => {
    const leave = new AbortController();
    const answer = modernClient(daemon, path).open('tools/call', params, { signal: leave.signal });
    answer.catch(() => {});
    return () => leave.abort();
  },
};

const doors = [
  { door: '/mcp', path: () => '/mcp', tool: (server: Server) => `${server}__sleep` },
  { door: '/mcp/:server', path: (server: Server) => `/mcp/${server}`, tool: () => 'sleep' },
];

describe.each(doors)('Of calls with equal ids at $door', ({ path, tool }) => {
  it.each(Object.entries(ways))(
    'only the one that is cancelled by %s ends, at the right server',
    async (_way, begin) => {
      const file = join(tempDir(), 'cancelled.txt');
      const ended = (): string[] => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []);
      const cancels = new Map<string, () => void>();
      const before = { heard: heard(), sent: sent() };
      for (const server of SERVERS)
        for (const who of ['one', 'two']) {
          const name = `${who} at ${server}`;
          const args = { ms: 600_000, file, name };
          cancels.set(name, await begin(path(server), { name: tool(server), arguments: args }));
        }
      await daemon.waitFor(() => sent() === before.sent + 6);
      expect(await running()).toEqual({ pipe: 2, modern: 2, web: 2 });

      const left = { pipe: 2, modern: 2, web: 2 };
      const cancelled = { ...before.heard };
      const order = ['one at pipe', 'two at web', 'two at modern', 'one at modern', 'two at pipe', 'one at web'];
      for (const [index, name] of order.entries()) {
        const server = SERVERS.find((one) => name.endsWith(one)) ?? 'pipe';
        left[server] -= 1;
        cancelled[server] += 1;
        cancels.get(name)?.();
        await daemon.waitFor(() => ended().length === index + 1);
        await daemon.waitFor(async () => (await running())[server] === left[server]);
        // The name stands in the arguments: it was this very call that the server gave up.
        expect(ended()).toEqual(order.slice(0, index + 1));
        expect(await running()).toEqual(left);
        expect(heard()).toEqual(cancelled);
      }
    },
  );
});
