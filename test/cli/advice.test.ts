import { writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { type Fake, fakeDaemon, problem } from './fake.daemon.ts';
import { failing, serverStatus } from './shapes.ts';

const names = commands.map(({ description }) => description.name.split(' ')[0] ?? '');

describe('Commands that are told', () => {
  let idle: Fake;
  let running: Fake;
  beforeEach(async () => {
    idle = await fakeDaemon({}, { running: false });
    running = await fakeDaemon();
  });
  afterEach(() => Promise.all([idle.close(), running.close()]));

  const typed = async (fake: Fake, line: string, ...more: string[]) => {
    const place = ['--data', fake.dataDir, '--config', fake.configFile];
    const [before = '', ...after] = line.split(' -- ');
    const argv = [...before.split(' '), ...place, ...more, ...(after.length > 0 ? ['--', ...after] : [])];
    return fake.run(argv, { env: { WATCHKEEPER_DATA: '', WATCHKEEPER_CONFIG: '' } });
  };
  const told = new RegExp(`\\bwatchkeeper (?:--\\S+ \\S+ )*(?:${names.join('|')})\\b[^\\n]*`, 'g');
  const mustMean = (fake: Fake, text: string): void => {
    const found = text.match(told) ?? [];
    expect(found, text).not.toEqual([]);
    for (const one of found) expect(one).toContain(`--data ${fake.dataDir} --config ${fake.configFile} `);
  };

  it.each(commands.map(({ description }) => description.name).filter((name) => name !== 'version'))(
    'by %s when it is typed wrongly lead to the same daemon',
    async (name) => {
      const { exit, err } = await typed(idle, name, '--nonsense');
      expect(exit).toBe(2);
      mustMean(idle, err);
      const { err: json } = await typed(idle, name, '--nonsense', '--json');
      mustMean(idle, JSON.parse(json).next.join('\n'));
    },
  );

  it.each([
    'status',
    'stats',
    'tools',
    'call memory read',
    'doctor',
    'why memory',
    'history memory',
    'log',
    'approvals',
    'approve x',
    'allow memory',
    'add a -- node',
    'disable b',
    'enable b',
    'remove nothing',
    'connect zed',
    'connect zzd',
    'sync',
    'clients',
    'config check',
    'record memory',
    'login memory',
    'up --port x',
    'down',
  ])('by "%s" without a daemon lead to the same place', async (line) => {
    await writeFile(
      idle.configFile,
      JSON.stringify({ mcpServers: { b: { command: 'node' }, 'not valid': { command: 'node' } } }),
    );
    const { out, err } = await typed(idle, line);
    mustMean(idle, `${out}${err}`);
  });

  it('in what a daemon answers lead to it', async () => {
    running.routes['GET /v1/mcp/status'] = { servers: [] };
    mustMean(running, (await typed(running, 'status')).err);
    running.routes['GET /v1/mcp/status'] = { servers: [serverStatus('memory')] };
    mustMean(running, (await typed(running, 'status memry')).err);
    running.routes['POST /v1/mcp/call'] = problem(403, 'denied', 'No grant.', {
      next: 'Grant it: `watchkeeper allow`',
    });
    mustMean(running, (await typed(running, 'call memory read')).err);
    running.routes['GET /v1/mcp/doctor'] = {
      ok: false,
      servers: [],
      daemon: {
        ok: false,
        running: true,
        version: '1',
        checks: [{ name: 'log', ok: false, detail: 'bad', next: 'watchkeeper status' }],
      },
    };
    mustMean(running, (await typed(running, 'doctor')).out);
    running.routes['GET /v1/mcp/why'] = {
      ...failing('memory'),
      server: 'memory',
      at: new Date().toISOString(),
      summary: 's',
      chain: [],
      omitted: 0,
      stderr: null,
      changes: [],
      until: null,
      next: { text: 'Do:', command: 'watchkeeper log memory' },
    };
    mustMean(running, (await typed(running, 'why memory')).out);
  });

  it('leave what a server says alone', async () => {
    running.routes['POST /v1/mcp/call'] = { content: 'type watchkeeper status' };
    const { out } = await typed(running, 'call memory read');
    expect(out).not.toContain('--data');
  });
});
