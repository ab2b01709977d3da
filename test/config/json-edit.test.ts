import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { removeIn, renameIn, setIn } from '../../src/config/json-edit.ts';
import { plainValue, propertiesOf, readTree } from '../../src/config/jsonc.ts';

function valueIn(text: string): unknown {
  const tree = readTree(text);
  if (!tree.ok) throw new Error(`${tree.problem.message}\n${text}`);
  return JSON.parse(JSON.stringify(plainValue(tree.root)));
}

describe('setting a property', () => {
  it.each<[string, string, string[], unknown, string]>([
    ['into an empty object', '{}', ['a'], 1, '{\n  "a": 1\n}'],
    [
      'into a deep empty object',
      '{\n  "s": {}\n}\n',
      ['s', 'a'],
      { c: 'x' },
      '{\n  "s": {\n    "a": {\n      "c": "x"\n    }\n  }\n}\n',
    ],
    ['after the last', '{\n  "a": 1\n}', ['b'], 2, '{\n  "a": 1,\n  "b": 2\n}'],
    ['after a trailing comma', '{\n  "a": 1,\n}', ['b'], 2, '{\n  "a": 1,\n  "b": 2,\n}'],
    ['behind a comment of that line', '{\n  "a": 1 // one\n}', ['b'], 2, '{\n  "a": 1, // one\n  "b": 2\n}'],
    [
      'behind comma and comment',
      '{\n  "a": 1, /* one */\n  // end\n}',
      ['b'],
      2,
      '{\n  "a": 1, /* one */\n  "b": 2,\n  // end\n}',
    ],
    ['before a comma on its own line', '{\n  "a": 1 // one\n  ,\n}', ['b'], 2, '{\n  "a": 1 // one\n  ,\n  "b": 2,\n}'],
    ['into comments alone', '{\n  // none yet\n}', ['a'], 1, '{\n  // none yet\n  "a": 1\n}'],
    ['on one line', '{"a":1,"b":2}', ['c'], { d: [1] }, '{"a":1,"b":2, "c": {"d":[1]}}'],
    [
      'with tabs',
      '{\n\t"s": {\n\t\t"a": 1\n\t}\n}',
      ['s', 'b'],
      { c: 1 },
      '{\n\t"s": {\n\t\t"a": 1,\n\t\t"b": {\n\t\t\t"c": 1\n\t\t}\n\t}\n}',
    ],
    ['with four spaces', '{\n    "s": {}\n}', ['s', 'a'], 1, '{\n    "s": {\n        "a": 1\n    }\n}'],
    ['with CRLF', '{\r\n  "a": 1\r\n}\r\n', ['b'], [1], '{\r\n  "a": 1,\r\n  "b": [\r\n    1\r\n  ]\r\n}\r\n'],
    ['in place', '{ "a": /* x */ 1 /* y */, "b": 2 }', ['a'], 5, '{ "a": /* x */ 5 /* y */, "b": 2 }'],
    [
      'that is the same already',
      '{ "a" :  {"x":1.0 , "y":[ 1 ]} }',
      ['a'],
      { y: [1], x: 1 },
      '{ "a" :  {"x":1.0 , "y":[ 1 ]} }',
    ],
    [
      'key by key, comments kept',
      '{\n  "a": {\n    // keep\n    "x": 1, // old\n    "y": 2 // two\n  }\n}',
      ['a'],
      { y: 3, z: 4 },
      '{\n  "a": {\n    // keep\n    "y": 3, // two\n    "z": 4\n  }\n}',
    ],
    ['that counts, when written twice', '{"a":1,"a":2}', ['a'], 3, '{"a":1,"a":3}'],
    ['below something that is no object', '{"s":null}', ['s', 'a'], 1, '{"s":{\n  "a": 1\n}}'],
    ['with a parent that is not there', '{\n  "x": 1\n}', ['s', 'a'], 1, '{\n  "x": 1,\n  "s": {\n    "a": 1\n  }\n}'],
    ['called __proto__', '{}', ['__proto__', 'a'], 1, '{\n  "__proto__": {\n    "a": 1\n  }\n}'],
  ])('%s', (_what, text, path, value, expected) => {
    expect(setIn(text, path, value)).toBe(expected);
  });
});

describe('removing a property', () => {
  it.each<[string, string, string[], string]>([
    ['the only one', '{\n  "a": 1\n}\n', ['a'], '{}\n'],
    ['the only one with a comma', '{\n  "a": 1,\n}', ['a'], '{}'],
    ['the only one beside a comment', '{\n  // why\n  "a": 1\n}', ['a'], '{\n  // why\n}'],
    ['the first', '{\n  "a": 1,\n  "b": 2\n}', ['a'], '{\n  "b": 2\n}'],
    [
      'the middle one',
      '{\n  "a": 1,\n  "b": {\n    "x": 1\n  }, // b\n  "c": 3\n}',
      ['b'],
      '{\n  "a": 1,\n  "c": 3\n}',
    ],
    ['the last', '{\n  "a": 1, // one\n  "b": 2\n}', ['b'], '{\n  "a": 1 // one\n}'],
    ['the last with a comma', '{\n  "a": 1,\n  "b": 2,\n}', ['b'], '{\n  "a": 1,\n}'],
    [
      'and no comment around it',
      '{\n  // a\n  "a": 1,\n  // b\n  "b": 2,\n  // c\n  "c": 3\n  // end\n}',
      ['b'],
      '{\n  // a\n  "a": 1,\n  // b\n  // c\n  "c": 3\n  // end\n}',
    ],
    ['the first of a line', '{ "a": 1, "b": 2, "c": 3 }', ['a'], '{ "b": 2, "c": 3 }'],
    ['the middle one of a line', '{ "a": 1, "b": 2, "c": 3 }', ['b'], '{ "a": 1, "c": 3 }'],
    ['the last of a line', '{ "a": 1, "b": 2, "c": 3 }', ['c'], '{ "a": 1, "b": 2 }'],
    ['with commas in front', '{\n  "a": 1\n, "b": 2\n, "c": 3\n}', ['b'], '{\n  "a": 1\n, "c": 3\n}'],
    ['with CRLF', '{\r\n  "a": 1,\r\n  "b": 2\r\n}', ['a'], '{\r\n  "b": 2\r\n}'],
    ['written twice', '{"a":1,"b":2,"a":3}', ['a'], '{"b":2}'],
    ['that is not there', '{"a":1}', ['b', 'c'], '{"a":1}'],
  ])('%s', (_what, text, path, expected) => {
    const result = removeIn(text, path);
    expect(valueIn(result)).toEqual(valueIn(expected));
    expect(result.replace(/\n[ ]*,/g, '\n,')).toBe(expected);
  });
});

