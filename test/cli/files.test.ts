import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Unrecorded } from '../../src/events/envelope.ts';
import { openLog } from '../../src/events/sqlite.ts';
import { projector } from '../../src/projections/projection.ts';
import { views } from '../../src/projections/views.ts';
import { packageRoot, packageVersion } from '../../src/root.ts';
import { type Fake, fakeDaemon, now } from './fake.daemon.ts';

let fake: Fake;
beforeEach(async () => {
  fake = await fakeDaemon({}, { running: false });
});
afterEach(() => fake.close());

const inData = (name: string): string => join(fake.dataDir, name);
const modeOf = async (file: string): Promise<number> => (await stat(file)).mode & 0o777;

/** A log as a daemon leaves it behind. */
async function leaveLog(): Promise<void> {
  const log = openLog({
    file: inData('watchkeeper.db'),
    migrations: join(packageRoot(), 'migrations'),
    durability: 'process',
    project: (db) => projector(db, views),
  });
  const base = { stream: 'server-memory', schema: 1, cause: null } as const;
  const facts: unknown[] = [
    { ...base, version: 1, type: 'ServerEnabled', at: now + 1000, data: { to: 'idle' } },
    { ...base, version: 2, type: 'ServerStopped', at: now + 2000, data: { reason: 'disabled', to: 'stopped' } },
  ];
  await log.append(facts as Unrecorded[], []);
  log.close();
}

describe('the log without a daemon', () => {
  beforeEach(leaveLog);

  it('log reads the file', async () => {
    const { exit, json } = await fake.run('log memory --json');
    expect(exit).toBe(0);
    expect(json).toEqual({
      events: [
        {
          position: 1,
          stream: 'server-memory',
          version: 1,
          type: 'ServerEnabled',
          schema: 1,
          at: new Date(now + 1000).toISOString(),
          cause: null,
          data: { to: 'idle' },
        },
        {
          position: 2,
          stream: 'server-memory',
          version: 2,
          type: 'ServerStopped',
          schema: 1,
          at: new Date(now + 2000).toISOString(),
          cause: null,
          data: { reason: 'disabled', to: 'stopped' },
        },
      ],
      next: null,
    });
  });

  it('log --follow needs a daemon', async () => {
    expect((await fake.run('log --follow')).exit).toBe(3);
  });

  it('history reads the file', async () => {
    const { json } = await fake.run('history memory --json');
    expect(json.intervals).toEqual([
      {
        server: 'memory',
        state: 'idle',
        from: new Date(now + 1000).toISOString(),
        to: new Date(now + 2000).toISOString(),
        cause: 'ServerEnabled',
        position: 1,
      },
      {
        server: 'memory',
        state: 'stopped',
        from: new Date(now + 2000).toISOString(),
        to: null,
        cause: 'ServerStopped: disabled',
        position: 2,
      },
    ]);
    expect(await fake.run('history memry')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('watchkeeper history memory'),
    });
  });

  it('rebuild makes the views anew', async () => {
    expect((await fake.run('rebuild --json')).json).toMatchObject({ ok: true, facts: 2 });
    expect((await fake.run('history memory --json')).json.intervals).toHaveLength(2);
  });

  it('backup copies the database for the owner alone', async () => {
    expect(await fake.run('backup copy.db')).toMatchObject({
      exit: 0,
      out: expect.stringContaining(inData('copy.db')),
    });
    expect(await modeOf(inData('copy.db'))).toBe(0o600);
    const elsewhere = await mkdtemp(join(tmpdir(), 'wk-copy-'));
    await writeFile(join(elsewhere, 'watchkeeper.db'), await readFile(inData('copy.db')));
    expect((await fake.run(['log', '--json', '--data', elsewhere])).json.events).toHaveLength(2);
    await rm(elsewhere, { recursive: true });
  });

  it('backup never overwrites', async () => {
    await writeFile(inData('mine.txt'), 'mine');
    expect(await fake.run('backup mine.txt')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('exists already'),
    });
    expect(await readFile(inData('mine.txt'), 'utf8')).toBe('mine');
  });

  it('backup into a folder that does not exist fails with its name and leaves nothing', async () => {
    expect(await fake.run('backup nowhere/copy.db')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('nowhere'),
    });
  });
});

