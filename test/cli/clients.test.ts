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
