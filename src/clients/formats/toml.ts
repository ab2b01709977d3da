/**
 * TOML. The parser says where tables stand; what is written are whole tables of ours, and nothing else is touched.
 * Pure.
 */
import { type AST, getStaticTOMLValue, ParseError, parseTOML } from 'toml-eslint-parser';
import { byteOrderMark, withoutMark } from '../../config/jsonc.ts';
import { isObject, memberOf, type RawObject } from '../../config/raw.ts';
import { type ConfigFormat, FormatError, unkept } from './format.ts';
import { cutSpans, eolOf, fingerprint, lineEnd, lineStart, type Span, withBlankBefore } from './splice.ts';

/** A byte order mark, which the parser does not know, stays in front. */
export const tomlFormat: ConfigFormat = {
  read: (text, key) => plainToml.read(withoutMark(text), key),
  set: (text, key, name, value) => markOf(text) + plainToml.set(withoutMark(text), key, name, value),
  remove: (text, key, name) => markOf(text) + plainToml.remove(withoutMark(text), key, name),
  removeKey: (text, key) => markOf(text) + plainToml.removeKey(withoutMark(text), key),
};

const markOf = (text: string): string => (text.startsWith(byteOrderMark) ? byteOrderMark : '');

const plainToml: ConfigFormat = {
  read(text, key) {
    try {
      const plain = plainOf(parseTOML(text));
      const entries = memberOf(plain, key);
      if (entries !== undefined && !isObject(entries))
        return { ok: false, problem: problem(`\`${key}\` must be a table of servers by name`, null, null) };
      return {
        ok: true,
        entries: entries ?? {},
        hasKey: entries !== undefined,
        bare: Object.keys(plain).every((one) => one === key),
      };
    } catch (error) {
      if (!(error instanceof ParseError)) throw error;
      return { ok: false, problem: problemOf(text, error) };
    }
  },
  set(text, key, name, value) {
    const before = plainOf(parsed(text));
    const entries = memberOf(before, key);
    if (fingerprint(memberOf(entries, name)) === fingerprint(value)) return text;
    const block = printed(key, name, value, eolOf(text));
    const spans = spansOf(text, key, name);
    const [first] = spans;
    const after = first === undefined ? appended(text, block) : replaced(text, spans, block);
    return checked(after, { ...before, [key]: { ...(isObject(entries) ? entries : {}), [name]: value } });
  },
  remove(text, key, name) {
    const before = plainOf(parsed(text));
    const entries = memberOf(before, key);
    if (!isObject(entries) || !Object.hasOwn(entries, name)) return text;
    const spans = spansOf(text, key, name).map((span) => withBlankBefore(text, span));
    const left = Object.fromEntries(Object.entries(entries).filter(([one]) => one !== name));
    const rest = Object.fromEntries(Object.entries(before).filter(([one]) => one !== key));
    const after = cutSpans(text, spans);
    // The last table of a group takes the group along, unless the group has a header of its own.
    const kept = memberOf(plainOf(parsed(after)), key) !== undefined;
    return checked(after, kept ? { ...before, [key]: left } : rest);
  },
  removeKey: (text, key) => {
    const own = parsed(text).body[0].body.filter(
      (node): node is AST.TOMLTable =>
        node.type === 'TOMLTable' && node.resolvedKey.length === 1 && node.resolvedKey[0] === key,
    );
    return own.every(({ body }) => body.length === 0)
      ? cutSpans(
          text,
          own.map((node) => withBlankBefore(text, linesOf(text, node.range))),
        )
      : text;
  },
};

const problem = (what: string, line: number | null, column: number | null) => ({
  message: `the file cannot be used: ${what}${line === null ? '' : ` (line ${line}, column ${column})`}`,
  line,
  column,
});

