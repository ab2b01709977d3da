import { beforeEach, describe, expect, it } from 'vitest';
import type { HeadRow } from '../../src/events/log.ts';
import type { SqliteLog } from '../../src/events/sqlite.ts';
import { atOnce } from '../../src/replay/unhurried.ts';
import { type Means, verifier, verifying } from '../../src/replay/verify.ts';
import { settled, started } from '../support/call.facts.ts';
import * as fact from '../support/server.facts.ts';
import { daemonStarted, givenLog, grantAdded, grantBound, storyOn } from '../support/story.ts';

/** Positions are noted behind each line: two servers, a call, the allowlist and the daemon. */
async function told(): Promise<SqliteLog> {
  const log = givenLog();
  const story = storyOn(log);
  await story.tell(1_000, 'daemon', daemonStarted(null)); // 1
  await story.tell(2_000, 'server-a', fact.configured(), fact.enabled, fact.connecting()); // 2 to 4
  await story.tell(3_000, 'server-b', fact.configured({ wanted: 'off' }), fact.disabled); // 5, 6
  await story.tell(4_000, 'server-a', fact.process(), fact.connected(), fact.listed()); // 7 to 9
  await story.tell(5_000, 'allowlist', grantAdded('mcp__a__get'), grantBound('mcp__a__get', 'i', 'd')); // 10, 11
  await story.tell(6_000, 'call-1', started(), settled()); // 12, 13
  await story.tell(7_000, 'server-a', fact.lost(), fact.reconnecting(2, 2), fact.connected(2), fact.listed(2)); // 14 to 17
  return log;
}

const verify = (log: SqliteLog, by: Means = 'machine', stream?: string) => atOnce(verifying(log, { by, stream }));

let log: SqliteLog;
beforeEach(async () => {
  log = await told();
});

describe.each<Means>(['machine', 'table'])('A log as it was written, by the %s', (by) => {
  it('is explained to its last fact, and leads to what is stored', () => {
    expect(verify(log, by)).toEqual({ ok: true, by, facts: 17, streams: 5, heads: true, divergence: null });
  });

  it('is explained a stream at a time', () => {
    expect(verify(log, by, 'server-a')).toMatchObject({ ok: true, facts: 10, streams: 1, heads: true });
    expect(verify(log, by, 'server-nobody')).toMatchObject({ ok: true, facts: 0 });
  });

  it('is explained up to a position; what is stored stands on more and is not compared', () => {
    expect(atOnce(verifying(log, { by, upTo: 9 }))).toMatchObject({ ok: true, facts: 9, heads: false });
    expect(atOnce(verifying(log, { by, stream: 'server-a', upTo: 9 }))).toMatchObject({ facts: 6, heads: false });
  });
});

