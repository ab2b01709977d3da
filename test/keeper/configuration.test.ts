import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Actor } from '../../src/actors/actor.ts';
import { journalRules } from '../../src/actors/journal.ts';
import type { LoadedConfig } from '../../src/config/entry.ts';
import type { ConfigFact } from '../../src/events/daemon.events.ts';
import { Configuration, judged } from '../../src/keeper/configuration.ts';
import { deskUnderTest } from '../support/actors.ts';
import { atEnd } from '../support/cleanup.ts';
import { tempDir } from '../support/temp.ts';
import { until } from '../support/wait.ts';

interface Given {
  readonly file: string;
  readonly configuration: Configuration;
  /** Names of each set that was handed over. */
  readonly handed: string[][];
  readonly warnings: string[];
  facts(): { type: string; data: unknown }[];
  /** Writes the file as editors do: beside it, then over it. */
  save(text: string): void;
  read(): string;
}

function given(text?: string, onLoaded: (config: LoadedConfig) => Promise<void> = async () => {}): Given {
  const file = join(tempDir(), 'mcp.json');
  const { desk, log } = deskUnderTest();
  const handed: string[][] = [];
  const warnings: string[] = [];
  const journal = new Actor<null, ConfigFact, ConfigFact>({
    stream: 'config',
    desk,
    rules: journalRules(),
    keepHead: true,
  });
  const configuration = new Configuration({
    file,
    journal,
    onLoaded: async (config) => {
      await onLoaded(config);
      handed.push(config.entries.map(({ name }) => name));
    },
    warn: (message) => warnings.push(message),
  });
  atEnd(() => configuration.unwatch());
  const save = (content: string): void => {
    writeFileSync(`${file}.next`, content);
    renameSync(`${file}.next`, file);
  };
  if (text !== undefined) save(text);
  return {
    file,
    configuration,
    handed,
    warnings,
    facts: () => log.read({ stream: 'config' }).map(({ type, data }) => ({ type, data })),
    save,
    read: () => readFileSync(file, 'utf8'),
  };
}

const entry = (command: string) => ({ command });
const textOf = (...names: readonly string[]): string =>
  JSON.stringify({ servers: Object.fromEntries(names.map((name) => [name, entry(`run-${name}`)])) }, null, 2);
const namesOf = ({ configuration }: Given): string[] => configuration.config.entries.map(({ name }) => name);

describe('Loading', () => {
  it('hands over what the file says, without a fact and without touching the file', async () => {
    const text = `// mine\n${textOf('b', 'a')}`;
    const here = given(text);
    await here.configuration.load();
    expect(here.handed).toEqual([['a', 'b']]);
    expect([...here.configuration.raw.keys()]).toEqual(['a', 'b']);
    expect(here.configuration.exists).toBe(true);
    expect(here.configuration.problem).toBeNull();
    expect(here.facts()).toEqual([]);
    expect(here.read()).toBe(text);
  });

  it('of no file means no servers, and is no fault', async () => {
    const here = given();
    await here.configuration.load();
    expect(namesOf(here)).toEqual([]);
    expect(here.configuration.exists).toBe(false);
    expect(here.configuration.problem).toBeNull();
    expect(here.warnings).toEqual([]);
  });

  it('keeps a wrong entry beside the right ones', async () => {
    const here = given(JSON.stringify({ servers: { good: entry('run'), bad: { command: 'x', url: 'http://y' } } }));
    await here.configuration.load();
    expect(here.configuration.config.entries.map(({ name, problem }) => [name, problem?.field ?? null])).toEqual([
      ['bad', 'url'],
      ['good', null],
    ]);
  });

  it('warns of what is odd, once a reading', async () => {
    const here = given(JSON.stringify({ servers: { a: { command: 'run', timeout: 5 } } }));
    await here.configuration.load();
    expect(here.warnings).toEqual([expect.stringMatching(/server "a".*`timeout`/)]);
  });

  it.each([
    ['broken', '{"servers": {"a": {"command": "run"},,}}'],
    ['empty', ''],
    ['a list', '[]'],
  ])('a file that is %s runs nothing, forgets nobody, and says where it is broken', async (_what, text) => {
    const here = given(text);
    await here.configuration.load();
    expect(here.handed).toEqual([]);
    expect(namesOf(here)).toEqual([]);
    expect(here.configuration.problem).toMatchObject({ message: expect.any(String) });
    expect(here.warnings).toEqual([expect.stringContaining(here.file)]);
    expect(here.facts()).toMatchObject([{ type: 'ConfigRejected' }]);
    // Once it says something, that counts, be it that there is no server.
    here.configuration.watch();
    here.save('{"servers": {}}');
    await until(() => here.handed.length > 0);
    expect(here.handed).toEqual([[]]);
    expect(here.configuration.problem).toBeNull();
  });

  it('a file that cannot be read at all is named', async () => {
    const here = given();
    mkdirSync(here.file);
    await here.configuration.load();
    expect(here.configuration.problem?.message).toContain(here.file);
    expect(here.handed).toEqual([]);
  });
});

