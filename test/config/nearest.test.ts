import { describe, expect, it } from 'vitest';
import { distance, nearest } from '../../src/config/nearest.ts';

describe('The nearest known name', () => {
  it.each([
    ['memroy', 'memory'],
    ['Memory', 'memory'],
    ['headrs', 'headers'],
    ['envFile', undefined],
    ['command_line', undefined],
    ['x'.repeat(65), undefined],
  ])('to %s is %s', (word, meant) => {
    expect(nearest(word, ['memory', 'headers', 'env', 'command'])).toBe(meant);
  });

  it.each([
    ['', 'abc', 3],
    ['abc', 'abc', 0],
    ['tiem', 'time', 1],
    ['kitten', 'sitting', 3],
  ])('%j is so many letters from %j: %i', (one, other, far) => {
    expect(distance(one, other)).toBe(far);
    expect(distance(other, one)).toBe(far);
  });
});
