import { parse as smolToml } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { FormatError } from '../../src/clients/formats/format.ts';
import { jsonFormat } from '../../src/clients/formats/json.ts';
import { tomlFormat } from '../../src/clients/formats/toml.ts';
import { yamlFormat } from '../../src/clients/formats/yaml.ts';
import { nasty } from './nasty.ts';

const formats = {
  json: { format: jsonFormat, key: 'mcpServers', parse: undefined },
  toml: {
    format: tomlFormat,
    key: 'mcp_servers',
    parse: (text: string) => smolToml(text, { integersAsBigInt: true }) as Record<string, any>,
  },
  yaml: { format: yamlFormat, key: 'extensions', parse: (text: string) => parseYaml(text) ?? {} },
};
const kinds = ['json', 'toml', 'yaml'] as const;
const cases = kinds.flatMap((kind) => Object.entries(nasty[kind]).map(([what, text]) => ({ kind, what, text })));
const one = { url: 'http://127.0.0.1:17987/mcp/memory', headers: { Authorization: 'Bearer ${A}' } };
const two = { command: '/usr/bin/node', args: ['a b', 'c"d\\e', '#x: y'], enabled: true };

/** The lines of `text` in order, each found in `after` behind the one before; commas may have been added. */
function keepsLines(text: string, after: string): boolean {
  const plain = (line: string): string => line.replaceAll(',', '').trim();
  const lines = after.split(/\r?\n/).map(plain);
  let at = 0;
  return text
    .split(/\r?\n/)
    .map(plain)
    .filter((line) => line !== '' && !/[{}]{2}/.test(line))
    .every((line) => {
      at = lines.indexOf(line, at) + 1;
      return at > 0;
    });
}

describe('Editing a file of a client', () => {
  it.each(cases)('$kind: adds and removes entries in $what', ({ kind, text }) => {
    const { format, key, parse } = formats[kind];
    const before = format.read(text, key);
    if (!before.ok) throw new Error(before.problem.message);
    const added = format.set(format.set(text, key, 'memory', one), key, 'hub two', two);
    const read = format.read(added, key);
    expect(read).toMatchObject({ ok: true, entries: { ...before.entries, memory: one, 'hub two': two } });
    if (parse) expect(parse(added)[key]).toMatchObject({ memory: one, 'hub two': two });
    const changed = format.set(added, key, 'memory', two);
    expect(format.read(changed, key)).toMatchObject({ entries: { ...before.entries, memory: two, 'hub two': two } });
    const removed = format.remove(format.remove(changed, key, 'memory'), key, 'hub two');
    expect(format.read(removed, key)).toMatchObject({ ok: true, entries: before.entries });
  });

  it.each(cases)('$kind: the same value again changes nothing in $what', ({ kind, text }) => {
    const { format, key } = formats[kind];
    const added = format.set(text, key, 'memory', one);
    expect(format.set(added, key, 'memory', one)).toBe(added);
    expect(format.remove(text, key, 'nobody')).toBe(text);
  });

  it.each(cases.filter(({ text, what }) => text !== '' && !/empty/.test(what)))(
    '$kind: every line of people stays in $what',
    ({ kind, text }) => {
      const { format, key } = formats[kind];
      expect(keepsLines(text, format.set(text, key, 'memory', one))).toBe(true);
    },
  );

  const reversible = cases.filter(
    ({ what, kind }) => /comments|projects|CRLF$|one long line|odd/.test(what) && kind !== 'json',
  );
  it.each(reversible)('$kind: removing what was added gives the text back: $what', ({ kind, text }) => {
    const { format, key } = formats[kind];
    expect(format.remove(format.set(text, key, 'memory', one), key, 'memory')).toBe(text);
  });

  it.each([
    ['json', '{\n  "mcpServers": {\n    "a": \n  }\n}', 'line 4, column 3'],
    ['json', '[]', 'must hold an object'],
    ['json', '{"mcpServers": []}', 'object of servers by name'],
    ['toml', 'a = 1\n[mcp_servers.x]\nurl = \n', 'line 3, column 6'],
    ['toml', 'a = 1\na = 2\n', 'line 2'],
    ['toml', 'mcp_servers = 3', 'table of servers'],
    ['yaml', 'a: 1\nb: [\n', 'line'],
    ['yaml', 'a: 1\na: 2\n', 'line 2'],
    ['yaml', 'extensions: [a]\n', 'map of servers'],
    ['yaml', 'a: 1\n---\nb: 2\n', 'more than one document'],
  ] as const)('%s: a file that cannot be used is refused with its place: %j', (kind, text, place) => {
    const { format, key } = formats[kind];
    const read = format.read(text, key);
    expect(read).toMatchObject({ ok: false });
    if (!read.ok) expect(read.problem.message).toContain(place);
  });

  it.each([
    ['toml', 'mcp_servers = { mine = { url = "x" } }\n'],
    ['yaml', 'extensions: { mine: { cmd: x } }\n'],
  ] as const)('%s: a layout that cannot be kept is refused, not rewritten: %j', (kind, text) => {
    const { format, key } = formats[kind];
    expect(() => format.set(text, key, 'memory', one)).toThrow(FormatError);
  });

  it('writes TOML as Codex itself does', () => {
    const set = tomlFormat.set('model = "o3"\n', 'mcp_servers', 'memory', {
      url: 'http://x/',
      bearer_token_env_var: 'T',
    });
    expect(set).toBe('model = "o3"\n\n[mcp_servers.memory]\nurl = "http://x/"\nbearer_token_env_var = "T"\n');
  });

  it('writes YAML with the indentation the file has', () => {
    const text = 'extensions:\n    mine:\n        cmd: x\nb: 1\n';
    expect(yamlFormat.set(text, 'extensions', 'memory', { enabled: true, uri: 'http://x/' })).toBe(
      'extensions:\n    mine:\n        cmd: x\n    memory:\n      enabled: true\n      uri: http://x/\nb: 1\n',
    );
  });
});
