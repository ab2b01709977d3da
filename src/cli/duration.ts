/** Times and lengths of time for people. Pure. */
export { counted, exactDuration } from '../replay/words.ts';

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

const two = (number: number): string => String(number).padStart(2, '0');

/** A time of the log in the reader's own zone, `2026-03-01 14:30:05.123`. */
export function localTime(iso: string): string {
  const at = new Date(iso);
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  return `${day} ${clock}.${String(at.getMilliseconds()).padStart(3, '0')}`;
}

/** Bytes in the largest unit that keeps the number above 1. */
export function bytes(count: number): string {
  if (count < 1024) return `${count} bytes`;
  const [unit, size] = count < 1024 ** 2 ? ['KiB', 1024] : ['MiB', 1024 ** 2];
  return `${(count / Number(size)).toFixed(1)} ${unit}`;
}