describe('Watching', () => {
  async function watched(text = textOf('a', 'b')): Promise<Given> {
    const here = given(text);
    await here.configuration.load();
    here.configuration.watch();
    return here;
  }

  it('takes a save and writes down what differs', async () => {
    const here = await watched();
    here.save(JSON.stringify({ servers: { b: entry('other'), c: entry('run-c') } }));
    await until(() => here.handed.length === 2);
    expect(here.handed).toEqual([
      ['a', 'b'],
      ['b', 'c'],
    ]);
    expect(here.facts()).toEqual([
      { type: 'ConfigChanged', data: { added: ['c'], changed: ['b'], removed: ['a'], warnings: [] } },
    ]);
  });

  it('does not mind comments, spaces and order', async () => {
    const here = await watched();
    here.save(`// new\n${textOf('b', 'a')}\n\n`);
    here.save(`// newer\n${textOf('b', 'a')}\n`);
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(here.handed).toHaveLength(1);
    expect(here.facts()).toEqual([]);
  });

  it('keeps the running set when the file breaks, says so once, and takes the mended file', async () => {
    const here = await watched();
    here.save('{"servers": {\n  "a": {"command": \n');
    await until(() => here.configuration.problem !== null);
    expect(namesOf(here)).toEqual(['a', 'b']);
    expect(here.handed).toHaveLength(1);
    expect(here.configuration.problem).toMatchObject({ line: expect.any(Number), column: expect.any(Number) });
    here.save(textOf('a', 'b', 'c'));
    await until(() => here.configuration.problem === null);
    await until(() => here.handed.length === 2);
    expect(here.facts().map(({ type }) => type)).toEqual(['ConfigRejected', 'ConfigChanged']);
  });

  it('keeps the running set when the file goes, and takes it when it is back', async () => {
    const here = await watched();
    rmSync(here.file);
    await until(() => here.configuration.problem !== null);
    expect(namesOf(here)).toEqual(['a', 'b']);
    expect(here.configuration.problem?.message).toContain(here.file);
    here.save(textOf('a'));
    await until(() => here.handed.length === 2);
    expect(namesOf(here)).toEqual(['a']);
    expect(here.configuration.problem).toBeNull();
  });

  it('ends with unwatch', async () => {
    const here = await watched();
    here.configuration.unwatch();
    here.save(textOf('c'));
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(namesOf(here)).toEqual(['a', 'b']);
  });
});

