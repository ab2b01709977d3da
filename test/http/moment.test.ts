import { describe, expect, it } from 'vitest';
import { readMoment, readTime } from '../../src/http/moment.ts';

const noon = Date.parse('2026-03-01T12:00:00.000Z');

describe('A time', () => {
  it.each([
    ['2026-03-01T12:00:00.000Z', noon],
    ['2026-03-01T12:00:00Z', noon],
    ['2026-03-01T12:00Z', noon],
    ['2026-03-01t12:00:00z', noon],
    ['2026-03-01T14:00:00+02:00', noon],
    ['2026-03-01T07:00:00-05:00', noon],
    ['2026-03-01T12:00:00', noon],
    ['2026-03-01T12:00:00.000123Z', noon],
    ['2026-03-01', noon - 12 * 3_600_000],
  ])('is read from %s', (text, ms) => {
    expect(readTime(text)).toBe(ms);
  });

  it('is read with a plus sign that was not encoded in the query', () => {
    expect(readTime('2026-03-01T14:00:00 02:00')).toBe(noon);
  });

  it.each([
    '',
    'yesterday',
    '10m',
    '2026-3-1',
    '2026-02-30',
    '2026-13-01',
    '2026-03-01T25:00Z',
    '1772366400000',
    '2026',
    'NaN',
  ])('is not read from "%s"', (text) => {
    expect(readTime(text)).toBeNull();
  });
});

describe('A moment', () => {
  it('is a log position when it is a whole number, else a time', () => {
    expect(readMoment('0')).toEqual({ position: 0 });
    expect(readMoment('1204')).toEqual({ position: 1204 });
    expect(readMoment('2026-03-01T12:00:00Z')).toEqual({ time: noon });
  });

  it.each(['-1', '1.5', '1e3', ' 7', '0x10', '99999999999999999999', 'now'])('is not "%s"', (text) => {
    expect(readMoment(text)).toBeNull();
  });
});
