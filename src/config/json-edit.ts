/**
 * Changes to a JSON text that leave everything else in it as it is: comments, order, spacing, line ends. Pure.
 * Offsets and texts are without a byte order mark. Every function expects a text that can be read.
 */
import { canonicalJson } from '../canonical.ts';
import {
  breaksBefore,
  endOf,
  endOfBreak,
  lineIndent,
  print,
  spacesBefore,
  startOfLine,
  style,
  tail,
} from './json-layout.ts';
import { type Node, plainValue, propertiesOf, propertyOf, readTree } from './jsonc.ts';
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

/** Cuts must not overlap; of two at the same place the first one stands first. */
function splice(text: string, cuts: readonly Cut[]): string {
  return cuts
    .map((cut, index) => ({ ...cut, index }))
    .sort((a, b) => b.from - a.from || b.index - a.index)
    .reduce((now, cut) => now.slice(0, cut.from) + cut.text + now.slice(cut.to), text);
}