describe('Editing', () => {
  async function loaded(text?: string, onLoaded?: (config: LoadedConfig) => Promise<void>): Promise<Given> {
    const here = given(text, onLoaded);
    await here.configuration.load();
    return here;
  }

  it('answers once the entry is saved and handed over', async () => {
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const here = await loaded(undefined, () => held);
    let answered = false;
    const set = here.configuration.set('a', entry('run')).then(() => {
      answered = true;
    });
    await until(() => namesOf(here).length === 1);
    expect(JSON.parse(here.read())).toEqual({ servers: { a: entry('run') } });
    expect(answered).toBe(false);
    release();
    await set;
    expect(here.handed).toEqual([['a']]);
    expect(here.facts()).toMatchObject([{ type: 'ConfigChanged', data: { added: ['a'] } }]);
  });

  it('keeps comments, other keys and other entries of the file', async () => {
    const here = await loaded('{\n  // mine\n  "other": 1,\n  "mcpServers": { "a": { "command": "x" /* y */ } }\n}\n');
    await here.configuration.set('b', entry('run'));
    expect(here.read()).toContain('// mine');
    expect(here.read()).toContain('"other": 1');
    expect(here.read()).toContain('"a": { "command": "x" /* y */ }');
    expect(namesOf(here)).toEqual(['a', 'b']);
  });

  it('replaces an entry whole', async () => {
    const here = await loaded(JSON.stringify({ servers: { a: { command: 'x', lazy: true } } }));
    await here.configuration.set('a', entry('y'));
    expect(here.configuration.raw.get('a')).toEqual({ command: 'y' });
    expect(here.facts()).toMatchObject([{ data: { added: [], changed: ['a'], removed: [] } }]);
  });

  it('of nothing is no news', async () => {
    const here = await loaded(textOf('a'));
    await here.configuration.set('a', entry('run-a'));
    expect(here.facts()).toEqual([]);
    expect(here.handed).toHaveLength(1);
  });

  it('takes *** for the stored value', async () => {
    const stored = { command: 'x', args: ['--api-key', 'k1', 'plain'], env: { TOKEN: 'secret', OTHER: 'o' } };
    const here = await loaded(JSON.stringify({ servers: { a: stored } }));
    await here.configuration.set('a', {
      command: 'y',
      args: ['--api-key', '***', 'plain'],
      env: { TOKEN: '***', OTHER: 'new' },
    });
    expect(here.configuration.raw.get('a')).toEqual({
      command: 'y',
      args: ['--api-key', 'k1', 'plain'],
      env: { TOKEN: 'secret', OTHER: 'new' },
    });
  });

  it.each([
    ['*** where nothing is stored', 'a', { command: 'x', env: { NEW: '***' } }, 'env.NEW'],
    ['an entry that cannot be used', 'a', { command: 'x', url: 'http://y' }, 'url'],
    ['a name that may not be', 'a__b', { command: 'x' }, 'name'],
  ])('refuses %s and changes nothing', async (_what, name, posted, field) => {
    const here = await loaded(textOf('a'));
    const before = here.read();
    await expect(here.configuration.set(name, posted)).rejects.toMatchObject({ type: 'entry-invalid' });
    await expect(here.configuration.set(name, posted)).rejects.toMatchObject({ members: { field } });
    expect(here.read()).toBe(before);
    expect(here.facts()).toEqual([]);
  });

  it('removes an entry', async () => {
    const here = await loaded(textOf('a', 'b'));
    await here.configuration.remove('a');
    expect(namesOf(here)).toEqual(['b']);
    expect(Object.keys(JSON.parse(here.read()).servers)).toEqual(['b']);
    expect(here.handed.at(-1)).toEqual(['b']);
    await expect(here.configuration.remove('a')).rejects.toMatchObject({ type: 'unknown-server' });
  });

  it('disables and enables in the file, and no other key changes', async () => {
    const here = await loaded(textOf('a'));
    await here.configuration.setDisabled('a', true);
    expect(here.configuration.raw.get('a')).toEqual({ command: 'run-a', disabled: true });
    await here.configuration.setDisabled('a', false);
    expect(here.configuration.config.entries[0]?.entry?.disabled).toBe(false);
    expect(here.handed).toHaveLength(3);
    await expect(here.configuration.setDisabled('b', true)).rejects.toMatchObject({ type: 'unknown-server' });
  });

  it('is refused while the file is broken, and leaves it as it is', async () => {
    const here = await loaded('{"servers": {,}}');
    await expect(here.configuration.set('a', entry('x'))).rejects.toMatchObject({ type: 'config-invalid' });
    expect(here.read()).toBe('{"servers": {,}}');
    expect(here.handed).toEqual([]);
  });

  it('does not forget a server because another edit came between', async () => {
    const here = await loaded(textOf('a'));
    here.configuration.watch();
    await Promise.all([here.configuration.set('b', entry('x')), here.configuration.setDisabled('a', true)]);
    await here.configuration.remove('b');
    expect(here.configuration.raw.get('a')).toMatchObject({ disabled: true });
    expect(namesOf(here)).toEqual(['a']);
  });

  it('thirty times at once, with the file watched, ends with thirty entries, each added once', async () => {
    const here = await loaded();
    here.configuration.watch();
    const names = Array.from({ length: 30 }, (_, index) => `s${String(index).padStart(2, '0')}`);
    await Promise.all(names.map((name) => here.configuration.set(name, entry(name))));
    expect(namesOf(here)).toEqual(names);
    expect(Object.keys(JSON.parse(here.read()).servers).sort()).toEqual(names);
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(namesOf(here)).toEqual(names);
    const changes = here.facts().map(({ data }) => data as { added: string[]; changed: string[]; removed: string[] });
    expect(changes.flatMap(({ added }) => added).sort()).toEqual(names);
    expect(changes.flatMap(({ changed, removed }) => [...changed, ...removed])).toEqual([]);
  });

  it('does not lose what was saved by hand meanwhile', async () => {
    const here = await loaded(textOf('a'));
    here.configuration.watch();
    here.save(textOf('a', 'hand'));
    await here.configuration.set('b', entry('x'));
    expect(Object.keys(JSON.parse(here.read()).servers).sort()).toEqual(['a', 'b', 'hand']);
    expect(namesOf(here)).toEqual(['a', 'b', 'hand']);
  });
});

describe('Judging an entry', () => {
  it('gives it as it would be loaded, or says what is wrong', () => {
    expect(judged('a', entry('x'))).toMatchObject({ name: 'a', transport: 'stdio' });
    expect(() => judged('a', {})).toThrow(/command/);
  });
});
