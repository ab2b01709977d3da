import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keysOf } from '../../src/cli/keys.ts';
import { openLog } from '../../src/events/sqlite.ts';
import { projector } from '../../src/projections/projection.ts';
import { views } from '../../src/projections/views.ts';
import { packageRoot } from '../../src/root.ts';
import { again, configure, connects, cut, lists, lived, start } from '../support/lives.ts';
import { storyOn } from '../support/story.ts';
import { type Fake, fakeDaemon, now, problem } from './fake.daemon.ts';
import { serverStatus } from './shapes.ts';

let fake: Fake;
afterEach(() => fake.close());

const begin = now - 120_000;
/** It hangs once, is up after 31.4 s, and stays so for a minute. */
const facts = lived(
  [begin, configure()],
  [begin, start],
  [begin + 30_000, cut()],
  [begin + 30_375, again],
  [begin + 31_375, connects()],
  [begin + 31_400, lists()],
);

/** The log as a daemon leaves it behind; `change` is another hand. */
async function leaveLog(change = ''): Promise<void> {
  const log = openLog({
    file: join(fake.dataDir, 'watchkeeper.db'),
    migrations: join(packageRoot(), 'migrations'),
    durability: 'process',
    project: (db) => projector(db, views),
  });
  const story = storyOn(log);
  for (const { at, type, data } of facts) {
    const { to: _, ...members } = data;
    await story.tell(at, 'server-a', { type, data: members } as never);
  }
  log.touch(begin + 91_400);
  log.db.exec(change);
  log.close();
}

const events = facts.map((fact) => ({ ...fact, at: new Date(fact.at).toISOString() }));
const page = ({ query }: { query: Readonly<Record<string, string>> }) => ({
  events: events
    .filter(({ position, stream }) => position > Number(query.after) && (query.stream ?? stream) === stream)
    .slice(0, Number(query.limit)),
  next: null,
});

