import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskEntries, maskEntry, maskText, maskUrl, unmaskEntry } from '../../src/config/mask.ts';
import { joinUrl, splitUrl } from '../../src/config/url-parts.ts';

describe('an entry as shown', () => {
  it.each<[string, unknown, unknown]>([
    [
      'env literals',
      { env: { A: 'secret', B: '${TOKEN}', C: '$TOKEN', D: '' } },
      { env: { A: '***', B: '${TOKEN}', C: '$TOKEN', D: '' } },
    ],
    ['mixed texts', { env: { A: 'pre-${T}', B: '${U}:${P}' } }, { env: { A: '***${T}', B: '${U}:${P}' } }],
    [
      'headers',
      { headers: { Authorization: 'Bearer ${TOKEN}', 'X-Key': 'abc' } },
      { headers: { Authorization: 'Bearer ${TOKEN}', 'X-Key': '***' } },
    ],
    ['a scheme with a literal', { headers: { Authorization: 'Bearer abc' } }, { headers: { Authorization: '***' } }],
    ['defaults as written', { env: { A: '${T:-fallback}' } }, { env: { A: '${T:-fallback}' } }],
    ['broken placeholders', { env: { A: 'secret${' } }, { env: { A: '***' } }],
    ['a query', { url: 'https://h/p?key=abc&t=${T}&bare#f' }, { url: 'https://h/p?key=***&t=${T}&***#f' }],
    ['user info', { url: 'https://user:pass@h/p' }, { url: 'https://***:***@h/p' }],
    ['user info of variables', { url: 'https://${U}:${P:-a@b?c}@h/p' }, { url: 'https://${U}:${P:-a@b?c}@h/p' }],
    ['an address without secrets', { url: 'https://h:1/p/${X}' }, { url: 'https://h:1/p/${X}' }],
    [
      'an argument after a flag',
      { args: ['--api-key', 'abc', '--name', 'x'] },
      { args: ['--api-key', '***', '--name', 'x'] },
    ],
    ['an argument with =', { args: ['--token=abc', '--x=1'] }, { args: ['--token=***', '--x=1'] }],
    [
      'a variable of docker',
      { args: ['run', '-e', 'GITHUB_TOKEN=abc', '-e', 'A=b'] },
      { args: ['run', '-e', 'GITHUB_TOKEN=***', '-e', 'A=b'] },
    ],
    [
      'a header of a bridge',
      { args: ['--header', 'Authorization: Bearer abc'] },
      { args: ['--header', 'Authorization: ***'] },
    ],
    ['a placeholder after a flag', { args: ['--token', '${T}'] }, { args: ['--token', '${T}'] }],
    ['a flag after a flag', { args: ['--no-password', '--verbose'] }, { args: ['--no-password', '--verbose'] }],
    ['a secret that looks odd', { args: ['--secret', '-aB3x'] }, { args: ['--secret', '***'] }],
    ['an address among arguments', { args: ['postgres://u:p@h/d?x=1'] }, { args: ['postgres://***:***@h/d?x=***'] }],
    [
      'ordinary arguments',
      { command: 'npx', args: ['-y', '@s/p', '/tmp'], cwd: '/x' },
      { command: 'npx', args: ['-y', '@s/p', '/tmp'], cwd: '/x' },
    ],
    [
      'unknown keys that speak',
      { apiKey: 'abc', note: 'n', oauth: { clientId: 'id', clientSecret: 's' } },
      { apiKey: '***', note: 'n', oauth: { clientId: 'id', clientSecret: '***' } },
    ],
    [
      'wrong types',
      { env: 'secret', headers: ['s'], args: 's', url: 5 },
      { env: '***', headers: ['***'], args: '***', url: '***' },
    ],
    [
      'an argument that says again what is a secret elsewhere',
      {
        args: ['hunter2hunter2', '--x=hunter2hunter2', 'hunter2hunter2!', 'k1'],
        env: { A: 'hunter2hunter2', API_KEY: 'k1' },
      },
      { args: ['***', '--x=***', 'hunter2hunter2!', '***'], env: { A: '***', API_KEY: '***' } },
    ],
    [
      'an argument that says again what a header or a flag says',
      { args: ['abc-def-ghi', '--token', 'xyz', 'xyz'], headers: { Authorization: 'Bearer abc-def-ghi' } },
      { args: ['***', '--token', '***', '***'], headers: { Authorization: '***' } },
    ],
    [
      'arguments like short or ordinary values of the environment',
      { args: ['8080', 'info', '${T}'], env: { PORT: '8080', LOG: 'info', T: '${T}' } },
      { args: ['8080', 'info', '${T}'], env: { PORT: '***', LOG: '***', T: '${T}' } },
    ],
    ['values that are no text', { env: { A: 12345, B: true } }, { env: { A: '***', B: true } }],
    ['an entry that is a text', 'secret', '***'],
    ['an entry that is null', null, null],
  ])('hides and keeps %s', (_what, raw, shown) => {
    expect(maskEntry(raw)).toEqual(shown);
  });

  it('hides an argument that is what the entry is filled in with', () => {
    const raw = { command: 'x', args: ['s3cret-of-the-file', 'plain'], env: { T: '${T}' } };
    expect(maskEntry(raw, ['s3cret-of-the-file'])).toMatchObject({ args: ['***', 'plain'] });
    const posted = maskEntry(raw, ['s3cret-of-the-file']) as Record<string, unknown>;
    expect(unmaskEntry(posted, raw, ['s3cret-of-the-file'])).toEqual({ ok: true, raw });
    expect(unmaskEntry({ command: 'x', args: ['***'] }, raw)).toMatchObject({
      ok: false,
      problem: { field: 'args[0]' },
    });
  });

  it('keeps order and odd names', () => {
    const shown = maskEntries(new Map([['__proto__', { env: { b: 'x1', a: 'y1' } }]]));
    expect(JSON.stringify(shown)).toBe('{"__proto__":{"env":{"b":"***","a":"***"}}}');
  });

  it('never shows a literal of env, whatever stands around it', () => {
    const piece = fc.oneof(fc.constantFrom('${A}', '$B', '$$', ' ', ':', 'MARKER', '${', '}'), fc.string());
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        fc.pre(!/\$\{[^}]*MARKER|\$\w*MARKER/.test(text));
        expect(maskText(text)).not.toContain('MARKER');
      }),
    );
  });

  it('takes an address apart without losing a character', () => {
    const piece = fc.constantFrom('http://', 'a', ':', '@', '/', '?', '#', '&', '=', '${X:-?}', '$Y', '%20', '$$');
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const parts = splitUrl(pieces.join(''));
        expect(parts === null ? null : joinUrl(parts)).toBe(pieces.join(''));
      }),
    );
  });
});

