import { describe, expect, it } from 'vitest';
import { changeable, wrongIn } from '../../src/replay/changes.ts';
import { Unexplained } from '../../src/replay/inputs.ts';
import { atOnce } from '../../src/replay/unhurried.ts';
import { stretchOf, whatIf } from '../../src/replay/what-if.ts';
import {
  again,
  bootAfterDeath,
  closed,
  configure,
  connects,
  cut,
  fails,
  holds,
  lists,
  lived,
  reconnect,
  start,
  stop,
  unused,
} from '../support/lives.ts';

/** It hangs at the first attempt and answers at the second: 31.4 s down, then up to 100 s. */
const hung = lived(
  [0, configure()],
  [0, start],
  [30_000, cut()],
  [30_375, again],
  [31_375, connects()],
  [31_400, lists()],
);
const kinds = ({ assumed }: { assumed: readonly { kind: string; count: number }[] }) =>
  Object.fromEntries(assumed.map(({ kind, count }) => [kind, count]));

describe('A server that hung once', () => {
  it('is shown as it was when nothing is changed, and nothing is assumed', () => {
    const { recorded, changed, atBest, was } = whatIf(hung, { set: {}, until: 100_000 });
    expect(recorded).toEqual({
      availability: 0.686,
      upMs: 68_600,
      downMs: 31_400,
      longestDownMs: 31_400,
      attempts: 2,
      failed: 1,
      losses: 0,
    });
    expect(changed).toEqual({ ...recorded, assumed: [] });
    expect(atBest).toEqual(changed);
    expect(was).toMatchObject({ connectTimeoutMs: 30_000, backoffBaseMs: 500, backoffMaxMs: 60_000 });
  });

  it('with a shorter limit is tried more often: for the careful it hangs until it was seen to answer', () => {
    const { changed, atBest } = whatIf(hung, { set: { connectTimeoutMs: 5_000 }, until: 100_000 });
    // Cut at 5, 10.375, 16.125, 22.625 and 30.625 s; the next attempt begins at 36.625 s.
    expect(changed).toMatchObject({ upMs: 100_000 - 37_650, attempts: 6, failed: 5 });
    expect(kinds(changed)).toEqual({ attempt: 5 });
    // For the hopeful the second attempt finds what the next recorded one found.
    expect(atBest).toMatchObject({ upMs: 100_000 - 6_400, attempts: 2, failed: 1 });
    expect(atBest.assumed).toEqual([
      expect.objectContaining({ kind: 'attempt', count: 1, examples: [{ at: 5_375, position: 6 }] }),
    ]);
  });

  it('with a longer limit never answers for the careful, and right after it was cut for the hopeful', () => {
    const { changed, atBest } = whatIf(hung, { set: { connectTimeoutMs: 60_000 }, until: 100_000 });
    expect(changed).toMatchObject({ upMs: 100_000 - 61_400, attempts: 2, failed: 1 });
    expect(kinds(changed)).toEqual({ connect: 1, attempt: 1 });
    expect(atBest).toMatchObject({ upMs: 100_000 - 30_026, attempts: 1, failed: 0 });
    expect(kinds(atBest)).toEqual({ connect: 1 });
  });

  it('with shorter pauses is tried sooner, with the dice as they fell', () => {
    const set = { backoffBaseMs: 100, backoffMaxMs: 100 };
    const { changed, atBest } = whatIf(hung, { set, until: 100_000 });
    // 30.075 s: goes as the one before, which hung; that costs 30 s more.
    expect(changed).toMatchObject({ attempts: 3, failed: 2, upMs: 100_000 - 61_175 });
    expect(atBest).toMatchObject({ attempts: 2, upMs: 100_000 - 31_100 });
  });
});

