import { describe, expect, it } from 'vitest';
import { readEntry } from '../../src/config/entry.read.ts';
import type { ResolvedEntry } from '../../src/config/entry.ts';
import { lookupIn } from '../../src/config/expand.ts';
import { type Resolution, resolveEntry, variablesOf } from '../../src/config/resolve.ts';

const variables = {
  TOKEN: 'marker-token-7',
  HOST: 'example.com',
  DIR: '/srv/data',
  EMPTY: '',
  TWICE: '$' + '{OTHER}',
  LINE: 'a\nb',
  NUL: 'a\0b',
};

function resolve(raw: unknown, environment: Record<string, string> = {}, platform = 'linux'): Resolution {
  const { entry, problem } = readEntry('it', raw);
  if (entry === null) throw new Error(problem?.message);
  return resolveEntry(entry, { lookup: lookupIn(environment, variables), environment, platform });
}
function stdio(raw: unknown, environment?: Record<string, string>, platform?: string) {
  const result = resolve(raw, environment, platform);
  if (!result.ok || result.entry.transport !== 'stdio') throw new Error('not resolved');
  return result.entry;
}
function http(raw: unknown): Exclude<ResolvedEntry, { transport: 'stdio' }> {
  const result = resolve(raw);
  if (!result.ok || result.entry.transport === 'stdio') throw new Error('not resolved');
  return result.entry;
}

describe('a variable that is set', () => {
  it('is put in wherever placeholders count', () => {
    const entry = stdio({ command: '$DIR/run', args: ['--host', '${HOST}'], env: { A: 'x$TOKEN' }, cwd: '${DIR}/sub' });
    expect(entry).toMatchObject({
      command: '/srv/data/run',
      args: ['--host', 'example.com'],
      env: { A: 'xmarker-token-7' },
      cwd: '/srv/data/sub',
    });
    expect(http({ url: 'https://${HOST}/mcp?k=$TOKEN', headers: { 'X-A': '$TOKEN' } })).toMatchObject({
      url: 'https://example.com/mcp?k=marker-token-7',
      headers: { 'X-A': 'marker-token-7' },
    });
  });

  it('is not expanded again', () => {
    expect(stdio({ command: 'x', args: ['$TWICE'] }).args).toEqual(['${OTHER}']);
  });

  it('may be empty', () => {
    expect(stdio({ command: 'x', args: ['$EMPTY'], env: { A: '${EMPTY}' } })).toMatchObject({
      args: [''],
      env: { A: '' },
    });
  });

  it('counts in the daemon before it counts in the file of variables', () => {
    expect(stdio({ command: 'x', args: ['$TOKEN'] }, { TOKEN: 'nearer-one' }).args).toEqual(['nearer-one']);
  });
});

describe('a variable that is not set', () => {
  it.each([
    [{ command: '$GONE' }, 'command'],
    [{ command: 'x', args: ['a', '${GONE}'] }, 'args[1]'],
    [{ command: 'x', env: { API: '${GONE}' } }, 'env.API'],
    [{ command: 'x', cwd: '/a/$GONE' }, 'cwd'],
    [{ url: 'https://${GONE}/' }, 'url'],
    [{ url: 'https://a', headers: { Authorization: 'Bearer ${GONE}' } }, 'headers.Authorization'],
  ])('%j is a problem that names variable and field', (raw, field) => {
    const result = resolve(raw);
    expect(result).toMatchObject({ ok: false, problem: { field } });
    if (result.ok) throw new Error('resolved');
    expect(result.problem.message).toContain(field);
    expect(result.problem.message).toContain('GONE');
  });
});

describe('a value that cannot be used', () => {
  it.each([
    [{ command: '$EMPTY' }, 'command'],
    [{ command: 'x', cwd: '$EMPTY' }, 'cwd'],
    [{ command: 'x', env: { A: '$NUL' } }, 'env.A'],
    [{ url: '$TOKEN' }, 'url'],
    [{ url: 'https://a', headers: { 'X-A': '$LINE' } }, 'headers.X-A'],
    [{ url: 'https://a', headers: { 'X-A': '名' } }, 'headers.X-A'],
  ])('%j is a problem that does not show it', (raw, field) => {
    const result = resolve(raw);
    expect(result).toMatchObject({ ok: false, problem: { field } });
    expect(JSON.stringify(result)).not.toMatch(/marker-token-7|a\\nb/);
  });
});

describe('an Authorization header', () => {
  it.each([
    ['$TOKEN', 'Bearer marker-token-7'],
    ['  $TOKEN ', 'Bearer marker-token-7'],
    ['Bearer $TOKEN', 'Bearer marker-token-7'],
    ['bearer $TOKEN', 'bearer marker-token-7'],
    ['Basic abc', 'Basic abc'],
    ['Bearer ${EMPTY}', 'Bearer'],
    ['Basic ${EMPTY}', 'Basic'],
    ['${EMPTY}', undefined],
    ['literal', 'Bearer literal'],
  ])('written %j goes out as %j', (value, sent) => {
    expect(http({ url: 'https://a', headers: { Authorization: value } }).headers.Authorization).toBe(sent);
    expect(http({ url: 'https://a', headers: { authorization: value } }).headers.authorization).toBe(sent);
  });

  it('is left alone with rawAuthorization', () => {
    const raw = { url: 'https://a', headers: { Authorization: ' $TOKEN' }, rawAuthorization: true };
    expect(http(raw).headers.Authorization).toBe(' marker-token-7');
  });

  it('is the only one that gets a scheme', () => {
    expect(http({ url: 'https://a', headers: { 'X-Api-Key': '$TOKEN' } }).headers['X-Api-Key']).toBe('marker-token-7');
  });

  it('is made of the user info of the address, which is not sent in it', () => {
    const entry = http({ url: 'https://us%40er:${TOKEN}@a/b?c=1' });
    expect(entry.url).toBe('https://a/b?c=1');
    expect(entry.headers).toEqual({ Authorization: `Basic ${btoa('us@er:marker-token-7')}` });
    expect(entry.secrets).toContain(btoa('us@er:marker-token-7'));
  });

  it('as configured wins over user info', () => {
    expect(http({ url: 'https://u:p@a', headers: { authorization: 'Basic x' } }).headers).toEqual({
      authorization: 'Basic x',
    });
  });
});

