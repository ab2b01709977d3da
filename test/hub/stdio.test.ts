/** `watchkeeper mcp`, and clients built on both SDKs. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { atEnd } from '../support/cleanup.ts';
import { type Daemon, makeHome, runCli, startDaemon } from '../support/daemon.ts';
import { stdioEntry, steered } from '../support/fixtures.ts';
import { modernMeta, rawStdio } from '../support/raw-stdio.ts';
import { bridgeOf, Client1, sdkClients } from '../support/sdk.clients.ts';
import { tempDir } from '../support/temp.ts';
import { until } from '../support/wait.ts';

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

  /** Ends the daemon one way or the other, and starts another. */
  const ways = {
    'was stopped': (own: Daemon) => own.stop(),
    'was killed': (own: Daemon) => own.kill(),
  };
  it.each(Object.entries(ways))('keeps a subscription of the modern era when the daemon %s', async (_way, end) => {
    const fake = steered({ behaviour: { tools: ['echo'] } });
    const own = await startDaemon({ servers: { fake: stdioEntry(fake.options) } });
    await own.waitForServer('fake', 'ready');
    const { args, env } = bridgeOf(own);
    const client = rawStdio(args, { env });
    const subscription = client.post('subscriptions/listen', {
      notifications: { toolsListChanged: true },
      ...modernMeta(),
    });
    const heard = (method: string) => client.notes.filter((note) => note.method === `notifications/${method}`);
    await until(() => heard('subscriptions/acknowledged').length === 1, { what: 'the acknowledgement' });
    await end(own);
    await own.restart();
    await own.waitForServer('fake', 'ready');
    await until(() => heard('tools/list_changed').length > 0, { what: 'word of what may have changed' });
    const names = async (): Promise<string[]> =>
      (await client.request('tools/list', modernMeta())).result.tools.map(({ name }: any) => name);
    await until(async () => (await names()).length === 1, { what: 'the list' });
    const before = heard('tools/list_changed').length;
    fake.set({ tools: ['echo', 'add'], orders: [{ id: 'a', do: 'announce' }] });
    await until(() => heard('tools/list_changed').length > before, { what: 'the change' });
    expect(await names()).toEqual(['fake__add', 'fake__echo']);
    const meta = { 'io.modelcontextprotocol/subscriptionId': subscription };
    expect(heard('tools/list_changed').every(({ params }) => isDeepStrictEqual(params._meta, meta))).toBe(true);
    // As the client sees it there was one subscription all along.
    expect(heard('subscriptions/acknowledged')).toHaveLength(1);
    expect(client.lines.filter((text) => JSON.parse(text).id === subscription)).toEqual([]);
  });

  it('still hears of a watched resource from another daemon', async () => {
    const resource = { uri: 'test://watched', name: 'watched' };
    const fake = steered({ behaviour: { tools: ['echo'], resources: [resource] } });
    const own = await startDaemon({ servers: { fake: stdioEntry(fake.options) } });
    await own.waitForServer('fake', 'ready');
    const { args, env } = bridgeOf(own);
    const client = rawStdio(args, { env });
    await client.handshake();
    const { uri } = resource;
    expect((await client.request('resources/subscribe', { uri })).result).toEqual({});
    await own.restart();
    await own.waitForServer('fake', 'ready');
    await own.waitFor(() => fake.counted('resources/subscribe') === 2);
    const updates = () => client.notes.filter(({ method }) => method === 'notifications/resources/updated').length;
    const before = updates();
    fake.set({ orders: [{ id: 'u', do: 'tell', method: 'notifications/resources/updated', params: { uri } }] });
    await until(() => updates() > before, { what: 'the update' });
  });

  it('does not run a call a second time when the daemon dies in the middle of it', async () => {
    const file = join(tempDir(), 'effect.txt');
    const counting = { one: stdioEntry({ behaviour: { tools: ['counter'] } }) };
    const own = await startDaemon({ servers: counting, allow: ['mcp__one__*'] });
    await own.waitForServer('one', 'ready');
    const client = await sdkClients['SDK 1.x over stdio'](own);
    const call = client.callTool({ name: 'one__counter', arguments: { file, ms: 600_000 } });
    const answer = call.catch((error: Error) => error.message);
    const effects = () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').length : 0);
    await until(() => effects() === 1, { what: 'the effect' });
    await own.kill();
    await own.restart();
    await own.waitForServer('one', 'ready');
    expect(await answer).toContain('may have run');
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['one__counter']);
    expect(effects()).toBe(1);
  });
});
