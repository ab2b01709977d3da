/** Arguments of a call for the person who has to decide. Pure. */
import { harmless } from '../cli/paint.ts';
import { isObject } from '../config/raw.ts';
import { type Line, span, wrap } from './line.ts';

/** A text within quotes as long as it is on one line; a longer one as a block behind a bar, which nothing in it can imitate. */
function textLines(head: Line, text: string, width: number, depth: number): readonly Line[] {
  const safe = harmless(text).replace(/\t/g, '  ');
  if (!safe.includes('\n')) {
    const quoted = JSON.stringify(safe);
    const [first = '', ...rest] = wrap(quoted, Math.max(10, width - depth - 2 - lengthOf(head)));
    return [[...head, span(first)], ...rest.map((one): Line => [span(' '.repeat(depth + 2)), span(one)])];
  }
  const bar = `${' '.repeat(depth + 2)}│ `;
  return [head, ...wrap(safe, Math.max(10, width - bar.length)).map((one): Line => [span(bar, 'quiet'), span(one)])];
}

const lengthOf = (spans: Line): number => spans.reduce((sum, { text }) => sum + text.length, 0);

/** Keys and values in the order they came, two blanks a level. */
export function readable(value: unknown, width: number, depth = 0, head: Line = []): readonly Line[] {
  const blank = ' '.repeat(depth);
  if (typeof value === 'string') return textLines(head, value, width, depth);
  if (Array.isArray(value)) {
    if (value.length === 0) return [[...head, span('[]')]];
    const items = value.flatMap((item) => readable(item, width, depth + 2, [span(`${blank}- `, 'quiet')]));
    return head.length > 0 ? [head, ...items] : items;
  }
  if (isObject(value)) {
    const members = Object.entries(value);
    if (members.length === 0) return [[...head, span('{}')]];
    const lines = members.flatMap(([key, member]) => {
      const name = harmless(key).replace(/\s/g, ' ');
      return readable(member, width, depth + 2, [span(blank), span(`${name}:`, 'accent'), span(' ')]);
    });
    return head.length > 0 && head.some(({ text }) => text.trim() !== '') ? [head, ...lines] : lines;
  }
  return [[...head, span(String(value))]];
}
