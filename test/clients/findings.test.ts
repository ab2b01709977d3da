import { describe, expect, it } from 'vitest';
import { type Inspected, inspectClient } from '../../src/clients/findings.ts';
import { clientCalled } from '../../src/clients/known.ts';

const reach = {
  url: 'http://127.0.0.1:17987',
  command: '/usr/bin/node',
  script: ['/w/main.js'],
  options: ['--client', 'x'],
};
const token = `wk_${'t'.repeat(43)}`;
const memory = { url: 'http://127.0.0.1:17987/mcp/memory', headers: { Authorization: `Bearer ${token}` } };
const facts = (...names: string[]) => ({
  mount_mode: 'per-server' as const,
  servers: names.map((name) => ({ name, state: 'ready', tool_prefix: '' })),
});

function inspect(
  more: Omit<Partial<Inspected>, 'connected'> & { id?: string; connected?: Partial<Inspected['connected']> } = {},
) {
  const client = clientCalled(more.id ?? 'kiro');
  if (!client) throw new Error('no such client');
  return inspectClient({
    client,
    state: { kind: 'read', entries: { watchkeeper: memory } },
    daemon: { facts: facts('memory'), reach },
    variable: undefined,
    hash: (text) => `#${text}`,
    canStart: () => true,
    ...more,
    connected: {
      file: '/home/u/.kiro/settings/mcp.json',
      mode: 'per-server',
      name: null,
      tokenHash: `#${token}`,
      tokenIn: 'file',
      entries: ['watchkeeper'],
      ...more.connected,
    },
  }).map(({ kind, severity, entry, fix }) => `${severity} ${kind} ${entry} → ${fix}`);
}

describe('A connected client', () => {
  it('that is as it is to be has no findings, also with what others added', () => {
    expect(inspect()).toEqual([]);
    const added = { watchkeeper: { ...memory, disabled: true, autoApprove: ['x'] }, theirs: { command: 'y' } };
    expect(inspect({ state: { kind: 'read', entries: added } })).toEqual([]);
  });

  it.each<[what: string, more: Parameters<typeof inspect>[0], found: string[]]>([
    ['its file is gone', { state: { kind: 'missing' } }, ['error file-missing null → sync']],
    ['its file is broken', { state: { kind: 'broken', message: 'line 1' } }, ['error file-broken null → clients']],
    ['an entry is missing', { state: { kind: 'read', entries: {} } }, ['error entry-missing watchkeeper → sync']],
    [
      'a second server came',
      { daemon: { facts: facts('memory', 'other'), reach } },
      [
        'error entry-missing memory → sync',
        'error entry-missing other → sync',
        'warning entry-obsolete watchkeeper → sync',
      ],
    ],
    [
      'the port is another one',
      { daemon: { facts: facts('memory'), reach: { ...reach, url: 'http://127.0.0.1:1' } } },
      ['error dead-address watchkeeper → sync'],
    ],
    ['its token has ended', { connected: { tokenHash: '#other' } }, ['error stale-token watchkeeper → sync']],
    [
      'its entry lost its token',
      { state: { kind: 'read', entries: { watchkeeper: { url: memory.url } } } },
      ['error no-token watchkeeper → sync'],
    ],
    [
      'its entry names no variable any more',
      {
        id: 'codex',
        variable: token,
        connected: { tokenIn: 'variable' },
        state: { kind: 'read', entries: { watchkeeper: { url: memory.url } } },
      },
      ['error no-token watchkeeper → sync'],
    ],
    [
      'the variable of its token is not set where one looks, which may be as it is wanted',
      {
        id: 'codex',
        connected: { tokenIn: 'variable' },
        state: {
          kind: 'read',
          entries: { watchkeeper: { url: memory.url, bearer_token_env_var: 'WATCHKEEPER_TOKEN_CODEX' } },
        },
      },
      ['info no-token null → connect codex --new-token'],
    ],
    [
      'somebody changed the address within the daemon',
      { state: { kind: 'read', entries: { watchkeeper: { ...memory, url: 'http://127.0.0.1:17987/mcp' } } } },
      ['warning entry-changed watchkeeper → sync'],
    ],
    [
      'it starts a command that is gone',
      {
        connected: { mode: 'stdio', tokenIn: 'none', tokenHash: null },
        state: {
          kind: 'read',
          entries: {
            watchkeeper: { command: '/usr/bin/node', args: ['/w/main.js', 'mcp', 'memory', '--client', 'x'] },
          },
        },
        canStart: () => false,
      },
      ['error missing-command watchkeeper → sync'],
    ],
    [
      'it is an address and was to start a command',
      { connected: { mode: 'stdio', tokenIn: 'none', tokenHash: null } },
      ['warning wrong-mode watchkeeper → sync'],
    ],
    [
      'it is connected to all servers, which are not mounted as one',
      {
        connected: { mode: 'routed' },
        state: { kind: 'read', entries: { watchkeeper: { ...memory, url: 'http://127.0.0.1:17987/mcp' } } },
      },
      ['error wrong-mode null → connect kiro --mode per-server'],
    ],
    [
      'servers are mounted as one and it has an entry of each',
      { daemon: { facts: { ...facts('memory'), mount_mode: 'routed' }, reach } },
      ['info other-mode null → connect kiro --mode routed'],
    ],
    [
      'the variable of its token holds another one',
      {
        id: 'codex',
        variable: 'wk_old',
        connected: { tokenIn: 'variable' },
        state: {
          kind: 'read',
          entries: { watchkeeper: { url: memory.url, bearer_token_env_var: 'WATCHKEEPER_TOKEN_CODEX' } },
        },
      },
      ['error stale-token null → connect codex --new-token'],
    ],
  ])('is found out when %s', (_what, more, found) => {
    expect(inspect(more)).toEqual(found);
  });

  it('is judged by its file alone when the daemon does not answer', () => {
    expect(inspect({ daemon: null })).toEqual([]);
    expect(inspect({ daemon: null, connected: { tokenHash: '#other' } })).toEqual([
      'error stale-token watchkeeper → sync',
    ]);
  });

  it('is spoken of without its token', () => {
    const client = clientCalled('kiro');
    if (!client) throw new Error('no such client');
    expect(JSON.stringify(inspect({ connected: { tokenHash: '#other' } }))).not.toContain(token);
  });
});