describe('replay without a daemon', () => {
  beforeEach(async () => {
    fake = await fakeDaemon({}, { running: false });
  });

  it('tells what happened, line by line and at once, with the states around it', async () => {
    await leaveLog();
    const { exit, out, err } = await fake.run('replay a');
    expect({ exit, err }).toEqual({ exit: 0, err: '' });
    const lines = out.split('\n').map((line) => line.replace(/\d{4}-\S+ \S+/, 'T').replace(/ {2,}/g, '  '));
    expect(lines).toEqual([
      '  1  T  stopped  its entry was read',
      '  2  T  stopped → idle  it may be started',
      '  3  T  idle → connecting  the first attempt begins',
      '  … nothing for 30 s',
      '  4  T  connecting → backing-off  attempt 1 failed: timeout: initialize: no answer within 30000 ms (connectTimeoutMs), next try in 375 ms',
      '  5  T  backing-off  the pause is over',
      '  6  T  backing-off → reconnecting  attempt 2 begins',
      '  7  T  reconnecting → listing  connected: protocol 2025-11-25, after 5 ms',
      '  8  T  listing → ready  its tools are known: 1 tool, list changed, after 3 ms',
      '',
    ]);
  });

  it('tells a stretch, by times and positions, and as JSON', async () => {
    await leaveLog();
    const { json } = await fake.run('replay a --from 4 --to 6 --json');
    expect(json.lines).toEqual([
      expect.objectContaining({ position: 4, from: 'connecting', to: 'backing-off', afterMs: null }),
      expect.objectContaining({ position: 5 }),
      expect.objectContaining({ position: 6, at: new Date(begin + 30_375).toISOString() }),
    ]);
    expect((await fake.run('replay a --to 100s --json')).json.lines).toHaveLength(3);
    expect((await fake.run('replay a --from 10s')).out).toBe('Nothing happened in that time.\n');
  });

  it('verifies a server, and the whole log', async () => {
    await leaveLog();
    expect(await fake.run('replay a --verify')).toMatchObject({
      exit: 0,
      out: 'a: 8 facts, all explained by the machine, and they lead to what is stored.\n',
    });
    expect(await fake.run('replay --verify --fast')).toMatchObject({
      exit: 0,
      out: 'the log: 8 facts, all explained by the table, and they lead to what is stored.\n',
    });
    expect((await fake.run('replay --verify --json')).json).toEqual({
      ok: true,
      by: 'machine',
      facts: 8,
      streams: 1,
      heads: true,
    });
  });

  it('finds a row that was changed, says where, and ends with 1', async () => {
    await leaveLog("update events set data = json_set(data, '$.to', 'ready') where position = 7");
    const { exit, out, err } = await fake.run('replay a --verify');
    expect(exit).toBe(1);
    expect(out).toContain('position 7  server-a 7  Connected');
    expect(out).toContain('  recorded  ready\n  folded    listing\n');
    expect(err).toContain('watchkeeper log --since 7 --limit 3');
    expect(await fake.run('replay a --verify --fast --json')).toMatchObject({
      exit: 1,
      json: { ok: false, divergence: { position: 7, recorded: 'ready', folded: 'listing' } },
    });
  });

  it('asks what if, up to when the daemon was last alive', async () => {
    await leaveLog();
    const { exit, out } = await fake.run('replay a --what-if connectTimeoutMs=5s backoffBaseMs=500');
    expect(exit).toBe(0);
    expect(out).toContain('with connectTimeoutMs=5000 (was 30000), backoffBaseMs=500');
    expect(out).toMatch(/available +65\.65 % +58\.81 % +93\.00 %/);
    expect(out).toMatch(/attempts +2 +6 +2/);
    expect(out).toMatch(/changed +5 × {2}An attempt at a time when none was made goes as the last one before it/);
    expect(out).toMatch(
      /at best +1 × {2}An attempt .* as the next one that was made \(first .*, taken from position 6\)\./,
    );
    expect((await fake.run('replay a --what-if stableMs=1000')).out).toContain('Nothing had to be assumed.');
    expect((await fake.run('replay a --what-if stableMs=1000 --verify --json')).json).toMatchObject({
      by: 'machine',
      whatIf: { set: { stableMs: 1000 } },
    });
  });

  it.each([
    ['replay', 2, 'Which server?'],
    ['replay --fast a', 2, '--fast goes with --verify'],
    ['replay a --step', 2, '--step wants a terminal'],
    ['replay a --speed 0', 2, 'not a number above 0'],
    ['replay a --speed 2 --verify', 2, 'are for playing'],
    ['replay a --what-if maxAttempts=3', 2, '"maxAttempts" cannot be changed. What can: connectTimeoutMs'],
    ['replay a --what-if stableMs=soon', 2, '"stableMs" has to be a whole number of milliseconds'],
    ['replay a --what-if stableMs', 2, 'KEY=VALUE'],
    ['replay b', 1, 'There is no server "b".'],
    ['replay aa --verify', 1, 'watchkeeper replay a'],
  ])('%s ends with %d: %s', async (line, exit, message) => {
    await leaveLog();
    expect(await fake.run(line)).toMatchObject({ exit, err: expect.stringContaining(message) });
  });

  it('has nothing to read without a log', async () => {
    for (const line of ['replay a', 'replay --verify']) expect((await fake.run(line)).exit).toBe(3);
  });
});