describe('an address', () => {
  it.each(['https://a/b', 'https://a', 'https://a/b/', 'HTTPS://A/%7e?x=%20'])('%s is used byte for byte', (url) => {
    expect(http({ url }).url).toBe(url);
  });

  it.each([
    ['https://u:p@a\\x@y/z', 'https://a'],
    ['https:///u:p@a/z', 'https://a'],
    ['https://u:p@@a/z', 'https://a'],
  ])('%s still leads to its own host without user info', (url, origin) => {
    expect(new URL(http({ url }).url).origin).toBe(origin);
    expect(http({ url }).url).not.toContain('u:p');
  });
});

describe('the environment of a child', () => {
  const daemon = {
    PATH: '/bin',
    HOME: '/home/u',
    USER: 'u',
    LC_ALL: 'C',
    XDG_RUNTIME_DIR: '/run/u',
    https_proxy: 'http://p',
    NODE_EXTRA_CA_CERTS: '/ca',
    SECRET_X: '1',
    WATCHKEEPER_DATA: '/d',
    'BASH_FUNC_x%%': '() { :; }',
    LANG: '() { :; }',
  };
  const safe = {
    PATH: '/bin',
    HOME: '/home/u',
    USER: 'u',
    LC_ALL: 'C',
    XDG_RUNTIME_DIR: '/run/u',
    https_proxy: 'http://p',
    NODE_EXTRA_CA_CERTS: '/ca',
  };

  it.each<[string, Record<string, unknown>, Record<string, string>]>([
    ['no env is the safe set', {}, safe],
    ['one variable adds to it', { env: { A: '1' } }, { ...safe, A: '1' }],
    ['its own PATH wins', { env: { PATH: '/own' } }, { ...safe, PATH: '/own' }],
    ['a declared secret is there', { env: { SECRET_X: '${SECRET_X}' } }, { ...safe, SECRET_X: '1' }],
    ['inheritEnv with names adds those', { inheritEnv: ['SECRET_X', 'GONE'] }, { ...safe, SECRET_X: '1' }],
  ])('with %s', (_what, keys, expected) => {
    expect(stdio({ command: 'x', ...keys }, daemon).env).toEqual(expected);
  });

  it('with inheritEnv true is all of the daemon', () => {
    const { env } = stdio({ command: 'x', inheritEnv: true }, daemon);
    expect(env).toMatchObject({ SECRET_X: '1', WATCHKEEPER_DATA: '/d' });
    expect(env.LANG).toBeUndefined();
  });

  it('on Windows is the system set, whatever the letter case', () => {
    const windows = { Path: 'C:\\', SystemRoot: 'C:\\Windows', USERPROFILE: 'C:\\u', SECRET_X: '1' };
    expect(stdio({ command: 'x', env: { PATH: 'D:\\' } }, windows, 'win32').env).toEqual({
      SystemRoot: 'C:\\Windows',
      USERPROFILE: 'C:\\u',
      PATH: 'D:\\',
    });
  });
});

describe('what is to be hidden of an entry', () => {
  it('is every expanded value and every literal secret', () => {
    const entry = stdio({
      command: '$DIR/x',
      args: [
        '--api-key',
        'arg-secret-1',
        '--token=arg-secret-2',
        '-e',
        'DB_PASSWORD=arg-secret-3',
        'plain-argument',
        'pg://usr-secret:pw-secret@h/d',
      ],
      env: { A: 'literal-env-1', LEVEL: 'debug', N: '8080', S: 'abc' },
    });
    expect([...entry.secrets].sort()).toEqual(
      ['/srv/data', 'arg-secret-1', 'arg-secret-2', 'arg-secret-3', 'literal-env-1', 'pw-secret', 'usr-secret'].sort(),
    );
  });

  it('is every header value, with and without its scheme, and every query value', () => {
    const { secrets } = http({
      url: 'https://a?k=query%20secret&flag',
      headers: { Authorization: 'Bearer head-secret' },
    });
    expect(secrets).toEqual(
      expect.arrayContaining(['Bearer head-secret', 'head-secret', 'query%20secret', 'query secret', 'flag']),
    );
  });

  it('comes longest first', () => {
    const { secrets } = stdio({ command: 'x', env: { A: 'secret', B: 'secret-and-more' } });
    expect(secrets).toEqual(['secret-and-more', 'secret']);
  });
});

describe('the variables of an entry', () => {
  it('are all that its texts mention, defaults included', () => {
    const { entry } = readEntry('it', { command: '$A', args: ['${B:-$C}'], env: { X: '$$D' }, cwd: '${A}/${E}' });
    expect(entry === null ? null : variablesOf(entry)).toEqual(['A', 'B', 'C', 'E']);
  });
});
