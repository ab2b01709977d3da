import { describe, expect, it } from 'vitest';
import { diffConfig, isSame } from '../../src/config/diff.ts';
import type { LoadedConfig, LoadedEntry } from '../../src/config/entry.ts';
import { parseConfig } from '../../src/config/parse.ts';

function config(text: string): LoadedConfig {
  const parsed = parseConfig(text);
  if (!parsed.ok) throw new Error(parsed.problem.message);
  return parsed.config;
}
const servers = (value: unknown): LoadedConfig => config(JSON.stringify({ servers: value }));
const only = (entry: unknown): LoadedEntry => {
  const [loaded] = servers({ it: entry, sibling: { command: 'node' } }).entries;
  if (loaded === undefined) throw new Error('no entry');
  return loaded;
};

describe('a config file', () => {
  it.each([
    ['servers', '{"servers":{"a":{"command":"x"}}}'],
    ['mcpServers', '{"mcpServers":{"a":{"command":"x"}}}'],
    ['a byte order mark', '\uFEFF{"servers":{"a":{"command":"x"}}}'],
    ['comments', '// top\n{"servers": /* here */ {"a":{"command":"x" // why\n}}}'],
    ['trailing commas', '{"servers":{"a":{"command":"x","args":["1",],},},}'],
    ['CRLF', '{\r\n"servers":{\r\n"a":{"command":"x"}\r\n}\r\n}\r\n'],
  ])('may have %s', (_what, text) => {
    expect(config(text).entries.map(({ name, problem }) => [name, problem])).toEqual([['a', null]]);
    expect(config(text).warnings).toEqual([]);
  });

  it.each(['{}', '{"servers":null}', '{"servers":{}}', '{"$schema":"x"}'])(
    '%s holds no servers and says nothing',
    (text) => {
      expect(config(text)).toEqual({ entries: [], warnings: [] });
    },
  );

  it.each([
    ['an empty file', '', 1, 1, /empty/],
    ['a blank file', ' \n\n', 1, 1, /empty/],
    ['only a mark', '\uFEFF', 1, 1, /empty/],
    ['a file cut in the middle', '{\n  "servers": {\n    "a": {"comm', 3, 11, /ends too early|not closed/],
    ['a missing comma', '{\n "servers": {\n  "a": {"command": "x"}\n  "b": {"command": "y"}\n }\n}', 4, 3, /comma/],
    ['CRLF lines', '{\r\n"servers": {\r\n  oops\r\n}}', 3, 3, /JSON/],
    ['an array', '\n  [1]', 2, 3, /must hold an object/],
    ['a text', '"servers"', 1, 1, /must hold an object/],
    ['servers as a list', '{"servers": []}', 1, 13, /`servers` must be an object/],
    ['something after the end', '{} {}', 1, 4, /follows the end/],
  ])('with %s names line and column', (_what, text, line, column, message) => {
    const parsed = parseConfig(text);
    expect(parsed).toMatchObject({ ok: false, problem: { line, column, message: expect.stringMatching(message) } });
  });

  it('survives nesting no one could have written', () => {
    expect(parseConfig('['.repeat(100_000)).ok).toBe(false);
  });

  it('with both root keys gives all servers, and a name in `servers` counts', () => {
    const both = config('{"mcpServers":{"a":{"command":"old"},"b":{"command":"b"}},"servers":{"a":{"command":"new"}}}');
    expect(both.entries.map(({ name, entry }) => [name, entry?.transport === 'stdio' && entry.command])).toEqual([
      ['a', 'new'],
      ['b', 'b'],
    ]);
    expect(both.warnings).toHaveLength(2);
    expect(both.warnings.join()).toMatch(/both `servers` and `mcpServers`.*"a" stands under both/s);
  });

  it('says which of its keys it does not know', () => {
    expect(config('{"server":{},"x":1}').warnings).toEqual([
      'the key `server` is not known and is ignored; did you mean `servers`?',
      'the key `x` is not known and is ignored',
    ]);
  });

  it('warns of a server name written twice and takes the last', () => {
    const twice = config('{"servers":{"a":{"command":"one"},"a":{"command":"two"}}}');
    expect(twice.entries).toHaveLength(1);
    expect(twice.entries[0]?.entry).toMatchObject({ command: 'two' });
    expect(twice.warnings).toEqual(['the server "a" is written more than once under `servers`; the last one counts']);
  });

  it('gives entries in order of code units', () => {
    const names = servers({ b: {}, a: {}, B: {}, 'a-b': {}, a1: {} }).entries.map(({ name }) => name);
    expect(names).toEqual(['B', 'a', 'a-b', 'a1', 'b']);
  });
});

