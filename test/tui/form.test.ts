import { describe, expect, it } from 'vitest';
import { fieldOf } from '../../src/tui/field.ts';
import { blankForm, entryOf, type FieldName, type Form, faultOf, formOf, rowsOf } from '../../src/tui/form.ts';
import type { AddScreen } from '../../src/tui/model.ts';
import { readPaste } from '../../src/tui/paste.ts';
import { joinWords, splitWords } from '../../src/tui/words.ts';
import { input, key, letters, play, screenOf, statusOf, withServers } from './given.ts';

const formWith = (fields: Partial<Record<FieldName, string>>, more: Partial<Form> = {}): Form => ({
  ...blankForm(),
  ...more,
  fields: {
    ...blankForm().fields,
    ...Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, fieldOf(text)])),
  },
});

describe('The form of a server', () => {
  it.each<[FieldName, string, string | null]>([
    ['name', 'a b', 'may hold only letters, digits, `_` and `-`, and begins with a letter or digit'],
    ['name', 'notes', 'is taken: open that server and press e to change it'],
    ['name', 'other', null],
    ['command', '', 'a command is missing'],
    ['args', "-y 'open", 'a quote is not closed'],
    ['env', 'TOKEN', '"TOKEN" is not NAME=value'],
    ['env', 'A=1 B=${B}', null],
    ['url', 'example', 'is not a web address'],
    ['url', 'ftp://example', 'begins with http:// or https://'],
    ['url', 'https://${HOST}/mcp', null],
    ['headers', 'X Y=1', '"X" is not Header=value'],
    ['headers', "'X-Id=a b'", null],
    ['header', 'X Key', 'is no name of a header'],
  ])('says what is wrong as it is typed: %s %j', (name, text, fault) => {
    expect(faultOf(formWith({ [name]: text }), name, ['notes'])).toBe(fault);
  });

  it.each<[string, Form, object]>([
    [
      'a command',
      formWith({ command: 'npx', args: "-y 'a b'", env: 'K=v' }),
      { command: 'npx', args: ['-y', 'a b'], env: { K: 'v' } },
    ],
    ['an address', formWith({ url: 'https://a/mcp' }, { transport: 'http' }), { url: 'https://a/mcp' }],
    [
      'OAuth',
      formWith({ url: 'https://a' }, { transport: 'http', auth: 'oauth' }),
      { url: 'https://a', auth: 'oauth' },
    ],
    [
      'a bearer token',
      formWith({ url: 'https://a', secret: 'T' }, { transport: 'http', auth: 'bearer' }),
      { url: 'https://a', headers: { Authorization: 'Bearer T' } },
    ],
    [
      'one that says so',
      formWith({ url: 'https://a', secret: 'Bearer T' }, { transport: 'http', auth: 'bearer' }),
      { url: 'https://a', headers: { Authorization: 'Bearer T' } },
    ],
    [
      'an API key',
      formWith({ url: 'https://a', secret: 'T' }, { transport: 'http', auth: 'api-key' }),
      { url: 'https://a', headers: { 'X-API-Key': 'T' } },
    ],
    [
      'basic, and a header',
      formWith({ url: 'https://a', secret: 'dTpw', headers: 'X-Id=1' }, { transport: 'http', auth: 'basic' }),
      { url: 'https://a', headers: { Authorization: 'Basic dTpw', 'X-Id': '1' } },
    ],
  ])('makes an entry of %s', (_what, form, entry) => {
    expect(entryOf(form)).toEqual(entry);
  });

  it('keeps what it does not know, and hidden values, when an entry is changed', () => {
    const entry = { command: 'node', args: ['a', '***'], env: { TOKEN: '***' }, cwd: '/x', lazy: true };
    const form = formOf('notes', entry, 'notes');
    expect(entryOf(form)).toEqual(entry);
    expect(rowsOf(form)).not.toContain('name');
  });

  it('tries an entry before it is saved, shows stderr when that fails, and saves it all the same when asked to', () => {
    const filled = play(withServers(), ...letters('a'), input({ paste: 'npx -y some-server' })).model;
    const trying = play(filled, input({ ctrl: 's' }));
    expect(trying.commands).toMatchObject([{ do: 'try', entry: { command: 'npx', args: ['-y', 'some-server'] } }]);
    const trial = { ok: false, tools: [], error: 'initialize: exit 1', stderr: 'no\nkey' };
    const failed = play(trying.model, { kind: 'tried', name: 'some', trial }).model;
    expect(screenOf(failed)).toMatch(/did not work: initialize: exit 1\n.*stderr:\n {2}│ no\n {2}│ key/);
    expect(play(failed, ...letters('s')).commands).toMatchObject([{ do: 'save', entry: { command: 'npx' } }]);
    expect(play(failed, key('escape')).model.add?.trial).toBeNull();
  });

  it('saves what works by itself', () => {
    const filled = play(
      withServers(),
      ...letters('a'),
      input({ paste: 'npx -y some-server' }),
      input({ ctrl: 's' }),
    ).model;
    const trial = { ok: true, tools: ['a'], error: null, stderr: '' };
    const { commands } = play(filled, { kind: 'tried', name: 'some', trial });
    expect(commands).toMatchObject([{ do: 'save', entry: { command: 'npx', args: ['-y', 'some-server'] } }]);
  });

  it('hides a secret while it is typed', () => {
    const form = {
      ...formWith({ url: 'https://a', secret: 'hunter2' }, { transport: 'http', auth: 'bearer' }),
      focus: 'secret' as const,
    };
    const { model } = play({ ...withServers(statusOf('notes')), add: { form, trial: null } }, { kind: 'tick', at: 0 });
    expect(screenOf(model)).toContain('•••••••');
    expect(screenOf(model)).not.toContain('hunter2');
  });
});

