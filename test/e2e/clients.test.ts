import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { parse as parseToml } from 'smol-toml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { nasty } from '../clients/nasty.ts';
import { type Daemon, runCli, startDaemon } from '../support/daemon.ts';
import { stdioEntry } from '../support/fixtures.ts';

const named = (...names: string[]) =>
  stdioEntry({ behaviour: { tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) } });
const memory = named('read', 'write');

interface Given {
  readonly daemon: Daemon;
  /** Runs a command and expects its exit code. */
  run(exit: number, ...args: string[]): Promise<{ stdout: string; stderr: string; json: any }>;
  file(path: string, text?: string, mode?: number): string;
  read(path: string): string;
}

async function given(servers: Record<string, unknown>, settings?: Record<string, unknown>): Promise<Given> {
  const daemon = await startDaemon({ servers, ...(settings ? { settings } : {}) });
  for (const name of Object.keys(servers)) await daemon.waitForServer(name, 'ready');
  return {
    daemon,
    async run(exit, ...args) {
      const { code, stdout, stderr } = await runCli(daemon, args);
      expect({ code, stderr: code === exit ? '' : stderr }).toEqual({ code: exit, stderr: '' });
      return { stdout, stderr, json: stdout.startsWith('{') ? JSON.parse(stdout) : undefined };
    },
    file(path, text, mode = 0o644) {
      const file = join(daemon.home, path);
      mkdirSync(dirname(file), { recursive: true });
      if (text !== undefined) writeFileSync(file, text, { mode });
      return file;
    },
    read: (path) => readFileSync(join(daemon.home, path), 'utf8'),
  };
}

const plainJson = (text: string): any =>
  JSON.parse(
    text
      .replace(/^\uFEFF/, '')
      .replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g, '')
      .replace(/,(\s*[}\]])/g, '$1'),
  );

async function toolsBy(transport: StdioClientTransport | StreamableHTTPClientTransport): Promise<string[]> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  const { tools } = await client.listTools();
  await client.close();
  return tools.map(({ name }) => name).sort();
}

