import { describe, expect, it } from 'vitest';
import { chanceOf, densest, firstWhere, lengthOf, overlap, Tally, united } from '../../src/replay/statistics.ts';
import { dice } from '../support/recorded.ts';

const spans = (...pairs: readonly [number, number][]) => pairs.map(([from, to]) => ({ from, to }));

describe('Percentiles', () => {
  it('are durations that were measured, by the nearest rank', () => {
    const tally = new Tally();
    for (let ms = 100; ms >= 1; ms -= 1) tally.add(ms);
    expect(tally.percentiles()).toEqual({ count: 100, p50: 50, p90: 90, p99: 99 });
  });

  it.each([
    [[], { count: 0, p50: null, p90: null, p99: null }],
    [[7.04], { count: 1, p50: 7, p90: 7, p99: 7 }],
    [[0.26, 1_234.6], { count: 2, p50: 0.3, p90: 1_235, p99: 1_235 }],
  ])('of %j are %j', (lengths, wanted) => {
    const tally = new Tally();
    for (const ms of lengths) tally.add(ms);
    expect(tally.percentiles()).toEqual(wanted);
  });
});

describe('Chance', () => {
  it.each([
    [5, 5, 0.1, 1e-5],
    [0, 5, 0.1, 1],
    [1, 10, 0.1, 1],
    [3, 0, 0.1, 1],
    [3, 5, 1, 1],
    [3, 5, 0, 0],
  ])('of %i of %i at %f each is at most %f', (support, of, each, chance) => {
    expect(chanceOf(support, of, each)).toBeCloseTo(chance, 10);
  });

  it('is never said to be smaller than it is', () => {
    const roll = dice(1);
    for (const [support, of, each] of [
      [4, 6, 0.3],
      [8, 20, 0.2],
      [3, 4, 0.5],
    ] as const) {
      let seen = 0;
      for (let round = 0; round < 20_000; round += 1) {
        let fits = 0;
        for (let one = 0; one < of; one += 1) fits += roll() < each ? 1 : 0;
        if (fits >= support) seen += 1;
      }
      expect(chanceOf(support, of, each)).toBeGreaterThan(seen / 20_000);
    }
  });
});

describe('Stretches of time', () => {
  it('that touch or overlap are one', () => {
    expect(united(spans([0, 2], [1, 3], [3, 4], [6, 7], [6, 6]))).toEqual(spans([0, 4], [6, 7]));
  });

  it.each([
    [spans([0, 10]), spans([2, 3], [9, 12]), 2],
    [spans([0, 10], [20, 30]), spans([5, 25]), 10],
    [spans([5, 6]), spans([0, 1], [1, 2], [7, 8]), 0],
    [spans([0, 4], [4, 8]), spans([0, 8]), 8],
    [[], spans([0, 8]), 0],
  ])('%j are covered by %j for %i', (some, others, wanted) => {
    expect(overlap(some, others)).toBe(wanted);
    expect(overlap(others, some)).toBe(wanted);
  });

  it('are as long as all of them', () => {
    expect(lengthOf(spans([0, 3], [5, 6]))).toBe(4);
  });
});

describe('Numbers that lie close together', () => {
  it.each([
    [[1, 5, 6, 7, 20], 2, [1, 4]],
    [[1, 2, 10, 11], 1, [0, 2]],
    [[], 1, [0, 0]],
  ])('in %j within %i are those at %j', (sorted, reach, [from, to]) => {
    expect(densest(sorted, () => reach)).toEqual({ from, to });
  });

  it('are found from where something begins to hold', () => {
    expect([0, 1, 3, 9, 10].map((least) => firstWhere([1, 3, 3, 9], (one) => one >= least))).toEqual([0, 0, 1, 3, 4]);
  });
});