describe('renaming a property', () => {
  it('changes nothing but the key', () => {
    expect(renameIn('{ /* a */ "a b" : {"x":1} }', ['a b'], 'ab')).toBe('{ /* a */ "ab" : {"x":1} }');
  });
});

/** A random JSON object written in a random layout, with numbered comments between its pieces. */
const layout = fc.record({
  eol: fc.constantFrom('\n', '\r\n'),
  spaces: fc.array(fc.constantFrom('', ' ', '\n', '\n  ', '/*c*/', '//c\n', '\t'), { minLength: 40, maxLength: 40 }),
  trailing: fc.boolean(),
});
const leaf = fc.oneof(
  fc.integer(),
  fc.string(),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.integer(), { maxLength: 2 }),
);
const key = fc.constantFrom('a', 'b', 'c', 'd', '__proto__', 'ü', 'x"y', '//', '/*');
const inner = fc.dictionary(key, leaf, { maxKeys: 3 });
const outer = fc.dictionary(key, fc.oneof(leaf, inner), { maxKeys: 4 });

function write(
  value: unknown,
  { eol, spaces, trailing }: { eol: string; spaces: string[]; trailing: boolean },
): { text: string; comments: number } {
  let at = 0;
  let comments = 0;
  const gap = (): string => {
    const space = spaces[at++ % spaces.length] ?? '';
    if (space.includes('c')) comments += 1;
    return space.replace('c', `comment-${comments}-`).replaceAll('\n', eol);
  };
  const show = (item: unknown): string => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return JSON.stringify(item);
    const members = Object.entries(item).map(
      ([name, member]) => `${gap()}${JSON.stringify(name)}${gap()}:${gap()}${show(member)}${gap()}`,
    );
    return `{${members.join(',')}${trailing && members.length > 0 ? ',' : ''}${gap()}}`;
  };
  return { text: `${gap()}${show(value)}${gap()}`, comments };
}

describe('any edit of any layout', () => {
  const commentsOf = (text: string): string[] => [...text.matchAll(/comment-\d+-/g)].map(([found]) => found);

  it('sets exactly that property and keeps every comment outside a replaced value', () => {
    fc.assert(
      fc.property(outer, layout, key, leaf, (value, style, name, wanted) => {
        const { text } = write(value, style);
        const after = setIn(text, [name], wanted);
        expect(valueIn(after)).toEqual({ ...value, [name]: wanted });
        const old = Object.hasOwn(value, name) ? value[name] : undefined;
        if (typeof old !== 'object' || old === null || Array.isArray(old))
          expect(commentsOf(after)).toEqual(commentsOf(text));
      }),
      { numRuns: 1000 },
    );
  });

  it('merges an object and keeps the comments of what stays', () => {
    fc.assert(
      fc.property(outer, layout, inner, (value, style, wanted) => {
        const { text } = write({ s: value }, style);
        const after = setIn(text, ['s'], wanted);
        expect(valueIn(after)).toEqual({ s: wanted });
      }),
      { numRuns: 1000 },
    );
  });

  it('removes exactly that property', () => {
    fc.assert(
      fc.property(outer, layout, key, (value, style, name) => {
        const { text } = write(value, style);
        const { [name]: _gone, ...rest } = value;
        expect(valueIn(removeIn(text, [name]))).toEqual(rest);
      }),
      { numRuns: 1000 },
    );
  });

  it('removes no comment that has a line of its own outside the property', () => {
    const gaps = fc.array(fc.constantFrom('', ' ', '\n', '\n/*c*/\n  ', '\n//c\n'), { minLength: 40, maxLength: 40 });
    fc.assert(
      fc.property(outer, gaps, fc.boolean(), key, (value, spaces, trailing, name) => {
        const { text } = write(value, { eol: '\n', spaces, trailing });
        const tree = readTree(text);
        const outside = !tree.ok
          ? ''
          : propertiesOf(tree.root)
              .filter((property) => property.key === name)
              .reduceRight((now, { node }) => now.slice(0, node.offset) + now.slice(node.offset + node.length), text);
        expect(commentsOf(removeIn(text, [name]))).toEqual(commentsOf(outside));
      }),
      { numRuns: 1000 },
    );
  });

  it('undoes what it did, to the byte, when the file had a line for each', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('a', 'b', 'c'), leaf, { minKeys: 1 }),
        fc.constantFrom('  ', '\t', '    '),
        (value, indent) => {
          const text = `${JSON.stringify(value, null, indent)}\n`;
          expect(removeIn(setIn(text, ['new'], { x: [1] }), ['new'])).toBe(text);
        },
      ),
    );
  });
});
