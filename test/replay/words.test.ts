import { describe, expect, it } from 'vitest';
import { classed, counted, exactDuration, listed, roundedDuration } from '../../src/replay/words.ts';

describe('A length of time', () => {
  it.each([
    [0.4, '0 ms', '0 ms'],
    [350, '350 ms', '350 ms'],
    [2_490, '2 s', '2.5 s'],
    [60_000, '1 m', '60 s'],
    [62_540, '1 m 2 s', '62.5 s'],
    [119_960, '1 m 59 s', '2 m'],
    [150_000, '2 m 30 s', '2 m 30 s'],
    [3_599_900, '59 m 59 s', '1 h'],
    [3_600_000, '1 h', '1 h'],
    [7_199_600, '1 h 59 m', '2 h'],
    [9_000_000, '2 h 30 m', '2 h 30 m'],
    [86_399_000, '23 h 59 m', '1 d'],
    [180_000_000, '2 d 2 h', '2 d 2 h'],
  ])('of %i ms is %s as it passed, and %s when it was worked out', (ms, exact, rounded) => {
    expect(exactDuration(ms)).toBe(exact);
    expect(roundedDuration(ms)).toBe(rounded);
  });
});

describe('Words', () => {
  it('count, list and classify', () => {
    expect([counted(1, 'tool'), counted(9, 'tool'), counted(2, 'loss')]).toEqual(['1 tool', '9 tools', '2 losses']);
    expect(listed(['a', 'b', 'c'])).toBe('a, b and c');
    expect(listed(['a', 'b', 'c'], 2)).toBe('a, b and 1 more');
    expect(classed({ class: 'exit', message: 'exit: gone' })).toBe('exit: gone');
    expect(classed({ class: 'exit', message: 'gone' })).toBe('exit: gone');
  });
});
