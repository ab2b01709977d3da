/** Times and lengths of time for people. Pure. */

const steps = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

/** A length of time in its largest unit, rounded down: `3 m`, `12 s`, `4 d`; below a second `0 s`. */
export function duration(milliseconds: number): string {
  const length = Math.max(0, milliseconds);
  const [unit, size] = steps.find(([, step]) => length >= step) ?? ['s', 1000];
  return `${Math.floor(length / size)} ${unit}`;
}

/** A length of time with its two largest units: `3 m 20 s`, `2 h 5 m`; below a second in milliseconds. */
export function exactDuration(milliseconds: number): string {
  const length = Math.max(0, Math.round(milliseconds));
  if (length < 1000) return `${length} ms`;
  const index = steps.findIndex(([, step]) => length >= step);
  const [unit, size] = steps[index] ?? steps[3];
  const next = steps[index + 1];
  const rest = next ? Math.floor((length % size) / next[1]) : 0;
  return `${Math.floor(length / size)} ${unit}${next && rest > 0 ? ` ${rest} ${next[0]}` : ''}`;
}

const two = (number: number): string => String(number).padStart(2, '0');

/** A time of the log in the reader's own zone, `2026-03-01 14:30:05.123`. */
export function localTime(iso: string): string {
  const at = new Date(iso);
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  return `${day} ${clock}.${String(at.getMilliseconds()).padStart(3, '0')}`;
}

/** `1 tool`, `9 tools`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** Bytes in the largest unit that keeps the number above 1. */
export function bytes(count: number): string {
  if (count < 1024) return `${count} bytes`;
  const [unit, size] = count < 1024 ** 2 ? ['KiB', 1024] : ['MiB', 1024 ** 2];
  return `${(count / Number(size)).toFixed(1)} ${unit}`;
}
