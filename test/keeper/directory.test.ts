import { describe, expect, it } from 'vitest';
import type { ToolDefinition } from '../../src/events/shapes.ts';
import type { SqliteLog } from '../../src/events/sqlite.ts';
import { hash8 } from '../../src/hash.ts';
import { Directory, type DirectoryOptions, readList, type Visibility } from '../../src/keeper/directory.ts';
import { readRegistry } from '../../src/projections/registry.projection.ts';
import { configured, connected, connecting, enabled, listed, process, removed } from '../support/server.facts.ts';
import { givenLog, type Story, storyOn } from '../support/story.ts';

const shown: Visibility = { include: [], exclude: [], toolPrefix: undefined, disabled: false };

interface Given {
  readonly log: SqliteLog;
  readonly story: Story;
  readonly directory: Directory;
  readonly entries: Record<string, Visibility>;
}

function given(
  entries: Record<string, Visibility> = { a: shown, b: shown },
  more: Partial<DirectoryOptions> = {},
): Given {
  const log = givenLog();
  return { log, story: storyOn(log), entries, directory: directoryOn(log, entries, more) };
}

function directoryOn(
  log: SqliteLog,
  entries: Record<string, Visibility>,
  more: Partial<DirectoryOptions> = {},
): Directory {
  const options: DirectoryOptions = {
    maxLength: 64,
    mountMode: 'per-server',
    servers: () => Object.keys(entries).sort(),
    visibility: (server) => entries[server],
    ...more,
  };
  return new Directory(options, readRegistry(log.db), log);
}

const toolsOf = (...names: readonly string[]) => names.map((name) => ({ name, inputSchema: { type: 'object' } }));
const list = (signature: string, ...names: readonly string[]) => listed(1, signature, toolsOf(...names));
const ready = (...names: readonly string[]) => [
  configured(),
  enabled,
  connecting(),
  process(),
  connected(),
  list('s', ...names),
];

describe('The directory', () => {
  it('lists every tool of every server under its registered name, sorted', async () => {
    const { story, directory } = given();
    await story.tell(1_000, 'server-b', ...ready('x'));
    await story.tell(1_000, 'server-a', ...ready('put', 'get'));
    expect(directory.list().map(({ name, server, tool }) => [name, server, tool.name])).toEqual([
      ['mcp__a__get', 'a', 'get'],
      ['mcp__a__put', 'a', 'put'],
      ['mcp__b__x', 'b', 'x'],
    ]);
    expect(directory.list('b').map(({ name }) => name)).toEqual(['mcp__b__x']);
    expect(directory.list('c')).toEqual([]);
  });

  it('follows the log: a new list takes the place of the old one, whole', async () => {
    const { story, directory } = given();
    await story.tell(1_000, 'server-a', ...ready('get', 'put'));
    expect(directory.find('mcp__a__put')?.tool.name).toBe('put');
    await story.tell(2_000, 'server-a', list('s2', 'get', 'new'));
    expect(directory.find('mcp__a__put')).toBeUndefined();
    expect(directory.list().map(({ name }) => name)).toEqual(['mcp__a__get', 'mcp__a__new']);
  });

  it('keeps what it has when a list brings nothing new', async () => {
    const { story, directory } = given();
    await story.tell(1_000, 'server-a', ...ready('get'));
    await story.tell(2_000, 'server-a', listed(1, 's', null));
    expect(directory.list()).toHaveLength(1);
  });

  it('forgets a server that is removed', async () => {
    const { story, directory } = given();
    await story.tell(1_000, 'server-a', ...ready('get'));
    await story.tell(2_000, 'server-a', removed);
    expect(directory.known('a')).toBe(false);
    expect(directory.find('mcp__a__get')).toBeUndefined();
    expect(directory.definitionOf('a', 'get')).toBeNull();
  });

  it('is the same after a restart', async () => {
    const { log, story, directory, entries } = given();
    await story.tell(1_000, 'server-a', ...ready('get', 'Größe'));
    expect(directoryOn(log, entries).list()).toEqual(directory.list());
  });

  it('says what is wrong with a list and which tools had to be given another name, until the server goes', async () => {
    const { log, story, directory, entries } = given();
    const [fact] = [list('s', 'x.y', 'x/y')];
    const flawed = { ...fact, data: { ...fact?.data, warnings: ['tool number 3 has no name and is left out'] } };
    await story.tell(1_000, 'server-a', ...ready().slice(0, -1), flawed as typeof fact);
    const [first, second, ...more] = directory.warningsOf('a');
    expect([first, more]).toEqual(['tool number 3 has no name and is left out', []]);
    expect(second).toMatch(
      /^Tool "x\/y" of server "a" would have the name of "x\.y".* it is listed as mcp__a__x_y_[0-9a-f]{8}\.$/,
    );
    expect(directoryOn(log, entries).warningsOf('a')).toEqual([first, second]);
    await story.tell(2_000, 'server-a', removed);
    expect(directory.warningsOf('a')).toEqual([]);
  });

  it('knows nothing of a server that never listed', async () => {
    const { story, directory } = given();
    await story.tell(1_000, 'server-a', configured(), enabled, connecting());
    expect(directory.known('a')).toBe(false);
    await story.tell(2_000, 'server-b', ...ready());
    expect(directory.known('b')).toBe(true);
  });
});

