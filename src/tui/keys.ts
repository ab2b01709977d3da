/** What a terminal sends, as keys and pasted texts. Pure. */

export type KeyName =
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'home'
  | 'end'
  | 'page-up'
  | 'page-down'
  | 'enter'
  | 'escape'
  | 'tab'
  | 'back-tab'
  | 'backspace'
  | 'delete';

/** A key: one with a name, a character, or a letter with Ctrl. */
export type Key = { readonly name: KeyName } | { readonly text: string } | { readonly ctrl: string };

export type Input = Key | { readonly paste: string };

const names: Readonly<Record<string, KeyName>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
  Z: 'back-tab',
  '1~': 'home',
  '3~': 'delete',
  '4~': 'end',
  '5~': 'page-up',
  '6~': 'page-down',
  '7~': 'home',
  '8~': 'end',
};

const plain: Readonly<Record<string, KeyName>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\u007f': 'backspace',
  '\b': 'backspace',
};

const pasteBegins = '\u001b[200~';
const pasteEnds = '\u001b[201~';

/** A whole sequence of a special key; what stands between brackets are its number and its modifiers. */
const special = /^\u001b(?:\[([\d;]*)([A-Za-z~])|O([A-Za-z]))/;
/** A sequence that may still become whole. */
const unfinished = /^\u001b(?:\[[\d;]*|O)?$/;

export interface KeyReader {
  /** The next piece of input; gives what it completed. */
  take(chunk: string): readonly Input[];
  /** Nothing has come for a while: a lone Escape is the key and not the beginning of something. */
  settle(): readonly Input[];
  /** Whether something is waiting for its end. */
  readonly pending: boolean;
}

/** Reads input that may be cut anywhere. */
export function keyReader(): KeyReader {
  let rest = '';
  const read = (): Input[] => {
    const found: Input[] = [];
    while (rest !== '') {
      const next = step(rest);
      if (next === null) break;
      if (next.input !== null) found.push(next.input);
      rest = rest.slice(next.length);
    }
    return found;
  };
  return {
    take(chunk) {
      rest += chunk;
      return read();
    },
    settle() {
      if (!rest.startsWith('\u001b') || rest.startsWith(pasteBegins)) return [];
      rest = rest.slice(1);
      return [{ name: 'escape' }, ...read()];
    },
    get pending() {
      return rest !== '' && !rest.startsWith(pasteBegins);
    },
  };
}

/** The first input of a text and its length; null while it is not whole. */
function step(text: string): { readonly input: Input | null; readonly length: number } | null {
  if (text.startsWith(pasteBegins)) {
    const end = text.indexOf(pasteEnds);
    if (end < 0) return null;
    const paste = text.slice(pasteBegins.length, end).replace(/\r\n?/g, '\n');
    return { input: { paste }, length: end + pasteEnds.length };
  }
  if (text.startsWith('\u001b')) return escapeStep(text);
  const [char = ''] = text;
  const name = plain[char];
  if (name !== undefined) return { input: { name }, length: char.length };
  const code = char.codePointAt(0) ?? 0;
  if (code >= 1 && code <= 26) return { input: { ctrl: String.fromCharCode(code + 96) }, length: 1 };
  if (code < 32) return { input: null, length: 1 };
  return { input: { text: char }, length: char.length };
}

function escapeStep(text: string): { readonly input: Input | null; readonly length: number } | null {
  const found = special.exec(text);
  if (found) {
    const [whole, numbers = '', letter, afterO] = found;
    const [number = ''] = numbers.split(';');
    const name = names[letter === '~' ? `${number}~` : (letter ?? afterO ?? '')];
    return { input: name === undefined ? null : { name }, length: whole.length };
  }
  if (unfinished.test(text)) return null;
  // Escape, and then something that does not belong to it.
  return { input: { name: 'escape' }, length: 1 };
}
