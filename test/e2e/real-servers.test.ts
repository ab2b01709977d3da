import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { needsPythonServers } from '../support/needs.ts';
import { npmServers, pythonServers } from '../support/paths.ts';
import { isAlive, signal } from '../support/processes.ts';
import { tempDir } from '../support/temp.ts';
import { textOf } from './asking.ts';

const limits = { connectTimeoutMs: 30_000 };
const script = (path: string, ...args: string[]) => ({ command: process.execPath, args: [path, ...args], ...limits });

/** `tools` are some of its own; the call is one that tells that the server really did it. */
describe('Servers from npm', () => {
  const folder = tempDir();
  const shared = join(folder, 'shared');
  const memoryFile = join(folder, 'memory.jsonl');
  let daemon: Daemon;

  beforeAll(async () => {
    mkdirSync(shared);
    writeFileSync(join(shared, 'note.txt'), 'the kettle is on\n');
    daemon = await startDaemon({
      servers: {
        everything: script(npmServers.everything),
        memory: { ...script(npmServers.memory), env: { MEMORY_FILE_PATH: memoryFile } },
        filesystem: script(npmServers.filesystem, shared),
      },
    });
    for (const name of ['everything', 'memory', 'filesystem']) await daemon.waitForServer(name, 'ready', 40_000);
  }, 90_000);
  afterAll(() => daemon.stop());

  it('are all ready, with their own names and versions', async () => {
    const rows = await daemon.status();
    expect(rows.map(({ name, state, connected, error }) => [name, state, connected, error])).toEqual([
      ['everything', 'ready', true, null],
      ['filesystem', 'ready', true, null],
      ['memory', 'ready', true, null],
    ]);
    for (const { serverInfo, era, protocolVersion, pid, tools } of rows) {
      expect(serverInfo.version).toMatch(/\d/);
      expect(era).toMatch(/legacy|modern/);
      expect(protocolVersion).toMatch(/^\d{4}-\d\d-\d\d$/);
      expect(isAlive(pid)).toBe(true);
      expect(tools).toBeGreaterThan(3);
    }
  });

  it('offer their tools under names that say where they come from', async () => {
    const names = (await daemon.tools()).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'mcp__everything__echo',
        'mcp__memory__create_entities',
        'mcp__memory__search_nodes',
        'mcp__filesystem__read_text_file',
        'mcp__filesystem__list_directory',
      ]),
    );
    expect(names).toEqual([...names].sort());
  });

  it('do what they are asked', async () => {
    const echoed = await daemon.call('mcp__everything__echo', { message: 'ahoy' });
    expect(textOf(echoed)).toContain('ahoy');
    expect(echoed.body).toMatchObject({ outcome: 'succeeded' });

    const entities = [{ name: 'kettle', entityType: 'thing', observations: ['it is on'] }];
    expect((await daemon.call('mcp__memory__create_entities', { entities })).body.outcome).toBe('succeeded');
    expect(readFileSync(memoryFile, 'utf8')).toContain('kettle');
    expect(textOf(await daemon.call('mcp__memory__search_nodes', { query: 'kettle' }))).toContain('it is on');

    const note = await daemon.call('mcp__filesystem__read_text_file', { path: join(shared, 'note.txt') });
    expect(textOf(note)).toContain('the kettle is on');
    const outside = await daemon.call('mcp__filesystem__read_text_file', { path: '/etc/hostname' });
    expect(outside.body).toMatchObject({ outcome: 'tool-error', isError: true });
  });

  it('come back with the same tools when they are killed', async () => {
    const before = await daemon.tools('memory');
    const { pid } = await daemon.server('memory');
    signal(pid, 'SIGKILL');
    await daemon.waitForServer('memory', (row) => row.state === 'ready' && row.pid !== pid, 20_000);
    expect(await daemon.tools('memory')).toEqual(before);
    expect(textOf(await daemon.call('mcp__memory__search_nodes', { query: 'kettle' }))).toContain('it is on');
  });

  it('go when the daemon goes', async () => {
    const pids = (await daemon.status()).map(({ pid }) => pid);
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    expect(pids.filter(isAlive)).toEqual([]);
  });
});

describe('Servers from PyPI', () => {
  it('are ready, tell the time and run SQL on a real file', async (context) => {
    needsPythonServers(context);
    const file = join(tempDir(), 'tea.db');
    const daemon = await startDaemon({
      servers: {
        time: { command: pythonServers.time, args: ['--local-timezone', 'UTC'], ...limits },
        sqlite: { command: pythonServers.sqlite, args: ['--db-path', file], ...limits },
      },
    });
    await daemon.waitForServer('time', 'ready', 40_000);
    await daemon.waitForServer('sqlite', 'ready', 40_000);
    expect((await daemon.tools()).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['mcp__time__get_current_time', 'mcp__sqlite__read_query', 'mcp__sqlite__write_query']),
    );

    const now = await daemon.call('mcp__time__get_current_time', { timezone: 'Europe/Berlin' });
    expect(textOf(now)).toContain('Europe/Berlin');

    const run = async (tool: string, query: string) => {
      const reply = await daemon.call(`mcp__sqlite__${tool}`, { query });
      expect(reply.body.outcome).toBe('succeeded');
      return textOf(reply);
    };
    await run('create_table', 'create table teas (name text, minutes integer)');
    await run('write_query', "insert into teas values ('Assam', 4), ('Sencha', 2)");
    expect(await run('read_query', 'select name from teas where minutes < 3')).toContain('Sencha');

    const db = new Database(file, { readonly: true });
    expect(db.prepare('select count(*) from teas').pluck().get()).toBe(2);
    db.close();
    await daemon.stop();
  }, 120_000);
});
