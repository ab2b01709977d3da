/** How a person names a moment or a length of time on the command line. Pure: the present is handed in. */

/** A log position, or a time in milliseconds since the epoch. */
export type Moment = { readonly position: number } | { readonly time: number };

const unit: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  sec: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** What a moment may look like, for messages. */
export const momentForms = 'a time (2026-03-01T12:00, 14:30), a log position (1204) or a span (10m, 2h, 3d, yesterday)';

/** Reads `90s`, `1h30m`, `2.5h`, `500ms`, `3d`, `1w` as milliseconds; null when it is no span. */
export function parseSpan(text: string): number | null {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)\s*(ms|sec|min|[smhdw])\s*/gy)];
  const read = parts.reduce((length, part) => length + part[0].length, 0);
  if (parts.length === 0 || read !== text.length) return null;
  return Math.round(parts.reduce((sum, part) => sum + Number(part[1]) * (unit[part[2] ?? ''] ?? 0), 0));
}

const midnight = (now: Date, daysBack: number): Date =>
  new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysBack);

function parseClock(text: string): { hours: number; minutes: number; seconds: number } | null {
  const match = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(text);
  if (!match) return null;
  const [hours, minutes, seconds] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
  return hours < 24 && minutes < 60 && seconds < 60 ? { hours, minutes, seconds } : null;
}

function parseDay(text: string, now: Date): Moment | null {
  const match = /^(today|yesterday)(?:\s+(\S+))?$/.exec(text);
  if (!match) return null;
  const day = midnight(now, match[1] === 'today' ? 0 : 1);
  if (match[2] === undefined) return { time: day.getTime() };
  const clock = parseClock(match[2]);
  return clock && { time: day.setHours(clock.hours, clock.minutes, clock.seconds) };
}

/** ISO 8601; without a zone it is local time, a date alone its local midnight. */
function parseIso(text: string): Moment | null {
  const match = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i.exec(
    text,
  );
  if (!match) return null;
  const [, year, month, day, clock = '00:00', zone = ''] = match;
  const offset = zone.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2').toUpperCase();
  const calendar = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  // 31 February would silently become a day in March.
  if (calendar.getUTCMonth() !== Number(month) - 1 || calendar.getUTCDate() !== Number(day)) return null;
  const time = Date.parse(`${year}-${month}-${day}T${clock}${offset}`);
  return Number.isNaN(time) ? null : { time };
}

/**
 * Reads what `--at`, `--since`, `--from` and `--to` take; null when it is none of them.
 * A bare number is a log position, a span counts back from now, a clock time is the last time it was that late,
 * `yesterday` is its midnight.
 */
export function parseMoment(text: string, now: Date): Moment | null {
  const words = text.trim().toLowerCase();
  if (/^\d+$/.test(words)) return Number.isSafeInteger(Number(words)) ? { position: Number(words) } : null;
  if (words === 'now') return { time: now.getTime() };
  const span = parseSpan(words.replace(/^-/, '').replace(/\s+ago$/, ''));
  if (span !== null) return { time: now.getTime() - span };
  const clock = parseClock(words);
  if (clock) {
    const today = midnight(now, 0).setHours(clock.hours, clock.minutes, clock.seconds);
    return {
      time: today <= now.getTime() ? today : midnight(now, 1).setHours(clock.hours, clock.minutes, clock.seconds),
    };
  }
  return parseDay(words, now) ?? parseIso(text.trim());
}
