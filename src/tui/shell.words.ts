/** A command line as words and back, by the quoting rules a shell has for plain words. Pure; nothing is expanded. */

export type Words =
  | { readonly ok: true; readonly words: readonly string[] }
  | { readonly ok: false; readonly message: string };

/** Splits at blanks; quotes and backslashes protect them. A backslash before a line break joins two lines. */
export function splitWords(text: string): Words {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  const chars = [...text.replace(/\\\r?\n/g, ' ')];
  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at] ?? '';
    if (quote === "'") {
      if (char === "'") quote = null;
      else word += char;
    } else if (char === '\\') {
      const next = chars[at + 1];
      // Within double quotes it protects only what would mean something there.
      const protects: boolean = next !== undefined && (quote === null || '"\\$`'.includes(next));
      word = (word ?? '') + (protects ? next : char);
      if (protects) at += 1;
    } else if (quote === '"') {
      if (char === '"') quote = null;
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + char;
  }
  if (quote !== null) return { ok: false, message: `a quote (${quote}) is not closed` };
  if (word !== null) words.push(word);
  return { ok: true, words };
}

/** Words as one line that `splitWords` reads the same way. */
export const joinWords = (words: readonly string[]): string => words.map(quoted).join(' ');

function quoted(word: string): string {
  if (word !== '' && !/[\s'"\\]/.test(word)) return word;
  return word.includes("'") ? `"${word.replace(/(["\\])/g, '\\$1')}"` : `'${word}'`;
}
