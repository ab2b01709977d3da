import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { startDaemon } from '../support/daemon.ts';
import { stdioEntry } from '../support/fixtures.ts';

const HOUR = 3_600_000;

describe('A clock that was set back while the daemon was down', () => {
  it('takes no time back in the log, and no interval of the history ends before it begins', async () => {
    const daemon = await startDaemon({ servers: { a: stdioEntry() } });
    await daemon.waitForServer('a', 'ready');
    await daemon.kill();
    const sign = Date.now() + HOUR;
    const db = new Database(join(daemon.dir, 'watchkeeper.db'));
    db.prepare('insert or replace into alive (one, at) values (1, ?)').run(sign);
    db.close();

    await daemon.restart();
    await daemon.waitForServer('a', 'ready');
    const times = (await daemon.events()).map(({ at }) => Date.parse(at));
    expect(times).toEqual([...times].sort((a, b) => a - b));
    const intervals = await daemon.history('a');
    for (const { state, from, to } of intervals) expect([state, to === null || to >= from]).toEqual([state, true]);
    expect(intervals.filter(({ state }) => state === 'unobserved')).toMatchObject([
      { from: new Date(sign).toISOString(), to: expect.any(String) },
    ]);
  });
});