describe('What is pasted', () => {
  it.each<[string, string, object]>([
    ['{"mcpServers":{"fs":{"command":"npx","args":["-y","x"]}}}', 'fs', { command: 'npx', args: ['-y', 'x'] }],
    [
      '```json\n{ "servers": { "fs": { "url": "https://a/mcp" }, }, // a comment\n}\n```',
      'fs',
      { url: 'https://a/mcp' },
    ],
    ['"fs": { "command": "uvx", "args": ["y"] },', 'fs', { command: 'uvx', args: ['y'] }],
    [
      '{"command":"npx","args":["-y","@acme/mcp-server-notes@1.2"]}',
      'notes',
      { command: 'npx', args: ['-y', '@acme/mcp-server-notes@1.2'] },
    ],
    [
      'npx -y @modelcontextprotocol/server-memory',
      'memory',
      { command: 'npx', args: ['-y', '@modelcontextprotocol/server-memory'] },
    ],
    [
      '$ API_KEY=abc uvx mcp-server-time --zone "Europe/Oslo time"',
      'time',
      { command: 'uvx', args: ['mcp-server-time', '--zone', 'Europe/Oslo time'], env: { API_KEY: 'abc' } },
    ],
    [
      'docker run -i --rm \\\n  mcp/postgres',
      'postgres',
      { command: 'docker', args: ['run', '-i', '--rm', 'mcp/postgres'] },
    ],
    ['claude mcp add tracker -- npx -y tracker-mcp', 'tracker', { command: 'npx', args: ['-y', 'tracker-mcp'] }],
    ['claude mcp add --transport http tracker https://t.example/mcp', 'tracker', { url: 'https://t.example/mcp' }],
    ['https://mcp.example.com/mcp', 'example', { url: 'https://mcp.example.com/mcp' }],
  ])('is read as a server: %s', (text, name, entry) => {
    const read = readPaste(text, blankForm());
    expect(read && entryOf(read.form)).toEqual(entry);
    expect(read?.form.fields.name.value).toBe(name);
  });

  it.each<[string]>([['some words of prose'], ['{"not": "a server"}'], ['token'], ['{ broken']])(
    'is a text like any other when it is none: %s',
    (text) => {
      expect(readPaste(text, blankForm())).toBeNull();
    },
  );

  it('keeps a name that was typed before, and the name of what is changed', () => {
    expect(readPaste('npx -y x', formWith({ name: 'mine' }))?.form.fields.name.value).toBe('mine');
    const changed = formOf('old', { command: 'a' }, 'old');
    expect(readPaste('{"mcpServers":{"new":{"command":"b"}}}', changed)?.form).toMatchObject({ editing: 'old' });
  });
});

describe('Words of a command line', () => {
  it.each<[string, readonly string[] | null]>([
    ['a  b', ['a', 'b']],
    ['\'a b\' "c d"', ['a b', 'c d']],
    ['a\\ b', ['a b']],
    ["''", ['']],
    ["'a", null],
  ])('%j', (text, words) => {
    expect(splitWords(text)).toEqual(words);
  });

  it.each([[['a b', "it's", '', '-x=1', '${HOME}/y']]])('come back as they were: %j', (words) => {
    expect(splitWords(joinWords(words))).toEqual(words);
  });
});

