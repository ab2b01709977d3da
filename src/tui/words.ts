/** Words of a command line as a shell would read them: quotes group, a backslash takes the next character as it is. Pure. */

/** null: a quote is not closed. Nothing is expanded. */
export function splitWords(text: string): readonly string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charAt(index);
    if (quote !== null) {
      if (char === quote) quote = null;
      else if (char === '\\' && quote === '"' && /["\\$`]/.test(text.charAt(index + 1))) {
        index += 1;
        word += text.charAt(index);
      } else word += char;
      continue;
    }
    if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (char === "'" || char === '"') {
      quote = char;
      word ??= '';
    } else if (char === '\\' && index + 1 < text.length) {
      index += 1;
      word = (word ?? '') + text.charAt(index);
    } else word = (word ?? '') + char;
  }
  if (quote !== null) return null;
  if (word !== null) words.push(word);
  return words;
}

const plain = /^[A-Za-z0-9_@%+=:,./${}*~^-]+$/;

/** The way back: words that need it stand in quotes. */
export const joinWords = (words: readonly string[]): string =>
  words.map((word) => (plain.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