describe('an entry that comes back', () => {
  const stored = {
    url: 'https://user:pass@h/p?key=abc&key=def&t=1',
    headers: { Authorization: 'Bearer abc', 'X-B': 'pre-${T}' },
    env: { A: 'secret', B: '${T}' },
    args: ['--token', 'one', '--token', 'two', '--key=three', 'https://u:p@h'],
    apiKey: 'four',
  };

  it('as it was shown is the stored one', () => {
    expect(unmaskEntry(maskEntry(stored) as Record<string, unknown>, stored)).toEqual({ ok: true, raw: stored });
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    [
      'keeps what is hidden and takes what is new',
      { env: { A: '***', B: 'new', C: '${C}' } },
      { env: { A: 'secret', B: 'new', C: '${C}' } },
    ],
    ['drops what is not there any more', { env: { B: '${T}' } }, { env: { B: '${T}' } }],
    [
      'keeps a query value by its key',
      { url: 'https://other/q?t=***&key=***&key=***' },
      { url: 'https://other/q?t=1&key=abc&key=def' },
    ],
    ['keeps user info', { url: 'https://***:***@other' }, { url: 'https://user:pass@other' }],
    [
      'finds arguments that moved',
      { args: ['-v', '--key=***', '--token', '***'] },
      { args: ['-v', '--key=three', '--token', 'one'] },
    ],
    ['keeps unknown keys that speak', { apiKey: '***' }, { apiKey: 'four' }],
    [
      'leaves stars elsewhere alone',
      { command: '***x', env: { A: 'a***b', M: '****' } },
      { command: '***x', env: { A: 'a***b', M: '****' } },
    ],
  ])('%s', (_what, posted, raw) => {
    expect(unmaskEntry(posted, stored)).toEqual({ ok: true, raw });
  });

  it.each<[Record<string, unknown>, string]>([
    [{ env: { NEW: '***' } }, 'env.NEW'],
    [{ env: { B: '***${OTHER}' } }, 'env.B'],
    [{ headers: { NEW: '***' } }, 'headers.NEW'],
    [{ url: 'https://h?new=***' }, 'url'],
    [{ args: ['--secret', '***'] }, 'args[1]'],
    [{ secretThing: '***' }, 'secretThing'],
  ])('%j hides what is not stored, which is a problem', (posted, field) => {
    expect(unmaskEntry(posted, stored)).toMatchObject({ ok: false, problem: { field } });
  });

  it('of a new server must hide nothing', () => {
    expect(unmaskEntry({ url: 'https://h', headers: { A: '***' } }, undefined)).toMatchObject({ ok: false });
    expect(unmaskEntry({ url: 'https://h', headers: { A: 'x' } }, undefined)).toMatchObject({ ok: true });
  });

  it('never loses a stored value by being shown and sent back', () => {
    const text = fc.oneof(
      fc.constantFrom('${A}', 'Bearer ${A}', 'x${A}y', '', 'abc', '--token', '--token=x', 'http://u:p@h?a=b&a=c'),
      fc.string(),
    );
    const entry = fc.record({
      env: fc.dictionary(fc.string(), text),
      headers: fc.dictionary(fc.string(), text),
      args: fc.array(text),
      url: text,
    });
    fc.assert(
      fc.property(entry, (raw) => {
        const back = unmaskEntry(maskEntry(raw) as Record<string, unknown>, raw);
        expect(back).toEqual({ ok: true, raw });
      }),
    );
  });

  it('shows an address without placeholders with every value hidden', () => {
    expect(maskUrl('https://a:b@c/d?e=f&g=h')).toBe('https://***:***@c/d?e=***&g=***');
  });
});
