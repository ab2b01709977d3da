import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Fake, fakeDaemon } from './fake.daemon.ts';

const server = (name: string, tool_prefix: string, longest: number) => ({
  name,
  state: 'ready',
  tool_prefix,
  tools: { count: 3, longest, stale: false },
});
const health = (mount_mode: string, ...servers: object[]) => ({
  status: 'ok',
  version: '0',
  ready: true,
  mount_mode,
  routed_path: '/mcp',
  routed: { count: 3, longest: 20 },
  servers,
});

let fake: Fake;
beforeEach(async () => {
  fake = await fakeDaemon({ 'GET /health': health('per-server', server('a', '', 5), server('b', '', 5)) });
});
afterEach(() => fake.close());

const registry = () => JSON.parse(readFileSync(join(fake.folder, 'clients.json'), 'utf8')).clients;

describe('The permission mode of a client', () => {
  it.each([
    ['a', 'ask'],
    ['l', 'allow-all'],
  ])('is asked for when the client confirms calls itself: %s', async (key, mode) => {
    await fake.run('connect cursor', { answers: [key] });
    expect(fake.questions).toHaveLength(1);
    expect(registry().cursor.permission).toBe(mode);
    // What was chosen once stays.
    await fake.run('connect cursor', { answers: [] });
    expect(fake.questions).toHaveLength(1);
    expect(registry().cursor.permission).toBe(mode);
  });

  it('is not asked for where it is given, where nobody answers, or where the client asks nobody', async () => {
    await fake.run('connect cursor --permission deny', { answers: [] });
    await fake.run('connect zed');
    await fake.run('connect goose', { answers: [] });
    expect(fake.questions).toEqual([]);
    expect(Object.values<any>(registry()).map(({ permission }) => permission)).toEqual(['deny', 'ask', 'ask']);
  });
});

describe('Without the daemon', () => {
  it('it stays loud that tools of two entries can hide each other', async () => {
    const { err } = await fake.run('connect kiro');
    expect(err).toMatch(/^warning: Kiro: .*"a", "b"/m);
    const file = join(fake.folder, '.kiro/settings/mcp.json');
    const before = readFileSync(file, 'utf8');
    const alone = await fakeDaemon({}, { running: false });
    writeFileSync(join(alone.folder, 'clients.json'), readFileSync(join(fake.folder, 'clients.json')));
    const { exit, err: said } = await alone.run('sync');
    expect(exit).toBe(3);
    expect(said).toMatch(/^warning: Kiro: .*"a", "b"/m);
    expect(readFileSync(file, 'utf8')).toBe(before);
    await alone.close();
  });

  it('the list of clients says that only files were looked at', async () => {
    await fake.run('connect zed');
    const alone = await fakeDaemon({}, { running: false });
    writeFileSync(join(alone.folder, 'clients.json'), readFileSync(join(fake.folder, 'clients.json')));
    const { out, err } = await alone.run('clients');
    expect(out).toMatch(/^zed +unknown /m);
    expect(err).toContain('The daemon does not answer, so only files were looked at: watchkeeper up --detach\n');
    await alone.close();
  });

  it('a length nobody knows is not spoken of', async () => {
    const alone = await fakeDaemon({}, { running: false });
    const { exit, err } = await alone.run('connect antigravity');
    expect(exit).toBe(3);
    expect(err).not.toContain('warning:');
    await alone.close();
  });
});

describe('Warnings', () => {
  it('are computed from a /health that tells counts and longest names alone', async () => {
    fake.routes['GET /health'] = health('per-server', server('a', 'p'.repeat(26), 40), server('b', '', 5));
    const { err, exit } = await fake.run('connect antigravity');
    expect(exit).toBe(0);
    expect(err).toMatch(
      /^warning: Antigravity: entry "a" makes identifiers of 74 characters, the limit is 64; at least 1 of 3 tools/m,
    );
    const { json, err: silent } = await fake.run('connect antigravity --json');
    expect(silent).toBe('');
    expect(json.warnings).toMatchObject([{ kind: 'identifier-too-long', length: 74 }]);
  });

  it('of one entry for all servers count whole names', async () => {
    fake.routes['GET /health'] = { ...health('routed', server('a', '', 60)), routed: { count: 3, longest: 20 } };
    expect(await fake.run('connect antigravity --name cartographer')).toMatchObject({
      exit: 0,
      err: expect.not.stringContaining('warning:'),
    });
    fake.routes['GET /health'] = { ...health('routed', server('a', '', 60)), routed: { count: 3, longest: 60 } };
    expect((await fake.run('sync')).err).toMatch(
      /^warning: Antigravity: entry "cartographer" makes identifiers of 77/m,
    );
  });
});

