/** What all screens are drawn with: lines of spans, and the colours of their tones. Pure. */
import { Box, Text } from 'ink';
import { createContext, type ReactNode, useContext } from 'react';
import { cut } from '../cli/paint.ts';
import type { Field } from './field.ts';
import { fitted, type Line, type Span, span, type Tone, widthOfLine } from './line.ts';

/** Whether colours may be used; bold, dim and swapped are no colours. */
export const Colors = createContext(true);

/** Colours that can be read on dark and on light; the foreground itself is never set. */
const colors: Readonly<Partial<Record<Tone, string>>> = { good: 'green', bad: 'red', warn: 'magenta', busy: 'cyan' };

function lookOf(tone: Tone = 'plain', colored: boolean) {
  const color = colored ? colors[tone] : undefined;
  return {
    ...(color === undefined ? {} : { color }),
    bold: tone === 'strong' || tone === 'accent',
    dimColor: tone === 'quiet',
  };
}

/** One row of the screen. */
export function Row({ spans, width }: { readonly spans: Line; readonly width: number }): ReactNode {
  const colored = useContext(Colors);
  const shown = fitted(spans, width);
  return (
    <Box height={1} width={width}>
      <Text wrap="truncate">
        {shown.length === 0
          ? ' '
          : shown.map(({ text, tone, marked }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: spans have no identity, only places
              <Text key={index} {...lookOf(tone, colored)} inverse={marked === true}>
                {text}
              </Text>
            ))}
      </Text>
    </Box>
  );
}

/** Exactly `rows` rows: missing ones are blank, what is too much is left out. */
export function Rows({
  lines,
  rows,
  width,
}: {
  readonly lines: readonly Line[];
  readonly rows: number;
  readonly width: number;
}): ReactNode {
  const shown = Array.from({ length: rows }, (_, index) => lines[index] ?? []);
  return (
    <Box flexDirection="column" height={rows} width={width}>
      {shown.map((spans, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place on the screen
        <Row key={index} spans={spans} width={width} />
      ))}
    </Box>
  );
}

/** A line as wide as the screen, in swapped colours: the row where the mark is. */
export function marked(spans: Line, width: number): Line {
  const cutLine = fitted(spans, width);
  const rest = ' '.repeat(Math.max(0, width - widthOfLine(cutLine)));
  return [...cutLine, span(rest)].map(({ text }) => ({ text, tone: 'plain', marked: true }));
}

/** Something on the left and something at the right end. */
export function spread(left: Line, right: Line, width: number): Line {
  const room = width - widthOfLine(right) - 1;
  const kept = fitted(left, Math.max(0, room));
  return [...kept, span(' '.repeat(Math.max(1, width - widthOfLine(kept) - widthOfLine(right)))), ...right];
}

export type Keys = readonly (readonly [key: string, does: string])[];

/** Keys with what they do: `a add`. Where there is no room for all, the last two stay: they lead out and to the others. */
export function keysLine(keys: Keys, width: number): Line {
  const spans = keys.flatMap(([key, does], index): Span[] => [
    span(index === 0 ? ' ' : '  '),
    span(key, 'accent'),
    span(does === '' ? '' : ` ${does}`, 'quiet'),
  ]);
  if (keys.length < 3 || widthOfLine(spans) <= width) return spans;
  return keysLine(keys.toSpliced(keys.length - 3, 1), width);
}

/**
 * A text that is being typed, at most `width` columns, the part with the cursor in it. `hidden`: dots stand for it.
 * Without a focus it has no cursor.
 */
export function fieldSpans(field: Field, width: number, { focus = true, hidden = false } = {}): Line {
  const chars = [...field.value].map((char) => (hidden ? '•' : char));
  if (!focus) return [span(cut(chars.join(''), width))];
  // One column is the cursor's own at the end.
  const from = Math.max(0, Math.min(field.cursor - width + 1, chars.length - width + 1));
  const before = chars.slice(from, field.cursor).join('');
  const at = chars[field.cursor] ?? ' ';
  const after = chars.slice(field.cursor + 1, from + width).join('');
  return [span(before), { text: at, marked: true }, span(after)];
}