describe('A list that hung', () => {
  const slow = lived(
    [0, configure()],
    [0, start],
    [1_000, connects()],
    [31_000, cut('list')],
    [31_375, again],
    [32_375, connects()],
    [32_400, lists()],
  );

  it('is cut sooner, or given more time', () => {
    const shorter = whatIf(slow, { set: { listTimeoutMs: 2_000 }, until: 60_000 });
    expect(shorter.changed.failed).toBeGreaterThan(1);
    expect(shorter.atBest).toMatchObject({ attempts: 2, upMs: 60_000 - 4_400 });
    const longer = whatIf(slow, { set: { listTimeoutMs: 40_000 }, until: 60_000 });
    expect(longer.changed).toMatchObject({ upMs: 60_000 - 42_400, failed: 1 });
    expect(longer.atBest).toMatchObject({ upMs: 60_000 - 31_001, failed: 0, attempts: 1 });
    expect(kinds(longer.atBest)).toEqual({ list: 1 });
  });
});

describe('A server that dies again and again', () => {
  const up = (at: number) => [[at + 500, connects()] as const, [at + 510, lists()] as const];
  /** Each time ready for 20 s, which is no time to be forgiven: the pauses grow. */
  const flaky = lived(
    [0, configure({ stableMs: 60_000 })],
    [0, start],
    ...up(0),
    [1_510, fails()],
    ...up(1_510),
    [2_110, fails()],
    [2_385, again],
    ...up(2_385),
    [2_995, fails()],
    [3_645, again],
    ...up(3_645),
  );

  it('with other pauses is lost at the same moments, as far as it is there to be lost', () => {
    const { recorded, changed } = whatIf(flaky, { set: { backoffBaseMs: 4_000 }, until: 20_000 });
    expect(recorded).toMatchObject({ losses: 3, attempts: 4, failed: 0 });
    // The second loss is followed by a pause of 2.9 s, in which the third passes by.
    expect(changed).toMatchObject({ losses: 2, attempts: 3 });
    expect(kinds(changed)).toEqual({ attempt: 1 });
  });

  it('is forgiven sooner when it has to hold for less', () => {
    const steady = lived(
      [0, configure({ stableMs: 60_000 })],
      [0, start],
      [10, fails()],
      [385, again],
      ...up(385),
      [21_000, fails()],
      ...up(21_000),
      [21_600, fails()],
      [22_260, again],
      ...up(22_260),
    );
    const { recorded, changed } = whatIf(steady, { set: { stableMs: 5_000 }, until: 60_000 });
    expect(recorded.downMs).toBe(395 + 500 + 510 + 660 + 510);
    // What failed before is forgotten, so that the second loss within a minute is only the second.
    expect(changed.downMs).toBeLessThan(recorded.downMs);
  });

  it('was noticed by a poll: a shorter interval notices it after the next of its own polls', () => {
    const gone = { class: 'session', phase: 'list', message: 'list: no such session' } as const;
    const polled = lived(
      [0, configure()],
      [0, start],
      [900, connects()],
      [1_000, lists()],
      [61_000, fails(gone)],
      [61_500, connects()],
      [61_600, lists()],
    );
    const { changed, atBest } = whatIf(polled, { set: { pollIntervalMs: 10_000 }, until: 100_000 });
    // The seventh poll after 9.5 s each; or the first, had it happened right after the list before.
    expect(changed.assumed[0]).toMatchObject({ kind: 'poll', examples: [{ at: 61_000 }] });
    expect(atBest.assumed[0]).toMatchObject({ kind: 'poll', examples: [{ at: 1_000 }] });
    for (const run of [changed, atBest]) expect(run).toMatchObject({ losses: 1, attempts: 2 });
  });
});

