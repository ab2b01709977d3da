import { describe, expect, it } from 'vitest';
import { clientCalled, knownClients } from '../../src/clients/known.ts';
import { configFileOf, isInstalled, type Machine } from '../../src/clients/places.ts';
import {
  type ConnectMode,
  filledEntry,
  isEntryName,
  looksLikeOurs,
  mergedEntry,
  mountedServers,
  plannedEntries,
} from '../../src/clients/plan.ts';

const client = (id: string) => {
  const found = clientCalled(id);
  if (!found) throw new Error(`no client ${id}`);
  return found;
};

const machine = (platform: string, env: Record<string, string> = {}, existing: readonly string[] = []): Machine => ({
  platform,
  home: platform === 'win32' ? 'C:\\Users\\u' : platform === 'darwin' ? '/Users/u' : '/home/u',
  env,
  exists: (file) => existing.includes(file),
});

describe('The file of a client', () => {
  const roaming = 'C:\\Users\\u\\AppData\\Roaming';
  it.each<[id: string, linux: string, mac: string, windows: string]>([
    ['claude-code', '/home/u/.claude.json', '/Users/u/.claude.json', 'C:\\Users\\u\\.claude.json'],
    [
      'claude-desktop',
      '/home/u/.config/Claude/claude_desktop_config.json',
      '/Users/u/Library/Application Support/Claude/claude_desktop_config.json',
      `${roaming}\\Claude\\claude_desktop_config.json`,
    ],
    ['cursor', '/home/u/.cursor/mcp.json', '/Users/u/.cursor/mcp.json', 'C:\\Users\\u\\.cursor\\mcp.json'],
    [
      'vscode',
      '/home/u/.config/Code/User/mcp.json',
      '/Users/u/Library/Application Support/Code/User/mcp.json',
      `${roaming}\\Code\\User\\mcp.json`,
    ],
    [
      'copilot-cli',
      '/home/u/.copilot/mcp-config.json',
      '/Users/u/.copilot/mcp-config.json',
      'C:\\Users\\u\\.copilot\\mcp-config.json',
    ],
    [
      'windsurf',
      '/home/u/.codeium/windsurf/mcp_config.json',
      '/Users/u/.codeium/windsurf/mcp_config.json',
      'C:\\Users\\u\\.codeium\\windsurf\\mcp_config.json',
    ],
    [
      'gemini-cli',
      '/home/u/.gemini/settings.json',
      '/Users/u/.gemini/settings.json',
      'C:\\Users\\u\\.gemini\\settings.json',
    ],
    [
      'antigravity',
      '/home/u/.gemini/config/mcp_config.json',
      '/Users/u/.gemini/config/mcp_config.json',
      'C:\\Users\\u\\.gemini\\config\\mcp_config.json',
    ],
    ['codex', '/home/u/.codex/config.toml', '/Users/u/.codex/config.toml', 'C:\\Users\\u\\.codex\\config.toml'],
    [
      'kiro',
      '/home/u/.kiro/settings/mcp.json',
      '/Users/u/.kiro/settings/mcp.json',
      'C:\\Users\\u\\.kiro\\settings\\mcp.json',
    ],
    [
      'opencode',
      '/home/u/.config/opencode/opencode.json',
      '/Users/u/.config/opencode/opencode.json',
      'C:\\Users\\u\\.config\\opencode\\opencode.json',
    ],
    [
      'crush',
      '/home/u/.config/crush/crush.json',
      '/Users/u/.config/crush/crush.json',
      'C:\\Users\\u\\.config\\crush\\crush.json',
    ],
    [
      'zed',
      '/home/u/.config/zed/settings.json',
      '/Users/u/.config/zed/settings.json',
      `${roaming}\\Zed\\settings.json`,
    ],
    [
      'cline',
      '/home/u/.cline/data/settings/cline_mcp_settings.json',
      '/Users/u/.cline/data/settings/cline_mcp_settings.json',
      'C:\\Users\\u\\.cline\\data\\settings\\cline_mcp_settings.json',
    ],
    [
      'goose',
      '/home/u/.config/goose/config.yaml',
      '/Users/u/.config/goose/config.yaml',
      `${roaming}\\Block\\goose\\config\\config.yaml`,
    ],
    ['lm-studio', '/home/u/.lmstudio/mcp.json', '/Users/u/.lmstudio/mcp.json', 'C:\\Users\\u\\.lmstudio\\mcp.json'],
    ['junie', '/home/u/.junie/mcp/mcp.json', '/Users/u/.junie/mcp/mcp.json', 'C:\\Users\\u\\.junie\\mcp\\mcp.json'],
  ])('of %s on Linux, macOS and Windows', (id, linux, mac, windows) => {
    expect(['linux', 'darwin', 'win32'].map((platform) => configFileOf(client(id), machine(platform)))).toEqual([
      linux,
      mac,
      windows,
    ]);
  });

  it.each<[id: string, env: Record<string, string>, existing: string[], file: string]>([
    ['claude-code', { CLAUDE_CONFIG_DIR: '/x/claude' }, [], '/x/claude/.claude.json'],
    ['claude-code', { CLAUDE_CONFIG_DIR: '~/c' }, [], '/home/u/c/.claude.json'],
    ['codex', { CODEX_HOME: '/x' }, [], '/x/config.toml'],
    ['copilot-cli', { COPILOT_HOME: '/x' }, [], '/x/mcp-config.json'],
    ['opencode', { OPENCODE_CONFIG: '/x/o.json' }, [], '/x/o.json'],
    ['opencode', { XDG_CONFIG_HOME: '/x' }, [], '/x/opencode/opencode.json'],
    [
      'opencode',
      {},
      ['/home/u/.config/opencode/opencode.json', '/home/u/.config/opencode/opencode.jsonc'],
      '/home/u/.config/opencode/opencode.jsonc',
    ],
    ['crush', { CRUSH_GLOBAL_CONFIG: '/x' }, [], '/x/crush.json'],
    ['cline', { CLINE_DIR: '/x' }, [], '/x/data/settings/cline_mcp_settings.json'],
    ['cline', { CLINE_DIR: '/x', CLINE_MCP_SETTINGS_PATH: '/y.json' }, [], '/y.json'],
    ['antigravity', {}, ['/home/u/.gemini/antigravity/mcp_config.json'], '/home/u/.gemini/antigravity/mcp_config.json'],
    ['lm-studio', {}, ['/home/u/.cache/lm-studio/mcp.json'], '/home/u/.cache/lm-studio/mcp.json'],
    ['vscode', { XDG_CONFIG_HOME: '/x' }, [], '/x/Code/User/mcp.json'],
    ['vscode', { XDG_CONFIG_HOME: 'relative' }, [], '/home/u/.config/Code/User/mcp.json'],
  ])('of %s is moved by %j and what exists', (id, env, existing, file) => {
    expect(configFileOf(client(id), machine('linux', env, existing))).toBe(file);
  });

  it('shows, like a command or a folder, that the client is installed', () => {
    const codex = client('codex');
    expect(isInstalled(codex, machine('linux'), new Set())).toBe(false);
    expect(isInstalled(codex, machine('linux'), new Set(['codex']))).toBe(true);
    expect(isInstalled(codex, machine('linux', {}, ['/home/u/.codex']), new Set())).toBe(true);
    expect(isInstalled(client('junie'), machine('linux', {}, ['/home/u/.junie/mcp/mcp.json']), new Set())).toBe(true);
  });

  it.each(knownClients.map(({ id }) => id))('of %s alone shows no other client as installed', (id) => {
    const own = configFileOf(client(id), machine('linux'));
    const parts = own.split('/');
    const parents = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
    const others = knownClients.filter((other) => other.id !== id);
    const found = others.filter((other) => isInstalled(other, machine('linux', {}, parents), new Set()));
    expect(found.map((other) => other.id)).toEqual([]);
  });
});

