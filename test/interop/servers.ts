/** Eight servers that people really use, each with a call whose effect can be looked at outside. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'vitest';
import { missing, type Purpose } from '../support/needs.ts';
import { npmServers, pythonServers } from '../support/paths.ts';
import { startPostgres } from '../support/postgres.ts';
import { tempDir } from '../support/temp.ts';

/** Calls one tool under the server's own name for it; resolves with the text of the result. */
export type Ask = (tool: string, args?: Record<string, unknown>) => Promise<string>;

export interface RealServer {
  readonly name: string;
  /** What this machine must have for it. */
  readonly needs?: Purpose;
  /** Some of its tools, by its own names. */
  readonly tools: readonly string[];
  /** Of `mcp.json`. Called when it is there. */
  entry(): Record<string, unknown> | Promise<Record<string, unknown>>;
  /** Does something and looks whether it was really done. `mark` is used once. Null: its calls need the Internet. */
  readonly act: ((ask: Ask, mark: string) => Promise<void>) | null;
}

const script = (path: string, ...args: string[]) => ({ command: process.execPath, args: [path, ...args] });
const folder = tempDir();
const at = (name: string): string => join(folder, name);

export const realServers: readonly RealServer[] = [
  {
    name: 'everything',
    tools: ['echo', 'get-sum'],
    entry: () => script(npmServers.everything),
    act: async (ask, mark) => expect(await ask('echo', { message: mark })).toContain(mark),
  },
  {
    name: 'memory',
    tools: ['create_entities', 'search_nodes'],
    entry: () => ({ ...script(npmServers.memory), env: { MEMORY_FILE_PATH: at('memory.jsonl') } }),
    act: async (ask, mark) => {
      const entities = [{ name: mark, entityType: 'thing', observations: ['it is on'] }];
      await ask('create_entities', { entities });
      expect(readFileSync(at('memory.jsonl'), 'utf8')).toContain(mark);
      expect(await ask('search_nodes', { query: mark })).toContain('it is on');
    },
  },
  {
    name: 'filesystem',
    tools: ['read_text_file', 'list_directory'],
    entry: () => {
      mkdirSync(at('shared'));
      return script(npmServers.filesystem, at('shared'));
    },
    act: async (ask, mark) => {
      const path = at(`shared/${mark}.txt`);
      writeFileSync(path, `${mark} was here`);
      expect(await ask('read_text_file', { path })).toContain(`${mark} was here`);
    },
  },
  {
    name: 'browser',
    needs: 'chromium',
    tools: ['browser_navigate', 'browser_snapshot'],
    entry: () => {
      mkdirSync(at('browser'));
      const chromium = ['--executable-path', '/usr/bin/chromium', '--headless', '--no-sandbox', '--isolated'];
      return { ...script(npmServers.playwright, ...chromium, '--output-dir', at('browser')), cwd: at('browser') };
    },
    act: async (ask, mark) => {
      // Only a browser that ran the page's script knows this title.
      const html = `<h1>Tea</h1><script>document.title = ['page', '${mark}'].join(' of ')</script>`;
      const url = `data:text/html,${encodeURIComponent(html)}`;
      expect(await ask('browser_navigate', { url })).toContain(`page of ${mark}`);
      expect(await ask('browser_snapshot')).toContain('Tea');
    },
  },
  {
    name: 'postgres',
    needs: 'postgresql',
    tools: ['query'],
    entry: async () => {
      const postgres = await startPostgres();
      await postgres.sql(`create table teas (name text, minutes integer); insert into teas values ('Assam', 4)`);
      return script(npmServers.postgres, postgres.url);
    },
    act: async (ask, mark) => {
      const sql = `select name || ' ${mark}' as tea from teas where minutes > 3`;
      expect(await ask('query', { sql })).toContain(`Assam ${mark}`);
    },
  },
  {
    name: 'github',
    tools: ['create_issue', 'search_repositories'],
    entry: () => ({ ...script(npmServers.github), env: { GITHUB_PERSONAL_ACCESS_TOKEN: 'not-a-token' } }),
    act: null,
  },
  {
    name: 'time',
    needs: 'python',
    tools: ['get_current_time', 'convert_time'],
    entry: () => ({ command: pythonServers.time, args: ['--local-timezone', 'UTC'] }),
    act: async (ask) => {
      const args = { source_timezone: 'Asia/Tokyo', time: '16:30', target_timezone: 'Asia/Kolkata' };
      expect(await ask('convert_time', args)).toContain('T13:00:00+05:30');
    },
  },
  {
    name: 'sqlite',
    needs: 'python',
    tools: ['read_query', 'write_query'],
    entry: () => ({ command: pythonServers.sqlite, args: ['--db-path', at('tea.db')] }),
    act: async (ask, mark) => {
      await ask('create_table', { query: 'create table if not exists teas (name text)' });
      await ask('write_query', { query: `insert into teas values ('${mark}')` });
      const db = new Database(at('tea.db'), { readonly: true });
      expect(db.prepare('select count(*) from teas where name = ?').pluck().get(mark)).toBe(1);
      db.close();
      expect(await ask('read_query', { query: `select name from teas where name = '${mark}'` })).toContain(mark);
    },
  },
];

/** Those that this machine can run. */
export const present = realServers.filter(({ needs }) => needs === undefined || missing(needs) === null);
