import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, isTooDeep, MAX_DEPTH } from '../src/canonical.ts';
import { readEntry } from '../src/config/entry.read.ts';

describe('canonical JSON', () => {
  it.each([
    ['null', null, 'null'],
    ['a number', -0.5, '-0.5'],
    ['text with quotes and a lone surrogate', '"\ud800', '"\\"\\ud800"'],
    ['an empty object', {}, '{}'],
    ['nested keys', { b: { d: 1, c: [2, { f: 3, e: 4 }] }, a: [] }, '{"a":[],"b":{"c":[2,{"e":4,"f":3}],"d":1}}'],
    ['keys that look like numbers', { 10: 'x', 9: 'y', a: 'z' }, '{"10":"x","9":"y","a":"z"}'],
    [
      'keys by code unit, not by alphabet',
      { ä: 1, Z: 2, a: 3, '\u{1F600}': 4, '\uFFFD': 5 },
      '{"Z":2,"a":3,"ä":1,"\u{1F600}":4,"\uFFFD":5}',
    ],
    ['a key called __proto__', JSON.parse('{"b":1,"__proto__":{"y":1,"x":2}}'), '{"__proto__":{"x":2,"y":1},"b":1}'],
    ['members that are undefined', { b: undefined, a: [undefined] }, '{"a":[null]}'],
  ])('writes %s', (_what, value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it('says the same as the value and does not depend on the order of keys', () => {
    const shuffled = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shuffled);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, item]) => [key, shuffled(item)]),
      );
    };
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain = JSON.parse(JSON.stringify(value));
        const text = canonicalJson(plain);
        expect(JSON.parse(text)).toEqual(plain);
        expect(text.length).toBe(JSON.stringify(plain).length);
        expect(canonicalJson(shuffled(plain))).toBe(text);
      }),
    );
  });

  it('survives JSON that is nested 100,000 levels deep', () => {
    const deep = JSON.parse(`${'{"a":['.repeat(50_000)}1${']}'.repeat(50_000)}`);
    expect(canonicalJson(deep).length).toBe(50_000 * '{"a":[]}'.length + 1);
  });

  it('gives an entry the revision that stands in every log so far', () => {
    const entry = { env: { B: 'ä', A: '2' }, command: 'node', args: ['a.js'] };
    expect(readEntry('one', entry).revision).toBe('5fda3965d812f486103c80190f0621276d55f6a1500c02e3f38f28a1a8a861bf');
  });
});

describe('The depth of JSON', () => {
  const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);

  it.each([
    ['a scalar', 1, false],
    ['as many levels as there may be', nested(MAX_DEPTH), false],
    ['one more', nested(MAX_DEPTH + 1), true],
    ['one more in one of several members', { a: 1, b: [{ c: nested(MAX_DEPTH - 1) }], d: {} }, true],
    ['100,000 levels', nested(100_000), true],
  ])('of %s', (_what, value, deep) => {
    expect(isTooDeep(value)).toBe(deep);
  });
});
