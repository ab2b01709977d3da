import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/events/catalogue.ts';
import type { SqliteLog } from '../../src/events/sqlite.ts';
import { type FollowQuery, followLog } from '../../src/keeper/follow.ts';
import { givenLog, unrecorded } from '../support/story.ts';
import { until } from '../support/wait.ts';

const enabled: Fact = { type: 'ServerEnabled', data: {} };
const disabled: Fact = { type: 'ServerDisabled', data: {} };
const everything: FollowQuery = { after: 0, stream: undefined, type: undefined };

interface Heard {
  readonly positions: number[];
  readonly gaps: [number, number][];
  readonly end: () => void;
}

function follow(log: SqliteLog, query: Partial<FollowQuery> = {}): Heard {
  const positions: number[] = [];
  const gaps: [number, number][] = [];
  const end = followLog(
    log,
    { ...everything, ...query },
    {
      events: (events) => void positions.push(...events.map(({ position }) => position)),
      gap: (from, to) => void gaps.push([from, to]),
    },
  );
  return { positions, gaps, end };
}

/** Each call writes the next `count` facts, in batches. */
function writerOf(log: SqliteLog) {
  let version = 0;
  return async (count: number, batch = 50, fact = enabled): Promise<void> => {
    for (let left = count; left > 0; left -= batch) {
      const facts = Array.from({ length: Math.min(batch, left) }, () => unrecorded('server-a', ++version, fact));
      await log.append(facts, []);
    }
  };
}

const upTo = (last: number, first = 1): number[] => Array.from({ length: last - first + 1 }, (_, i) => first + i);

describe('Following the log', () => {
  it('gives first what is there, then what comes, each once and in order', async () => {
    const log = givenLog();
    const write = writerOf(log);
    await write(3);
    const heard = follow(log, { after: 1 });
    await write(4, 2);
    expect(heard.positions).toEqual([2, 3, 4, 5, 6, 7]);
  });

  it.each([199, 200, 201, 400, 1_234])(
    'misses and repeats nothing over a backlog of %d while more is written',
    async (backlog) => {
      const log = givenLog();
      const write = writerOf(log);
      await write(backlog, 100);
      const heard = follow(log);
      // Writing goes on while the backlog is read; both take turns.
      for (let batch = 0; batch < 40; batch += 1) {
        await write(3);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await until(() => heard.positions.length >= backlog + 120);
      await write(1);
      expect(heard.positions).toEqual(upTo(backlog + 121));
    },
  );

  it('begins with what comes from now on when no position is given', async () => {
    const log = givenLog();
    const write = writerOf(log);
    await write(300);
    const heard = follow(log, { after: undefined });
    await write(2);
    expect(heard.positions).toEqual([301, 302]);
  });

  it('waits for positions that are still to come', async () => {
    const log = givenLog();
    const write = writerOf(log);
    await write(1);
    const heard = follow(log, { after: 3 });
    await write(4, 1);
    expect(heard.positions).toEqual([4, 5]);
  });

  it('has only the stream or the type that was asked for, in backlog and feed', async () => {
    const log = givenLog();
    const write = writerOf(log);
    const both = async (version: number): Promise<void> => {
      await write(1);
      await log.append([unrecorded('server-b', version, enabled), unrecorded('server-b', version + 1, disabled)], []);
    };
    await both(1);
    const ofStream = follow(log, { stream: 'server-b' });
    const ofType = follow(log, { type: 'ServerEnabled' });
    const ofBoth = follow(log, { stream: 'server-b', type: 'ServerEnabled' });
    await both(3);
    expect(ofStream.positions).toEqual([2, 3, 5, 6]);
    expect(ofType.positions).toEqual([1, 2, 4, 5]);
    expect(ofBoth.positions).toEqual([2, 5]);
  });

  it('can be shared: each reader has its own place', async () => {
    const log = givenLog();
    const write = writerOf(log);
    await write(2);
    const [first, second] = [follow(log), follow(log, { after: 2 })];
    await write(1);
    expect([first.positions, second.positions]).toEqual([[1, 2, 3], [3]]);
  });

  it('stops when it is ended, in the backlog too', async () => {
    const log = givenLog();
    const write = writerOf(log);
    await write(1_000, 500);
    const heard = follow(log);
    heard.end();
    const read = heard.positions.length;
    expect(read).toBeLessThan(1_000);
    await write(1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(heard.positions).toHaveLength(read);
  });
});

describe('A log of which the beginning is gone', () => {
  async function pruned(): Promise<SqliteLog> {
    const log = givenLog();
    await writerOf(log)(10, 5);
    log.db.prepare('delete from events where position <= 6').run();
    return log;
  }

  it.each([
    [2, [[3, 6]], [7, 8, 9, 10]],
    [5, [[6, 6]], [7, 8, 9, 10]],
    [0, [[1, 6]], [7, 8, 9, 10]],
    [6, [], [7, 8, 9, 10]],
    [8, [], [9, 10]],
    [undefined, [], []],
  ])('tells a reader after %s which positions it will not get: %j', async (after, gaps, positions) => {
    const heard = follow(await pruned(), { after });
    expect(heard.gaps).toEqual(gaps);
    expect(heard.positions).toEqual(positions);
  });

  it('says nothing of a gap where nothing was ever written', () => {
    expect(follow(givenLog(), { after: 4 }).gaps).toEqual([]);
  });
});
