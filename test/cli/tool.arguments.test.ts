import { describe, expect, it } from 'vitest';
import { readJsonArguments, readPairs } from '../../src/cli/tool.arguments.ts';

const of = (property: unknown): unknown => ({ type: 'object', properties: { a: property } });

describe('key=value words as arguments of a tool', () => {
  it.each([
    ['text', 'a=hello', undefined, 'hello'],
    ['a number', 'a=5', undefined, 5],
    ['a truth value', 'a=true', undefined, true],
    ['null', 'a=null', undefined, null],
    ['a list', 'a=[1,2]', undefined, [1, 2]],
    ['an object', 'a={"b":1}', undefined, { b: 1 }],
    ['JSON text loses its quotes', 'a="5"', undefined, '5'],
    ['what does not parse is text', 'a={not json', undefined, '{not json'],
    ['a leading zero is no JSON', 'a=01234', undefined, '01234'],
    ['an empty value is text', 'a=', undefined, ''],
    ['everything after the first = belongs to the value', 'a=b=c', undefined, 'b=c'],
    ['digits that a number would lose stay text', 'a=12345678901234567890', undefined, '12345678901234567890'],
    ['a string property takes digits as text', 'a=5', of({ type: 'string' }), '5'],
    ['a string property takes quotes as they are', 'a="5"', of({ type: 'string' }), '"5"'],
    ['a string property takes the word true', 'a=true', of({ type: 'string' }), 'true'],
    ['an integer property takes a number', 'a=5', of({ type: 'integer' }), 5],
    ['text for a number property is left to the tool to refuse', 'a=five', of({ type: 'number' }), 'five'],
    ['a property that may be null', 'a=null', of({ type: ['string', 'null'] }), null],
    ['and that is text otherwise', 'a=5', of({ type: ['string', 'null'] }), '5'],
    [
      'a property of two types takes the one that was written',
      'a=5',
      of({ anyOf: [{ type: 'string' }, { type: 'number' }] }),
      5,
    ],
    ['choices of texts', 'a=1', of({ enum: ['1', '2'] }), '1'],
    ['choices of numbers', 'a=1', of({ enum: [1, 2] }), 1],
    ['a property without a type', 'a=5', of({ description: 'anything' }), 5],
    ['a property the schema does not know', 'a=5', { type: 'object', properties: { b: { type: 'string' } } }, 5],
  ])('%s', (_, word, schema, expected) => {
    expect(readPairs([word], schema)).toEqual({ arguments: { a: expected } });
  });

  it.each(['__proto__', 'constructor', 'toString'])('a key called %s is a key like any other', (key) => {
    for (const read of [readPairs([`${key}=1`, 'a=2'], { type: 'object' }), readJsonArguments(`{"${key}":1,"a":2}`)]) {
      if ('wrong' in read) throw new Error(read.wrong);
      expect(JSON.stringify(read.arguments)).toBe(`{"${key}":1,"a":2}`);
    }
  });

  it('a key such as __proto__ is an ordinary key', () => {
    const read = readPairs(['__proto__=1'], undefined);
    expect('arguments' in read && Object.hasOwn(read.arguments, '__proto__')).toBe(true);
  });

  it.each([
    ['a word without =', ['hello'], '"hello" is not of the form key=value.'],
    ['a word that begins with =', ['=5'], '"=5" is not of the form key=value.'],
    ['a key given twice', ['a=1', 'a=2'], `"a" is given twice; a list is written as a='["a","b"]'.`],
  ])('%s is refused', (_, words, wrong) => {
    expect(readPairs(words, undefined)).toEqual({ wrong });
  });
});

describe('--json-args', () => {
  it('takes an object', () => {
    expect(readJsonArguments('{"a":{"b":[1]}}')).toEqual({ arguments: { a: { b: [1] } } });
  });

  it.each([
    ['[1]', 'array'],
    ['null', 'null'],
    ['"text"', 'string'],
  ])('%s is refused', (text, kind) => {
    expect(readJsonArguments(text)).toEqual({ wrong: `--json-args wants a JSON object, not ${kind}.` });
  });

  it('broken JSON is refused with the reason', () => {
    expect(readJsonArguments('{a')).toEqual({ wrong: expect.stringContaining('--json-args is not valid JSON') });
  });
});
