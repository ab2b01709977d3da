/** Eight real servers behind one daemon, and clients of both SDKs at every door of it. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { needs } from '../support/needs.ts';
import { type SdkClient, sdkClients } from '../support/sdk.clients.ts';
import { type Ask, present, realServers } from './servers.ts';

let daemon: Daemon;

beforeAll(async () => {
  const entries = present.map(async (server) => [server.name, await server.entry()] as const);
  daemon = await startDaemon({
    servers: Object.fromEntries(await Promise.all(entries)),
    allow: present.map(({ name }) => `mcp__${name}__*`),
  });
  for (const { name } of present) await daemon.waitForServer(name, 'ready', 60_000);
}, 180_000);

/** A door, and what stands there before a tool's own name. */
const doors = [
  { door: '/mcp', over: 'HTTP', one: false },
  { door: '/mcp/:server', over: 'HTTP', one: true },
  { door: 'watchkeeper mcp', over: 'stdio', one: false },
  { door: 'watchkeeper mcp :server', over: 'stdio', one: true },
] as const;

const ways = (['SDK 1.x', 'SDK 2.x'] as const).flatMap((sdk) =>
  doors.map(({ door, over, one }) => ({ sdk, door, one, connect: sdkClients[`${sdk} over ${over}`] })),
);

describe('Eight real servers', { timeout: 60_000 }, () => {
  it('are supervised by one daemon', async (context) => {
    needs(context, ...realServers.flatMap((server) => server.needs ?? []));
    const rows = await daemon.status();
    expect(rows.map(({ name, state }) => [name, state])).toEqual(
      realServers.map(({ name }) => [name, 'ready']).toSorted(),
    );
  });

  describe.each(ways)('to a client of $sdk at $door', ({ one, connect }) => {
    let toAll: Promise<SdkClient> | undefined;
    /** A client for all servers is used for all of them. */
    const clientFor = (server: string): Promise<SdkClient> => {
      if (one) return connect(daemon, server);
      toAll ??= connect(daemon);
      return toAll;
    };

    it.for(realServers)('$name lists its tools and does what it is asked', async (server, context) => {
      if (server.needs !== undefined) needs(context, server.needs);
      const client = await clientFor(server.name);
      const prefix = one ? '' : `${server.name}__`;
      const { tools } = await client.listTools();
      const names = tools.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(server.tools.map((tool) => `${prefix}${tool}`)));
      expect(names.filter((name) => name.startsWith(prefix))).toHaveLength((await daemon.tools(server.name)).length);
      const ask: Ask = async (tool, args = {}) => {
        const result = await client.callTool({ name: `${prefix}${tool}`, arguments: args });
        expect(result.isError ?? false, JSON.stringify(result.content)).toBe(false);
        return result.content.map((block: any) => block.text ?? '').join('\n');
      };
      await server.act?.(ask, `mark${randomUUID().slice(0, 8)}`);
      if (one) await client.close();
    });
  });

  it.each(['SDK 2.x over HTTP', 'SDK 2.x over stdio'] as const)('meet a client of %s in its own era', async (way) => {
    expect((await sdkClients[way](daemon)).getNegotiatedProtocolVersion()).toBe('2026-07-28');
  });

  it('have each call in the ledger, at the server that ran it', async () => {
    for (const { name, act } of present) {
      const { calls } = (await daemon.api('GET', `/v1/mcp/calls?server=${name}&limit=1000`)).body;
      expect(calls.every((call: any) => call.outcome === 'succeeded' && call.door === 'mcp')).toBe(true);
      expect(calls.length).toBeGreaterThanOrEqual(act === null ? 0 : ways.length);
    }
  });
});
