/** Colours, and text of others made harmless. Pure. */
import { classed } from '../replay/words.ts';

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const;
export type Color = keyof typeof codes;

/** Puts a text into a colour, or leaves it as it is where colours are not wanted. */
export type Paint = (color: Color, text: string) => string;

export const painter =
  (color: boolean): Paint =>
  (name, text) =>
    color && text !== '' ? `\u001b[${codes[name]}m${text}\u001b[39;22m` : text;

const sequences = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

/**
 * Characters that are not to be seen: they make a line read differently from what it is (controls of direction), or
 * hide a text in it (tags). What joins letters and emoji stays.
 */
const unseen =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** Text that came from a server, without anything that could steer a terminal; line breaks and tabs stay. */
export function harmless(text: string): string {
  return text
    .replace(sequences, '')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
    .replace(unseen, '');
}

/** The same on one line. */
export const oneLine = (text: string): string => harmless(text).replace(/\s+/g, ' ').trim();

/** `class: message`, the class only once, on one line. */
export const errorWords = (error: { readonly class: string; readonly message: string }): string =>
  oneLine(classed(error));

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
/** Letters of flags: two of them make one, as wide as one emoji. */
const ofFlag = /[\u{1f1e6}-\u{1f1ff}]/u;

const columnsOf = (character: string): number => {
  if (/^(?:\p{Mark}|\p{Default_Ignorable_Code_Point})/u.test(character)) return 0;
  return wide.test(character) && !ofFlag.test(character) ? 2 : 1;
};

/** Columns a text takes on a terminal, colours not counted. */
export function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text.replace(sequences, '')) width += columnsOf(character);
  return width;
}

/** Cuts a text without colours to `width` columns, the last of them `…` when something is missing. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const character of text) {
    const columns = columnsOf(character);
    if (used + columns > width - 1) break;
    kept += character;
    used += columns;
  }
  return width < 1 ? '' : `${kept}…`;
}