const reach = {
  url: 'http://127.0.0.1:17987',
  command: '/usr/bin/node',
  script: ['/w/main.js'],
  options: ['--client', 'me'],
};
const memory = { entry: 'memory', server: 'memory' };
const reference = { kind: 'reference' as const, variable: 'WATCHKEEPER_TOKEN_X' };
const literal = { kind: 'literal' as const, token: 'wk_secret' };
const url = 'http://127.0.0.1:17987/mcp/memory';
const args = ['/w/main.js', 'mcp', 'memory', '--client', 'me'];

describe('An entry', () => {
  const bearer = (how: string) => ({ Authorization: `Bearer ${how}` });
  const by = (name: string): string => name.replace('NAME', 'WATCHKEEPER_TOKEN_X');
  it.each<[id: string, referring: object | null, literal: object | null]>([
    [
      'claude-code',
      { type: 'http', url, headers: bearer(by('${NAME}')) },
      { type: 'http', url, headers: bearer('wk_secret') },
    ],
    ['cursor', { url, headers: bearer(by('${env:NAME}')) }, { url, headers: bearer('wk_secret') }],
    [
      'vscode',
      { type: 'http', url, headers: bearer(by('${env:NAME}')) },
      { type: 'http', url, headers: bearer('wk_secret') },
    ],
    [
      'copilot-cli',
      { type: 'http', url, headers: bearer(by('${NAME}')), tools: ['*'] },
      { type: 'http', url, headers: bearer('wk_secret'), tools: ['*'] },
    ],
    [
      'windsurf',
      { serverUrl: url, headers: bearer(by('${env:NAME}')) },
      { serverUrl: url, headers: bearer('wk_secret') },
    ],
    ['gemini-cli', { httpUrl: url, headers: bearer(by('${NAME}')) }, { httpUrl: url, headers: bearer('wk_secret') }],
    [
      'antigravity',
      { serverUrl: url, headers: bearer(by('${NAME}')) },
      { serverUrl: url, headers: bearer('wk_secret') },
    ],
    ['codex', { url, bearer_token_env_var: 'WATCHKEEPER_TOKEN_X' }, { url, http_headers: bearer('wk_secret') }],
    ['kiro', null, { url, headers: bearer('wk_secret') }],
    [
      'opencode',
      { type: 'remote', url, enabled: true, headers: bearer(by('{env:NAME}')) },
      { type: 'remote', url, enabled: true, headers: bearer('wk_secret') },
    ],
    ['crush', { type: 'http', url, headers: bearer(by('$NAME')) }, { type: 'http', url, headers: bearer('wk_secret') }],
    ['zed', null, { url, headers: bearer('wk_secret') }],
    ['cline', null, { type: 'streamableHttp', url, headers: bearer('wk_secret') }],
    [
      'goose',
      null,
      {
        enabled: true,
        type: 'streamable_http',
        name: 'memory',
        description: 'Tools kept by Watchkeeper',
        uri: url,
        headers: bearer('wk_secret'),
        timeout: 300,
      },
    ],
    ['lm-studio', null, { url, headers: bearer('wk_secret') }],
    ['claude-desktop', null, null],
    ['junie', null, null],
  ])('of %s with an address', (id, referring, written) => {
    const { http } = client(id);
    expect(http?.byReference ? filledEntry(client(id), 'per-server', memory, reach, reference) : null).toEqual(
      referring,
    );
    expect(http ? filledEntry(client(id), 'per-server', memory, reach, literal) : null).toEqual(written);
  });

  it.each<[id: string, entry: object]>([
    ['claude-code', { type: 'stdio', command: '/usr/bin/node', args }],
    ['claude-desktop', { command: '/usr/bin/node', args }],
    ['copilot-cli', { type: 'local', command: '/usr/bin/node', args, tools: ['*'] }],
    ['codex', { command: '/usr/bin/node', args }],
    ['opencode', { type: 'local', command: ['/usr/bin/node', ...args], enabled: true }],
    [
      'goose',
      {
        enabled: true,
        type: 'stdio',
        name: 'memory',
        description: 'Tools kept by Watchkeeper',
        cmd: '/usr/bin/node',
        args,
        timeout: 300,
      },
    ],
  ])('of %s that starts a command', (id, entry) => {
    expect(filledEntry(client(id), 'stdio', memory, reach, reference)).toEqual(entry);
  });

  it.each(knownClients.map(({ id }) => id))('of %s is known as ours, and nobody else’s is', (id) => {
    const modes: ConnectMode[] = client(id).http ? ['per-server', 'stdio'] : ['stdio'];
    for (const mode of modes)
      expect(
        looksLikeOurs(filledEntry(client(id), mode, memory, reach, client(id).http?.byReference ? reference : literal)),
      ).toBe(true);
    expect(looksLikeOurs({ url: 'http://127.0.0.1:3000/mcp' })).toBe(false);
    expect(looksLikeOurs({ command: 'npx', args: ['-y', 'x', 'mcp'] })).toBe(false);
  });

  it('for all servers leads to /mcp, or starts the bridge without a name', () => {
    const all = { entry: 'hub', server: null };
    expect(filledEntry(client('cursor'), 'routed', all, reach, reference).url).toBe('http://127.0.0.1:17987/mcp');
    expect(filledEntry(client('cursor'), 'stdio', all, reach, reference).args).toEqual([
      '/w/main.js',
      'mcp',
      '--client',
      'me',
    ]);
  });

  it('holds nothing that a client would run', () => {
    const odd = { ...reach, script: ['/w/$(touch x)/main.js'] };
    expect(() => filledEntry(client('crush'), 'stdio', memory, odd, reference)).toThrow(/would not take/);
    expect(filledEntry(client('cursor'), 'stdio', memory, odd, reference).args).toContain('/w/$(touch x)/main.js');
  });

  it('keeps what its client or user added, and nothing of another kind', () => {
    const current = { command: 'x', args: [], url: 'old', disabled: true, autoApprove: ['a'], headers: { A: 'b' } };
    const wanted = filledEntry(client('cursor'), 'per-server', memory, reach, literal);
    expect(mergedEntry(client('cursor'), current, wanted)).toEqual({ ...wanted, disabled: true, autoApprove: ['a'] });
    const off = { type: 'remote', url: 'old', enabled: false };
    expect(
      mergedEntry(client('opencode'), off, filledEntry(client('opencode'), 'per-server', memory, reach, literal)),
    ).toMatchObject({ url, enabled: false });
  });
});

