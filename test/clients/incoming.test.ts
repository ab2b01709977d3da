import { describe, expect, it } from 'vitest';
import { type Candidate, planImport, variableLines } from '../../src/clients/incoming.plan.ts';
import { entriesIn, isIncoming, readIncoming } from '../../src/clients/incoming.ts';
import { clientCalled } from '../../src/clients/known.ts';
import { parseVariables } from '../../src/config/variables.ts';

const read = (raw: unknown, id = 'cursor') => {
  const found = readIncoming('x', raw, clientCalled(id)?.fillsIn ?? []);
  if (!isIncoming(found)) throw new Error(found.why);
  return found;
};

describe('An entry of a client', () => {
  it.each<[what: string, id: string, raw: object, entry: object]>([
    [
      'a command',
      'cursor',
      { command: 'npx', args: ['-y', 'a'], env: { A: '1' }, envFile: 'x' },
      { command: 'npx', args: ['-y', 'a'], env: { A: '1' } },
    ],
    [
      'a variable of an editor',
      'vscode',
      { type: 'stdio', command: 'a', env: { T: '${env:TOKEN}' } },
      { command: 'a', env: { T: '${TOKEN}' } },
    ],
    [
      'a variable with a default',
      'claude-code',
      { url: 'https://x/${P:-y}', headers: { A: '$B' } },
      { url: 'https://x/${P:-y}', headers: { A: '$$B' } },
    ],
    [
      'a plain variable',
      'gemini-cli',
      { httpUrl: 'https://x', headers: { A: 'Bearer $B' } },
      { url: 'https://x', headers: { A: 'Bearer ${B}' } },
    ],
    [
      'a literal dollar sign',
      'claude-desktop',
      { command: 'a', env: { P: 'pa$word', Q: '5$', R: '${X}' } },
      { command: 'a', env: { P: 'pa$$word', Q: '5$', R: '$${X}' } },
    ],
    [
      'a whole command line',
      'opencode',
      { type: 'local', command: ['npx', '-y', 'a'], environment: { A: '{env:B}' }, enabled: false },
      { command: 'npx', args: ['-y', 'a'], env: { A: '${B}' }, disabled: true },
    ],
    [
      'an address',
      'windsurf',
      { serverUrl: 'https://x/mcp', headers: { A: 'b' }, disabled: true },
      { url: 'https://x/mcp', headers: { A: 'b' }, disabled: true },
    ],
    [
      'an address of the old kind',
      'cline',
      { type: 'sse', url: 'https://x/sse', disabled: false },
      { url: 'https://x/sse', type: 'sse' },
    ],
    [
      'a table',
      'codex',
      { url: 'https://x', bearer_token_env_var: 'T', env_http_headers: { 'X-A': 'B' } },
      { url: 'https://x', headers: { 'X-A': '${B}', Authorization: 'Bearer ${T}' } },
    ],
    [
      'variables passed on',
      'codex',
      { command: 'a', env_vars: ['B'], enabled_tools: ['t'] },
      { command: 'a', env: { B: '${B}' }, include: ['t'] },
    ],
    [
      'an extension',
      'goose',
      { type: 'stdio', cmd: 'a', args: ['b'], envs: { C: 'd' }, enabled: true },
      { command: 'a', args: ['b'], env: { C: 'd' } },
    ],
    [
      'a command with its own object',
      'zed',
      { command: { path: 'a', args: ['b'], env: { C: 'd' } } },
      { command: 'a', args: ['b'], env: { C: 'd' } },
    ],
    [
      'an export',
      'none',
      { type: 'STREAMABLE_HTTP', url: 'https://x', bearerToken: 'abc' },
      { url: 'https://x', headers: { Authorization: 'Bearer abc' } },
    ],
    [
      'left out tools',
      'kiro',
      { command: 'a', disabledTools: ['t'], autoApprove: ['u'] },
      { command: 'a', exclude: ['t'] },
    ],
  ])('becomes ours: %s', (_what, id, raw, entry) => {
    expect(read(raw, id).entry).toEqual(entry);
  });

  it('that asks a person for a value says which variable to set', () => {
    expect(read({ command: 'a', env: { K: '${input:api-key}' } }, 'vscode')).toMatchObject({
      entry: { env: { K: '${API_KEY}' } },
      notes: ['asks for api-key; set the variable API_KEY instead'],
    });
  });

  it.each([
    [{ type: 'builtin', name: 'developer' }, 'is part of its program (builtin)'],
    [{ args: [] }, 'has neither a command nor an address'],
    ['x', 'is not an object'],
  ])('is left where it is: %j', (raw, why) => {
    expect(readIncoming('x', raw, [])).toEqual({ name: 'x', why });
  });

  it.each<[what: string, plain: unknown, names: string[] | null]>([
    ['mcp-hub and mcpo', { mcpServers: { a: {}, b: {} } }, ['a', 'b']],
    ['the editor form', { servers: { a: {} }, inputs: [] }, ['a']],
    ['an export as a list', { mcpServers: [{ name: 'a' }, { nameless: 1 }] }, ['a']],
    ['a plain list', [{ name: 'a' }], ['a']],
    ['settings of an editor', { mcp: { servers: { a: {} } } }, ['a']],
    ['something else', { theme: 'dark' }, null],
  ])('is found in a file of %s', (_what, plain, names) => {
    const entries = entriesIn(plain);
    expect(entries === null ? null : Object.keys(entries)).toEqual(names);
  });
});