/** Connects with exactly what an HTTP entry says; `variables` are those of the client's own environment. */
function httpTools(entry: any, variables: Record<string, string> = {}): Promise<string[]> {
  const filled = (text: string): string =>
    text.replace(/\$\{(?:env:)?(\w+)\}|\{env:(\w+)\}|\$(\w+)/g, (whole, a, b, c) => variables[a ?? b ?? c] ?? whole);
  const headers = Object.fromEntries(
    Object.entries<string>(entry.headers ?? {}).map(([key, value]) => [key, filled(value)]),
  );
  if (entry.bearer_token_env_var) headers.Authorization = `Bearer ${variables[entry.bearer_token_env_var]}`;
  const url = new URL(entry.url ?? entry.serverUrl ?? entry.httpUrl ?? entry.uri);
  return toolsBy(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
}

describe('A client is connected', { timeout: 60_000 }, () => {
  const files = {
    'claude-code': ['.claude.json', nasty.json['a file of a running program, one long line']],
    opencode: ['.config/opencode/opencode.jsonc', nasty.json['no key for servers']],
    vscode: [
      '.config/Code/User/mcp.json',
      nasty.json['comments, tabs, trailing commas and CRLF'].replace('mcpServers', 'servers'),
    ],
    codex: ['.codex/config.toml', nasty.toml['comments, arrays of tables, strings that look like headers']],
    goose: ['.config/goose/config.yaml', nasty.yaml['comments, odd indentation, anchors and block texts']],
    cursor: ['.cursor/mcp.json', nasty.json['a byte order mark and four spaces']],
    'claude-desktop': ['.config/Claude/claude_desktop_config.json', null],
  } as const;
  const keys: Record<string, string> = {
    opencode: 'mcp',
    vscode: 'servers',
    codex: 'mcp_servers',
    goose: 'extensions',
  };
  const tokens: Record<string, string> = {};
  let it_: Given;

  const entriesOf = (id: keyof typeof files): Record<string, any> => {
    const [path] = files[id];
    const text = it_.read(path);
    const plain = path.endsWith('toml')
      ? parseToml(text, { integersAsBigInt: true })
      : path.endsWith('yaml')
        ? parseYaml(text)
        : plainJson(text);
    return (plain as any)[keys[id] ?? 'mcpServers'];
  };
  const ids = Object.keys(files) as (keyof typeof files)[];

  beforeAll(async () => {
    it_ = await given({ memory });
    for (const [path, text] of Object.values(files)) if (text !== null) it_.file(path, text);
  });
  afterAll(() => it_.daemon.stop());

  it('and with one server its entry is called after the hub and reaches that server', async () => {
    for (const id of ids) {
      const { json } = await it_.run(0, 'connect', id, '--json');
      expect(json).toMatchObject({
        client: id,
        written: true,
        entries: [{ entry: 'watchkeeper', server: 'memory' }],
        warnings: [],
      });
      if (json.token.value) tokens[json.token.variable] = json.token.value;
      const entry = entriesOf(id).watchkeeper;
      const tools =
        id === 'claude-desktop'
          ? await toolsBy(
              new StdioClientTransport({ ...entry, env: { PATH: process.env.PATH ?? '', HOME: it_.daemon.home } }),
            )
          : await httpTools(entry, tokens);
      expect([id, tools]).toEqual([id, ['read', 'write']]);
    }
  });

  it('with a backup of what was there, and a token that its file holds only where it must', () => {
    for (const id of ids) {
      const [path, text] = files[id];
      const folder = join(it_.daemon.home, dirname(path));
      const backups = readdirSync(folder).filter((name) => /\.bak\.\d{8}-\d{6}$/.test(name));
      expect([id, backups.length]).toEqual([id, text === null ? 0 : 1]);
      if (backups[0] !== undefined) {
        expect(readFileSync(join(folder, backups[0]), 'utf8')).toBe(text);
        expect(statSync(join(folder, backups[0])).mode & 0o777).toBe(0o600);
      }
      const literal = /wk_[\w-]{40,}/.test(it_.read(path));
      expect([id, literal]).toEqual([id, id === 'goose']);
      expect([id, statSync(join(it_.daemon.home, path)).mode & 0o777]).toEqual([
        id,
        literal || text === null ? 0o600 : 0o644,
      ]);
    }
    const registry = it_.read('.local/share/watchkeeper/clients.json');
    expect(statSync(join(it_.daemon.dir, 'clients.json')).mode & 0o777).toBe(0o600);
    for (const token of Object.values(tokens)) expect(registry).not.toContain(token);
  });

  it('again, and no byte changes', async () => {
    const before = ids.map((id) => it_.read(files[id][0]));
    for (const id of ids)
      expect((await it_.run(0, 'connect', id, '--json')).json).toMatchObject({ written: false, diff: '' });
    await it_.run(0, 'sync');
    expect(ids.map((id) => it_.read(files[id][0]))).toEqual(before);
  });

  it('and is listed with its mode and last use, without its token', async () => {
    const { body } = await it_.daemon.api('GET', '/v1/clients');
    expect(body.clients.map(({ client }: any) => client)).toEqual([...ids].sort());
    expect(body.clients.find(({ client }: any) => client === 'codex')).toMatchObject({
      mode: 'ask',
      ceiling: 'ask',
      token: 'variable',
      entries: ['watchkeeper'],
      lastUsedAt: expect.any(String),
    });
    for (const token of Object.values(tokens)) expect(JSON.stringify(body)).not.toContain(token);
  });

  it('and its calls carry its name through gate and ledger, not above its mode', async () => {
    const authorization = `Bearer ${tokens.WATCHKEEPER_TOKEN_CODEX}`;
    const call = (more: object) =>
      it_.daemon.api('POST', '/v1/mcp/call', { tool: 'mcp__memory__read', arguments: {}, ...more }, { authorization });
    expect((await call({ permission_mode: 'allow-all' })).body).toMatchObject({
      status: 403,
      code: 'mode-above-ceiling',
    });
    const held = await call({ wait: false });
    expect(held.status).toBe(202);
    expect((await it_.daemon.api('GET', `/v1/mcp/calls/${held.body.call}`)).body).toMatchObject({
      client: 'codex',
      mode: 'ask',
      state: 'held',
    });
    const approved = await it_.daemon.api('POST', `/v1/mcp/calls/${held.body.call}/approve`, {}, { authorization });
    expect(approved.body).toMatchObject({ status: 403, code: 'forbidden-client' });
  });

  it('and keeps its file as it is when the daemon cannot be asked', async () => {
    const before = ids.map((id) => it_.read(files[id][0]));
    await it_.daemon.stop();
    await it_.run(3, 'sync');
    await it_.run(3, 'connect', 'codex');
    expect(ids.map((id) => it_.read(files[id][0]))).toEqual(before);
    await it_.daemon.restart();
    await it_.daemon.waitForServer('memory', 'ready');
  });

  it('and follows the daemon to another port and to a second server, keeping what was added to its entry', async () => {
    const [path] = files.cursor;
    it_.file(path, it_.read(path).replace('"watchkeeper": {', '"watchkeeper": {\n                "disabled": true,'));
    expect((await it_.run(0, 'status')).stdout).toMatch(/Codex: entry "watchkeeper" leads to .*watchkeeper sync/);
    await it_.run(0, 'sync');
    expect(await httpTools(entriesOf('codex').watchkeeper, tokens)).toEqual(['read', 'write']);
    expect((await it_.daemon.api('POST', '/v1/mcp', { name: 'other', server: named('more') })).status).toBe(200);
    await it_.daemon.waitForServer('other', 'ready');
    expect((await it_.run(0, 'clients', '--json')).json.clients.find((row: any) => row.client === 'codex').state).toBe(
      'drift',
    );
    await it_.run(0, 'sync');
    for (const id of ids) {
      const entries = entriesOf(id);
      expect([id, 'watchkeeper' in entries, 'memory' in entries, 'other' in entries]).toEqual([id, false, true, true]);
    }
    expect(entriesOf('cursor').memory.disabled).toBe(true);
    expect(await httpTools(entriesOf('goose').other)).toEqual(['more']);
    expect((await it_.run(0, 'status')).stdout).not.toContain('sync');
  });

  it('and back to one server under the name of the hub', async () => {
    expect((await it_.daemon.api('POST', '/v1/mcp/disable', { name: 'other' })).status).toBe(200);
    await it_.run(0, 'sync');
    for (const id of ids)
      expect([id, Object.keys(entriesOf(id)).filter((name) => /^(?:memory|other|watchkeeper)$/.test(name))]).toEqual([
        id,
        ['watchkeeper'],
      ]);
  });

  it('and disconnected: every file is as it was, and its token ends', async () => {
    for (const id of ids) {
      const [path, text] = files[id];
      await it_.run(0, 'disconnect', id);
      const file = join(it_.daemon.home, path);
      if (text === null) expect([id, existsSync(file)]).toEqual([id, false]);
      // The one that was changed by hand meanwhile keeps that change.
      else if (id === 'cursor') expect(plainJson(it_.read(path))).toEqual(plainJson(text));
      else expect([id, readFileSync(file, 'utf8')]).toEqual([id, text]);
      if (text !== null) expect(statSync(file).mode & 0o777).toBe(0o644);
    }
    const answer = await it_.daemon.api('GET', '/v1/mcp/tools', undefined, {
      authorization: `Bearer ${tokens.WATCHKEEPER_TOKEN_CODEX}`,
    });
    expect(answer.status).toBe(401);
    expect((await it_.daemon.api('GET', '/v1/clients')).body).toEqual({ clients: [] });
    await it_.run(0, 'disconnect', 'codex');
  });
});

describe('The file of a client', { timeout: 60_000 }, () => {
  let it_: Given;
  beforeAll(async () => {
    it_ = await given({ memory, other: named('more') });
  });
  afterAll(() => it_.daemon.stop());

  it('that cannot be read as what it is, is refused with the place and left alone', async () => {
    it_.file('.codex/config.toml', 'a = 1\n[mcp_servers\n');
    const { stderr } = await it_.run(1, 'connect', 'codex');
    expect(stderr).toMatch(/config\.toml: .*\(line 2, column \d+\)/);
    expect(it_.read('.codex/config.toml')).toBe('a = 1\n[mcp_servers\n');
    expect((await it_.daemon.api('GET', '/v1/clients')).body.clients).toEqual([]);
  });

  it('keeps entries of its own that are in the way, unless they are to make way until the end', async () => {
    const own = '{"mcpServers":{"memory":{"url":"https://mine.example/mcp"}}}';
    it_.file('.cursor/mcp.json', own);
    expect((await it_.run(1, 'connect', 'cursor')).stderr).toContain('memory');
    expect(it_.read('.cursor/mcp.json')).toBe(own);
    await it_.run(0, 'connect', 'cursor', '--replace');
    expect(JSON.parse(it_.read('.cursor/mcp.json')).mcpServers.memory.url).toContain('/mcp/memory');
    it_.file('.cursor/mcp.json', it_.read('.cursor/mcp.json').replace('{', '{"theirs":1,'));
    await it_.run(0, 'disconnect', 'cursor');
    expect(JSON.parse(it_.read('.cursor/mcp.json'))).toEqual({ theirs: 1, ...JSON.parse(own) });
  });

  it('is written through a link, and a trial run writes nothing', async () => {
    const target = it_.file('dotfiles/kiro.json', '{}\n');
    symlinkSync(target, it_.file('.kiro/settings/mcp.json'));
    const { stdout } = await it_.run(0, 'connect', 'kiro', '--dry-run');
    expect(stdout).toContain('would add memory, other');
    expect(stdout).not.toMatch(/wk_/);
    expect(readFileSync(target, 'utf8')).toBe('{}\n');
    const { stderr } = await it_.run(0, 'connect', 'kiro');
    expect(stderr).toMatch(/^warning: Kiro: .*"memory", "other"/m);
    expect(Object.keys(JSON.parse(readFileSync(target, 'utf8')).mcpServers)).toEqual(['memory', 'other']);
    await it_.run(0, 'disconnect', 'kiro');
    expect(readFileSync(target, 'utf8')).toBe('{}\n');
  });

  it('that its client filled meanwhile stays, although there was none before', async () => {
    await it_.run(0, 'connect', 'claude-code');
    const state = { machineID: 'x', projects: {} };
    const entries = JSON.parse(it_.read('.claude.json')).mcpServers;
    it_.file('.claude.json', JSON.stringify({ mcpServers: { memory: entries.memory }, ...state }));
    await it_.run(0, 'sync');
    expect(JSON.parse(it_.read('.claude.json')).mcpServers).toEqual(entries);
    await it_.run(0, 'disconnect', 'claude-code');
    expect(JSON.parse(it_.read('.claude.json'))).toEqual(state);
  });

  it('gets one entry for all servers only where they are mounted as one', async () => {
    expect((await it_.run(1, 'connect', 'zed', '--mode', 'routed')).stderr).toContain('mount_mode');
    expect((await it_.run(2, 'connect', 'junie', '--mode', 'per-server')).stderr).toContain('--mode stdio');
    expect((await it_.run(2, 'connect', 'zedd')).stderr).toContain('connect zed');
  });
});

describe('Identifiers that get too long for a client', { timeout: 60_000 }, () => {
  const wiki = 'cartographer-morbos-agentic-wiki';
  const tool = 'git_conflict_resolve';
  const withPrefix = (tool_prefix: string) => ({ ...named(tool, 'search', 'lint'), tool_prefix });
  let it_: Given;
  beforeAll(async () => {
    it_ = await given({ [wiki]: withPrefix('morbos_agentic_wiki'), b: named('x') });
  });
  afterAll(() => it_.daemon.stop());

  const warnings = async (...args: string[]) => {
    const { stderr } = await it_.run(0, ...args);
    return stderr.split('\n').filter((line) => line.startsWith('warning:'));
  };

  it('are warned about at connect and at sync, on one line, with every way out', async () => {
    const [warning, ...more] = await warnings('connect', 'antigravity');
    expect(more).toEqual([]);
    for (const part of [
      'Antigravity',
      `"${wiki}"`,
      '78',
      '64',
      '1 of 3 tools',
      'tool_prefix',
      'mount_mode: "routed"',
      '(gives 36)',
    ])
      expect(warning).toContain(part);
    expect(await warnings('sync')).toEqual([warning]);
    expect((await it_.run(0, 'sync', '--json')).json.warnings).toMatchObject([
      { kind: 'identifier-too-long', entry: wiki, length: 78, limit: 64 },
    ]);
    expect((await it_.run(0, 'sync', '--json')).stderr).toBe('');
    expect(await warnings('status')).toEqual([warning]);
    expect((await it_.daemon.api('GET', '/v1/clients')).body.clients[0].warnings).toMatchObject([{ length: 78 }]);
    // What the endpoint really lists is what was computed with.
    const { body } = await it_.daemon.api('GET', '/health');
    const facts = body.servers.find(({ name }: any) => name === wiki);
    const entry = plainJson(it_.read('.gemini/config/mcp_config.json')).mcpServers[wiki];
    const listed = await httpTools({
      serverUrl: entry.serverUrl,
      headers: { Authorization: `Bearer ${it_.daemon.token}` },
    });
    const identifiers = listed.map((name) => `mcp_${wiki}_${name}`.length);
    expect(Math.max(...identifiers)).toBe(78);
    expect(Math.max(...listed.map((name) => name.length))).toBe(facts.tool_prefix.length + 2 + facts.tools.longest);
  });

  it.each<[prefix: string, warned: string[]]>([
    ['maw', []],
    ['mawik', []],
    ['mawiki', ['65']],
  ])('with the prefix %s: %j', async (prefix, warned) => {
    expect((await it_.daemon.api('POST', '/v1/mcp', { name: wiki, server: withPrefix(prefix) })).status).toBe(200);
    await it_.daemon.waitFor(async ({ api }) => {
      const { body } = await api('GET', '/health');
      const server = body.servers.find(({ name }: any) => name === wiki);
      return server.tool_prefix === prefix && server.tools?.count === 3;
    });
    const lines = await warnings('sync');
    expect(lines).toHaveLength(warned.length);
    for (const [index, length] of warned.entries()) expect(lines[index]).toContain(length);
  });

  it('are not spoken of when one server alone has a short entry', async () => {
    expect(
      (await it_.daemon.api('POST', '/v1/mcp', { name: wiki, server: withPrefix('morbos_agentic_wiki') })).status,
    ).toBe(200);
    await it_.daemon.waitForServer(wiki, 'ready');
    expect((await it_.daemon.api('POST', '/v1/mcp/remove', { name: 'b' })).status).toBe(200);
    expect(await warnings('connect', 'antigravity', '--name', 'cartographer')).toEqual([]);
    expect(Object.keys(plainJson(it_.read('.gemini/config/mcp_config.json')).mcpServers)).toEqual(['cartographer']);
  });
});

describe('Identifiers behind one entry for all servers', { timeout: 60_000 }, () => {
  const long = 'x'.repeat(60);
  let it_: Given;
  beforeAll(async () => {
    const wiki = { ...named('git_conflict_resolve', 'lint'), tool_prefix: 'morbos_agentic_wiki' };
    it_ = await given({ wiki, b: named('lint') }, { mount_mode: 'routed' });
  });
  afterAll(() => it_.daemon.stop());

  it('are computed from what /mcp lists, and followed when a list changes', async () => {
    const { stderr } = await it_.run(0, 'connect', 'antigravity', '--name', 'cartographer');
    expect(stderr).not.toContain('warning:');
    const { cartographer, ...others } = plainJson(it_.read('.gemini/config/mcp_config.json')).mcpServers;
    expect([others, cartographer.serverUrl]).toEqual([{}, `${it_.daemon.url}/mcp`]);

    const listed = async () =>
      await httpTools({ ...cartographer, headers: { Authorization: `Bearer ${it_.daemon.token}` } });
    const longestListed = async () => Math.max(...(await listed()).map((name) => name.length));
    const told = async () => (await it_.daemon.api('GET', '/health')).body.routed.longest;
    expect(await told()).toBe(await longestListed());
    expect(await longestListed()).toBe('git_conflict_resolve'.length);

    await it_.daemon.api('POST', '/v1/mcp', { name: 'b', server: named('lint', long) });
    await it_.daemon.waitFor(async () => (await told()) === 60);
    expect(await longestListed()).toBe(60);
    for (const command of ['status', 'sync'])
      expect((await it_.run(0, command)).stderr).toMatch(
        /^warning: Antigravity: entry "cartographer" makes identifiers of 77 characters, the limit is 64/m,
      );
    // The log of the daemon says so by itself, once.
    await it_.daemon.waitFor(async () => it_.daemon.stderr().includes('makes identifiers of 77 characters'));
    await it_.daemon.api('POST', '/v1/mcp', { name: 'b', server: named('lint') });
    await it_.daemon.waitFor(async () => (await told()) === 20);
    expect(it_.daemon.stderr().match(/makes identifiers of 77/g)).toHaveLength(1);
    expect((await it_.run(0, 'status')).stderr).not.toContain('warning:');
  });
});

describe('Servers are taken over from clients', { timeout: 60_000 }, () => {
  let it_: Given;
  beforeAll(async () => {
    it_ = await given({ memory });
    it_.file(
      '.claude.json',
      JSON.stringify({
        mcpServers: {
          memory: { command: 'x', args: [] },
          web: { type: 'http', url: 'https://web.example/mcp', headers: { Authorization: 'Bearer s3cret-web' } },
        },
      }),
    );
    it_.file(
      '.cursor/mcp.json',
      JSON.stringify({
        mcpServers: {
          web: { url: 'https://web.example/mcp', headers: { Authorization: 'Bearer s3cret-web' } },
          files: { command: 'files', env: { FILES_TOKEN: 's3cret-files' }, disabled: true },
        },
      }),
    );
    it_.file('.codex/config.toml', '[mcp_servers.db]\ncommand = "db"\nargs = ["--x"]\n');
    it_.file(
      '.config/goose/config.yaml',
      'extensions:\n  developer:\n    type: builtin\n    enabled: true\n  notes:\n    type: stdio\n    cmd: notes\n    enabled: false\n',
    );
    it_.file(
      '.config/opencode/opencode.json',
      '{ "mcp": { "my notes": { "type": "local", "command": ["notes2"], "enabled": false } } } // mine\n',
    );
  });
  afterAll(() => it_.daemon.stop());

  it('shows what would be taken and writes nothing', async () => {
    const before = readFileSync(it_.daemon.config, 'utf8');
    const { stdout, stderr } = await it_.run(0, 'import', '--dry-run', '--env-secrets');
    expect(stdout).not.toContain('s3cret');
    expect(stderr).toContain('watchkeeper import --env-secrets\n');
    expect(readFileSync(it_.daemon.config, 'utf8')).toBe(before);
  });

  it('takes each server once, tells namesakes apart and keeps secrets out on request', async () => {
    const { json } = await it_.run(0, 'import', '--env-secrets', '--json');
    expect(json.servers.map(({ from, original, name, action }: any) => [from, original, name, action])).toEqual([
      ['claude-code', 'memory', 'memory-2', 'add'],
      ['claude-code', 'web', 'web', 'add'],
      ['cursor', 'web', 'web', 'same'],
      ['cursor', 'files', 'files', 'add'],
      ['codex', 'db', 'db', 'add'],
      ['opencode', 'my notes', 'my-notes', 'add'],
      ['goose', 'notes', 'notes', 'add'],
    ]);
    expect(json.skipped).toMatchObject([{ from: 'goose', name: 'developer' }]);
    const config = readFileSync(it_.daemon.config, 'utf8');
    expect(config).not.toContain('s3cret');
    expect(JSON.parse(config).mcpServers).toMatchObject({
      web: { url: 'https://web.example/mcp', headers: { Authorization: 'Bearer ${WEB_AUTHORIZATION}' } },
      files: { command: 'files', env: { FILES_TOKEN: '${FILES_TOKEN}' }, disabled: true },
      db: { command: 'db', args: ['--x'] },
    });
    const variables = join(dirname(it_.daemon.config), 'watchkeeper.env');
    expect(readFileSync(variables, 'utf8')).toBe("WEB_AUTHORIZATION='s3cret-web'\nFILES_TOKEN='s3cret-files'\n");
    expect(statSync(variables).mode & 0o777).toBe(0o600);
    const again = await it_.run(0, 'import', '--env-secrets', '--json');
    expect(again.json).toMatchObject({ written: false, variables: [] });
    expect(readFileSync(it_.daemon.config, 'utf8')).toBe(config);
  });

  it('puts our entries in the place of its own, and gives them back', async () => {
    const before = it_.read('.codex/config.toml');
    await it_.run(0, 'import', 'codex', '--replace');
    const servers = (parseToml(it_.read('.codex/config.toml')) as any).mcp_servers;
    expect(servers.db.url).toMatch(/\/mcp\/db$/);
    expect(Object.keys(servers)).toContain('memory');
    await it_.run(0, 'disconnect', 'codex');
    expect(it_.read('.codex/config.toml')).toBe(before);
  });

  it.each([
    ['mcpo.json', '{"mcpServers":{"time":{"command":"uvx","args":["mcp-server-time"]}}}'],
    ['metamcp.json', '{"mcpServers":{"hn":{"type":"STDIO","command":"uvx","args":["mcp-hn"],"description":"x"}}}'],
    [
      'hub.json',
      '{"mcpServers":{"hub":{"url":"https://hub.example/mcp","headers":{"X":"${env:HUB_X}"}}}, // mcp-hub\n}',
    ],
  ])('reads a file of another hub: %s', async (name, text) => {
    it_.file(name, text);
    const { json } = await it_.run(0, 'import', `./${name}`, '--json');
    expect(json).toMatchObject({ written: true, servers: [{ action: 'add' }] });
  });
});
