import { describe, expect, it } from 'vitest';
import { isDeeperThan } from '../../src/mcp/depth.ts';

describe('The depth of JSON', () => {
  it('is counted without going deep, however deep it is', () => {
    const deep = JSON.parse(`${'{"a":['.repeat(50_000)}1${']}'.repeat(50_000)}`);
    expect(isDeeperThan(deep, 99_999)).toBe(true);
    expect(isDeeperThan(deep, 100_000)).toBe(false);
  });

  it.each([
    ['a scalar', 1, 0, false],
    ['an empty list', [], 0, true],
    ['an empty list', [], 1, false],
    ['the deepest of several branches', { a: 1, b: [{ c: 2 }], d: {} }, 2, true],
    ['the deepest of several branches', { a: 1, b: [{ c: 2 }], d: {} }, 3, false],
  ])('counts the levels of %s', (_what, value, levels, deeper) => {
    expect(isDeeperThan(value, levels)).toBe(deeper);
  });
});
