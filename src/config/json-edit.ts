/**
 * Changes to a JSON text that leave everything else in it as it is: comments, order, spacing, line ends. Pure.
 * Offsets and texts are without a byte order mark. Every function expects a text that can be read.
 */
import { createScanner } from 'jsonc-parser';
import { canonicalJson } from './canonical.ts';
import { type Node, type Property, plainValue, propertiesOf, propertyOf, readTree } from './jsonc.ts';
import { isObject } from './raw.ts';

type Path = readonly string[];

interface Cut {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Sets a value. An object is merged key by key, so that comments in it stay; missing parents are made. */
export function setIn(text: string, path: Path, value: unknown): string {
  const root = rootOf(text);
  const [node, rest] = deepest(root, path);
  const wanted = rest.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
  if (rest.length > 0 && node.type === 'object') {
    const [key = ''] = rest;
    return insertProperty(text, root, node, key, isObject(wanted) ? wanted[key] : wanted);
  }
  const old = plainValue(node);
  if (isObject(old) && isObject(wanted)) {
    const kept = Object.keys(old)
      .filter((key) => !Object.hasOwn(wanted, key))
      .reduce((now, key) => removeIn(now, [...path, key]), text);
    return Object.entries(wanted).reduce((now, [key, member]) => setIn(now, [...path, key], member), kept);
  }
  if (canonicalJson(old) === canonicalJson(wanted)) return text;
  const line = lineIndent(text, node.offset);
  return splice(text, [{ from: node.offset, to: endOf(node), text: print(wanted, style(text, root), line) }]);
}

/** Removes every property of that path; text without it comes back as it is. */
export function removeIn(text: string, path: Path): string {
  const [node, rest] = deepest(rootOf(text), path.slice(0, -1));
  const key = path.at(-1);
  if (rest.length > 0) return text;
  const index = propertiesOf(node).findLastIndex((property) => property.key === key);
  return index < 0 ? text : removeIn(removeProperty(text, node, index), path);
}

/** Gives the property that counts another key. */
export function renameIn(text: string, path: Path, key: string): string {
  const [parent, rest] = deepest(rootOf(text), path.slice(0, -1));
  const property = rest.length > 0 ? undefined : propertyOf(parent, path.at(-1) ?? '');
  if (property === undefined) return text;
  const { keyNode } = property;
  return splice(text, [{ from: keyNode.offset, to: endOf(keyNode), text: JSON.stringify(key) }]);
}

function rootOf(text: string): Node {
  const tree = readTree(text);
  if (!tree.ok) throw new Error(tree.problem.message);
  return tree.root;
}

/** The node as far down the path as there is one, and the rest of the path. */
function deepest(root: Node, path: Path): readonly [Node, Path] {
  const [key, ...rest] = path;
  const next = key === undefined ? undefined : propertyOf(root, key)?.value;
  return next === undefined ? [root, path] : deepest(next, rest);
}

function insertProperty(text: string, root: Node, parent: Node, key: string, value: unknown): string {
  const shape = style(text, root);
  const properties = propertiesOf(parent);
  const last = properties.at(-1);
  const close = endOf(parent) - 1;
  const written = (indent: string, flat: boolean): string =>
    `${JSON.stringify(key)}: ${flat ? JSON.stringify(value) : print(value, shape, indent)}`;

  if (last === undefined) {
    const base = lineIndent(text, parent.offset);
    const indent = base + shape.indent;
    // Comments in an otherwise empty object stay above what is put in.
    const comments = text.slice(parent.offset + 1, close).trimEnd();
    const added = `${comments}${shape.eol}${indent}${written(indent, false)}${shape.eol}${base}`;
    return splice(text, [{ from: parent.offset + 1, to: close, text: added }]);
  }
  const { comma, lineEnd, afterLineComment } = tail(text, last.node);
  const ownLine = breaksBefore(text, parent, last) || afterLineComment;
  const indent = lineIndent(text, last.node.offset);
  const added = ownLine ? `${shape.eol}${indent}${written(indent, false)}` : ` ${written(indent, true)}`;
  const at = comma !== null && comma >= lineEnd ? comma + 1 : lineEnd;
  return comma === null
    ? splice(text, [
        { from: endOf(last.node), to: endOf(last.node), text: ',' },
        { from: lineEnd, to: lineEnd, text: added },
      ])
    : splice(text, [{ from: at, to: at, text: `${added},` }]);
}

function removeProperty(text: string, parent: Node, index: number): string {
  const properties = propertiesOf(parent);
  const property = properties[index];
  if (property === undefined) return text;
  const before = properties[index - 1];
  const { comma, lineEnd, endsLine } = tail(text, property.node);
  const from = property.node.offset;
  const lineStart = startOfLine(text, from);
  const cuts: Cut[] = [];

  // The last one takes along the comma in front of it, unless the file likes a comma at the end.
  const left = comma === null && before !== undefined ? tail(text, before.node).comma : null;
  if (left !== null) cuts.push({ from: left, to: left + 1, text: '' });

  const alone = text.slice(lineStart, from).trim() === '' && endsLine;
  const commaNear = comma === null || comma < lineEnd;
  if (alone && commaNear) {
    cuts.push({ from: lineStart, to: endOfBreak(text, lineEnd), text: '' });
  } else {
    const to =
      comma !== null && text.slice(endOf(property.node), comma).trim() === '' ? comma + 1 : endOf(property.node);
    if (comma !== null && to <= comma) cuts.push({ from: comma, to: comma + 1, text: '' });
    const gap = left !== null && text.slice(left + 1, from).trim() === '' ? left + 1 : from;
    const space = left === null && before === undefined && text[to] === ' ' ? 1 : 0;
    cuts.push({
      from: before !== undefined && left === null ? spacesBefore(text, from) : gap,
      to: to + space,
      text: '',
    });
  }
  const result = splice(text, cuts);
  if (properties.length > 1) return result;
  const close = endOf(parent) - 1 - (text.length - result.length);
  const isBlank = result.slice(parent.offset + 1, close).trim() === '';
  return isBlank ? result.slice(0, parent.offset + 1) + result.slice(close) : result;
}

interface Tail {
  /** Offset of the comma that follows; null when none does. */
  readonly comma: number | null;
  /** Where the property's line ends: after the comma and after comments on that line. */
  readonly lineEnd: number;
  readonly afterLineComment: boolean;
  /** Nothing else stands on the line. */
  readonly endsLine: boolean;
}

// Kinds of token, as the scanner numbers them.
const commaToken = 5;
const lineComment = 12;
const blockComment = 13;
const lineBreak = 14;
const space = 15;
const endOfText = 17;

/** What follows a property up to the end of its line, and the comma wherever it is. */
function tail(text: string, node: Node): Tail {
  const scanner = createScanner(text, false);
  scanner.setPosition(endOf(node));
  let comma: number | null = null;
  let lineEnd = endOf(node);
  let sameLine = true;
  let afterLineComment = false;
  let endsLine = false;
  for (;;) {
    const token = scanner.scan() as number;
    const start = scanner.getTokenOffset();
    const end = start + scanner.getTokenLength();
    if (token === lineBreak || token === endOfText) {
      if (sameLine) endsLine = true;
      sameLine = false;
      if (token === endOfText) break;
    } else if (token === commaToken && comma === null) {
      comma = start;
      // What stands behind a comma on a later line belongs to that line.
      if (!sameLine) break;
      lineEnd = end;
    } else if (token === lineComment || token === blockComment) {
      if (sameLine) {
        if (/[\r\n]/.test(text.slice(start, end))) sameLine = false;
        else {
          lineEnd = end;
          afterLineComment = token === lineComment;
        }
      }
    } else if (token !== space) break;
    if (!sameLine && comma !== null) break;
  }
  return { comma, lineEnd, afterLineComment, endsLine };
}

interface Style {
  readonly indent: string;
  readonly eol: string;
}

/** How the file is laid out, seen from its first property that has a line of its own. */
function style(text: string, root: Node): Style {
  const eol = /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
  const base = lineIndent(text, root.offset);
  const indents = propertiesOf(root)
    .filter((property) => breaksBefore(text, root, property))
    .map((property) => lineIndent(text, property.node.offset))
    .filter((indent) => indent.startsWith(base) && indent !== base);
  return { indent: indents[0]?.slice(base.length) ?? '  ', eol };
}

function print(value: unknown, { indent, eol }: Style, line: string): string {
  return JSON.stringify(value, null, indent).replaceAll('\n', `${eol}${line}`);
}

function breaksBefore(text: string, parent: Node, property: Property): boolean {
  return startOfLine(text, property.node.offset) > parent.offset;
}

const endOf = (node: Node): number => node.offset + node.length;

function startOfLine(text: string, offset: number): number {
  return Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1;
}

const lineIndent = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(startOfLine(text, offset), offset))?.[0] ?? '';

/** Past spaces and the line break at an offset. */
function endOfBreak(text: string, offset: number): number {
  return offset + (/^[ \t]*(?:\r\n|\n|\r)?/.exec(text.slice(offset))?.[0].length ?? 0);
}

function spacesBefore(text: string, offset: number): number {
  return offset - (/[ \t]*$/.exec(text.slice(0, offset))?.[0].length ?? 0);
}

/** Cuts must not overlap; of two at the same place the first one stands first. */
function splice(text: string, cuts: readonly Cut[]): string {
  return cuts
    .map((cut, index) => ({ ...cut, index }))
    .sort((a, b) => b.from - a.from || b.index - a.index)
    .reduce((now, cut) => now.slice(0, cut.from) + cut.text + now.slice(cut.to), text);
}