describe('The form on the screen', () => {
  const form = play(withServers(), ...letters('a')).model;

  it.each([
    [40, 12],
    [60, 18],
    [80, 24],
  ])('shows the row that is typed in on %i × %i, whichever it is', (columns, rows) => {
    let { model } = play(form, { kind: 'size', columns, rows });
    for (const row of rowsOf((model.add as AddScreen).form)) {
      expect([row, screenOf(model)]).toEqual([row, expect.stringMatching(row === 'save' ? /Test and save/ : / › /)]);
      model = play(model, key('down')).model;
    }
  });

  it('is left at once while nothing was typed, and else only after a yes', () => {
    expect(play(form, key('escape')).model.add).toBeNull();
    const asked = play(form, ...letters('notes'), key('escape')).model;
    expect(screenOf(asked)).toMatch(/Name +notes[\s\S]*What is typed here is lost[\s\S]*Leave without saving\? y yes/);
    expect(play(asked, key('escape')).model.add?.form.fields.name.value).toBe('notes');
    expect(play(asked, ...letters('y')).model.add).toBeNull();
    const entry = { command: 'node', env: { A: '***' } };
    const changing = play(
      withServers(statusOf('notes')),
      { kind: 'config', answer: { servers: { notes: entry }, oauth: {} } },
      key('enter'),
      ...letters('e'),
    ).model;
    expect(play(changing, key('escape')).model.add).toBeNull();
    expect(play(changing, ...letters('x'), key('escape')).model.add).not.toBeNull();
  });

  it('says all of what is wrong, in as many lines as it takes', () => {
    const shown = screenOf(play(form, { kind: 'size', columns: 60, rows: 24 }, ...letters('a b')).model);
    expect(shown.replace(/\s+/g, ' ')).toMatch(/✗ may hold only letters, digits, `_` and `-`, and begins with/);
  });

  it('shows a token that stands in a header as a token, hidden, and writes it as a header again', () => {
    const entry = { url: 'https://a/mcp', headers: { authorization: 'Bearer abc', 'X-Team': 'blue' } };
    const read = formOf('a', entry, null);
    expect(read).toMatchObject({
      auth: 'bearer',
      fields: { secret: { value: 'abc' }, headers: { value: 'X-Team=blue' } },
    });
    expect(entryOf(read)).toEqual({ url: 'https://a/mcp', headers: { Authorization: 'Bearer abc', 'X-Team': 'blue' } });
    const masked = { url: 'https://a/mcp', headers: { authorization: 'Bearer ***' } };
    expect(entryOf(formOf('a', masked, 'a'))).toEqual(masked);
    const pasted = play(
      form,
      input({ paste: 'claude mcp add hub https://a/mcp --header "Authorization: Bearer abc"' }),
    ).model;
    expect(screenOf(pasted)).toMatch(/\(•\) bearer[\s\S]*Token +•••/);
    expect(screenOf(pasted)).not.toContain('abc');
  });

  it('takes a token that is typed anew for the one that was stored', () => {
    const stored = formOf('a', { url: 'https://a/mcp', headers: { Authorization: '***', 'X-Key': '***' } }, 'a');
    expect(entryOf(stored)).toMatchObject({ headers: { Authorization: '***', 'X-Key': '***' } });
    const anew: Form = { ...stored, auth: 'bearer', fields: { ...stored.fields, secret: fieldOf('new') } };
    expect(entryOf(anew)).toMatchObject({ headers: { Authorization: 'Bearer new', 'X-Key': '***' } });
  });

  it('tries a changed entry with what is stored for ***, and tells no stderr of what is no process', () => {
    const entry = { url: 'https://a/mcp', headers: { Authorization: 'Bearer ***' } };
    const changing = play(
      withServers(statusOf('web')),
      { kind: 'config', answer: { servers: { web: entry }, oauth: { web: false } } },
      key('enter'),
      ...letters('e'),
    ).model;
    const tried = play(changing, input({ ctrl: 's' }));
    expect(tried.commands).toEqual([{ do: 'try', name: 'web', entry, replaces: true }]);
    const trial = { ok: false, tools: [], error: 'connect: no answer', stderr: '' };
    const { model } = play(tried.model, { kind: 'tried', name: 'web', trial });
    expect(screenOf(model)).toContain('connect: no answer');
    expect(screenOf(model)).not.toContain('stderr');
  });
});