describe('What is hidden', () => {
  it.each<[string, Visibility, string[]]>([
    ['by include', { ...shown, include: ['get*'] }, ['mcp__a__get']],
    ['by exclude', { ...shown, exclude: ['*t'] }, ['mcp__a__new']],
    ['with the server', { ...shown, disabled: true }, []],
  ])('is in no list and found by no name: %s', async (_how, entry, expected) => {
    const { story, directory } = given({ a: entry });
    await story.tell(1_000, 'server-a', ...ready('get', 'put', 'new'));
    expect(directory.list().map(({ name }) => name)).toEqual(expected);
    expect(directory.hubLengths().count).toBe(expected.length);
    expect(directory.lengthsOf('a').count).toBe(expected.length);
    for (const name of ['mcp__a__get', 'mcp__a__put', 'mcp__a__new'])
      expect([name, directory.find(name) !== undefined]).toEqual([name, expected.includes(name)]);
  });

  it('shows after the entries were looked at again', async () => {
    const { story, directory, entries } = given({ a: { ...shown, disabled: true } });
    await story.tell(1_000, 'server-a', ...ready('get'));
    expect(directory.list()).toEqual([]);
    entries.a = shown;
    directory.refresh();
    expect(directory.list()).toHaveLength(1);
  });

  it('are the tools of a server that is in no entry', async () => {
    const { story, directory } = given({ a: shown });
    await story.tell(1_000, 'server-gone', ...ready('get'));
    expect(directory.list()).toEqual([]);
  });
});

describe('Names', () => {
  it('are found both ways, in the spelling of the server too', async () => {
    const { story, directory } = given();
    await story.tell(1_000, 'server-a', ...ready('read/file'));
    expect(directory.nameOf({ server: 'a', tool: 'read/file' })).toBe('mcp__a__read_file');
    expect(directory.find('mcp__a__read_file')?.tool.name).toBe('read/file');
    expect(directory.find('mcp__a__read/file')).toBeUndefined();
    expect(directory.nameOf({ server: 'a', tool: 'other' })).toBeUndefined();
  });

  it('that collide after cleaning are told apart by a suffix, whoever came first', async () => {
    const { story, directory } = given();
    await story.tell(1_000, 'server-a', ...ready('read/file', 'read file'));
    const suffixed = `mcp__a__read_file_${hash8('mcp__a__read/file')}`;
    expect(directory.list().map(({ name, tool }) => [name, tool.name])).toEqual([
      ['mcp__a__read_file', 'read file'],
      [suffixed, 'read/file'],
    ]);
  });

  it('are no longer than is set', async () => {
    const { story, directory } = given({ a: shown }, { maxLength: 20 });
    await story.tell(1_000, 'server-a', ...ready('a_very_long_name_of_a_tool'));
    const [{ name = '' } = {}] = directory.list();
    expect(name).toHaveLength(20);
    expect(directory.find(name)?.tool.name).toBe('a_very_long_name_of_a_tool');
  });
});

describe('Lengths', () => {
  it.each([
    [undefined, 'per-server', { count: 2, longest: 6 }, { count: 2, longest: 9 }, ''],
    ['', 'per-server', { count: 2, longest: 6 }, { count: 2, longest: 6 }, ''],
    ['pre', 'per-server', { count: 2, longest: 6 }, { count: 2, longest: 11 }, 'pre'],
    [undefined, 'routed', { count: 2, longest: 6 }, { count: 2, longest: 6 }, ''],
  ] as const)(
    'with tool_prefix %j, %s: of the server %j, of all %j',
    async (toolPrefix, mountMode, own, hub, prefix) => {
      const { story, directory } = given({ a: { ...shown, toolPrefix } }, { mountMode });
      await story.tell(1_000, 'server-a', ...ready('get', 'longer'));
      expect(directory.lengthsOf('a')).toEqual(own);
      expect(directory.hubLengths()).toEqual(hub);
      expect(directory.prefixOf('a')).toBe(prefix);
    },
  );

  it('are zero without tools', () => {
    const { directory } = given({ a: { ...shown, toolPrefix: 'pre' } });
    expect(directory.lengthsOf('a')).toEqual({ count: 0, longest: 0 });
    expect(directory.hubLengths()).toEqual({ count: 0, longest: 0 });
  });
});

describe('A list as received', () => {
  it('is signed as a whole, so that anything that changes shows', () => {
    const signature = (tools: readonly ToolDefinition[]) => readList(tools).signature;
    const one = { name: 'get', 'x-vendor': 1 };
    expect(signature([one])).toBe(signature([{ 'x-vendor': 1, name: 'get' }]));
    expect(signature([one])).not.toBe(signature([{ ...one, 'x-vendor': 2 }]));
  });

  it('says what was wrong with it and keeps the rest', () => {
    const { tools, warnings } = readList([{ name: 'get' }, { name: 'get' }, {} as { name: string }]);
    expect(tools.map(({ name }) => name)).toEqual(['get']);
    expect(warnings.join('; ')).toMatch(/more than once.*no name/);
  });
});