describe('backup without a log', () => {
  it('says so', async () => {
    expect(await fake.run('backup copy.db')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('There is no log to copy'),
    });
  });
});

describe('token', () => {
  it('prints the token', async () => {
    await writeFile(inData('token'), 'abc\n');
    expect(await fake.run('token')).toMatchObject({ exit: 0, out: 'abc\n', err: '' });
    expect((await fake.run('token --json')).json).toEqual({ token: 'abc' });
  });

  it('says when there is none yet', async () => {
    expect(await fake.run('token')).toMatchObject({
      exit: 1,
      out: '',
      err: expect.stringContaining('There is no token yet'),
    });
  });

  it('--rotate writes a new one for the owner alone', async () => {
    await writeFile(inData('token'), 'abc\n', { mode: 0o644 });
    const { out } = await fake.run('token --rotate');
    expect(out.trim()).toMatch(/^\S{40,}$/);
    expect(out).not.toContain('abc');
    expect(await readFile(inData('token'), 'utf8')).toBe(out);
    expect(await modeOf(inData('token'))).toBe(0o600);
  });

  it('--rotate says when the running daemon must be restarted', async () => {
    const running = await fakeDaemon({
      'GET /v1/mcp/status': (_: unknown, response: import('node:http').ServerResponse) =>
        void response.writeHead(401).end('{}'),
    });
    expect((await running.run('token --rotate')).err).toContain('watchkeeper down && watchkeeper up --detach');
    running.routes['GET /v1/mcp/status'] = { servers: [] };
    expect((await running.run('token --rotate')).err).toBe('');
    await running.close();
  });
});

describe('version', () => {
  it('prints its own and, when one runs, that of the daemon', async () => {
    expect((await fake.run('version')).out).toBe(`watchkeeper ${packageVersion()}\n`);
    expect((await fake.run('version --json')).json).toEqual({ version: packageVersion(), daemon: null });
    const running = await fakeDaemon();
    expect(await running.run('version')).toMatchObject({
      out: `watchkeeper ${packageVersion()}\ndaemon 0.0.0 (pid ${process.pid})\n`,
      err: expect.stringContaining('another version'),
    });
    await running.close();
  });
});

