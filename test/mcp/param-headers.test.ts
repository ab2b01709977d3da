import { describe, expect, it } from 'vitest';
import { headersForCall, headerValue, paramHeaders } from '../../src/mcp/param-headers.ts';

const schema = (properties: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  type: 'object',
  properties,
  ...more,
});

describe('paramHeaders', () => {
  it('finds marked properties at any depth and mirrors their values', () => {
    const found = paramHeaders(
      schema({
        region: { type: 'string', 'x-mcp-header': 'Region' },
        page: schema({ size: { type: 'integer', 'x-mcp-header': 'Page-Size' } }),
        dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
        plain: { type: 'string' },
      }),
    );
    if ('invalid' in found) throw new Error(found.invalid);
    expect(headersForCall(found.mirrors, { region: 'Zürich', page: { size: 5 }, dry: false, plain: 'x' })).toEqual({
      'mcp-param-region': `=?base64?${Buffer.from('Zürich').toString('base64')}?=`,
      'mcp-param-page-size': '5',
      'mcp-param-dry': 'false',
    });
    expect(headersForCall(found.mirrors, { region: null, page: 'x', dry: {} })).toEqual({});
  });

  it.each([
    ['a number', schema({ a: { type: 'number', 'x-mcp-header': 'A' } })],
    ['an object', schema({ a: { type: 'object', 'x-mcp-header': 'A' } })],
    ['no type', schema({ a: { 'x-mcp-header': 'A' } })],
    ['a name with a space', schema({ a: { type: 'string', 'x-mcp-header': 'A B' } })],
    ['an empty name', schema({ a: { type: 'string', 'x-mcp-header': '' } })],
    [
      'the same name twice',
      schema({ a: { type: 'string', 'x-mcp-header': 'A' }, b: { type: 'string', 'x-mcp-header': 'a' } }),
    ],
    ['the root', schema({}, { type: 'string', 'x-mcp-header': 'A' })],
    ['items', schema({ a: { type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } } })],
    ['a branch', schema({}, { anyOf: [schema({ a: { type: 'string', 'x-mcp-header': 'A' } })] })],
    ['a definition', schema({}, { $defs: { d: { type: 'string', 'x-mcp-header': 'A' } } })],
  ])('refuses a mark on %s', (_, input) => {
    expect(paramHeaders(input)).toHaveProperty('invalid');
  });

  it.each([undefined, null, 5, 'x', [], {}, schema({ a: { enum: [{ 'x-mcp-header': 'A' }] } })])(
    'finds nothing in %j',
    (input) => {
      expect(paramHeaders(input)).toEqual({ mirrors: [] });
    },
  );
});

describe('headerValue', () => {
  it.each([
    ['plain text', 'plain text'],
    ['', '=?base64??='],
    [' x', `=?base64?${btoa(' x')}?=`],
    ['=?base64?eA==?=', `=?base64?${btoa('=?base64?eA==?=')}?=`],
    ['a\nb', `=?base64?${btoa('a\nb')}?=`],
  ])('%j is sent as %j', (text, sent) => {
    expect(headerValue(text)).toBe(sent);
  });
});
