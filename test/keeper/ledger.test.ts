import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openLog, type SqliteLog } from '../../src/events/sqlite.ts';
import { verifyLedger } from '../../src/keeper/ledger.ts';
import { atOnce } from '../../src/replay/unhurried.ts';
import { closed, request, settled, started } from '../support/call.facts.ts';
import { projectRoot } from '../support/paths.ts';
import { givenLog, grantAdded, storyOn, unrecorded } from '../support/story.ts';

async function given(): Promise<SqliteLog> {
  const log = givenLog();
  const story = storyOn(log);
  await story.tell(1_000, 'allowlist', grantAdded('mcp__a__get'));
  await story.tell(2_000, 'call-c1', started(), settled({ resultBytes: 5, resultHash: 'r' }));
  await story.tell(3_000, 'call-c2', settled({ outcome: 'refused', request: request(), reason: 'No.' }));
  await story.tell(4_000, 'call-c3', started(), settled({ outcome: 'unknown', reason: 'lost' }));
  await story.tell(5_000, 'call-c3', closed());
  await story.tell(6_000, 'call-c4', started());
  return log;
}

const verify = ({ db }: SqliteLog, expected?: string) => atOnce(verifyLedger(db, expected));
const kinds = (log: SqliteLog): string[] => verify(log).findings.map(({ kind, position }) => `${kind} ${position}`);

describe('Verifying the ledger', () => {
  it('finds nothing in a log as it was written', async () => {
    const log = await given();
    expect(verify(log)).toMatchObject({
      ok: true,
      facts: 8,
      unchained: 0,
      from: 1,
      findings: [],
      more: 0,
      expected: null,
      tip: { position: 8, at: '1970-01-01T00:00:06.000Z', hash: expect.stringMatching(/^[\w-]{43}$/) },
    });
  });

  it.each<[string, string, string[]]>([
    [
      'an edited outcome',
      `update events set data = replace(data, 'refused', 'succeeded') where position = 4`,
      ['edited 4', 'ledger 4'],
    ],
    [
      'an edited argument hash',
      `update events set data = replace(data, '"h"', '"x"') where position = 2`,
      ['edited 2', 'ledger 3'],
    ],
    ['a fact that is gone', `delete from events where position = 4`, ['gap 5', 'ledger 8']],
    ['the last facts gone', `delete from events where position >= 7`, ['cut 6', 'ledger 5']],
    ['a grant that is gone from the end of its stream', `delete from events where position = 1`, ['gap 2', 'cut 8']],
    ['a row of the ledger that was edited', `update calls set outcome = 'denied' where id = 'c1'`, ['ledger 3']],
    ['a row of the ledger that is gone', `delete from calls where id = 'c2'`, ['ledger 4', 'ledger 8']],
    [
      'a closing that was edited',
      `update calls set closed = replace(closed, 'not-run', 'ran') where id = 'c3'`,
      ['ledger 7'],
    ],
    [
      'a grant beside the log',
      `update heads set context = replace(context, '"unbound"', '"bound"') where stream = 'allowlist'`,
      ['ledger 8'],
    ],
    ['a call that runs, of another client', `update calls set client = 'cursor' where id = 'c4'`, ['ledger 8']],
    ['hashes that are all gone', 'update events set chain = null', ['unchained 8']],
    [
      'a row of the ledger that nothing led to',
      `insert into calls (seq, id, server, tool, name, state, mode, client, door, requested_at, args_hash, args_bytes) values (5000, 'x', 'a', 'get', 'n', 'settled', 'ask', 'main', 'http', 1, 'h', 1)`,
      ['cut 8'],
    ],
  ])('finds %s', async (_what, sql, expected) => {
    const log = await given();
    log.db.exec(sql);
    expect(kinds(log)).toEqual(expected);
    expect(verify(log).ok).toBe(expected.length === 0);
  });

  it('finds a closing that no fact tells of', async () => {
    const log = await given();
    await storyOn(log).tell(7_000, 'call-c5', started(), settled({ outcome: 'unknown', reason: 'lost' }));
    log.db.exec(`update calls set closed = '{"finding":"not-run","note":null,"by":"ann","at":1}' where id = 'c5'`);
    expect(verify(log).findings.map(({ message }) => message)).toEqual([
      'The ledger shows another closed for call c5 than fact 9 says.',
    ]);
  });

  it('knows a hash that was noted, and misses it when the end was cut', async () => {
    const log = await given();
    const { tip } = verify(log);
    expect(verify(log, tip?.hash)).toMatchObject({ ok: true, expected: { position: 8 } });
    await storyOn(log).tell(7_000, 'call-c5', started(), settled());
    expect(verify(log, tip?.hash)).toMatchObject({ ok: true, expected: { position: 8 }, tip: { position: 10 } });
    log.db.exec('delete from events where position >= 8; delete from calls where seq >= 8');
    expect(verify(log)).toMatchObject({ ok: true });
    expect(verify(log, tip?.hash)).toMatchObject({ ok: false, expected: { position: null } });
  });

  it('counts facts that were written before there was a chain, and begins behind them', async () => {
    const log = await given();
    expect(new Set(log.db.prepare('select chain from events').pluck().all()).size).toBe(8);
    log.db.exec('update events set chain = null');
    const later = openLog({ file: log.db.name, migrations: join(projectRoot, 'migrations'), durability: 'process' });
    await later.append([unrecorded('call-c4', 2, settled({ outcome: 'cancelled' }))], []);
    later.close();
    expect(verify(log)).toMatchObject({ facts: 9, unchained: 8, from: 9, tip: { position: 9 } });
    expect(kinds(log).filter((kind) => !kind.startsWith('ledger'))).toEqual([]);
  });

  it('finds what was changed while the daemon ran: it goes on from what it wrote', async () => {
    const log = await given();
    log.db.exec(`update events set chain = 'x' where position = 8`);
    await storyOn(log).tell(7_000, 'call-c5', started());
    expect(kinds(log)).toEqual(['edited 8', 'edited 9']);
  });

  it('shows a hundred findings and counts the others', async () => {
    const log = givenLog();
    const story = storyOn(log);
    for (let n = 0; n < 150; n += 1) await story.tell(1_000 + n, `call-c${n}`, started());
    log.db.exec(`update events set at = at + 1`);
    const { findings, more } = verify(log);
    // Each fact is not what was written, and each row of the ledger not what its fact says.
    expect([findings.length, more]).toEqual([100, 200]);
  });
});