describe('A stretch', () => {
  const twice = lived(
    [0, configure()],
    [0, start],
    [500, connects()],
    [600, lists()],
    [10_000, stop],
    [10_050, closed],
    [20_000, configure()],
    [20_000, start],
    [50_000, cut()],
    [50_375, again],
    [51_000, connects()],
    [51_100, lists()],
    [90_000, bootAfterDeath(80_000)],
  );

  it('begins with the last rest before it; figures begin with it', () => {
    const { from, recorded, changed } = whatIf(twice, {
      set: { connectTimeoutMs: 1_000 },
      from: 45_000,
      until: 70_000,
    });
    expect(from).toBe(45_000);
    expect(recorded).toMatchObject({ upMs: 70_000 - 51_100, downMs: 6_100, attempts: 1, failed: 1 });
    expect(changed.upMs + changed.downMs).toBe(25_000);
    expect(atOnce(stretchOf(twice, 45_000)).head).toMatchObject({ state: 'stopped', version: 7 });
  });

  it('leaves out the time in which nobody watched', () => {
    const { recorded, changed } = whatIf(twice, { set: {}, until: 200_000 });
    expect(recorded).toMatchObject({ upMs: 9_400 + 28_900, downMs: 600 + 31_100, attempts: 3 });
    expect(changed).toEqual({ ...recorded, assumed: [] });
  });

  it('in which a person asked for something asks for it again, and says so where it was another state', () => {
    const pressed = lived(
      [0, configure()],
      [0, start],
      [30_000, cut()],
      [30_100, reconnect],
      [30_200, connects()],
      [30_300, lists()],
    );
    const { changed } = whatIf(pressed, { set: { connectTimeoutMs: 40_000 }, until: 50_000 });
    expect(kinds(changed)).toMatchObject({ command: 1 });
  });

  it('of a server that was never to run has no availability', () => {
    expect(whatIf([], { set: {}, until: 5_000 }).recorded).toMatchObject({ availability: null, upMs: 0, attempts: 0 });
  });

  it('in which an entry changed at the very moment the server went to sleep goes on as it did', () => {
    const asleep = lived(
      [0, configure({ idleStopMs: 5_000 })],
      [10, start],
      [100, connects()],
      [110, lists()],
      [5_110, unused],
      [5_130, closed],
      [5_130, configure({}, 'r2')],
      [5_150, start],
      [5_300, connects()],
      [5_310, lists()],
    );
    const { recorded, changed } = whatIf(asleep, { set: {}, until: 10_000 });
    expect(recorded).toMatchObject({ attempts: 2, upMs: 5_000 + 4_690 });
    expect(changed).toEqual({ ...recorded, assumed: [] });
  });

  it('that settled down is told as it was', () => {
    const settled = lived(
      [0, configure()],
      [0, start],
      [10, fails()],
      [385, again],
      [400, connects()],
      [500, lists()],
      [30_500, holds],
    );
    const { recorded, changed } = whatIf(settled, { set: {}, until: 40_000 });
    expect(changed).toEqual({ ...recorded, assumed: [] });
  });
});

describe('What cannot be asked', () => {
  it.each([
    [{ maxAttempts: 3 }, /"maxAttempts" cannot be changed\. What can: connectTimeoutMs, .*backoffMaxMs\./],
    [{ connectTimeoutMs: 0 }, /"connectTimeoutMs" has to be a whole number of milliseconds/],
    [{ stableMs: 2 ** 31 }, /from 1 to 2147483647/],
    [{ stableMs: 'long' }, /whole number/],
  ])('is refused by its name: %j', (set, message) => {
    expect(wrongIn(set)).toMatch(message);
  });

  it('are not the limits there are', () => {
    expect(wrongIn(Object.fromEntries(changeable.map((key) => [key, 1])))).toBeNull();
  });

  it('is a log that the rules of today would not have written', () => {
    const other = hung.map((fact) =>
      fact.type === 'ConnectFailed' ? { ...fact, data: { ...fact.data, delayMs: 7 } as typeof fact.data } : fact,
    );
    expect(() => whatIf(other, { set: {}, until: 1 })).toThrow(
      new Unexplained(other[3] as never, 'ConnectFailed with delayMs 7', 'ConnectFailed with delayMs 375'),
    );
  });
});
