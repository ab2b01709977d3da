/** A call that waits for a person, and a client that no longer wants it: each era says so in its own way. */
import { beforeAll, describe, expect, it } from 'vitest';
import { callsOf, heldCall } from '../e2e/given.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { type Steered, stdioEntry, steered } from '../support/fixtures.ts';
import { type Client1, sdkClients } from '../support/sdk.clients.ts';
import { legacyClient, modernClient } from './client.ts';

let daemon: Daemon;
let server: Steered;

beforeAll(async () => {
  server = steered({ behaviour: { tools: ['echo'] } });
  daemon = await startDaemon({ servers: { s: stdioEntry(server.options) } });
  await daemon.waitForServer('s', 'ready');
});

interface Begun {
  /** `patience`: the client only says that it waited long enough. */
  readonly cancel: (patience?: boolean) => void;
}

const params = (text: string) => ({ name: 's__echo', arguments: { text } });

const byNotification = async (text: string): Promise<Begun> => {
  const client = await legacyClient(daemon);
  client.ask('tools/call', params(text), { id: 1 }).catch(() => {});
  const reason = (patience = false) => (patience ? 'McpError: MCP error -32001: Request timed out' : 'AbortError');
  return {
    cancel: (patience) => void client.notify('notifications/cancelled', { requestId: 1, reason: reason(patience) }),
  };
};

const ways: Record<string, (text: string) => Promise<Begun>> = {
  'a notification, over HTTP': byNotification,
  'the end of its stream': async (text) => {
    const leave = new AbortController();
    modernClient(daemon)
      .open('tools/call', params(text), { signal: leave.signal })
      .catch(() => {});
    return { cancel: () => leave.abort() };
  },
  'the end of its session': async (text) => {
    const client = await legacyClient(daemon);
    client.ask('tools/call', params(text), { id: 1 }).catch(() => {});
    return { cancel: () => void client.leave() };
  },
  'its SDK, through the bridge': async (text) => {
    const client = (await sdkClients['SDK 1.x over stdio'](daemon)) as Client1;
    const leave = new AbortController();
    client.callTool(params(text), undefined, { signal: leave.signal }).catch(() => {});
    return { cancel: () => leave.abort() };
  },
};

describe('A held call that its client cancels', () => {
  it.each(Object.entries(ways))('by %s is gone from the approvals and recorded as cancelled', async (way, begin) => {
    const { cancel } = await begin(way);
    const { id } = await heldCall(daemon);
    cancel();
    await daemon.waitFor(async () => (await callsOf(daemon, '?state=held')).length === 0);
    const call = (await daemon.api('GET', `/v1/mcp/calls/${id}`)).body;
    expect(call).toMatchObject({ state: 'settled', outcome: 'cancelled', decidedBy: call.client });
    expect((await daemon.api('POST', `/v1/mcp/calls/${id}/approve`, {})).body.code).toBe('call-not-held');
    expect(server.counted('tools/call')).toBe(0);
  });
});

describe('A held call whose client has no patience left', () => {
  it('stays held, and runs once when it is approved and comes again', async () => {
    const { cancel } = await byNotification('patience');
    const { id } = await heldCall(daemon);
    cancel(true);
    await daemon.waitFor(async () =>
      (await daemon.events({ stream: `call-${id}` })).some(({ type }) => type === 'CallerLeft'),
    );
    await daemon.api('POST', `/v1/mcp/calls/${id}/approve`, {});
    const again = await (await legacyClient(daemon)).ask('tools/call', params('patience'));
    expect(again.body.result).toMatchObject({ content: [{ text: 'patience' }], _meta: { 'watchkeeper/call': id } });
    expect(server.counted('tools/call')).toBe(1);
  });
});

describe('A call that is held when the daemon stops', () => {
  it('is abandoned, and whoever waits for it is told so in either era', async () => {
    const waiting = [
      (await legacyClient(daemon)).ask('tools/call', params('legacy')),
      modernClient(daemon).ask('tools/call', params('modern')),
    ];
    await daemon.waitFor(async () => (await callsOf(daemon, '?state=held')).length === 2);
    await daemon.stop();
    for (const answer of await Promise.all(waiting)) {
      expect(answer.body.result._meta['watchkeeper/outcome']).toBe('abandoned');
      expect(answer.body.result.content[0].text).toContain('The daemon stopped while the call waited for a person.');
    }
  });
});
