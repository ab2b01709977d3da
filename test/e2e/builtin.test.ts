/** The daemon as a server: the same doors, the same gate, the same names and the same cap as for any other server. */
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { status as statusShape } from '../../src/http/contract.ts';
import { why as whyShape } from '../../src/http/contract.why.ts';
import { legacyClient, modernClient } from '../hub/client.ts';
import { atEnd } from '../support/cleanup.ts';
import { type Daemon, plainEnv, runCli, startDaemon } from '../support/daemon.ts';
import { stdioEntry, steered } from '../support/fixtures.ts';
import { cliMain } from '../support/paths.ts';
import { beginCall, callsOf, factsOf, heldCall, textOf, typesOf } from './given.ts';

const secret = 'sk-live-4815162342';
const TOOLS = ['catalog_changes', 'doctor', 'history', 'status', 'why'];
const broken = {
  command: process.execPath,
  args: ['-e', `process.stderr.write('cannot open index.db with ${secret}\\n'); process.exit(3);`],
  env: { API_KEY: secret },
};

let daemon: Daemon;
const changing = steered({ behaviour: { tools: ['echo', 'add'] } });

beforeAll(async () => {
  daemon = await startDaemon({
    servers: { broken, changing: stdioEntry(changing.options, { pollIntervalMs: 200 }) },
    settings: { self: true },
    allow: ['mcp__watchkeeper__*'],
  });
  await daemon.waitForServer('changing', 'ready');
  await daemon.waitForServer('watchkeeper', 'ready');
  await daemon.waitForServer('broken', ({ attempt }) => attempt > 1);
});

describe('The built-in server', () => {
  it('is a server among the others, without process or file', async () => {
    const row = await daemon.server('watchkeeper');
    expect(row).toMatchObject({ transport: 'builtin', state: 'ready', pid: null, tools: 5, error: null });
    statusShape.parse((await daemon.api('GET', '/v1/mcp/status')).body);
    expect(Object.keys((await daemon.api('GET', '/v1/mcp')).body.servers).sort()).toEqual(['broken', 'changing']);
    expect(typesOf(await factsOf(daemon, 'watchkeeper'))).toEqual([
      'ServerConfigured',
      'ServerEnabled',
      'ConnectStarted',
      'Connected',
      'ToolsListed',
    ]);
  });

  it('is called like any other, by every door', async () => {
    const registered = TOOLS.map((tool) => `mcp__watchkeeper__${tool}`);
    expect((await daemon.tools('watchkeeper')).map(({ name }: any) => name)).toEqual(registered);

    const modern = modernClient(daemon, '/mcp');
    const legacy = await legacyClient(daemon, '/mcp/watchkeeper');
    const namesIn = ({ body }: any): string[] => body.result.tools.map(({ name }: any) => name);
    expect(namesIn(await modern.ask('tools/list'))).toEqual(
      expect.arrayContaining(TOOLS.map((tool) => `watchkeeper__${tool}`)),
    );
    expect(namesIn(await legacy.ask('tools/list'))).toEqual(TOOLS);
    expect(legacy.greeting.instructions).toContain('call `status`');

    const bridge = new Client({ name: 'test', version: '1' });
    await bridge.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [cliMain, 'mcp', 'watchkeeper'],
        env: plainEnv(daemon.home, { WATCHKEEPER_CONFIG: daemon.config, WATCHKEEPER_DATA: daemon.dir }),
      }) as never,
    );
    atEnd(() => bridge.close());
    const args = { server: 'changing' };
    const answers: any[] = [
      (await daemon.call('mcp__watchkeeper__status', args)).body,
      (await modern.ask('tools/call', { name: 'watchkeeper__status', arguments: args })).body.result,
      (await legacy.ask('tools/call', { name: 'status', arguments: args })).body.result,
      await bridge.callTool({ name: 'status', arguments: args }),
    ];
    for (const { content, structuredContent, isError } of answers) {
      expect(isError).toBeUndefined();
      expect(content[0].text).toMatch(/^1 of 1 server ready\.\n- changing: ready for .*; 2 tools$/);
      expect(structuredContent.servers.map(({ name }: any) => name)).toEqual(['changing']);
    }
    const rows = await callsOf(daemon, '?server=watchkeeper');
    expect(rows.map(({ door, outcome }) => [door, outcome]).sort()).toEqual([
      ['http', 'succeeded'],
      ['mcp', 'succeeded'],
      ['mcp', 'succeeded'],
      ['mcp', 'succeeded'],
    ]);
    expect(typesOf(await daemon.events({ stream: `call-${rows[0].id}` }))).toEqual(['CallStarted', 'CallSettled']);
  });

  it('tells an agent whose tool is gone what happened to it, without a secret', async () => {
    const client = modernClient(daemon, '/mcp');
    const ask = async (tool: string, args: object) =>
      (await client.ask('tools/call', { name: `watchkeeper__${tool}`, arguments: args })).body.result;
    const why = await ask('why', { server: 'broken__search' });
    expect(why.content[0].text).toMatch(/^broken: (backing-off|reconnecting) since /);
    expect(why.content[0].text).toContain('the process exited with code 3');
    expect(why.content[0].text).toContain('What a person can do: ');
    whyShape.parse(why.structuredContent);

    changing.set({ tools: ['echo'] });
    await daemon.waitForServer('changing', ({ tools }) => tools === 1);
    const changes = await ask('catalog_changes', { server: 'changing__add' });
    expect(changes.content[0].text).toMatch(/^\d changes, newest first:\n- \S+ mcp__changing__add removed/);
    const history = await ask('history', { server: 'broken' });
    expect(history.content[0].text).toContain('ConnectFailed (exit): initialize: the process exited with code 3');
    const doctor = await ask('doctor', {});
    expect(doctor.content[0].text).toMatch(/^Something is wrong\.\n- broken: exits with code 3/);
    const absent = await ask('why', { server: 'brokken' });
    expect(absent).toMatchObject({ isError: true });
    expect(absent.content[0].text).toContain('Did you mean "broken"?');
    for (const answer of [why, changes, history, doctor]) expect(JSON.stringify(answer)).not.toContain(secret);
  });

  it('cannot be disabled, removed, replaced or recorded, and says by which setting it goes', async () => {
    const asked: readonly (readonly [path: string, body: object, status: number])[] = [
      ['/v1/mcp/disable', { name: 'watchkeeper' }, 409],
      ['/v1/mcp/remove', { name: 'watchkeeper' }, 409],
      ['/v1/mcp/record', { name: 'watchkeeper', on: true }, 409],
      ['/v1/mcp', { name: 'watchkeeper', server: { command: 'node' } }, 400],
    ];
    for (const [path, body, status] of asked) {
      const answer = await daemon.api('POST', path, body);
      expect(answer.status).toBe(status);
      expect(JSON.stringify(answer.body)).toMatch(/self/);
    }
    const again = await daemon.api('POST', '/v1/mcp/reconnect', { name: 'watchkeeper' });
    expect(again.body).toMatchObject({ ok: true, servers: [{ name: 'watchkeeper', state: 'ready' }] });
  });

  it('has a past that is explained like that of any server', async () => {
    const verified = await daemon.api('POST', '/v1/mcp/replay', { name: 'watchkeeper' });
    expect(verified.body).toMatchObject({ ok: true });
    const { stdout } = await runCli(daemon, ['why', 'watchkeeper']);
    expect(stdout).toMatch(/^watchkeeper: ready since/);
    expect(stdout).not.toContain('configuration file');
  });
});

