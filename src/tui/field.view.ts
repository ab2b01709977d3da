/** A text being typed, drawn. Pure. */
import { cut, widthOf } from '../cli/paint.ts';
import type { Field } from './field.ts';
import { type Span, span } from './line.ts';

/** At most `width` columns of a text with its cursor; `secret`: a dot for each character. */
export function fieldSpans(field: Field, width: number, focused: boolean, secret = false): readonly Span[] {
  const chars = [...field.value].map((char) => (secret ? '•' : char < ' ' ? ' ' : char));
  if (!focused) return [span(cut(chars.join(''), width))];
  // The cursor stays in sight: what is left of it moves out on the left.
  let from = 0;
  while (widthOf(chars.slice(from, field.cursor).join('')) > width - 2) from += 1;
  const before = `${from > 0 ? '…' : ''}${chars.slice(from + (from > 0 ? 1 : 0), field.cursor).join('')}`;
  const at = chars[field.cursor] ?? ' ';
  const room = width - widthOf(before) - widthOf(at);
  return [
    span(before),
    { text: at, marked: true },
    span(cut(chars.slice(field.cursor + 1).join(''), Math.max(0, room))),
  ];
}
