import { describe, expect, it } from 'vitest';
import { bareUrl, redactor } from '../../src/mcp/redact.ts';

describe('redactor', () => {
  const secret = 'p@ss word+1/2';
  const redact = redactor([secret, 'p@ss', 'line one of a key\nline two of a key', 'ab', '']);

  it.each([
    ['as it is', `the value ${secret}!`, 'the value ***!'],
    ['twice', `${secret} and ${secret}`, '*** and ***'],
    ['URL-encoded', `x=${encodeURIComponent(secret)}`, 'x=***'],
    ['as a form value', 'x=p%40ss+word%2B1%2F2', 'x=***'],
    ['inside JSON', JSON.stringify({ a: 'line one of a key\nline two of a key' }), '{"a":"***"}'],
    ['in base64', `b=${Buffer.from(secret).toString('base64url')}`, 'b=***'],
    ['one line of it', '> line two of a key', '> ***'],
    ['a secret within a longer one', 'only p@ss here', 'only *** here'],
  ])('masks a secret %s', (_, text, masked) => {
    expect(redact(text)).toBe(masked);
  });

  it.each(['a', 'TOKEN', '?key', 'http://', 'eyJ', 'authorization:', 'a-'])(
    'takes no longer than a text of millions of %j deserves, and gives its beginning back',
    (part) => {
      const long = `${part.repeat(3_000_000 / part.length)}${secret}`;
      const shown = redact(long);
      expect(shown.length).toBeLessThan(20_000);
      expect(shown).not.toContain(secret);
    },
  );

  it('leaves text alone that a value of one or two characters would tear apart', () => {
    expect(redactor(['1', 'ab', ''])('abc 111')).toBe('abc 111');
  });

  it.each([
    ['Authorization: Bearer abc.def', 'Authorization: Bearer ***'],
    ['"authorization":"Basic dXNlcjpwYXNz"', '"authorization":"Basic ***"'],
    ['got bearer abcdefgh12 today', 'got bearer *** today'],
    ['key sk-proj-abcdefgh1234 used', 'key *** used'],
    ['ghp_abcdefghijklmnop1234', '***'],
    ['github_pat_abcdefghijklmnop', '***'],
    ['xoxb-1234567890-abc', '***'],
    ['AKIAABCDEFGHIJKLMNOP', '***'],
    ['GET https://user:pw@host/x?a=1&api_key=k1&b=2#f', 'GET https://***@host/x?a=1&api_key=***&b=2#f'],
    ['https://host/cb?code=abc&state=xyz', 'https://host/cb?code=***&state=xyz'],
    ['API_KEY=hunter2 OTHER=1', 'API_KEY=*** OTHER=1'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-DEF', '***'],
    ['an ordinary sentence, port 8080, task-force sk-1', 'an ordinary sentence, port 8080, task-force sk-1'],
    ['GITHUB_TOKEN is not set', 'GITHUB_TOKEN is not set'],
  ])('%j becomes %j', (text, masked) => {
    expect(redactor([])(text)).toBe(masked);
  });

  it('takes secrets for text, not for patterns', () => {
    expect(redactor(['a.c', '(x|y)*$'])('abc a.c (x|y)*$')).toBe('abc *** ***');
  });

  it('survives half a character', () => {
    expect(redactor(['abc\ud800'])('x abc\ud800 y')).toBe('x *** y');
  });
});

describe('bareUrl', () => {
  it.each([
    ['https://user:pw@host:8443/mcp?token=x#y', 'https://host:8443/mcp'],
    ['http://[::1]:80/', 'http://[::1]/'],
    ['not a url', 'the URL'],
  ])('%s is shown as %s', (url, shown) => {
    expect(bareUrl(url)).toBe(shown);
  });
});