describe('replay through the daemon', () => {
  beforeEach(async () => {
    fake = await fakeDaemon({ 'GET /v1/events': page, 'GET /v1/mcp/status': { servers: [serverStatus('a')] } });
  });

  it('plays the same lines', async () => {
    expect((await fake.run('replay a')).out.split('\n')).toHaveLength(10);
    expect(await fake.run('replay aa')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('watchkeeper replay a'),
    });
    fake.routes['GET /v1/mcp/status'] = { servers: [serverStatus('a'), serverStatus('b')] };
    expect(await fake.run('replay b')).toMatchObject({ exit: 0, out: 'Nothing happened in that time.\n' });
  });

  it('plays at the speed it had on a terminal, and waits for no silence longer than a few seconds', async () => {
    // At full length this would take longer than a test may.
    const { out } = await fake.run('replay a --speed 1x', { answers: [], columns: 200 });
    expect(out).toContain('… nothing for 30 s');
    expect(out.trimEnd().split('\n')).toHaveLength(9);
  });

  it('puts what a terminal has no room for below the states', async () => {
    const { out } = await fake.run('replay a --speed 1000000', { answers: [], columns: 70 });
    const plain = out.replace(/\u001b\[[\d;]*m/g, '');
    expect(plain).toMatch(/connecting → backing-off\n {8}attempt 1 failed: timeout: .*…\n/);
    for (const line of plain.split('\n')) expect(line.length).toBeLessThanOrEqual(70);
  });

  it('goes on by a key, and ends with q, Ctrl-C or the end of the input', async () => {
    const shown = async (...keys: string[]) => {
      const { exit, out, err } = await fake.run('replay a --step', { answers: keys, columns: 200 });
      expect({ exit, err }).toEqual({ exit: 0, err: 'Space or enter: the next line. q: the end.\n' });
      return out.trimEnd().split('\n').length;
    };
    expect(await shown('q')).toBe(1);
    expect(await shown(' ', 'x', '\r', 'q')).toBe(3);
    expect(await shown(' ', '\u0003')).toBe(2);
    expect(await shown(' ')).toBe(2);
  });

  it('asks the daemon to verify and what if, and shows what it refuses', async () => {
    fake.routes['POST /v1/mcp/replay'] = { ok: true, by: 'table', facts: 8, streams: 1, heads: false };
    expect((await fake.run('replay a --verify --to 7')).out).toBe(
      'a: 8 facts, all explained by the machine.\n'.replace('machine', 'table'),
    );
    await fake.run('replay a --from 3 --what-if stableMs=2m');
    expect(fake.asked.filter(({ route }) => route === 'POST /v1/mcp/replay').map(({ body }) => body)).toEqual([
      { name: 'a', to: '7', fast: false },
      { name: 'a', from: '3', fast: true, set: { stableMs: 120_000 } },
    ]);
    fake.routes['POST /v1/mcp/replay'] = problem(404, 'unknown-server', 'There is no server "aa".');
    expect(await fake.run('replay aa --verify')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('watchkeeper replay a'),
    });
  });
});

describe('Keys of a terminal', () => {
  class Input extends EventEmitter {
    readonly raw: boolean[] = [];
    flowing = false;
    setRawMode(raw: boolean): void {
      this.raw.push(raw);
    }
    resume(): void {
      this.flowing = true;
    }
    pause(): void {
      this.flowing = false;
    }
  }
  const forever = new AbortController().signal;

  it('come one by one, an arrow as one key, and end with the input', async () => {
    const input = new Input();
    const keys = keysOf(input);
    input.emit('data', Buffer.from(' \u001b[Bä'));
    expect([await keys.next(forever), await keys.next(forever), await keys.next(forever)]).toEqual([
      ' ',
      '\u001b[B',
      'ä',
    ]);
    const waiting = keys.next(forever);
    input.emit('end');
    expect(await waiting).toBeNull();
    keys.close();
  });

  it('end with the signal', async () => {
    const input = new Input();
    const keys = keysOf(input);
    const ends = new AbortController();
    const waiting = keys.next(ends.signal);
    ends.abort();
    expect(await waiting).toBeNull();
    keys.close();
  });

  it('leave the terminal as it was', () => {
    const listeners = process.listenerCount('exit');
    const input = new Input();
    const keys = keysOf(input);
    expect({ raw: input.raw, flowing: input.flowing }).toEqual({ raw: [true], flowing: true });
    expect(process.listenerCount('exit')).toBe(listeners + 1);
    keys.close();
    expect({ raw: input.raw, flowing: input.flowing }).toEqual({ raw: [true, false], flowing: false });
    expect(process.listenerCount('exit')).toBe(listeners);
    expect(input.listenerCount('data') + input.listenerCount('end')).toBe(0);
  });
});
