/** Lines as data: what the views compute before anything is drawn. Pure. */

import { cut, harmless, oneLine, widthOf } from '../cli/paint.ts';
import { visibleLines } from '../visible.ts';

/** What a text is, not which colour it has: colours are chosen in one place. */
export type Tone = 'plain' | 'strong' | 'quiet' | 'good' | 'bad' | 'warn' | 'busy' | 'accent';

export interface Span {
  readonly text: string;
  readonly tone?: Tone;
  /** Swapped colours: where the cursor is. */
  readonly marked?: boolean;
}

export type Line = readonly Span[];

export const span = (text: string, tone: Tone = 'plain'): Span => ({ text, tone });

/** A line of one text of ours. */
export const line = (text: string, tone: Tone = 'plain'): Line => (text === '' ? [] : [{ text, tone }]);

/** What joins emoji, or turns a sign into one: terminals do not agree how wide the result is. */
const joining = /[\u200d\ufe00-\ufe0f]/g;

/** A text that came from elsewhere, on one line and harmless. */
export const foreign = (text: string, tone: Tone = 'plain'): Span => ({
  text: oneLine(text).replace(joining, ''),
  tone,
});

/**
 * A text with everything in it: what could not be seen stands as its escape. For what a person is to judge by its letters,
 * where leaving something out would show another text than the one that counts. Whether anything was written so.
 */
export function visible(text: string): { readonly text: string; readonly hidden: boolean } {
  // Emoji that are made colourful or belong together hide nothing.
  const shown = text.replace(/\r\n/g, '\n').replace(/(?<=\p{Emoji})(?:\ufe0f|\ufe0f?\u200d(?=\p{Emoji}))/gu, '');
  const all = visibleLines(shown);
  return { text: all, hidden: all !== shown };
}

/** A name from elsewhere: on one line, and no two names look the same because one of them hides something. */
export const named = (text: string, tone: Tone = 'plain'): Span => ({
  text: visible(text).text.replace(/\s+/g, ' ').trim(),
  tone,
});

export const widthOfLine = (spans: Line): number => spans.reduce((sum, { text }) => sum + widthOf(text), 0);

/** The text of a line without its tones. */
export const textOfLine = (spans: Line): string => spans.map(({ text }) => text).join('');

/** Cuts a line to a width; `…` stands where something is missing. */
export function fitted(spans: Line, width: number): Line {
  if (widthOfLine(spans) <= width) return spans;
  const kept: Span[] = [];
  let room = width;
  for (const one of spans) {
    const wide = widthOf(one.text);
    if (wide < room) {
      kept.push(one);
      room -= wide;
      continue;
    }
    // Something is missing behind it: at least the last column says so.
    kept.push({ ...one, text: cut(wide === room ? `${one.text} ` : one.text, room) });
    break;
  }
  return kept;
}

/** A cell of a given width: cut or filled with blanks. */
export function cell(text: string, width: number, tone: Tone = 'plain', right = false): Span {
  const kept = cut(text, width);
  const padding = ' '.repeat(Math.max(0, width - widthOf(kept)));
  return { text: right ? padding + kept : kept + padding, tone };
}

/** Breaks a text into lines of at most `width` columns, between words where that is possible. */
export function wrap(text: string, width: number): readonly string[] {
  const room = Math.max(1, width);
  return text.split('\n').flatMap((given) => {
    const lines: string[] = [];
    let current = '';
    for (const word of given.split(/(?<=\s)/)) {
      if (widthOf(current) + widthOf(word.trimEnd()) <= room) {
        current += word;
        continue;
      }
      if (current.trim() !== '') lines.push(current.trimEnd());
      // What a line is moved in by stays in front of it.
      let left = current.trim() === '' ? current + word : word;
      while (widthOf(left.trimEnd()) > room) {
        const piece = headOf(left, room);
        lines.push(piece);
        left = left.slice(piece.length);
      }
      current = left;
    }
    lines.push(current.trimEnd());
    return lines;
  });
}

/** As many characters as fit, at least one. */
function headOf(text: string, width: number): string {
  let kept = '';
  let used = 0;
  for (const char of text) {
    const wide = widthOf(char);
    if (kept !== '' && used + wide > width) break;
    kept += char;
    used += wide;
  }
  return kept;
}

/** A text from elsewhere in lines of a width; line breaks stay, nothing in it steers the terminal. */
export const foreignLines = (text: string, width: number, tone: Tone = 'plain'): readonly Line[] =>
  wrap(harmless(text).replace(joining, '').replace(/\t/g, '  '), width).map((one) => line(one, tone));

/** Ends a line that the next one goes on: the terminal is to take both for one. Invisible, and in no text from elsewhere. */
export const GOES_ON = '\u2060';

/** Behind a screen that is to be drawn though it has not changed: what draws it would leave it out. Invisible, too. */
export const ANEW = '\u2061';

/** A text of ours, broken wherever a line is full, that stays one line to whoever copies it with the mouse. */
export function unbroken(text: string, width: number): readonly Line[] {
  const lines: string[] = [];
  for (let rest = text; rest !== ''; ) {
    const piece = headOf(rest, Math.max(1, width));
    lines.push(piece);
    rest = rest.slice(piece.length);
  }
  return lines.map((one, index) => line(index < lines.length - 1 ? one + GOES_ON : one));
}

/** The part of a list that is to be seen: `height` of its items, the one at `cursor` among them, as near its middle as may be. */
export function around<Item>(
  items: readonly Item[],
  cursor: number,
  height: number,
): { readonly items: readonly Item[]; readonly from: number } {
  const from = Math.max(0, Math.min(cursor - Math.floor(height / 2), items.length - height));
  return { items: items.slice(from, from + height), from };
}
