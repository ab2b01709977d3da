import { describe, expect, it } from 'vitest';
import { redactor } from '../../src/mcp/redact.ts';
import { maskText, maskValue } from '../../src/recordings/mask.ts';

const redact = redactor(['s3cr3t-value'], true);

describe('What is kept of a value', () => {
  it.each<[what: string, value: unknown, kept: unknown]>([
    ['a text', 'a s3cr3t-value b', 'a *** b'],
    ['a member of a member', { a: [{ b: 's3cr3t-value' }] }, { a: [{ b: '***' }] }],
    ['a name', { 's3cr3t-value': 1 }, { '***': 1 }],
    [
      'a credential by its name',
      { password: 'x', apiKey: 'y', access_token: 'z' },
      { password: '***', apiKey: '***', access_token: '***' },
    ],
    ['a header', { Authorization: 'Bearer abc', 'Set-Cookie': 'a=b' }, { Authorization: '***', 'Set-Cookie': '***' }],
    ['numbers, truths and nothing', { a: 1, b: true, c: null }, { a: 1, b: true, c: null }],
    [
      'what only sounds like a credential',
      { progressToken: 'p', tokens: 'many', key: 'k', monkey: 'm' },
      { progressToken: 'p', tokens: 'many', key: 'k', monkey: 'm' },
    ],
    [
      'the definition of a credential',
      { properties: { token: { type: 'string' } } },
      { properties: { token: { type: 'string' } } },
    ],
    ['an empty credential', { password: '' }, { password: '' }],
  ])('%s', (_what, value, kept) => {
    expect(maskValue(value, redact)).toEqual(kept);
  });

  it('that nests without end is its beginning', () => {
    let deep: unknown = 's3cr3t-value';
    for (let level = 0; level < 1_000; level += 1) deep = [deep];
    expect(JSON.stringify(maskValue(deep, redact))).not.toContain('s3cr3t-value');
  });
});

describe('What is kept of a text', () => {
  it('is JSON still where it was JSON', () => {
    const text = JSON.stringify({ error: { message: 'see https://x/?token=abcdef"' }, secret: 'q' });
    expect(JSON.parse(maskText(text, redact))).toEqual({
      error: { message: 'see https://x/?token=***"' },
      secret: '***',
    });
  });

  it('is masked as a whole where it only looks like JSON', () => {
    expect(maskText('{ s3cr3t-value', redact)).toBe('{ ***');
  });
});
