/**
 * YAML. The parser says where entries stand; what is written are whole entries of ours, and nothing else is touched.
 * Pure.
 */
import { isMap, isScalar, type Pair, parseAllDocuments, stringify, type YAMLMap } from 'yaml';
import { isObject, memberOf, type RawObject } from '../../config/raw.ts';
import { type ConfigFormat, FormatError, unkept } from './format.ts';
import { cutSpans, eolOf, fingerprint, lineEnd, lineStart, type Span } from './splice.ts';

export const yamlFormat: ConfigFormat = {
  read(text, key) {
    const read = readDocument(text);
    if (!read.ok) return read;
    const { plain } = read;
    const entries = memberOf(plain, key);
    if (entries !== undefined && entries !== null && !isObject(entries))
      return { ok: false, problem: problem(`\`${key}\` must be a map of servers by name`, null, null) };
    return {
      ok: true,
      entries: entries ?? {},
      hasKey: entries !== undefined,
      bare: Object.keys(plain).every((one) => one === key),
    };
  },
  set(text, key, name, value) {
    const { plain, root } = opened(text);
    const entries = memberOf(plain, key);
    if (fingerprint(memberOf(entries, name)) === fingerprint(value)) return text;
    return checked(put(text, root, key, name, value), {
      ...plain,
      [key]: { ...(isObject(entries) ? entries : {}), [name]: value },
    });
  },
  remove(text, key, name) {
    const { plain, root } = opened(text);
    const entries = memberOf(plain, key);
    if (!isObject(entries) || !Object.hasOwn(entries, name)) return text;
    const map = pairOf(root, key)?.value;
    const pair = isMap(map) ? pairOf(map, name) : undefined;
    if (!isMap(map) || map.flow || pair === undefined) throw unkept();
    const span = pairLines(text, pair);
    const left = Object.fromEntries(Object.entries(entries).filter(([one]) => one !== name));
    if (map.items.length > 1) return checked(cutSpans(text, [span]), { ...plain, [key]: left });
    // A key without anything below it would read as nothing.
    const at = keyEnd(root, key);
    return checked(`${text.slice(0, at)} {}${cutSpans(text, [span]).slice(at)}`, { ...plain, [key]: {} });
  },
  removeKey(text, key) {
    const { plain, root } = opened(text);
    const pair = root === null ? undefined : pairOf(root, key);
    const entries = memberOf(plain, key);
    if (pair === undefined || (isObject(entries) && Object.keys(entries).length > 0)) return text;
    const rest = Object.fromEntries(Object.entries(plain).filter(([one]) => one !== key));
    return checked(cutSpans(text, [pairLines(text, pair)]), rest);
  },
};

const problem = (what: string, line: number | null, column: number | null) => ({
  message: `the file cannot be used: ${what}${line === null ? '' : ` (line ${line}, column ${column})`}`,
  line,
  column,
});

type Opened = { readonly plain: RawObject; readonly root: YAMLMap | null };

function readDocument(text: string): ({ ok: true } & Opened) | { ok: false; problem: ReturnType<typeof problem> } {
  const documents = parseAllDocuments(text, { uniqueKeys: true, prettyErrors: true });
  if (!Array.isArray(documents)) return { ok: true, plain: {}, root: null };
  const [document, more] = documents;
  if (document === undefined) return { ok: true, plain: {}, root: null };
  if (more !== undefined) return { ok: false, problem: problem('it holds more than one document', null, null) };
  const [error] = document.errors;
  if (error) {
    const { line = null, col = null } = error.linePos?.[0] ?? {};
    return { ok: false, problem: problem(error.code.toLowerCase().replaceAll('_', ' '), line, col) };
  }
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) return { ok: true, plain: {}, root: null };
  if (!isMap(contents)) return { ok: false, problem: problem('it must hold a map', 1, 1) };
  return { ok: true, plain: document.toJS({ maxAliasCount: 1000 }) as RawObject, root: contents as YAMLMap };
}

function opened(text: string): Opened {
  const read = readDocument(text);
  if (!read.ok) throw new FormatError(read.problem.message);
  return read;
}