describe('doctor, of connected clients,', () => {
  const well = { ok: true, servers: [], daemon: { ok: true, running: true, version: '1', checks: [] } };
  const change = (file: string, edit: (text: string) => string) => {
    const path = join(fake.folder, file);
    writeFileSync(path, edit(readFileSync(path, 'utf8')));
  };
  beforeEach(() => {
    fake.routes['GET /v1/mcp/doctor'] = well;
  });

  it('says in a line each that they are as they are to be', async () => {
    await fake.run('connect zed');
    expect(await fake.run('doctor')).toMatchObject({
      exit: 0,
      out: expect.stringMatching(/^ok {5}Zed {2}2 entries in /m),
    });
    expect((await fake.run('doctor --json')).json).toEqual({ ...well, clients: { findings: [], warnings: [] } });
  });

  const broken: [
    what: string,
    connect: string,
    file: string,
    edit: (text: string) => string,
    kind: string,
    fix: string,
  ][] = [
    [
      'a dead port',
      'connect zed',
      '.config/zed/settings.json',
      (text) => text.replace(/:\d+\/mcp\/a/, ':9/mcp/a'),
      'dead-address',
      'sync',
    ],
    [
      'a stale token',
      'connect zed',
      '.config/zed/settings.json',
      (text) => text.replace(/wk_[\w-]{20}/, `wk_${'x'.repeat(20)}`),
      'stale-token',
      'sync',
    ],
    [
      'no token at all',
      'connect zed',
      '.config/zed/settings.json',
      (text) => text.replace(/Bearer wk_[\w-]+/, ''),
      'no-token',
      'sync',
    ],
    [
      'a command that is gone',
      'connect junie',
      '.junie/mcp/mcp.json',
      (text) => text.replaceAll(process.execPath, '/gone/node'),
      'missing-command',
      'sync',
    ],
    ['an entry that was taken out', 'connect junie', '.junie/mcp/mcp.json', () => '{}', 'entry-missing', 'sync'],
    ['a file that is no JSON any more', 'connect junie', '.junie/mcp/mcp.json', () => '{', 'file-broken', 'clients'],
  ];
  it.each(broken)('finds %s, names what mends it and ends with 1', async (_what, connect, file, edit, kind, fix) => {
    await fake.run(connect);
    change(file, edit);
    const { exit, out } = await fake.run('doctor');
    expect(exit).toBe(1);
    expect(out).toMatch(new RegExp(`^wrong {2}.* \\(${kind}\\)\\n {7}watchkeeper ${fix}$`, 'm'));
    const { json } = await fake.run('doctor --json');
    expect(json).toMatchObject({
      ok: false,
      clients: { findings: expect.arrayContaining([expect.objectContaining({ kind })]) },
    });
    // One server is one server.
    expect((await fake.run('doctor a --json')).json).toEqual(well);
  });

  it('finds one entry for all where each server has its own', async () => {
    fake.routes['GET /health'] = health('routed', server('a', '', 5), server('b', '', 5));
    await fake.run('connect zed');
    fake.routes['GET /health'] = health('per-server', server('a', '', 5), server('b', '', 5));
    expect(await fake.run('doctor')).toMatchObject({
      exit: 1,
      out: expect.stringMatching(/\(wrong-mode\)\n {7}watchkeeper connect zed --mode per-server$/m),
    });
  });

  it('only notes that a variable is not set where it runs', async () => {
    await fake.run('connect codex');
    expect(await fake.run('doctor')).toMatchObject({
      exit: 0,
      out: expect.stringMatching(/^ok {5}Codex .*\nnote {3}Codex: WATCHKEEPER_TOKEN_CODEX is not set here/m),
    });
    expect(await fake.run('doctor', { env: { WATCHKEEPER_TOKEN_CODEX: 'wk_old' } })).toMatchObject({
      exit: 1,
      out: expect.stringContaining('(stale-token)'),
    });
  });

  it('warns on stderr of identifiers that got too long, as status does, without ending otherwise', async () => {
    await fake.run('connect antigravity');
    fake.routes['GET /health'] = health('per-server', server('a', 'p'.repeat(26), 40), server('b', '', 5));
    fake.routes['GET /v1/mcp/status'] = { servers: [] };
    const line = /^warning: Antigravity: entry "a" makes identifiers of 74 characters/m;
    expect(await fake.run('doctor')).toMatchObject({ exit: 0, err: expect.stringMatching(line) });
    expect((await fake.run('status')).err).toMatch(line);
    const { json, err } = await fake.run('doctor --json');
    expect(err).toBe('');
    expect(json.clients.warnings).toMatchObject([{ kind: 'identifier-too-long', id: 'antigravity', length: 74 }]);
  });

  it('looks at files alone where no daemon answers, and says so when the registry cannot be read', async () => {
    writeFileSync(join(fake.folder, 'clients.json'), 'nonsense');
    expect(await fake.run('doctor')).toMatchObject({ exit: 1, err: expect.stringContaining('clients.json') });
  });
});