describe('config', () => {
  it('path names every file', async () => {
    expect((await fake.run('config path --json')).json).toEqual({
      config: inData('mcp.json'),
      allowlist: inData('allow_tool'),
      settings: inData('watchkeeper.json'),
      variables: inData('watchkeeper.env'),
      data: fake.dataDir,
    });
    expect((await fake.run('config path')).out.split('\n')[0]).toBe(
      `config     ${inData('mcp.json')}  (does not exist)`,
    );
  });

  it('--config and --data go before the environment', async () => {
    const { json } = await fake.run(['config', 'path', '--config', '/etc/x/mcp.json', '--data', '/var/x', '--json']);
    expect(json).toMatchObject({ config: '/etc/x/mcp.json', allowlist: '/etc/x/allow_tool', data: '/var/x' });
  });

  it('schema is a JSON schema of the settings', async () => {
    expect((await fake.run('config schema')).json).toMatchObject({
      type: 'object',
      properties: { approval: { type: 'object' } },
    });
  });

  it('check is content with a file that does not exist', async () => {
    expect(await fake.run('config check')).toMatchObject({
      exit: 0,
      out: `${fake.configFile} does not exist: no servers.\n`,
    });
  });

  it('check is content with a good file', async () => {
    await writeFile(fake.configFile, '{"servers": {"memory": {"command": "npx"}}}');
    expect(await fake.run('config check')).toMatchObject({ exit: 0, out: `${fake.configFile}: 1 server.\n` });
  });

  it('check names every entry that is wrong, and the settings', async () => {
    await writeFile(
      fake.configFile,
      '{"servers": {"good": {"command": "npx"}, "both": {"command": "a", "url": "http://b.example"}, "my server": {"command": "a"}}}',
    );
    await writeFile(inData('watchkeeper.json'), '{"http": {"port": "many"}, "htp": {}}');
    const { exit, out, err } = await fake.run('config check');
    expect([exit, err]).toEqual([1, 'To rename them: watchkeeper config fix\n']);
    expect(out).toMatch(/error {2}both: .*`?command`?.*`?url`?/);
    expect(out).toMatch(/error {2}my server: .*my-server/);
    expect(out).toMatch(/error {2}http\.port must be a port/);
    expect(out).toMatch(/warning {2}the key `htp` is not known/);
    expect(out).toContain('3 servers, 2 of them cannot be used.');
    expect((await fake.run('config check --json')).json).toMatchObject({
      ok: false,
      exists: true,
      servers: ['both', 'good', 'my server'],
    });
  });

  it('check names line and column of a broken file', async () => {
    await writeFile(fake.configFile, '{\n  "servers": {\n    oops\n');
    expect(await fake.run('config check')).toMatchObject({ exit: 1, out: expect.stringContaining('line 3') });
  });

  describe('fix', () => {
    const text =
      '{\n  // mine\n  "servers": {\n    "my server": { "command": "a" },\n    "good": { "command": "b" }\n  }\n}\n';
    const fixed = text.replace('"my server"', '"my-server"');
    beforeEach(() => writeFile(fake.configFile, text));
    const present = () => readFile(fake.configFile, 'utf8');

    it('shows lines of allow_tool that grant nothing, stand there twice or name no server', async () => {
      await writeFile(fake.configFile, '{"servers": {"memory": {"command": "sh"}}}');
      await writeFile(
        join(fake.folder, 'allow_tool'),
        '# mine\nmcp__memory__read\n\nmemory.read\nmcp__memory__read\nmcp__memory__*x\nmcp__gone__*\n',
      );
      const { exit, json } = await fake.run('config check --json');
      expect(exit).toBe(0);
      expect(json.findings.map(({ level, message }: any) => [level, message])).toEqual([
        ['warning', expect.stringMatching(/^line 4: grants nothing/)],
        ['warning', 'line 5: stands here a second time'],
        ['warning', expect.stringMatching(/^line 6: grants nothing/)],
        ['warning', 'line 7: there is no server "gone"'],
      ]);
    });

    it('--dry-run shows and writes nothing', async () => {
      expect(await fake.run('config fix --dry-run')).toMatchObject({ exit: 0, out: '  "my server" → my-server\n' });
      expect(await present()).toBe(text);
    });

    it('--yes renames and changes nothing else', async () => {
      expect((await fake.run('config fix --yes --json')).json).toEqual({
        ok: true,
        written: true,
        renames: [{ from: 'my server', to: 'my-server' }],
      });
      expect(await present()).toBe(fixed);
      expect(await fake.run('config fix')).toMatchObject({
        exit: 0,
        out: 'Every server has a name that is allowed.\n',
      });
    });

    it('asks on a terminal, and no is the default', async () => {
      expect((await fake.run('config fix', { answers: [] })).exit).toBe(4);
      expect(fake.questions[0]?.text).toContain('"my server" → my-server');
      expect(await present()).toBe(text);
      expect((await fake.run('config fix', { answers: ['y'] })).exit).toBe(0);
      expect(await present()).toBe(fixed);
    });

    it('in a pipe writes nothing without --yes', async () => {
      expect(await fake.run('config fix')).toMatchObject({
        exit: 1,
        err: expect.stringContaining('watchkeeper config fix --yes'),
      });
      expect(await present()).toBe(text);
    });
  });

  it('trust lets the files beside a foreign configuration count', async () => {
    const foreign = await mkdtemp(join(tmpdir(), 'wk-foreign-'));
    const file = join(foreign, 'mcp.json');
    await writeFile(file, '{"servers": {}}');
    await writeFile(join(foreign, 'allow_tool'), 'mcp__a__*\n');
    expect((await fake.run(['config', 'check', '--config', file])).out).toContain(
      `does not count until \`watchkeeper --config ${file} config trust\``,
    );
    expect(await fake.run(['config', 'trust', '--config', file])).toMatchObject({
      exit: 0,
      out: expect.stringContaining(join(foreign, 'allow_tool')),
    });
    expect((await fake.run(['config', 'check', '--config', file])).out).not.toContain('config trust');
    expect((await fake.run(['config', 'trust', '--config', file])).out).toContain('is trusted already');
    expect(existsSync(inData('trusted.json'))).toBe(true);
    await rm(foreign, { recursive: true });
  });
});