describe('an entry with an error', () => {
  it.each<[string, unknown, string, RegExp]>([
    ['command and url', { command: 'x', url: 'http://a' }, 'url', /`command` and `url` exclude each other/],
    ['neither', {}, 'command', /neither `command` nor `url`/],
    ['blank command', { command: ' ' }, 'command', /neither/],
    ['type stdio with url', { type: 'stdio', url: 'http://a' }, 'type', /has `url`/],
    ['type http with command', { type: 'http', command: 'x' }, 'type', /has `command`/],
    ['type sse with command', { type: 'sse', command: 'x' }, 'type', /has `command`/],
    ['unknown type', { type: 'websocket', url: 'http://a' }, 'type', /must be `stdio`/],
    ['args as a text', { command: 'x', args: '-y' }, 'args', /list/],
    ['an argument that is no text', { command: 'x', args: ['a', 1] }, 'args[1]', /text/],
    ['env as a list', { command: 'x', env: ['A=1'] }, 'env', /object/],
    ['an env value that is no text', { command: 'x', env: { PORT: 1 } }, 'env.PORT', /text/],
    ['an env name with =', { command: 'x', env: { 'A=B': '1' } }, 'env.A=B', /name/],
    ['a header name with a space', { url: 'http://a', headers: { 'X Y': '1' } }, 'headers.X Y', /header/],
    ['negative time', { command: 'x', callTimeoutMs: -1 }, 'callTimeoutMs', /1 to 2147483647/],
    ['zero time', { command: 'x', listTimeoutMs: 0 }, 'listTimeoutMs', /1 to/],
    ['half a millisecond', { command: 'x', connectTimeoutMs: 0.5 }, 'connectTimeoutMs', /whole/],
    ['a time no timer can wait', { command: 'x', pollIntervalMs: 2 ** 31 }, 'pollIntervalMs', /2147483647/],
    ['a time as text', { command: 'x', callMaxMs: '5s' }, 'callMaxMs', /whole/],
    ['no calls at once', { command: 'x', maxConcurrency: 0 }, 'maxConcurrency', /whole number/],
    ['disabled as text', { command: 'x', disabled: 'yes' }, 'disabled', /true or false/],
    ['a prefix with a dot', { command: 'x', tool_prefix: 'a.b' }, 'tool_prefix', /0 to 26/],
    ['a prefix too long', { command: 'x', tool_prefix: 'a'.repeat(27) }, 'tool_prefix', /0 to 26/],
    ['include as a text', { command: 'x', include: 'a*' }, 'include', /list/],
    ['inheritEnv as a text', { command: 'x', inheritEnv: 'PATH' }, 'inheritEnv', /true, false or a list/],
    ['oauth as a text', { url: 'http://a', oauth: 'id' }, 'oauth', /object/],
    ['scopes as a text', { url: 'http://a', oauth: { scopes: 'a b' } }, 'oauth.scopes', /list/],
    ['an address that is none', { url: 'example.com/mcp' }, 'url', /http/],
    ['another scheme', { url: 'ftp://example.com' }, 'url', /http/],
    ['an open placeholder in args', { command: 'x', args: ['${A'] }, 'args[0]', /closing/],
    ['an open placeholder in env', { command: 'x', env: { A: '${' } }, 'env.A', /closing/],
    ['an open placeholder in a header', { url: 'http://a', headers: { A: 'b${' } }, 'headers.A', /closing/],
    ['an open placeholder in cwd', { command: 'x', cwd: '${HOME/x' }, 'cwd', /closing/],
    ['an open placeholder in url', { url: 'http://${HOST' }, 'url', /closing/],
    ['a placeholder without a name', { command: '${input:x}' }, 'command', /name of a variable/],
    ['null', null, 'entry', /object/],
    ['a list', [], 'entry', /object/],
    ['a text', 'npx', 'entry', /object/],
  ])('%s names the field and leaves its sibling alone', (_what, entry, field, message) => {
    const loaded = servers({ it: entry, sibling: { command: 'node' } }).entries;
    expect(loaded[0]).toMatchObject({ name: 'it', entry: null, transport: null, problem: { field } });
    expect(loaded[0]?.problem?.message).toMatch(message);
    expect(loaded[1]).toMatchObject({ name: 'sibling', problem: null });
  });

  it.each(['a/b', 'a__b', 'a_', 'x'.repeat(41), ' a', ''])('has the name %j and says which one to take', (name) => {
    const [loaded] = servers({ [name]: { command: 'x' } }).entries;
    expect(loaded?.problem).toMatchObject({ field: 'name', message: expect.stringContaining('config fix') });
  });

  it('may be called __proto__ without harm to anything', () => {
    const parsed = parseConfig('{"servers":{"__proto__":{"command":"x","disabled":true},"a":{"command":"y"}}}');
    if (!parsed.ok) throw new Error('not read');
    expect(parsed.config.entries.map(({ name, problem }) => [name, problem?.field])).toEqual([
      ['__proto__', 'name'],
      ['a', undefined],
    ]);
    expect(parsed.config.entries[0]?.problem?.message).toContain('`proto`');
    expect(parsed.raw.get('__proto__')).toEqual({ command: 'x', disabled: true });
    expect(({} as { disabled?: boolean }).disabled).toBeUndefined();
  });

  it('never shows a value of the entry', () => {
    const secret = 'hunter2hunter2';
    for (const entry of [
      { command: secret, url: secret },
      { command: 'x', args: secret },
      { command: 'x', env: { A: [secret] } },
      { url: secret },
      { type: secret, url: 'http://a' },
      { command: 'x', tool_prefix: `${secret}.` },
    ]) {
      expect(JSON.stringify([only(entry).problem, only(entry).warnings])).not.toContain(secret);
    }
  });
});