describe('A call of the built-in server', () => {
  it('asks a person like any other without a grant, and is refused in mode deny', async () => {
    const own = await startDaemon({ settings: { self: true } });
    await own.waitForServer('watchkeeper', 'ready');
    expect((await own.call('mcp__watchkeeper__status', {}, { permission_mode: 'deny' })).status).toBe(403);
    const { answer } = beginCall(own, { tool: 'mcp__watchkeeper__status' });
    const held = await heldCall(own);
    expect(held).toMatchObject({ server: 'watchkeeper', state: 'held' });
    await own.api('POST', `/v1/mcp/calls/${held.id}/approve`, { remember: 'tool' });
    expect(textOf((await answer) as never)).toContain('1 of 1 server ready.');
    // The grant is bound to the definition, which is the same in every run of a version.
    await own.restart();
    await own.waitForServer('watchkeeper', 'ready');
    expect((await own.call('mcp__watchkeeper__status', {}, { permission_mode: 'deny' })).status).toBe(200);
  });
});

describe('The name of the built-in server', () => {
  it('is an error of an entry that has it, as long as the setting is on', async () => {
    const servers = { watchkeeper: stdioEntry(), other: stdioEntry() };
    const own = await startDaemon({ servers, settings: { self: true } });
    await own.waitForServer('other', 'ready');
    const row = await own.waitForServer('watchkeeper', 'failed');
    expect(row).toMatchObject({ transport: null, error: { class: 'config' } });
    expect(row.error.message).toContain('`self`');
    const checked = await runCli(own, ['config', 'check']);
    expect(checked.code).toBe(1);
    expect(checked.stdout).toContain('the name `watchkeeper` belongs to the built-in server');

    // The entry goes, and the built-in server takes its place without a start of the daemon.
    own.writeConfig({ other: servers.other });
    expect(await own.waitForServer('watchkeeper', 'ready')).toMatchObject({ transport: 'builtin', tools: 5 });
  });

  it('is free when the setting is off, as it is unless it is set', async () => {
    const own = await startDaemon({ servers: { watchkeeper: stdioEntry() } });
    expect(await own.waitForServer('watchkeeper', 'ready')).toMatchObject({ transport: 'stdio' });
    expect((await runCli(own, ['config', 'check'])).code).toBe(0);
  });
});
