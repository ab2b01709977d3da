/**
 * JSON in which nothing hides: what shows nothing, steers a terminal, turns the direction of a line or passes for a space
 * stands as its escape. It is the same value, and what a person sees is what it holds. Pure.
 */

/** Controls, formats (direction, joiners, tags), separators, what has no meaning of its own, odd spaces, fillers and variation selectors. */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]|(?! )\p{Zs}|\u034f|\u17b4|\u17b5|[\u115f\u1160\u2800\u3164\uffa0]|[\u180b-\u180d]|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]/gu;
const NOT_ASCII = /[^ -~]/gu;

const escaped = (character: string): string =>
  // Line breaks between members are the writer's own; those inside of texts are escaped already.
  character === '\n' ? character : [...Array(character.length).keys()].map((at) => unit(character, at)).join('');

const unit = (text: string, at: number): string => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`;

export const visibleJson = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, null, indent) ?? 'null').replace(UNSEEN, escaped);

/** A text on one line, with what hides in it as its escape. */
export const visibleText = (text: string): string => text.replace(/[ \t\r\n]+/g, ' ').replace(UNSEEN, escaped);

/** The same of a text of several lines: their breaks, and tabs, stay. */
export const visibleLines = (text: string): string =>
  text.replace(UNSEEN, (character) => (character === '\t' ? character : escaped(character)));

/** A name as it is, or in quotes with everything that is not plain ASCII escaped: letters of other alphabets look like ours. */
export function visibleName(name: string): string {
  const text = JSON.stringify(name).replace(NOT_ASCII, escaped);
  return text.slice(1, -1) === name ? name : text;
}