describe('A log that somebody changed', () => {
  const set = (position: number, path: string, value: string) => (db: SqliteLog['db']) =>
    db.prepare(`update events set data = json_set(data, ?, json(?)) where position = ?`).run(path, value, position);
  const run = (sql: string) => (db: SqliteLog['db']) => db.exec(sql);
  /** Exchanges everything but the place of two rows. */
  const swap = (one: number, other: number) => (db: SqliteLog['db']) => {
    const rows = db
      .prepare('select type, at, data from events where position in (?, ?) order by position')
      .all(one, other);
    const put = db.prepare('update events set type = ?, at = ?, data = ? where position = ?');
    const [first, second] = rows as { type: string; at: number; data: string }[];
    if (!first || !second) throw new Error('No such rows.');
    put.run(second.type, second.at, second.data, one);
    put.run(first.type, first.at, first.data, other);
  };

  it.each<[string, (db: SqliteLog['db']) => unknown, object]>([
    [
      'says another state',
      set(8, '$.to', '"ready"'),
      { position: 8, kind: 'state', recorded: 'ready', folded: 'listing', type: 'Connected' },
    ],
    [
      'says no state',
      run("update events set data = json_remove(data, '$.to') where position = 9"),
      { position: 9, kind: 'state', recorded: null, folded: 'ready' },
    ],
    [
      'holds another fact',
      run('update events set type = \'SettledDown\', data = \'{"connection":1,"to":"listing"}\' where position = 8'),
      { position: 8, kind: 'not-heard', folded: 'connecting' },
    ],
    [
      'holds a fact of another stream',
      run("update events set type = 'DaemonStopped' where position = 9"),
      { position: 9, kind: 'stream' },
    ],
    [
      'has lost a row',
      run('delete from events where position = 8'),
      { position: 9, kind: 'version', recorded: 'version 6', folded: 'version 5' },
    ],
    ['has lost its first row', run('delete from events where position = 2'), { position: 3, kind: 'version' }],
    [
      'has lost its last row',
      run('delete from events where position = 17'),
      { position: 16, kind: 'head', recorded: 'version 10', folded: 'version 9', stream: 'server-a' },
    ],
    [
      'has lost a whole stream',
      run("delete from events where stream = 'server-b'"),
      { position: 0, kind: 'head', folded: null, stream: 'server-b' },
    ],
    ['has two rows in each other’s place', swap(8, 9), { position: 8, kind: 'not-heard' }],
    ['has two rows of different streams in each other’s place', swap(6, 7), { position: 6, kind: 'not-heard' }],
    [
      'holds data that fits no shape',
      set(14, '$.failure.class', '"bad-luck"'),
      { position: 14, kind: 'shape', recorded: 'failure.class' },
    ],
    [
      'holds data that is no JSON',
      run("update events set data = 'x' where position = 9"),
      { position: 9, kind: 'unreadable' },
    ],
    [
      'holds data that is no object',
      run("update events set data = 'null' where position = 9"),
      { position: 9, kind: 'unreadable' },
    ],
    [
      'holds a type nobody knows',
      run("update events set type = 'ServerPraised' where position = 9"),
      { position: 9, kind: 'unreadable' },
    ],
    [
      'says another schema',
      run('update events set schema = 9 where position = 9'),
      { position: 9, kind: 'unreadable' },
    ],
    [
      'holds a fact with other data',
      set(17, '$.signature', '"s9"'),
      { position: 17, kind: 'head', recorded: 'context.signature "s1"', folded: 'context.signature "s9"' },
    ],
    ['says another time', run('update events set at = 500 where position = 14'), { position: 14, kind: 'order' }],
    [
      'gives a grant to another server',
      set(11, '$.binding.identity', '"i2"'),
      { position: 11, kind: 'head', stream: 'allowlist' },
    ],
    [
      'lets a call run after its end',
      run(
        'update events set type = \'CallResent\', data = \'{"connection":1,"reason":"r","to":"settled"}\' where position = 13',
      ),
      { position: 13, kind: 'state', recorded: 'settled', folded: 'running' },
    ],
    [
      'has no stored head',
      run("delete from heads where stream = 'server-a'"),
      { position: 17, kind: 'head', recorded: null },
    ],
    [
      'has another stored head',
      run("update heads set state = 'failed' where stream = 'server-b'"),
      { position: 6, kind: 'head', recorded: 'state "failed"', folded: 'state "disabled"' },
    ],
  ])('is found where it %s', (_what, change, expected) => {
    change(log.db);
    const verdict = verify(log);
    expect(verdict).toMatchObject({ ok: false, divergence: expected });
    expect(verdict.divergence?.reason).toMatch(/^[A-Z].*\.$/);
  });

  it.each<[string, (db: SqliteLog['db']) => unknown, number]>([
    ['says another state', set(8, '$.to', '"ready"'), 8],
    ['has lost a row', run('delete from events where position = 8'), 9],
    [
      'holds data that cannot be folded',
      run('update events set data = \'{"to":"session-lost"}\' where position = 14'),
      14,
    ],
    ['holds a fact with other data', set(17, '$.signature', '"s9"'), 17],
  ])('is found by the table as well where it %s', (_what, change, position) => {
    change(log.db);
    expect(verify(log, 'table')).toMatchObject({ ok: false, divergence: { position } });
    expect(verify(log, 'table', 'server-a')).toMatchObject({ ok: false, divergence: { position } });
  });

  it('is explained up to there: what stands before a row that cannot be read was folded', () => {
    run("update events set data = 'x' where position in (9, 15)")(log.db);
    expect(verify(log)).toMatchObject({ facts: 8, divergence: { position: 9, stream: 'server-a', version: 6 } });
  });

  it('in one stream is nothing to the others', () => {
    set(8, '$.to', '"ready"')(log.db);
    expect(verify(log, 'machine', 'server-b')).toMatchObject({ ok: true, facts: 2 });
  });
});

describe('Facts from anywhere', () => {
  const heads: HeadRow[] = [];

  it('are verified one by one, with or without heads', () => {
    const check = verifier('machine');
    for (const one of log.read({})) expect(check.take(one)).toBeNull();
    expect(check.facts).toBe(17);
    expect(check.close(log.heads())).toBeNull();
    expect(check.close(heads)).toMatchObject({ kind: 'head', recorded: null });
  });

  it('of a stream that there is not are no facts of ours', () => {
    const [first] = log.read({});
    expect(verifier('table').take({ ...(first as never as object), stream: 'gossip' } as never)).toMatchObject({
      kind: 'stream',
      recorded: 'gossip',
    });
  });
});

describe('A log that grows meanwhile', () => {
  it('is followed to its end', async () => {
    const work = verifying(log, { by: 'table', stream: 'server-a' });
    work.next();
    const story = storyOn(log);
    await story.tell(8_000, 'server-a', fact.lost(2), fact.reconnecting(3, 3));
    expect(atOnce(work)).toMatchObject({ ok: true, facts: 12, heads: true });
  });
});
