import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ToolsHistory, Why } from '../../src/api/client.ts';
import { localTime } from '../../src/cli/duration.ts';
import { type Fake, fakeDaemon, now, problem } from './fake.daemon.ts';
import { serverStatus } from './shapes.ts';

const ago = (ms: number): string => new Date(now - ms).toISOString();

const why: Why = {
  server: 'memory',
  at: ago(0),
  position: 20,
  state: 'backing-off',
  since: ago(5_000),
  summary: 'It failed; attempt 4 is due in 3 s.',
  attempt: 3,
  nextAttemptAt: ago(-3_000),
  failure: {
    class: 'exit',
    phase: 'initialize',
    message: 'initialize: gone',
    exitCode: 3,
    position: 19,
    at: ago(5_000),
  },
  stderr: {
    position: 19,
    at: ago(5_000),
    text: `${Array.from({ length: 20 }, (_, n) => `line ${n}`).join('\n')}\u001b[2J\n`,
  },
  losses: { today: 1, atLeast: false },
  chain: [
    {
      position: 19,
      at: ago(5_000),
      fact: 'ConnectFailed',
      to: 'backing-off',
      text: 'Attempt 3 failed.',
      times: 2,
      first: { position: 15, at: ago(9_000) },
    },
    ...[9, 8, 7, 6].map((position) => ({
      position,
      at: ago(60_000),
      fact: 'SessionLost',
      to: 'session-lost',
      text: 'Lost:\nagain.',
    })),
  ],
  omitted: 7,
  changes: [{ kind: 'config', position: 5, at: ago(70_000), text: 'Its entry changed.' }],
  until: null,
  next: { text: 'Try now.', command: 'watchkeeper reconnect memory' },
};

let fake: Fake;
beforeEach(async () => {
  fake = await fakeDaemon({ 'GET /v1/mcp/why': why, 'GET /v1/mcp/status': { servers: [serverStatus('memory')] } });
});
afterEach(() => fake.close());

describe('why', () => {
  it('tells state, chain, last words, changes and what to do, a line each', async () => {
    const { exit, out } = await fake.run('why memory');
    expect(exit).toBe(0);
    expect(out.split('\n')).toEqual([
      `memory: backing-off since ${localTime(ago(5_000))}`,
      `It failed; attempt 4 is due in 3 s. Next attempt at ${localTime(ago(-3_000))}.`,
      '',
      'Because, newest first:',
      `      19  ${localTime(ago(5_000))}  Attempt 3 failed. First at ${localTime(ago(9_000))} (15).`,
      '          … 7 more …',
      ...[9, 8, 7, 6].map((position) => `       ${position}  ${localTime(ago(60_000))}  Lost: again.`),
      '',
      'Its last words (19):',
      ...Array.from({ length: 12 }, (_, n) => `  | line ${n + 8}`),
      '',
      'What changed around it:',
      `       5  ${localTime(ago(70_000))}  Its entry changed.`,
      '',
      'Try now.',
      '  watchkeeper reconnect memory',
      '',
    ]);
  });

  it('asks about another moment, and prints the shape of the API', async () => {
    const { json } = await fake.run('why memory --at 12 --json');
    expect(json).toEqual(why);
    expect(fake.asked.at(-1)).toMatchObject({ route: 'GET /v1/mcp/why', query: { name: 'memory', at: '12' } });
  });

  it('tells no change twice, and no attempt that is over as one to come', async () => {
    const told = {
      kind: 'config' as const,
      position: why.chain[0]?.position ?? 0,
      at: ago(5_000),
      text: why.chain[0]?.text ?? '',
    };
    fake.routes['GET /v1/mcp/why'] = { ...why, changes: [told], nextAttemptAt: ago(60_000) };
    const { out } = await fake.run('why memory');
    expect(out.split(told.text)).toHaveLength(2);
    expect(out).not.toContain('Next attempt');
    expect(out).not.toContain('What changed');
  });

  it('says what ended an earlier state', async () => {
    fake.routes['GET /v1/mcp/why'] = {
      ...why,
      until: { position: 21, at: ago(0), state: 'ready', fact: 'ToolsListed' },
    };
    expect((await fake.run('why memory')).out).toContain(`, until ${localTime(ago(0))} (then ready)\n`);
  });

  it('of an unknown server names the near one', async () => {
    fake.routes['GET /v1/mcp/why'] = problem(404, 'unknown-server', 'There is no server "memry".');
    expect(await fake.run('why memry')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('watchkeeper why memory'),
    });
  });

  it('without daemon and log is not reachable', async () => {
    const alone = await fakeDaemon({}, { running: false });
    expect((await alone.run('why memory')).exit).toBe(3);
    expect((await alone.run('bundle memory')).exit).toBe(3);
    await alone.close();
  });
});

