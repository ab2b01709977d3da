import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serverTable } from '../../src/actors/server/server.rules.ts';
import { blankServer } from '../../src/actors/server/server.state.ts';
import { agenda } from '../../src/replay/agenda.ts';
import { firstDifference } from '../../src/replay/difference.ts';
import { counter } from '../../src/replay/figures.ts';
import { lifeIn, serverLives } from '../../src/replay/outside.ts';
import { unhurried } from '../../src/replay/unhurried.ts';

describe('What a server does in each of its states', () => {
  it.each<[state: string, effects: string[], timers: [report: object, delayMs: number][]]>([
    ['stopped', [], []],
    ['disabled', [], []],
    ['idle', [], []],
    ['connecting', ['connection'], [[{ type: 'ReportTimeout', of: 'connect', connection: 7 }, 30_000]]],
    ['reconnecting', ['connection'], [[{ type: 'ReportTimeout', of: 'connect', connection: 7 }, 30_000]]],
    ['listing', ['connection', 'list'], [[{ type: 'ReportTimeout', of: 'list', connection: 7 }, 30_000]]],
    ['ready', ['connection', 'watch'], [[{ type: 'ReportStable', connection: 7 }, 30_000]]],
    ['session-lost', [], []],
    ['backing-off', [], [[{ type: 'ReportBackoffElapsed', connection: 7 }, 900]]],
    ['auth-required', [], []],
    ['failed', [], []],
    ['stopping', ['close'], []],
  ])('is read out of its machine: %s', (state, effects, timers) => {
    const context = { ...blankServer, connection: 7, delayMs: 900 };
    expect([...lifeIn(state).effects]).toEqual(effects);
    expect(lifeIn(state).timers.map(({ report, delayMs }) => [report(context), delayMs(context)])).toEqual(timers);
  });

  it('is known for every state there is', () => {
    expect([...serverLives.keys()].sort()).toEqual([...serverTable.keys()].sort());
  });
});

describe('An agenda', () => {
  it('gives the earliest first, of one moment the lowest rank, then the one put in first', () => {
    const entry = fc.record({ at: fc.nat(20), rank: fc.nat(3) });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 60 }), (entries) => {
        const due = agenda<number>();
        for (const [turn, { at, rank }] of entries.entries()) due.put(at, rank, turn);
        const order = entries
          .map((one, turn) => ({ ...one, turn }))
          .sort((a, b) => a.at - b.at || a.rank - b.rank || a.turn - b.turn);
        expect(order.map(() => due.next()?.what)).toEqual(order.map(({ turn }) => turn));
        expect(due.next()).toBeNull();
      }),
    );
  });

  it('takes what comes while it is being worked off', () => {
    const due = agenda<string>();
    due.put(5, 0, 'five');
    due.put(1, 0, 'one');
    expect(due.next()?.what).toBe('one');
    due.put(3, 0, 'three');
    expect([due.next()?.what, due.next()?.what, due.next()]).toEqual(['three', 'five', null]);
  });
});

describe('Two pieces of data', () => {
  it.each<[unknown, unknown, string | null]>([
    [{ a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1 }, null],
    [{ a: 1, b: undefined }, { a: 1 }, null],
    [{ a: { b: [0, 1] } }, { a: { b: [0, 2] } }, 'a.b.1'],
    [{ a: [1] }, { a: [1, 2] }, 'a.length'],
    [{ a: null }, { a: {} }, 'a'],
    [{}, { x: 0 }, 'x'],
    [1, 1, null],
  ])('%j and %j differ at %j', (one, other, path) => {
    expect(firstDifference(one, other)?.path ?? null).toBe(path);
  });
});

describe('Figures', () => {
  it('count a time that is cut off on both sides, and the longest time down over several states', () => {
    const count = counter(1_000, 10_000);
    for (const [at, type, to] of [
      [0, 'ConnectStarted', 'connecting'],
      [2_000, 'ConnectFailed', 'backing-off'],
      [3_000, 'ReconnectStarted', 'reconnecting'],
      [4_000, 'ToolsListed', 'ready'],
      [6_000, 'SessionLost', 'session-lost'],
      [6_000, 'ReconnectStarted', 'reconnecting'],
      [6_500, 'ToolsListed', 'ready'],
      [12_000, 'SessionLost', 'session-lost'],
    ] as const) {
      count.add({ at, type, to });
    }
    expect(count.figures()).toEqual({
      availability: 5_500 / 9_000,
      upMs: 5_500,
      downMs: 3_500,
      longestDownMs: 3_000,
      attempts: 2,
      failed: 1,
      losses: 1,
    });
  });

  it('leave out time in which it was not wanted, or nobody watched', () => {
    const count = counter(0, 100);
    count.add({ at: 0, type: 'ToolsListed', to: 'ready' });
    count.add({ at: 40, type: 'ServerStopped', to: 'stopped', endedAt: 20 });
    count.add({ at: 50, type: 'ServerEnabled', to: 'idle' });
    count.add({ at: 60, type: 'ConnectStarted', to: 'connecting' });
    expect(count.figures()).toMatchObject({ upMs: 20, downMs: 40, availability: 20 / 60 });
  });
});

describe('Long work', () => {
  it('lets others in whenever it is asked to', async () => {
    const breaths: number[] = [];
    const work = (function* () {
      for (let n = 0; n < 5; n += 1) yield n;
      return 'done';
    })();
    expect(await unhurried(work, async () => breaths.push(1))).toBe('done');
    expect(breaths).toHaveLength(5);
  });
});
