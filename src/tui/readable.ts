/** Arguments of a call for the person who has to decide. Pure. */
import { isObject } from '../config/raw.ts';
import { type Line, span, wrap } from './line.ts';

/** What could steer a terminal, or make a line read differently from what it is, as the escape it is written with in JSON. */
const visible = (text: string): string =>
  text.replace(
    /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );

/** Whether a value stands beside its key instead of below it. */
function isShort(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\n');
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0;
}

/** Lines behind a first one with `head` and further ones with blanks of the same width. */
const behind = (head: Line, lines: readonly Line[], width: number): readonly Line[] =>
  lines.map((one, index) => (index === 0 ? [...head, ...one] : [span(' '.repeat(width)), ...one]));

/**
 * Keys and values in the order they came. A text of several lines is a block behind a bar, which nothing in it can imitate;
 * nothing is left out, what cannot be seen is written as its escape.
 */
export function readable(value: unknown, width: number): readonly Line[] {
  const room = Math.max(12, width);
  if (typeof value === 'string') {
    if (!value.includes('\n')) return wrap(visible(JSON.stringify(value)), room).map((one) => [span(one)]);
    return wrap(visible(value.replace(/\t/g, '  ')), room - 2).map((one) => [span('│ ', 'quiet'), span(one)]);
  }
  if (Array.isArray(value) && value.length > 0)
    return value.flatMap((item) => behind([span('- ', 'quiet')], readable(item, room - 2), 2));
  if (isObject(value) && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([key, member]) => {
      const name = span(`${visible(key).replace(/\n/g, '\\n')}:`, 'accent');
      if (isShort(member)) return behind([name, span(' ')], readable(member, room - 2 - name.text.length), 2);
      return [[name], ...readable(member, room - 2).map((one): Line => [span('  '), ...one])];
    });
  return [[span(visible(JSON.stringify(value) ?? String(value)))]];
}
