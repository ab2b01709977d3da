/** A line of text that is being typed. Pure. */
import type { Key } from './keys.ts';

export interface Field {
  readonly value: string;
  /** Where the next character goes, in code points. */
  readonly cursor: number;
}

/** Longest text of a field, in code points. */
const longest = 8192;

export const fieldOf = (value = ''): Field => ({ value, cursor: [...value].length });

/** Puts a text in at the cursor, on one line. */
export function insert({ value, cursor }: Field, text: string): Field {
  const added = [...text.replace(/\s*\n\s*/g, ' ')].filter((char) => char >= ' ' && char !== '\u007f');
  const chars = [...value];
  const room = Math.max(0, longest - chars.length);
  const kept = added.slice(0, room);
  chars.splice(cursor, 0, ...kept);
  return { value: chars.join(''), cursor: cursor + kept.length };
}

const remove = ({ value, cursor }: Field, from: number, to: number): Field => {
  const chars = [...value];
  chars.splice(from, to - from);
  return { value: chars.join(''), cursor: cursor <= from ? cursor : from };
};

/** Where the word before the cursor begins. */
function wordStart({ value, cursor }: Field): number {
  const before = [...value].slice(0, cursor).join('');
  return [...before.replace(/\S+\s*$/, '')].length;
}

/** The field after a key; null when the key means nothing to a field. */
export function edit(field: Field, key: Key): Field | null {
  const length = [...field.value].length;
  if ('text' in key) return insert(field, key.text);
  if ('ctrl' in key) {
    switch (key.ctrl) {
      case 'a':
        return { ...field, cursor: 0 };
      case 'e':
        return { ...field, cursor: length };
      case 'u':
        return remove(field, 0, field.cursor);
      case 'k':
        return remove(field, field.cursor, length);
      case 'w':
        return remove(field, wordStart(field), field.cursor);
      default:
        return null;
    }
  }
  switch (key.name) {
    case 'left':
      return { ...field, cursor: Math.max(0, field.cursor - 1) };
    case 'right':
      return { ...field, cursor: Math.min(length, field.cursor + 1) };
    case 'home':
      return { ...field, cursor: 0 };
    case 'end':
      return { ...field, cursor: length };
    case 'backspace':
      return field.cursor === 0 ? field : remove(field, field.cursor - 1, field.cursor);
    case 'delete':
      return remove(field, field.cursor, Math.min(length, field.cursor + 1));
    default:
      return null;
  }
}