describe('A trial run', () => {
  it.each([
    'connect zed',
    "connect zed --mode stdio --name 'my hub' --permission deny",
    'connect zed --token file --new-token --replace',
  ])('names the command that does just what it showed: %s', async (line) => {
    const words = line.replace("'my hub'", 'my_hub').split(' ');
    const argv = words.map((word) => (word === 'my_hub' ? 'my hub' : word));
    const { err } = await fake.run([...argv, '--dry-run']);
    expect(err).toBe(`To write it: watchkeeper ${line}\n`);
  });

  it('of the way back does so too', async () => {
    await fake.run('connect zed');
    expect((await fake.run('disconnect zed --dry-run')).err).toBe('To do it: watchkeeper disconnect zed\n');
    expect((await fake.run('disconnect zed')).err).toBe('What Zed runs just now may still show them.\n');
  });
});

describe('Options that a client cannot follow', () => {
  it.each([
    ['connect claude-desktop --token variable', 'only starts commands, which need no token', 'connect claude-desktop'],
    ['connect claude-desktop --mode routed', 'only starts commands', 'connect claude-desktop --mode stdio'],
    ['connect zed --token variable', 'fills in no variables', 'connect zed'],
    ['connect zed --name ../x', 'give at most 64 letters, digits, spaces', 'connect zed --name hub'],
    ['connect zed --mode routed', 'needs mount_mode: "routed"', 'connect zed --mode per-server'],
  ])('are told with what to type instead: %s', async (line, words, next) => {
    const { exit, err } = await fake.run(line);
    expect(exit).not.toBe(0);
    expect(err).toContain(words);
    expect(err).toContain(`  watchkeeper ${next}\n`);
  });
});

describe('One file that two clients read', () => {
  const env = () => ({ CLINE_MCP_SETTINGS_PATH: join(fake.folder, '.cursor/mcp.json') });
  const text = () => readFileSync(join(fake.folder, '.cursor/mcp.json'), 'utf8');

  it('has entries of one of them, unless they are called otherwise', async () => {
    await fake.run('connect cursor');
    const before = text();
    const { exit, err } = await fake.run('connect cline', { env: env() });
    expect([exit, err]).toEqual([1, expect.stringMatching(/is the file of Cursor as well.*entry a; Cline finds that/)]);
    expect(err).toContain('  watchkeeper connect cline --name hub\n');
    expect((await fake.run('connect cline --replace', { env: env() })).exit).toBe(1);
    expect(text()).toBe(before);

    expect((await fake.run('connect cline --name hub', { env: env() })).exit).toBe(0);
    const both = text();
    expect(Object.keys(JSON.parse(both).mcpServers)).toEqual(['a', 'b', 'hub-a', 'hub-b']);
    expect((await fake.run('sync')).exit).toBe(0);
    expect(text()).toBe(both);
    await fake.run('disconnect cline');
    expect(text()).toBe(before);
    expect((await fake.run('sync')).exit).toBe(0);
    expect(text()).toBe(before);
  });
});

describe('A change of mount mode', () => {
  it('is not hidden by sync: the file is left alone and the command to type is told', async () => {
    fake.routes['GET /health'] = health('routed', server('a', '', 5), server('b', '', 5));
    await fake.run('connect cursor');
    const file = join(fake.folder, '.cursor/mcp.json');
    const before = readFileSync(file, 'utf8');
    fake.routes['GET /health'] = health('per-server', server('a', '', 5), server('b', '', 5));
    const { exit, err } = await fake.run('sync');
    expect(exit).toBe(1);
    expect(err).toContain('watchkeeper connect cursor --mode per-server');
    expect(readFileSync(file, 'utf8')).toBe(before);
  });
});

describe('Diffs', () => {
  it('show no secret of anybody', async () => {
    mkdirSync(join(fake.folder, '.cursor'));
    writeFileSync(
      join(fake.folder, '.cursor/mcp.json'),
      `{"mcpServers":{"mine":{"command":"x","env":{"MY_TOKEN":"hunter2-hunter2"}}}}`,
    );
    const { out } = await fake.run('connect cursor --dry-run --token file');
    expect(out).toContain('/mcp/a');
    expect(out).not.toMatch(/hunter2|wk_\w/);
  });

  it('are nothing to do with a client that is not connected', async () => {
    expect(await fake.run('disconnect cursor')).toMatchObject({
      exit: 0,
      out: 'Cursor is not connected; nothing to do.\n',
    });
    expect((await fake.run('disconnect cursorr')).exit).toBe(2);
    expect((await fake.run('sync')).out).toBe('No client is connected.\n');
  });
});
