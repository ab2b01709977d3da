/** JSON with comments and trailing commas, read into a tree that knows where each piece stands. */
import { getNodeValue, type Node, type ParseError, parseTree } from 'jsonc-parser';
import type { FileProblem } from './entry.ts';

export type { Node };

export type Tree = { readonly ok: true; readonly root: Node } | { readonly ok: false; readonly problem: FileProblem };

export const byteOrderMark = '\uFEFF';

/** `text` without a byte order mark; every offset below counts from there. */
export const withoutMark = (text: string): string => (text.startsWith(byteOrderMark) ? text.slice(1) : text);

/** Reads a text (no byte order mark). The problem names line and column, never a piece of the text. */
export function readTree(text: string): Tree {
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: false });
  } catch (error) {
    if (error instanceof RangeError) return { ok: false, problem: problemAt(text, 0, 'it is nested too deep') };
    throw error;
  }
  const [first] = errors.toSorted((a, b) => a.offset - b.offset);
  if (first !== undefined) {
    const end = text.trimEnd().length;
    const cut = first.offset >= end;
    const what =
      text.trim() === '' ? 'it is empty' : cut ? `${faults[first.error]}; it ends too early` : faults[first.error];
    return { ok: false, problem: problemAt(text, Math.min(first.offset, end), what ?? 'it is not JSON') };
  }
  return root === undefined ? { ok: false, problem: problemAt(text, 0, 'it is empty') } : { ok: true, root };
}

/** A problem of the file as a whole, seen at an offset. */
export function problemAt(text: string, offset: number, what: string): FileProblem {
  const before = text.slice(0, offset).split(/\r\n|\n|\r/);
  const line = before.length;
  const column = (before.at(-1) ?? '').length + 1;
  return { message: `the file cannot be used: ${what} (line ${line}, column ${column})`, line, column };
}

/** The plain value; its objects have no prototype, so that every key is an ordinary key. The last of two equal keys wins. */
export const plainValue = (node: Node): unknown => getNodeValue(node);

export interface Property {
  readonly key: string;
  readonly node: Node;
  readonly keyNode: Node;
  readonly value: Node;
}

/** Properties of an object node in the order of the file; none for any other node. */
export function propertiesOf(node: Node): readonly Property[] {
  if (node.type !== 'object') return [];
  return (node.children ?? []).flatMap((property) => {
    const [keyNode, value] = property.children ?? [];
    return keyNode === undefined || value === undefined
      ? []
      : [{ key: String(keyNode.value), node: property, keyNode, value }];
  });
}

/** The property that counts: the last of that key. */
export const propertyOf = (node: Node | undefined, key: string): Property | undefined =>
  node === undefined ? undefined : propertiesOf(node).findLast((property) => property.key === key);

/** Paths (`env.TOKEN`) of keys written more than once anywhere in a node. */
export function repeatedKeys(node: Node, path = ''): readonly string[] {
  if (node.type === 'array') {
    return (node.children ?? []).flatMap((child, index) => repeatedKeys(child, `${path}[${index}]`));
  }
  const seen = new Set<string>();
  const repeated = new Set<string>();
  const deeper: string[] = [];
  for (const { key, value } of propertiesOf(node)) {
    const here = path === '' ? key : `${path}.${key}`;
    if (seen.has(key)) repeated.add(here);
    seen.add(key);
    deeper.push(...repeatedKeys(value, here));
  }
  return [...repeated, ...deeper];
}

/** By the parser's error number. */
const faults: Readonly<Record<number, string>> = {
  1: 'a word or sign stands here that JSON does not know',
  2: 'a number is not written as JSON wants it',
  3: 'a key in double quotes is missing',
  4: 'a value is missing',
  5: 'a colon is missing',
  6: 'a comma is missing',
  7: 'a `}` is missing',
  8: 'a `]` is missing',
  9: 'something follows the end of the JSON value',
  10: 'a comment stands where none may stand',
  11: 'a comment is not closed',
  12: 'a text is not closed',
  13: 'a number is cut off',
  14: 'a `\\u` sequence is not complete',
  15: 'a text holds a `\\` sequence that JSON does not know',
  16: 'a text holds a control character',
};