/** Reads a result back: only a text that says exactly what it is to say leaves here. */
function checked(text: string, expected: RawObject): string {
  const read = readDocument(text);
  if (!read.ok || fingerprint(read.plain) !== fingerprint(expected)) throw unkept();
  return text;
}

function pairOf(map: YAMLMap | null, key: string): Pair | undefined {
  return map?.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === key);
}

const rangeOf = (node: unknown): readonly [number, number, number] => {
  const range = (node as { range?: [number, number, number] | null }).range;
  if (!range) throw unkept();
  return range;
};

/** Behind the colon of a key. */
function keyEnd(root: YAMLMap | null, key: string): number {
  const pair = pairOf(root, key);
  return pair === undefined ? 0 : rangeOf(pair.key)[1] + 1;
}

/** Whole lines of a pair, from its key to the last line of its value. */
function pairLines(text: string, pair: Pair): Span {
  const from = rangeOf(pair.key)[0];
  return { from: lineStart(text, from), to: afterPair(text, pair) };
}

/** Where the line after a pair begins. */
function afterPair(text: string, pair: Pair): number {
  const start = rangeOf(pair.key)[0];
  const end = pair.value === null ? rangeOf(pair.key)[1] : rangeOf(pair.value)[1];
  return lineEnd(text, start + text.slice(start, Math.max(end, start + 1)).trimEnd().length);
}

const indentAt = (text: string, offset: number): string => /^ */.exec(text.slice(lineStart(text, offset)))?.[0] ?? '';

function put(text: string, root: YAMLMap | null, key: string, name: string, value: RawObject): string {
  const eol = eolOf(text);
  const ended = text === '' || text.endsWith('\n') ? text : `${text}${eol}`;
  const pair = pairOf(root, key);
  if (pair === undefined) {
    if (root?.flow) throw unkept();
    return insertAt(ended, endOfContent(ended, root), `${stringify({ [key]: { [name]: value } }, printing)}`, '', eol);
  }
  const { value: map } = pair;
  if (isMap(map) && !map.flow && map.items.length > 0) {
    const [first] = map.items;
    const indent = indentAt(ended, rangeOf(first?.key)[0]);
    const block = stringify({ [name]: value }, printing);
    const there = pairOf(map, name);
    if (there) {
      const { from, to } = pairLines(ended, there);
      return insertAt(ended.slice(0, from) + ended.slice(to), from, block, indent, eol);
    }
    const last = map.items.at(-1);
    return insertAt(ended, last ? afterPair(ended, last) : ended.length, block, indent, eol);
  }
  const isEmpty = map === null || (isScalar(map) && map.value === null) || (isMap(map) && map.items.length === 0);
  if (!isEmpty) throw unkept();
  // `key:` or `key: {}`: what stands for nothing makes way.
  const at = keyEnd(root, key);
  const value_ = isMap(map) ? rangeOf(map) : null;
  const opened_ = value_ ? ended.slice(0, at) + ended.slice(value_[1]) : ended;
  const indent = `${indentAt(ended, rangeOf(pair.key)[0])}  `;
  return insertAt(opened_, lineEnd(opened_, at), stringify({ [name]: value }, printing), indent, eol);
}

/** Behind the last pair of the root, in front of comments at the end only when nothing else is there. */
function endOfContent(text: string, root: YAMLMap | null): number {
  const last = root?.items.at(-1);
  if (last === undefined) return text.length;
  return /^\s*(?:#.*\s*)*$/.test(text.slice(afterPair(text, last))) ? text.length : afterPair(text, last);
}

const printing = { indent: 2, lineWidth: 0, defaultStringType: 'PLAIN', defaultKeyType: 'PLAIN' } as const;

function insertAt(text: string, at: number, block: string, indent: string, eol: string): string {
  const lines = block
    .split('\n')
    .map((line) => (line === '' ? '' : `${indent}${line}`))
    .join(eol);
  const before = text.slice(0, at);
  return `${before}${before === '' || before.endsWith('\n') ? '' : eol}${lines}${text.slice(at)}`;
}
