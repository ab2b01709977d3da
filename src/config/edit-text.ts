/** Edits of the text of `mcp.json`, server by server. Pure; comments, order, unknown keys, layout and line ends stay. */
import { canonicalJson } from '../canonical.ts';
import { removeIn, renameIn, setIn } from './json-edit.ts';
import { byteOrderMark, type Node, propertiesOf, propertyOf, readTree, withoutMark } from './jsonc.ts';
import { parseConfig, type RootKey, rootKeys } from './parse.ts';
import { isObject, type RawObject } from './raw.ts';

/** Why an edit was not made; the file is as it was. */
export class EditError extends Error {
  override readonly name = 'EditError';
  constructor(
    readonly kind: 'unreadable' | 'unknown-server' | 'name-taken' | 'ambiguous' | 'failed',
    message: string,
  ) {
    super(message);
  }
}

/** Adds or replaces a server. `text` null or blank: a new file with `servers`. Keys the entry keeps stay where they are. */
export function setEntryText(text: string | null, name: string, raw: RawObject): string {
  // Members that JSON cannot hold are dropped here, not half-way.
  const plain = JSON.parse(JSON.stringify(raw)) as RawObject;
  return edit(
    text ?? '',
    (body, root) => setIn(body, [homeOf(root, name) ?? newHome(root), name], plain),
    (entries) => entries.set(name, plain),
  );
}

/** Removes a server from wherever it stands; the text as it was when it stands nowhere. */
export function removeEntryText(text: string, name: string): string {
  return edit(
    text,
    (body) => rootKeys.reduce((now, key) => removeIn(now, [key, name]), body),
    (entries) => entries.delete(name),
  );
}

/** Sets `disabled`; enabling an entry that does not have the key changes nothing. */
export function setDisabledText(text: string, name: string, disabled: boolean): string {
  return edit(
    text,
    (body, root) => {
      const { home, node } = entryOf(root, name);
      if (node.type !== 'object')
        throw new EditError('failed', `the entry of ${name} is not an object; correct it in the file`);
      const old = propertyOf(node, 'disabled');
      return old === undefined && !disabled ? body : setIn(body, [home, name, 'disabled'], disabled);
    },
    (entries) => {
      const raw = entries.get(name);
      if (isObject(raw) && (disabled || Object.hasOwn(raw, 'disabled'))) entries.set(name, { ...raw, disabled });
    },
  );
}

/** Gives a server another name, in place. */
export function renameEntryText(text: string, from: string, to: string): string {
  return edit(
    text,
    (body, root) => {
      if (homeOf(root, to) !== undefined)
        throw new EditError('name-taken', `a server ${to} exists already; choose another name`);
      const { home } = entryOf(root, from);
      const standing = rootKeys.flatMap((key) => {
        const servers = propertyOf(root, key)?.value;
        return servers === undefined ? [] : propertiesOf(servers).filter((property) => property.key === from);
      });
      if (standing.length > 1) {
        throw new EditError(
          'ambiguous',
          `the server ${JSON.stringify(from)} is written more than once; remove all but one in the file first`,
        );
      }
      return renameIn(body, [home, from], to);
    },
    (entries) => {
      entries.set(to, entries.get(from));
      entries.delete(from);
    },
  );
}

/** The entry as it stands in a text, or undefined. Throws an EditError when the text cannot be read. */
export function entryInText(text: string | null, name: string): unknown {
  if (text === null || withoutMark(text).trim() === '') return undefined;
  return rawEntries(text).get(name);
}

function rawEntries(text: string): Map<string, unknown> {
  const parsed = parseConfig(text);
  if (!parsed.ok) throw new EditError('unreadable', `${parsed.problem.message}; correct the file first`);
  return new Map(parsed.raw);
}

/**
 * Makes a change and reads the result back: only a text whose entries are exactly the expected ones leaves here,
 * whatever odd layout the file has.
 */
function edit(
  text: string,
  change: (body: string, root: Node) => string,
  expect: (entries: Map<string, unknown>) => unknown,
): string {
  const mark = text.startsWith(byteOrderMark) ? byteOrderMark : '';
  const body = started(withoutMark(text));
  const entries = rawEntries(body);
  const tree = readTree(body);
  if (!tree.ok) throw new EditError('unreadable', tree.problem.message);
  const after = change(body, tree.root);
  if (after === body) return text;
  expect(entries);
  const result = parseConfig(after);
  const plain = (map: ReadonlyMap<string, unknown>): string => canonicalJson(Object.fromEntries(map));
  if (!result.ok || plain(result.raw) !== plain(entries)) {
    throw new EditError('failed', 'the file is laid out in a way that this edit cannot keep; make the change by hand');
  }
  return mark + after;
}

/** A file that holds nothing yet is begun. */
function started(body: string): string {
  const eol = /\r\n|\n/.exec(body)?.[0] ?? '\n';
  return body.trim() === '' ? `{${eol}  "servers": {}${eol}}${eol}` : body;
}

/** The root key under which the entry that counts stands. */
const homeOf = (root: Node, name: string): RootKey | undefined =>
  rootKeys.find((key) => propertyOf(propertyOf(root, key)?.value, name) !== undefined);

/** Where a new server goes: under the key found, `servers` when both or none are. */
const newHome = (root: Node): RootKey =>
  rootKeys.find((key) => propertyOf(root, key)?.value.type === 'object') ??
  rootKeys.find((key) => propertyOf(root, key) !== undefined) ??
  'servers';

function entryOf(root: Node, name: string): { home: RootKey; node: Node } {
  const home = homeOf(root, name);
  const node = home === undefined ? undefined : propertyOf(propertyOf(root, home)?.value, name)?.value;
  if (home === undefined || node === undefined)
    throw new EditError('unknown-server', `there is no server ${JSON.stringify(name)} in the file`);
  return { home, node };
}
