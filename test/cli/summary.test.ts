import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Summary } from '../../src/api/client.ts';
import { openLog } from '../../src/events/sqlite.ts';
import { summary } from '../../src/http/contract.summary.ts';
import { projector } from '../../src/projections/projection.ts';
import { views } from '../../src/projections/views.ts';
import { packageRoot } from '../../src/root.ts';
import { configured, connected, connecting, enabled, listed, lost, reconnecting } from '../support/server.facts.ts';
import { storyOn } from '../support/story.ts';
import { type Fake, fakeDaemon, now, problem } from './fake.daemon.ts';

const HOUR = 3_600_000;
const at = (before: number): string => new Date(now - before).toISOString();
const percentiles = { count: 3, p50: 12, p90: 40.5, p99: 1_500 };

const github: Summary['servers'][number] = {
  name: 'github',
  from: at(24 * HOUR),
  to: at(0),
  state: 'ready',
  facts: 90,
  time: { readyMs: 20 * HOUR, downMs: HOUR, restingMs: 0, unobservedMs: 3 * HOUR },
  availability: 20 / 21,
  losses: 15,
  starts: 1,
  failedAttempts: 2,
  listFailures: 0,
  mtbfMs: (20 * HOUR) / 15,
  mttrMs: 4 * 60_000,
  repairs: 15,
  failingSince: null,
  flapScore: 42,
  latency: { connect: percentiles, list: percentiles, call: { count: 0, p50: null, p90: null, p99: null } },
  failures: [
    {
      fingerprint: '1a2b3c4d',
      phase: 'watch',
      class: 'session',
      code: 'HTTP 404',
      message: 'watch: session <n> is gone',
      example: 'watch: session 17 is gone',
      count: 15,
      first: { at: at(20 * HOUR), position: 12 },
      last: { at: at(HOUR), position: 93 },
      positions: [71, 93],
    },
  ],
  hints: [
    {
      kind: 'after-connecting',
      text: 'ends 60 min after it connected, which is how long its sessions seem to last, 14 of 15 times',
      support: 14,
      of: 15,
      chance: 1e-12,
      positions: [12, 71, 93],
      related: [],
      fingerprint: '1a2b3c4d',
      ms: HOUR,
    },
  ],
};

describe('history --summary', () => {
  let fake: Fake;
  beforeEach(async () => {
    fake = await fakeDaemon({ 'GET /v1/mcp/history/summary': { servers: [github] } });
  });
  afterEach(() => fake.close());

  it('of one server shows its numbers, its failures and what its losses have in common', async () => {
    const { exit, out } = await fake.run('history github --summary');
    expect(exit).toBe(0);
    const text = out.replace(/\d{4}-\d\d-\d\d [\d:.]+/g, '<time>');
    expect(text.split('\n')).toEqual([
      'github',
      '  available  95.24 %',
      '  time       20 h ready, 1 h down, 3 h not watched (from <time> to <time>)',
      '  losses     15, one in 1 h 20 m of ready time',
      '  repair     4 m on average, 15 times',
      '  attempts   2 failed',
      '  flap score 42 of 100',
      '',
      'LATENCY  COUNT    P50    P90  P99',
      'connect      3  12 ms  41 ms  1 s',
      'list         3  12 ms  41 ms  1 s',
      'call         0',
      '',
      'TIMES  FAILURE                     CLASS    CODE      FIRST                    LAST                     POSITIONS',
      expect.stringMatching(
        /^ {3}15 {2}watch: session <n> is gone {2}session {2}HTTP 404 {2}<time> {2}<time> {2}71 93$/,
      ),
      '',
      'What losses have in common',
      '  ends 60 min after it connected, which is how long its sessions seem to last, 14 of 15 times [watch: session <n> is gone]',
      '    positions … 12 71 93',
      '',
    ]);
  });

  it('of all servers is a line each', async () => {
    const { out } = await fake.run('history --summary');
    expect(out.split('\n')).toEqual([
      'SERVER  AVAILABLE  LOSSES   BETWEEN  REPAIR  FLAP  CONNECT P90  HINT',
      expect.stringMatching(/^github +95\.24 % +15 +1 h 20 m +4 m +42 +41 ms +ends 60 min after it connected/),
      '',
    ]);
  });

  it('never rounds up to a whole', async () => {
    fake.routes['GET /v1/mcp/history/summary'] = { servers: [{ ...github, availability: 0.999999 }] };
    expect((await fake.run('history --summary')).out).toContain('99.99 %');
    fake.routes['GET /v1/mcp/history/summary'] = { servers: [{ ...github, availability: 1 }] };
    expect((await fake.run('history --summary')).out).toContain('100.00 %');
  });

  it('asks for the stretch that is wanted, and prints the answer of the API as JSON', async () => {
    expect((await fake.run('history github --summary --from 2h --json')).json).toEqual({ servers: [github] });
    expect(fake.asked.at(-1)?.query).toEqual({ name: 'github', from: at(2 * HOUR) });
  });

  it('suggests a near name for one that no server has', async () => {
    fake.routes['GET /v1/mcp/history/summary'] = problem(404, 'unknown-server', 'no');
    fake.routes['GET /v1/mcp/status'] = { servers: [{ name: 'github' }] };
    expect(await fake.run('history githib --summary')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('watchkeeper history --summary github'),
    });
  });

  it('says so when nothing is known', async () => {
    fake.routes['GET /v1/mcp/history/summary'] = { servers: [] };
    expect((await fake.run('history github --summary')).out).toBe('Nothing is known of github in that time.\n');
  });

  it('wants a name without --summary', async () => {
    expect(await fake.run('history')).toMatchObject({
      exit: 2,
      err: expect.stringContaining('watchkeeper history --summary'),
    });
  });
});

describe('history --summary without a daemon', () => {
  let fake: Fake;
  beforeEach(async () => {
    fake = await fakeDaemon({}, { running: false });
    const log = openLog({
      file: join(fake.dataDir, 'watchkeeper.db'),
      migrations: join(packageRoot(), 'migrations'),
      durability: 'process',
      project: (db) => projector(db, views),
    });
    const story = storyOn(log);
    await story.tell(1_000, 'server-a', configured(), enabled, connecting(), connected(), listed());
    await story.tell(4_000, 'server-a', lost(), reconnecting());
    await story.tell(5_000, 'server-a', connected(2), listed(2, 's1', null));
    log.touch(9_000);
    log.close();
  });
  afterEach(() => fake.close());

  it('does the same on the file, until the daemon was last known alive', async () => {
    const { exit, json } = await fake.run('history --summary --json');
    expect(exit).toBe(0);
    const { servers } = summary.parse(json);
    expect(servers[0]).toMatchObject({
      name: 'a',
      to: '1970-01-01T00:00:09.000Z',
      time: { readyMs: 7_000, downMs: 1_000, restingMs: 0, unobservedMs: 0 },
      availability: 0.875,
      losses: 1,
      mttrMs: 1_000,
    });
    expect((await fake.run('history a --summary')).out).toContain('87.50 %');
  });

  it('suggests a near name, and fails where there is no log', async () => {
    expect(await fake.run('history aa --summary')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('watchkeeper history --summary a'),
    });
    expect((await fake.run(['history', '--summary', '--data', join(fake.folder, 'none')])).exit).toBe(3);
  });
});
