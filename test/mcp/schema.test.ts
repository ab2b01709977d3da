import { describe, expect, it } from 'vitest';
import { schemaProblems } from '../../src/mcp/schema.ts';

const object = (properties: object, more = {}) => ({ type: 'object', properties, ...more });

describe('a schema nothing is wrong with', () => {
  it.each([
    ['an empty one', {}],
    [
      'a plain one',
      object(
        { a: { type: 'string', pattern: '^[a-z]+$' }, b: { type: ['integer', 'null'], enum: [1, null] } },
        { required: ['a'] },
      ),
    ],
    ['boolean schemas', object({ a: true, b: false }, { additionalProperties: false, items: true })],
    ['a reference into $defs', object({ a: { $ref: '#/$defs/a' } }, { $defs: { a: { type: 'string' } } })],
    ['an escaped pointer', object({ a: { $ref: '#/$defs/x~1y%20~0' } }, { $defs: { 'x/y ~': {} } })],
    ['a reference to an anchor', object({ a: { $ref: '#here' } }, { $defs: { a: { $anchor: 'here' } } })],
    [
      'a reference to an anchor of an older draft',
      object({ a: { $ref: '#here' } }, { definitions: { a: { $id: '#here' } } }),
    ],
    [
      'a reference under an unknown keyword',
      object({ a: { $ref: '#/components/a' } }, { components: { a: { type: 'string' } } }),
    ],
    ['a tree that contains itself', object({ children: { type: 'array', items: { $ref: '#' } } })],
    [
      'two types that contain each other',
      object(
        { a: { $ref: '#/$defs/a' } },
        { $defs: { a: object({ b: { $ref: '#/$defs/b' } }), b: object({ a: { $ref: '#/$defs/a' } }) } },
      ),
    ],
    ['a definition used twice', { allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }], $defs: { a: {} } }],
    [
      'a document inside with its own root',
      object(
        { a: { $ref: 'urn:inner' } },
        { $defs: { inner: { $id: 'urn:inner', $ref: '#/$defs/x', $defs: { x: {} } } } },
      ),
    ],
    [
      'properties with the names of keywords',
      object({ $ref: { type: 'string' }, type: { type: 'string' }, required: { type: 'boolean' } }),
    ],
    [
      'data that looks like a schema',
      {
        const: { $ref: '#/nowhere' },
        default: { type: 'nonsense' },
        enum: [{ $ref: 'x' }],
        examples: [{ required: 1 }],
      },
    ],
    ['a vendor’s own keyword', object({ a: { 'x-ui': { type: 'slider' } } })],
  ])('%s', (_what, schema) => {
    expect(schemaProblems(schema)).toEqual([]);
  });
});

describe('what is wrong with a schema', () => {
  const circle = 'a $ref leads back to itself';
  it.each([
    ['a reference to nowhere', { $ref: '#/$defs/nope' }, ['$ref #/$defs/nope points to nothing']],
    ['one into Object.prototype', { $ref: '#/constructor' }, ['$ref #/constructor points to nothing']],
    ['an anchor nobody set', { $ref: '#nope' }, ['$ref #nope points to nothing']],
    [
      'a reference to another host',
      { $ref: 'https://example.com/a.json#/b' },
      ['$ref https://example.com/a.json#/b points to another document, which is not fetched'],
    ],
    [
      'a reference to a file',
      { $ref: 'other.json' },
      ['$ref other.json points to another document, which is not fetched'],
    ],
    ['a reference to itself', object({ a: { $ref: '#/properties/a' } }), [circle]],
    ['a whole that is itself', { $ref: '#' }, [circle]],
    [
      'a circle through allOf',
      { $ref: '#/$defs/a', $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { allOf: [{ $ref: '#/$defs/a' }] } } },
      [circle],
    ],
    [
      'a circle through if and not',
      { $ref: '#/$defs/a', $defs: { a: { if: { not: { $ref: '#/$defs/a' } } } } },
      [circle],
    ],
    ['a circle behind an unknown keyword', { $ref: '#/x/a', x: { a: { anyOf: [{ $ref: '#/x/a' }] } } }, [circle]],
    ['an unknown type', object({ a: { type: 'banana' } }), ['"type" is "banana", which JSON Schema does not know']],
    [
      'a list with an unknown type',
      { type: ['string', 5] },
      ['"type" is ["string",5], which JSON Schema does not know'],
    ],
    ['required: null', object({ a: { type: 'object', required: null } }), ['"required" is not a list of names']],
    ['a pattern that is none', object({ a: { pattern: '[' } }), ['"pattern" is not a regular expression']],
    ['an enum that is no list', { enum: 'a' }, ['"enum" is not a list']],
    ['an empty anyOf', { anyOf: [] }, ['"anyOf" is not a list of schemas']],
    ['definitions that are a list', { $defs: [] }, ['"$defs" is not an object']],
    ['a property that is text', object({ a: 'string' }), ['"properties" holds something that is no schema']],
  ])('%s', (_what, schema, problems) => {
    expect(schemaProblems(schema)).toEqual(problems);
  });

  it('is found without recursion, however deep the schema is', () => {
    const deep = JSON.parse(
      `${'{"allOf":[{"properties":{"a":'.repeat(20_000)}{"type":"banana"}${'}}]}'.repeat(20_000)}`,
    );
    expect(schemaProblems(deep)).toEqual(['"type" is "banana", which JSON Schema does not know']);
  });

  it('is found through a chain of 10,000 references', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, i) => [`d${i}`, { $ref: `#/$defs/d${(i + 1) % 10_000}` }]),
    );
    expect(schemaProblems({ $ref: '#/$defs/d0', $defs })).toEqual([circle]);
  });
});
