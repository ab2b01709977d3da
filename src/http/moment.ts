import type { Moment } from './keeper.ts';

const iso = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/i;

/**
 * A time in ISO 8601 as milliseconds since the epoch, or null. Without an offset it is UTC.
 * A `+` that was not encoded in a query arrives as a blank and is taken for what it was.
 */
export function readTime(text: string): number | null {
  const repaired = text.replace(/ (?=\d{2}:\d{2}$)/, '+');
  const found = iso.exec(repaired);
  if (found === null) return null;
  const zoned = repaired.length === 10 || found[1] !== undefined ? repaired : `${repaired}Z`;
  const ms = Date.parse(zoned.toUpperCase());
  return Number.isNaN(ms) || !isOnCalendar(repaired) ? null : ms;
}

/** A log position (digits) or a time, or null. */
export function readMoment(text: string): Moment | null {
  if (/^\d{1,15}$/.test(text)) return { position: Number(text) };
  const time = readTime(text);
  return time === null ? null : { time };
}

/** `Date.parse` takes 30 February for 2 March. */
function isOnCalendar(text: string): boolean {
  const date = text.slice(0, 10);
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date);
}
