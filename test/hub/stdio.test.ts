/** `watchkeeper mcp`, and clients built on both SDKs. */
import { beforeAll, describe, expect, it } from 'vitest';
import { atEnd } from '../support/cleanup.ts';
import { type Daemon, makeHome, runCli, startDaemon } from '../support/daemon.ts';
import { stdioEntry } from '../support/fixtures.ts';
import { Client1, sdkClients } from '../support/sdk.clients.ts';

const servers = {
  one: stdioEntry({ behaviour: { tools: ['echo', 'progress'], instructions: 'One echoes.' } }),
  two: stdioEntry({ era: 'modern', behaviour: { tools: ['add'] } }),
};
const options = { servers, allow: ['mcp__one__*', 'mcp__two__*'] };
const me = { name: 'test', version: '1.0.0' };

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon(options);
  await daemon.waitForServer('one', 'ready');
  await daemon.waitForServer('two', 'ready');
});

describe.each(Object.entries(sdkClients))('a client built on %s', (_name, connect) => {
  it('lists and calls tools of all servers', async () => {
    const client = (await connect(daemon)) as Client1;
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['one__echo', 'one__progress', 'two__add']);
    const echoed = await client.callTool({ name: 'one__echo', arguments: { text: 'hi' } });
    expect(echoed.content).toEqual([{ type: 'text', text: 'hi' }]);
    const added = await client.callTool({ name: 'two__add', arguments: { a: 2, b: 3 } });
    expect(added.content).toEqual([{ type: 'text', text: '5' }]);
    expect(client.getInstructions()).toContain('One echoes.');
  });

  it('hears of progress at the endpoint of one server', async () => {
    const client = await connect(daemon, 'one');
    const steps: number[] = [];
    const call = { name: 'progress', arguments: { ms: 200, every: 50 } };
    const onprogress = ({ progress }: { progress: number }) => void steps.push(progress);
    // The two SDKs have the options at different places.
    if (client instanceof Client1) await client.callTool(call, undefined, { onprogress });
    else await client.callTool(call, { onprogress });
    expect(steps.length).toBeGreaterThan(1);
  });
});

describe('watchkeeper mcp', () => {
  const line = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;

  it('starts the daemon when none runs', async () => {
    const home = makeHome({ ...options, settings: { http: { port: 0 } } });
    atEnd(async () => void (await runCli(home, ['down'])));
    const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: me };
    const input =
      line({ id: 1, method: 'initialize', params: initialize }) +
      line({ method: 'notifications/initialized' }) +
      line({ id: 2, method: 'ping' });
    const { stdout, code } = await runCli(home, ['mcp'], { input });
    const answers = stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text))
      .filter(({ id }) => id !== undefined);
    expect(code).toBe(0);
    expect(answers).toMatchObject([
      { id: 1, result: { protocolVersion: '2025-11-25' } },
      { id: 2, result: {} },
    ]);
  });

  it('says which servers there are when it is asked for another', async () => {
    const { code, stdout, stderr } = await runCli(daemon, ['mcp', 'onee'], { input: '' });
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain('one');
  });

  it('answers what is no JSON with an error of the protocol', async () => {
    const { stdout } = await runCli(daemon, ['mcp'], { input: 'nonsense\n' });
    expect(JSON.parse(stdout)).toMatchObject({ id: null, error: { code: -32700 } });
  });

  it('goes on with another daemon as if nothing had happened', async () => {
    const own = await startDaemon(options);
    await own.waitForServer('one', 'ready');
    const client = await sdkClients['SDK 1.x over stdio'](own);
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    await own.restart();
    await own.waitForServer('one', 'ready');
    const echoed = await client.callTool({ name: 'one__echo', arguments: { text: 'again' } });
    expect(echoed.content).toEqual([{ type: 'text', text: 'again' }]);
  });
});
