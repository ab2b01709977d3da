import { describe, expect, it } from 'vitest';
import { parseMoment, parseSpan } from '../../src/cli/moment.ts';

// Local noon of a day in the middle of a month, whatever the zone of the machine is.
const now = new Date(2026, 2, 15, 12, 0, 0);
const local = (day: number, hours = 0, minutes = 0, seconds = 0): number =>
  new Date(2026, 2, day, hours, minutes, seconds).getTime();
const ago = (milliseconds: number): number => now.getTime() - milliseconds;

describe('a moment on the command line', () => {
  it.each([
    ['a bare number is a log position', '1204', { position: 1204 }],
    ['position 0 is the beginning of the log', '0', { position: 0 }],
    ['minutes count back from now', '10m', { time: ago(600_000) }],
    ['hours count back from now', '2h', { time: ago(7_200_000) }],
    ['spans can be put together', '1h30m', { time: ago(5_400_000) }],
    ['blanks between the parts do not matter', '1h 30m', { time: ago(5_400_000) }],
    ['parts of a unit', '2.5h', { time: ago(9_000_000) }],
    ['"ago" may follow', '3d ago', { time: ago(3 * 86_400_000) }],
    ['a minus may go before', '-10m', { time: ago(600_000) }],
    ['now', 'now', { time: now.getTime() }],
    ['today is its midnight', 'today', { time: local(15) }],
    ['yesterday is its midnight', 'yesterday', { time: local(14) }],
    ['yesterday at a time', 'yesterday 14:30', { time: local(14, 14, 30) }],
    ['case does not matter', 'Yesterday', { time: local(14) }],
    ['a clock time is today if it has passed', '11:59:30', { time: local(15, 11, 59, 30) }],
    ['a clock time that is still to come was yesterday', '14:30', { time: local(14, 14, 30) }],
    ['a date is its local midnight', '2026-03-01', { time: local(1) }],
    ['a time without a zone is local', '2026-03-01T12:30', { time: local(1, 12, 30) }],
    ['a blank between date and time', '2026-03-01 12:30:15', { time: local(1, 12, 30, 15) }],
    ['UTC', '2026-03-01T12:00:00.123Z', { time: Date.UTC(2026, 2, 1, 12, 0, 0, 123) }],
    ['an offset', '2026-03-01T12:00:00+02:00', { time: Date.UTC(2026, 2, 1, 10) }],
    ['an offset without a colon', '2026-03-01T12:00:00+0200', { time: Date.UTC(2026, 2, 1, 10) }],
  ])('%s (%s)', (_, text, expected) => {
    expect(parseMoment(text, now)).toEqual(expected);
  });

  it.each([
    '',
    'soon',
    '10 m x',
    '25:00',
    '12:61',
    '2026-02-31',
    '2026-13-01',
    '2026-03-01T25:00',
    '10y',
    'm',
    'yesterday noon',
    '99999999999999999999',
  ])('"%s" is none', (text) => {
    expect(parseMoment(text, now)).toBeNull();
  });
});

describe('a span on the command line', () => {
  it.each([
    ['500ms', 500],
    ['90s', 90_000],
    ['5min', 300_000],
    ['1w', 604_800_000],
    ['1d2h3m4s', 93_784_000],
  ])('%s', (text, milliseconds) => {
    expect(parseSpan(text)).toBe(milliseconds);
  });

  it.each(['', '5', 's', '5 parsecs', '-5s', '5s!'])('"%s" is none', (text) => {
    expect(parseSpan(text)).toBeNull();
  });
});