describe('tools --changes', () => {
  const at = ago(60_000);
  const place = { position: 7, at };
  const step = {
    server: 'memory',
    tool: 'read',
    name: 'mcp__memory__read',
    parts: [],
    before: null,
    after: { name: 'read' },
  };
  const history: ToolsHistory = {
    changes: [
      { ...place, ...step, change: 'added', grant: null },
      {
        ...step,
        position: 9,
        at,
        change: 'changed',
        parts: ['description'],
        before: { name: 'read', description: 'Reads\u001b[31m it.' },
        after: { name: 'read', description: 'Reads all of it.' },
        grant: { entry: 'mcp__memory__read', suspended: true },
      },
    ],
    difference: [{ ...step, change: 'removed', before: { name: 'read' }, after: null }],
    tools: [
      {
        server: 'memory',
        tool: 'read',
        name: 'mcp__memory__read',
        firstSeen: place,
        lastChanged: { position: 9, at },
        removed: null,
      },
    ],
  };

  beforeEach(() => {
    fake.routes['GET /v1/mcp/tools/history'] = history;
  });

  it('shows each change below its moment, and since when each tool is what it is', async () => {
    const { exit, out, err } = await fake.run('tools memory --changes --from 5 --to 2026-03-15');
    expect(exit).toBe(0);
    expect(out).toBe(
      [
        `${localTime(at)}  (7)`,
        '  + mcp__memory__read',
        `${localTime(at)}  (9)`,
        '  ~ mcp__memory__read  granted; this change suspended the grant',
        '      description: Reads[-\\u001b[31m-] {+all of +}it.',
        '',
        'TOOL               FIRST SEEN               LAST CHANGED',
        `mcp__memory__read  ${localTime(at)}  ${localTime(at)}`,
        '',
      ].join('\n'),
    );
    expect(err).toContain('Calls of these ask again: mcp__memory__read.');
    expect(fake.asked.at(-1)?.query).toMatchObject({ server: 'memory', from: '5' });
  });

  it('marks what came and went in colours where there are some', async () => {
    const { out } = await fake.run('tools memory --changes', { env: { FORCE_COLOR: '1' } });
    expect(out).toContain('\u001b[32m{+all of +}');
    expect(out).not.toContain('\u001b[31m it.');
  });

  it('shows the difference of two moments in one step', async () => {
    expect((await fake.run('tools memory --diff --from 5')).out).toBe('  - mcp__memory__read\n');
    fake.routes['GET /v1/mcp/tools/history'] = { ...history, difference: [] };
    expect((await fake.run('tools memory --diff --from 5')).out).toBe('The tools are the same.\n');
  });

  it.each([
    ['tools memory --diff', /the first one with --from/],
    ['tools memory --from 5', /belong to --changes or --diff/],
    ['tools memory --changes --at 5', /--at shows the tools of one moment/],
  ])('%s is used wrongly', async (line, message) => {
    const { exit, err } = await fake.run(line);
    expect(exit).toBe(2);
    expect(err).toMatch(message);
  });
});

describe('bundle', () => {
  const bytes = Buffer.from([31, 139, 8, 0, 255, 10]);
  beforeEach(() => {
    fake.routes['GET /v1/mcp/bundle'] = (_asked: unknown, response: import('node:http').ServerResponse) => {
      response.writeHead(200, {
        'content-type': 'application/gzip',
        'content-disposition': 'attachment; filename="watchkeeper-memory-20260315T120000Z.tar.gz"',
      });
      response.end(bytes);
    };
  });

  it('writes what the daemon sends into a file of its owner, and says what is in it', async () => {
    const { exit, out } = await fake.run('bundle memory --from 1h');
    const file = join(fake.folder, 'watchkeeper-memory-20260315T120000Z.tar.gz');
    expect(exit).toBe(0);
    expect(out).toMatch(new RegExp(`^${file} \\(6 bytes\\)\n {2}README\\.txt `));
    expect(readFileSync(file)).toEqual(bytes);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(fake.asked.at(-1)?.query).toEqual({ name: 'memory', from: ago(3_600_000) });
  });

  it('never overwrites', async () => {
    const file = join(fake.folder, 'mine.tar.gz');
    writeFileSync(file, 'mine');
    const { exit, err } = await fake.run('bundle memory mine.tar.gz');
    expect(exit).toBe(1);
    expect(err).toContain('exists already and is left as it is');
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });

  it.each([
    ['bundle memory --from now --to 1h', 2, /--from is after --to/],
    ['bundle memory nowhere/x.tar.gz', 1, /There is no folder/],
  ])('%s is refused, and leaves nothing behind', async (line, code, message) => {
    const { exit, err } = await fake.run(line);
    expect(exit).toBe(code);
    expect(err).toMatch(message);
    expect(existsSync(join(fake.folder, 'nowhere'))).toBe(false);
  });
});