/** What ends too early is found missing on the next line, but belongs to the one before. */
function problemOf(text: string, { message, index }: ParseError) {
  const before = text.slice(0, index);
  const lines = (/^(?:\s|$)/.test(text.slice(index)) ? before.trimEnd() : before).split('\n');
  const column = (lines.at(-1) ?? '').replace(/\r$/, '').length + 1;
  return problem(message.charAt(0).toLowerCase() + message.slice(1), lines.length, column);
}

function parsed(text: string): AST.TOMLProgram {
  try {
    return parseTOML(text);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw new FormatError(problemOf(text, error).message);
  }
}

const plainOf = (program: AST.TOMLProgram): RawObject => getStaticTOMLValue(program) as RawObject;

/** Reads a result back: only a text that says exactly what it is to say leaves here. */
function checked(text: string, expected: RawObject): string {
  let plain: RawObject;
  try {
    plain = plainOf(parseTOML(text));
  } catch (error) {
    if (error instanceof ParseError) throw unkept();
    throw error;
  }
  if (fingerprint(plain) !== fingerprint(expected)) throw unkept();
  return text;
}

const linesOf = (text: string, [from, to]: readonly [number, number]): Span => ({
  from: lineStart(text, from),
  to: lineEnd(text, to),
});

/** Whole lines that make up an entry: its table, the tables below it, or a pair inside another table. */
function spansOf(text: string, key: string, name: string): Span[] {
  const isOurs = (path: readonly (string | number)[]): boolean => path[0] === key && path[1] === name;
  const spans: Span[] = [];
  for (const node of parsed(text).body[0].body) {
    if (node.type === 'TOMLTable') {
      if (isOurs(node.resolvedKey)) spans.push(tableLines(text, node));
      else if (node.resolvedKey.length === 1 && node.resolvedKey[0] === key) {
        for (const pair of node.body) if (keysOf(pair)[0] === name) spans.push(linesOf(text, pair.range));
      }
    } else if (isOurs(keysOf(node))) spans.push(linesOf(text, node.range));
  }
  return spans;
}

/** From the header to the last pair; comments behind it belong to what follows. */
function tableLines(text: string, node: AST.TOMLTable): Span {
  const last = node.body.at(-1);
  return { from: lineStart(text, node.range[0]), to: lineEnd(text, last ? last.range[1] : node.key.range[1]) };
}

const keysOf = ({ key }: AST.TOMLKeyValue): string[] =>
  key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value));

function appended(text: string, block: string): string {
  const eol = eolOf(text);
  if (text === '') return block;
  const ended = text.endsWith('\n') ? text : `${text}${eol}`;
  const blank = /\n[ \t]*\r?\n$/.test(ended) || ended.trim() === '' ? '' : eol;
  return `${ended}${blank}${block}`;
}

function replaced(text: string, spans: readonly Span[], block: string): string {
  const [first, ...rest] = [...spans].sort((a, b) => a.from - b.from);
  if (first === undefined) return appended(text, block);
  // A pair inside another table cannot become a table there.
  const isTable = /^[ \t]*\[/.test(text.slice(first.from));
  if (!isTable) return appended(cutSpans(text, spans), block);
  const after = cutSpans(text, rest);
  const ending = first.to === text.length && !text.endsWith('\n') ? block.replace(/\r?\n$/, '') : block;
  return after.slice(0, first.from) + ending + after.slice(first.to);
}

function printed(key: string, name: string, value: RawObject, eol: string): string {
  const lines = Object.entries(value).map(([member, inner]) => `${bareKey(member)} = ${valueText(inner)}`);
  return [`[${bareKey(key)}.${bareKey(name)}]`, ...lines].map((line) => `${line}${eol}`).join('');
}

const bareKey = (key: string): string => (/^[A-Za-z0-9_-]+$/.test(key) ? key : quoted(key));

const quoted = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007F');

function valueText(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  if (!isObject(value) || value instanceof Date) throw unkept();
  const members = Object.entries(value).map(([key, member]) => `${bareKey(key)} = ${valueText(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
