/** JSON, with or without comments. Pure. */
import { canonicalJson } from '../../canonical.ts';
import { removeIn, setIn } from '../../config/json-edit.ts';
import {
  byteOrderMark,
  plainValue,
  problemAt,
  propertiesOf,
  propertyOf,
  readTree,
  withoutMark,
} from '../../config/jsonc.ts';
import { isObject, memberOf, type RawObject } from '../../config/raw.ts';
import { type ConfigFormat, FormatError, unkept } from './format.ts';

export const jsonFormat: ConfigFormat = {
  read(source, key) {
    const text = withoutMark(source);
    if (text.trim() === '') return { ok: true, entries: {}, hasKey: false, bare: true };
    const tree = readTree(text);
    if (!tree.ok) return tree;
    const { root } = tree;
    if (root.type !== 'object') return { ok: false, problem: problemAt(text, root.offset, 'it must hold an object') };
    const property = propertyOf(root, key);
    if (property !== undefined && property.value.type !== 'object') {
      const problem = problemAt(text, property.value.offset, `\`${key}\` must be an object of servers by name`);
      return { ok: false, problem };
    }
    const entries = property === undefined ? {} : (plainValue(property.value) as RawObject);
    const others = propertiesOf(root).filter((one) => one.key !== key && one.key !== '$schema');
    return { ok: true, entries, hasKey: property !== undefined, bare: others.length === 0 };
  },
  set: (text, key, name, value) =>
    edited(
      text,
      (body) => setIn(body, [key, name], value),
      (plain) => ({
        ...plain,
        [key]: { ...asObject(memberOf(plain, key)), [name]: value },
      }),
    ),
  remove: (text, key, name) =>
    edited(
      text,
      (body) => removeIn(body, [key, name]),
      (plain) => {
        const entries = memberOf(plain, key);
        return isObject(entries) ? { ...plain, [key]: without(entries, name) } : plain;
      },
    ),
  removeKey: (text, key) =>
    edited(
      text,
      (body) => removeIn(body, [key]),
      (plain) => without(plain, key),
    ),
};

const asObject = (value: unknown): RawObject => (isObject(value) ? value : {});

const without = (object: RawObject, key: string): RawObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));

/** Makes a change and reads the result back: only a text that says exactly what it is to say leaves here. */
function edited(source: string, change: (body: string) => string, expected: (plain: RawObject) => RawObject): string {
  const mark = source.startsWith(byteOrderMark) ? byteOrderMark : '';
  const text = withoutMark(source);
  const body = text.trim() === '' ? '{}\n' : text;
  const before = plainOf(body);
  const after = change(body);
  if (after === body) return source;
  if (canonicalJson(plainOf(after)) !== canonicalJson(expected(before))) throw unkept();
  return mark + after;
}

function plainOf(text: string): RawObject {
  const tree = readTree(text);
  if (!tree.ok) throw new FormatError(tree.problem.message);
  const value = plainValue(tree.root);
  if (!isObject(value)) throw new FormatError('the file must hold an object');
  return value;
}
