/** Cutting lines out of a text and putting lines in. Pure. */

export interface Span {
  readonly from: number;
  readonly to: number;
}

export const eolOf = (text: string): string => /\r\n|\n/.exec(text)?.[0] ?? '\n';

export const lineStart = (text: string, offset: number): number => text.lastIndexOf('\n', offset - 1) + 1;

/** Just behind the line break that ends the line of an offset. */
export function lineEnd(text: string, offset: number): number {
  const at = text.indexOf('\n', offset);
  return at < 0 ? text.length : at + 1;
}

/** Removes spans, the last one first, so that the others keep their place. They must not overlap. */
export const cutSpans = (text: string, spans: readonly Span[]): string =>
  [...spans].sort((a, b) => b.from - a.from).reduce((now, { from, to }) => now.slice(0, from) + now.slice(to), text);

/** A cut of whole lines takes one blank line in front along when another, or the end, follows: no hole is left. */
export function withBlankBefore(text: string, { from, to }: Span): Span {
  const rest = text.slice(to);
  const before = /(?:^|\n)([ \t]*\r?\n)$/.exec(text.slice(0, from))?.[1];
  const follows = rest.trim() === '' || /^[ \t]*\r?\n/.test(rest);
  return before !== undefined && follows ? { from: from - before.length, to } : { from, to };
}

/** JSON that tells apart what JSON alone would not: dates, big numbers, numbers that are none. Keys sorted. */
export function fingerprint(value: unknown): string {
  if (typeof value === 'bigint') return `n${value}`;
  if (value instanceof Date) return `d${value.toISOString()}`;
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return `[${value.map(fingerprint).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined';
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${fingerprint(member)}`).join(',')}}`;
}