describe('an entry without an error', () => {
  it('of a command has the defaults of the contract', () => {
    expect(only({ command: 'node' }).entry).toEqual({
      name: 'it',
      transport: 'stdio',
      command: 'node',
      args: [],
      env: {},
      cwd: undefined,
      inheritEnv: false,
      disabled: false,
      lazy: false,
      include: [],
      exclude: [],
      toolPrefix: undefined,
      repeatCalls: 'unsent',
      limits: {
        connectTimeoutMs: 30_000,
        listTimeoutMs: 30_000,
        callTimeoutMs: 60_000,
        callMaxMs: 600_000,
        pollIntervalMs: 60_000,
        idleStopMs: null,
        stableMs: 60_000,
        maxConcurrency: null,
      },
    });
  });

  it('of an address has the defaults of the contract', () => {
    expect(only({ url: ' https://example.com/mcp ' }).entry).toMatchObject({
      transport: 'streamable-http',
      explicitType: false,
      url: 'https://example.com/mcp',
      headers: {},
      auth: undefined,
      oauth: {},
      rawAuthorization: false,
    });
  });

  it.each([
    [{ url: 'http://a', type: 'http' }, 'streamable-http', true],
    [{ url: 'http://a', type: 'streamable-http' }, 'streamable-http', true],
    [{ url: 'http://a', type: 'sse' }, 'sse', true],
    [{ url: 'http://a' }, 'streamable-http', false],
    [{ url: 'http://${HOST}/x' }, 'streamable-http', false],
  ])('%j uses %s', (entry, transport, explicitType) => {
    expect(only(entry)).toMatchObject({ transport, entry: { transport, explicitType } });
  });

  it.each([
    ['npx', 120_000],
    ['uvx', 120_000],
    ['pnpm', 120_000],
    ['bunx', 120_000],
    ['docker', 120_000],
    ['podman', 120_000],
    ['/usr/local/bin/npx', 120_000],
    ['C:\\nodejs\\NPX.CMD', 120_000],
    ['node', 30_000],
    ['my-npx', 30_000],
  ])('started by %s may take %d ms to connect', (command, connectTimeoutMs) => {
    expect(only({ command }).entry?.limits.connectTimeoutMs).toBe(connectTimeoutMs);
    expect(only({ command, connectTimeoutMs: 7 }).entry?.limits.connectTimeoutMs).toBe(7);
  });

  it('started by cmd /c npx may take as long as npx', () => {
    expect(only({ command: 'cmd', args: ['/c', 'npx', '-y', 'x'] }).entry?.limits.connectTimeoutMs).toBe(120_000);
  });

  it('keeps each limit it sets', () => {
    const limits = {
      listTimeoutMs: 1,
      callTimeoutMs: 2,
      callMaxMs: 3,
      pollIntervalMs: 4,
      idleStopMs: 5,
      stableMs: 6,
      maxConcurrency: 8,
    };
    expect(only({ command: 'x', ...limits }).entry?.limits).toMatchObject(limits);
    expect(only({ command: 'x', pollIntervalMs: 2 ** 31 - 1 }).problem).toBeNull();
  });

  it('with a long limit for silence may run at least that long', () => {
    expect(only({ command: 'x', callTimeoutMs: 900_000 }).entry?.limits.callMaxMs).toBe(900_000);
  });

  it.each(['', 'a', 'A-_9', 'a'.repeat(26)])('may have the prefix %j', (tool_prefix) => {
    expect(only({ command: 'x', tool_prefix }).entry?.toolPrefix).toBe(tool_prefix);
  });

  it.each(['oauth', 'OAuth', ' oauth '])('asks for a login with auth %j', (auth) => {
    expect(only({ url: 'http://a', auth }).entry).toMatchObject({ auth: 'oauth' });
  });

  it('takes null for a key that is not set, and an empty url for none', () => {
    expect(only({ command: 'x', url: '', args: null, env: null, disabled: null }).problem).toBeNull();
  });

  it('keeps oauth settings', () => {
    const oauth = { clientId: 'id', scopes: ['a', 'b'], clientMetadataUrl: 'https://c.example/x' };
    expect(only({ url: 'http://a', auth: 'oauth', oauth, oauth_client_name: 'W' }).entry).toMatchObject({
      oauth,
      oauthClientName: 'W',
    });
  });
});