describe('Taking entries over', () => {
  const from = (origin: string, name: string, entry: Record<string, unknown>): Candidate => ({
    from: origin,
    name,
    entry,
    notes: [],
  });
  const plan = (existing: Record<string, unknown>, candidates: Candidate[], apart = false, variables = {}) =>
    planImport(new Map(Object.entries(existing)), candidates, { apart, variables });
  const names = ({ items }: ReturnType<typeof plan>) =>
    items.map(({ original, name, action }) => `${original} ${action} ${name}`);

  it('tells the same server from another of the same name', () => {
    const a = { command: 'a' };
    expect(
      names(
        plan({ memory: a }, [
          from('cursor', 'memory', { command: 'a', disabled: true }),
          from('codex', 'other-name', a),
          from('zed', 'memory', { command: 'b' }),
          from('kiro', 'memory', { command: 'b' }),
          from('goose', 'My Server!', { command: 'c' }),
        ]),
      ),
    ).toEqual([
      'memory same memory',
      'other-name same memory',
      'memory add memory-2',
      'memory same memory-2',
      'My Server! add My-Server',
    ]);
  });

  it('keeps two accounts of one server apart', () => {
    const one = { command: 'a', env: { K: '1' } };
    expect(names(plan({}, [from('x', 'a', one), from('y', 'a', { ...one, env: { K: '2' } })]))).toEqual([
      'a add a',
      'a add a-2',
    ]);
  });

  it('names fields that hold a secret, and never the secret', () => {
    const entry = {
      command: 'a',
      args: ['--api-key', 's3cret'],
      env: { GH_TOKEN: 's3cret', HOME: 'x', T_KEY: '${T}' },
    };
    const { items } = plan({}, [from('x', 'a', entry)]);
    expect(items[0]?.secrets).toEqual(['env.GH_TOKEN', 'args[1]']);
  });

  it('puts secrets into variables, under names that are free', () => {
    const { items, variables } = plan(
      {},
      [
        from('x', 'gh', { command: 'a', args: ['--token=one'], env: { TOKEN: 'two', HOME: 'x' } }),
        from('x', 'web', {
          url: 'https://x',
          headers: { Authorization: 'Bearer three', 'X-Api-Key': 'pa$$word', Accept: 'y' },
        }),
      ],
      true,
      { TOKEN: 'other' },
    );
    expect(items.map(({ entry }) => entry)).toEqual([
      { command: 'a', args: ['--token=${GH_ARG_1}'], env: { TOKEN: '${GH_TOKEN}', HOME: 'x' } },
      {
        url: 'https://x',
        headers: { Authorization: 'Bearer ${WEB_AUTHORIZATION}', 'X-Api-Key': '${WEB_X_API_KEY}', Accept: 'y' },
      },
    ]);
    expect(variables).toEqual({
      GH_ARG_1: 'one',
      GH_TOKEN: 'two',
      WEB_AUTHORIZATION: 'three',
      WEB_X_API_KEY: 'pa$word',
    });
  });

  it('finds secrets in addresses, and leaves every other character of them alone', () => {
    const entries = [
      from('x', 'web', { url: 'https://u:pa%24s@x.example/mcp?api_key=s3cret&x=${X}&Y=1#f' }),
      from('x', 'bridge', { command: 'npx', args: ['mcp-remote', 'https://y.example/mcp?token=t0p', '--port=1'] }),
      from('x', 'fine', { url: 'https://z.example/mcp?key=${KEY}&q=1' }),
    ];
    expect(plan({}, entries).items.map(({ secrets }) => secrets)).toEqual([
      ['url password', 'url api_key'],
      ['args[1]'],
      [],
    ]);
    const { items, variables } = plan({}, entries, true);
    expect(items.map(({ entry }) => entry)).toEqual([
      { url: 'https://u:${WEB_PASSWORD}@x.example/mcp?api_key=${WEB_API_KEY}&x=${X}&Y=1#f' },
      { command: 'npx', args: ['mcp-remote', 'https://y.example/mcp?token=${BRIDGE_TOKEN}', '--port=1'] },
      { url: 'https://z.example/mcp?key=${KEY}&q=1' },
    ]);
    expect(variables).toEqual({ WEB_PASSWORD: 'pa%24s', WEB_API_KEY: 's3cret', BRIDGE_TOKEN: 't0p' });
    // Whose secrets stand elsewhere now is the same server still.
    const known = Object.fromEntries(items.map(({ name, entry }) => [name, entry]));
    expect(names(plan(known, entries, false, variables)).every((name) => name.includes(' same '))).toBe(true);
  });

  it.each(['plain', 'with space # and "quotes"', "it's", 'a\\b\nc$d', '$HOME', "'", ''])(
    'writes a variable that reads back: %j',
    (value) => {
      expect(parseVariables(variableLines({ A: value, B: 'b' })).values).toEqual({ A: value, B: 'b' });
    },
  );
});
