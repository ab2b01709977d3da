import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Event } from '../../src/cli/shapes.ts';
import { type Asked, type Fake, fakeDaemon, now, problem } from './fake.daemon.ts';
import { serverStatus } from './shapes.ts';

const fact = (position: number, type: string, stream = 'server-memory'): Event => ({
  position,
  stream,
  version: position,
  type,
  schema: 1,
  at: new Date(now - (100 - position) * 60_000).toISOString(),
  cause: null,
  data: {},
});

const facts = [
  fact(1, 'ConnectStarted'),
  fact(2, 'Connected'),
  fact(3, 'DaemonStarted', 'daemon'),
  fact(50, 'ToolsListed'),
  fact(95, 'SessionLost'),
];

const events = ({ query }: Asked) => {
  const { after = '0', limit = '100', stream, type } = query;
  const fits = facts.filter(
    (event) =>
      event.position > Number(after) &&
      (stream === undefined || event.stream === stream) &&
      (type === undefined || event.type === type),
  );
  const page = fits.slice(0, Number(limit));
  return { events: page, next: fits.length > page.length ? (page.at(-1)?.position ?? null) : null };
};

let fake: Fake;
beforeEach(async () => {
  fake = await fakeDaemon({ 'GET /v1/events': events, 'GET /v1/mcp/status': { servers: [serverStatus('memory')] } });
});
afterEach(() => fake.close());

const positions = async (line: string): Promise<number[]> =>
  ((await fake.run(`${line} --json`)).json.events as Event[]).map(({ position }) => position);

describe('log', () => {
  it.each([
    ['the newest facts', 'log', [1, 2, 3, 50, 95]],
    ['as many as asked for', 'log --limit 2', [50, 95]],
    ['of one server', 'log memory', [1, 2, 50, 95]],
    ['of one type', 'log --type SessionLost', [95]],
    ['of one stream', 'log --stream daemon', [3]],
    ['since a span ago', 'log --since 1h', [50, 95]],
    ['since a position, itself included', 'log --since 3', [3, 50, 95]],
    ['since a time, cut', 'log memory --since 2h --limit 2', [1, 2]],
  ])('shows %s', async (_, line, expected) => {
    expect(await positions(line)).toEqual(expected);
  });

  it('says where to go on when a limit ended it', async () => {
    expect((await fake.run('log --since 1 --limit 2 --json')).json.next).toBe(2);
    expect((await fake.run('log --since 1 --json')).json.next).toBeNull();
  });

  it('prints a line a fact', async () => {
    expect((await fake.run('log --limit 1')).out).toMatch(/^ {4}95 {2}\S+ \S+ {2}server-memory {2}SessionLost\n$/);
  });

  it('tells silence from a mistyped name', async () => {
    expect(await fake.run('log memori')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('watchkeeper log memory'),
    });
    expect(await fake.run('log --type Nothing')).toMatchObject({
      exit: 0,
      out: '',
      err: 'Nothing of that kind is in the log.\n',
    });
  });

  it('follows: first what is there, then what comes, without a gap', async () => {
    const end = new AbortController();
    const followed: Asked[] = [];
    fake.routes['GET /v1/events'] = (asked: Asked, response: import('node:http').ServerResponse) => {
      if ('limit' in asked.query) return events(asked);
      followed.push(asked);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: gap\ndata: {"from":96,"to":97}\n\n');
      response.write(`id: 98\ndata: ${JSON.stringify(fact(98, 'ReconnectStarted'))}\n\n`);
      return undefined;
    };
    const { exit, out, err } = await fake.run('log --follow --since 95 --json', {
      signal: end.signal,
      onOut: (text) => {
        if (text.includes('ReconnectStarted')) end.abort();
      },
    });
    expect([exit, err]).toEqual([0, '']);
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).position),
    ).toEqual([95, 98]);
    expect(followed[0]?.query).toEqual({ after: '95' });
  });
});

describe('history', () => {
  const intervals = [
    {
      server: 'memory',
      state: 'ready',
      from: '2026-03-15T10:00:00.000Z',
      to: '2026-03-15T11:00:00.000Z',
      cause: 'ToolsListed',
      position: 50,
    },
    {
      server: 'memory',
      state: 'session-lost',
      from: '2026-03-15T11:00:00.000Z',
      to: null,
      cause: 'SessionLost (exit): ended',
      position: 95,
    },
  ];
  beforeEach(() => {
    fake.routes['GET /v1/mcp/history'] = { intervals };
  });

  it('shows how long each state lasted, the last one until now', async () => {
    const { out } = await fake.run('history memory');
    const [titles, ...lines] = out.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'DAY').split('\n');
    expect(titles).toMatch(/^FROM +STATE +LASTED {2}CAUSE$/);
    expect(lines).toEqual([
      'DAY:00.000  ready            1 h  ToolsListed',
      'DAY:00.000  session-lost     1 h  SessionLost (exit): ended',
      '',
    ]);
  });

  it('prints the answer of the API, clipped as asked', async () => {
    expect((await fake.run('history memory --from 2h --to 95 --json')).json).toEqual({ intervals });
    expect(fake.asked.find(({ route }) => route === 'GET /v1/mcp/history')?.query).toEqual({
      name: 'memory',
      from: '2026-03-15T10:00:00.000Z',
      to: facts.at(-1)?.at,
    });
  });

  it('suggests near names', async () => {
    fake.routes['GET /v1/mcp/history'] = problem(404, 'unknown-server', 'no');
    expect(await fake.run('history memroy')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('watchkeeper history memory'),
    });
  });
});

describe('rebuild', () => {
  it('says how many facts were read', async () => {
    fake.routes['POST /v1/rebuild'] = { ok: true, facts: 12, tookMs: 3 };
    expect((await fake.run('rebuild')).out).toBe('Made anew from 12 facts in 3 ms.\n');
    expect((await fake.run('rebuild --json')).json).toEqual({ ok: true, facts: 12, tookMs: 3 });
  });
});

describe('a database that cannot be read', () => {
  it('is named', async () => {
    const offline = await fakeDaemon({}, { running: false });
    await writeFile(join(offline.dataDir, 'watchkeeper.db'), 'this is no database, whatever its name says');
    expect(await offline.run('log')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('watchkeeper.db cannot be read'),
    });
    expect(await offline.run('history memory')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('watchkeeper.db cannot be read'),
    });
    await offline.close();
  });
});