describe('a warning of an entry', () => {
  it.each<[string, unknown, RegExp]>([
    ['a misspelt key', { command: 'x', enviroment: {} }, /`enviroment`.*did you mean `env`/],
    ['a key of another program', { url: 'http://a', timeout: 5 }, /`timeout`.*did you mean `callTimeoutMs`/],
    ['letter case', { command: 'x', toolprefix: 'a' }, /did you mean `tool_prefix`/],
    ['an unknown key', { command: 'x', wombat: 1 }, /`wombat` is not known/],
    ['an unknown key of oauth', { url: 'http://a', oauth: { clientID: 'x' } }, /`oauth.clientID`.*`clientId`/],
    ['headers of a command', { command: 'x', headers: {} }, /`headers` means nothing/],
    ['env of an address', { url: 'http://a', env: {} }, /`env` means nothing/],
    ['another auth', { url: 'http://a', auth: 'basic' }, /only `oauth`/],
    ['a header twice', { url: 'http://a', headers: { A: '1', a: '2' } }, /`a` is written more than once/],
    ['limits that contradict', { command: 'x', callTimeoutMs: 5, callMaxMs: 4 }, /callMaxMs is shorter/],
  ])('tells of %s and lets it run', (_what, entry, warning) => {
    const loaded = only(entry);
    expect(loaded.problem).toBeNull();
    expect(loaded.warnings).toEqual([expect.stringMatching(warning)]);
  });

  it('tells of a key written twice, at any depth', () => {
    const [loaded] = config('{"servers":{"a":{"command":"1","command":"2","env":{"X":"1","X":"2"}}}}').entries;
    expect(loaded?.entry).toMatchObject({ command: '2', env: { X: '2' } });
    expect(loaded?.warnings).toEqual([
      'the key `command` is written more than once; the last one counts',
      'the key `env.X` is written more than once; the last one counts',
    ]);
  });
});

describe('revision and identity of an entry', () => {
  const one = only({ command: 'x', args: ['a', 'b'], env: { A: '1', B: '2' } });
  it('do not depend on spaces, comments or the order of keys', () => {
    const [other] = config(
      '{"servers":{"it": { "env": {"B":"2", "A":"1"}, /* why */\n "args":["a","b",], "command":"x"}}}',
    ).entries;
    expect(other?.revision).toBe(one.revision);
    expect(other?.identity).toBe(one.identity);
  });

  it('differ by the order of arguments', () => {
    const other = only({ command: 'x', args: ['b', 'a'], env: { A: '1', B: '2' } });
    expect(other.revision).not.toBe(one.revision);
    expect(other.identity).not.toBe(one.identity);
  });

  it('differ in revision alone when only env changes', () => {
    const other = only({ command: 'x', args: ['a', 'b'], env: { A: '9', B: '2' } });
    expect(other.revision).not.toBe(one.revision);
    expect(other.identity).toBe(one.identity);
  });

  it('of an address come from the address as written', () => {
    expect(only({ url: 'http://${A}' }).identity).toBe(only({ url: 'http://${A}', headers: { B: 'c' } }).identity);
    expect(only({ url: 'http://${A}' }).identity).not.toBe(only({ url: 'http://${B}' }).identity);
  });

  it('of a command are the same without arguments and with none', () => {
    expect(only({ command: 'x' }).identity).toBe(only({ command: 'x', args: [] }).identity);
  });
});

describe('two readings of the file', () => {
  const before = servers({ a: { command: 'a' }, b: { command: 'b' }, c: { command: 'c' } });
  it('differ by the entries that differ', () => {
    const after = servers({ d: { command: 'd' }, c: { command: 'c' }, b: { command: 'b', args: ['x'] } });
    expect(diffConfig(before, after)).toEqual({ added: ['d'], changed: ['b'], removed: ['a'] });
  });

  it('do not differ by layout', () => {
    const after = config('{ "servers": { "c": {"command":"c"}, "b": {"command":"b"},\n\n "a": {"command":"a"} } }');
    expect(isSame(diffConfig(before, after))).toBe(true);
  });

  it('differ when an entry becomes wrong', () => {
    expect(diffConfig(before, servers({ a: { command: 'a' }, b: {}, c: { command: 'c' } })).changed).toEqual(['b']);
  });
});
