/** Lengths of time, numbers and failures in words. Pure; nothing here is made harmless for a terminal. */

const steps = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

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

/** A length of time that was measured or worked out, rounded to what says something: `62.5 s`, `1 h`, `2 h 5 m`, `3 d 4 h`. */
export function roundedDuration(milliseconds: number): string {
  const length = Math.max(0, milliseconds);
  if (length < 999.5) return `${Math.round(length)} ms`;
  if (length < 119_950) return `${Math.round(length / 100) / 10} s`;
  const unit = length < 3_599_500 ? 1_000 : length < 86_370_000 ? 60_000 : 3_600_000;
  return exactDuration(Math.round(length / unit) * unit);
}

/** `1 tool`, `9 tools`. */
export const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? '' : /(?:s|x|ch|sh)$/.test(what) ? 'es' : 's'}`;

/** `a`, `a and b`, `a, b and c`; the ninth and later ones are only counted. */
export function listed(names: readonly string[], most = 8): string {
  const shown = names.slice(0, most);
  const rest = names.length - shown.length;
  if (rest > 0) return `${shown.join(', ')} and ${rest} more`;
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

/** ISO 8601, UTC, with milliseconds. */
export const iso = (time: number): string => new Date(time).toISOString();

/** `class: message`, the class only once. */
export const classed = ({ class: kind, message }: { readonly class: string; readonly message: string }): string =>
  message.startsWith(`${kind}:`) ? message : `${kind}: ${message}`;