describe('The entries of a client', () => {
  const facts = (mount_mode: 'per-server' | 'routed', ...names: string[]) => ({
    mount_mode,
    servers: names.map((name) => ({ name, state: name === 'off' ? 'disabled' : 'ready', tool_prefix: '' })),
  });
  const entries = (mode: ConnectMode, name: string | null, ...names: string[]) =>
    plannedEntries({ mode, name }, facts('per-server', ...names)).map(({ entry, server }) => `${entry} → ${server}`);

  it.each<[mode: ConnectMode, name: string | null, servers: string[], planned: string[]]>([
    ['per-server', null, [], []],
    ['per-server', null, ['a'], ['watchkeeper → a']],
    ['per-server', 'hub', ['a'], ['hub → a']],
    ['per-server', null, ['b', 'a'], ['a → a', 'b → b']],
    ['per-server', 'hub', ['b', 'a'], ['hub-a → a', 'hub-b → b']],
    ['per-server', null, ['a', 'off', 'not a name'], ['watchkeeper → a']],
    ['routed', null, ['a', 'b'], ['watchkeeper → null']],
    ['routed', 'hub', [], ['hub → null']],
    ['stdio', null, ['a', 'b'], ['a → a', 'b → b']],
  ])('%s, called %s, of %j', (mode, name, servers, planned) => {
    expect(entries(mode, name, ...servers)).toEqual(planned);
  });

  it('that start commands follow the mount mode', () => {
    expect(plannedEntries({ mode: 'stdio', name: null }, facts('routed', 'a', 'b'))).toEqual([
      { entry: 'watchkeeper', server: null },
    ]);
    expect(mountedServers(facts('routed', 'b', 'off', 'a'))).toEqual(['a', 'b']);
  });

  it.each([
    ['hub', true],
    ['my hub.2', true],
    ['', false],
    ['-x', false],
    ['a"b', false],
    ['x'.repeat(65), false],
    ['é', false],
  ])('may be called after %j: %s', (name, allowed) => {
    expect(isEntryName(name)).toBe(allowed);
  });
});
