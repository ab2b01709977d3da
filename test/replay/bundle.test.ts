import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { packTar } from 'modern-tar';
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/events/catalogue.ts';
import type { SqliteLog } from '../../src/events/sqlite.ts';
import { readCatalog } from '../../src/projections/catalog.projection.ts';
import { bundleFiles } from '../../src/replay/bundle.contents.ts';
import { BundleError } from '../../src/replay/bundle.format.ts';
import { bundleOf } from '../../src/replay/bundle.make.ts';
import { packBundle } from '../../src/replay/bundle.pack.ts';
import { scrubber } from '../../src/replay/bundle.scrub.ts';
import { factsOfBundle, readBundle } from '../../src/replay/bundle.ts';
import { connectFailed, reconnecting } from '../support/server.facts.ts';
import { grantAdded, grantBound, grantSuspended, storyOn } from '../support/story.ts';
import { tempDir } from '../support/temp.ts';
import { afternoon, broken, clock, midnight } from '../support/why.story.ts';

const someone = { secrets: ['hunter-two-secret'], homes: ['/home/you', '/srv/people/you'], users: ['you'] };

const make = (log: SqliteLog, window: { from?: string; to?: string; server?: string; entry?: unknown } = {}) =>
  bundleOf(
    {
      log,
      lists: readCatalog(log.db, 'one'),
      nameOf: (server, tool) => `mcp__${server}__${tool}`,
      entry: window.entry,
      versions: { watchkeeper: '0.1.0', node: 'v20.0.0', os: 'linux' },
      scrub: scrubber(someone),
      dayStart: () => midnight,
    },
    {
      server: window.server ?? 'one',
      from: window.from === undefined ? undefined : clock(window.from),
      to: window.to === undefined ? undefined : clock(window.to),
      now: clock('16:00'),
    },
  ) ?? expect.fail('the log knows nothing of it');

const textOf = ({ files }: ReturnType<typeof make>, name: keyof typeof bundleFiles): string =>
  files.find((file) => file.name === name)?.text ?? expect.fail(`no ${name}`);

const packed = async (log: SqliteLog, window = {}): Promise<Buffer> => {
  const { manifest, files } = make(log, window);
  return (await packBundle(manifest, files)).bytes;
};

describe('A bundle', () => {
  it('opens with tar, in one folder that only its owner can read', async () => {
    const { log } = await afternoon();
    const { manifest, files } = make(log);
    const { fileName, bytes } = await packBundle(manifest, files);
    expect(fileName).toBe('watchkeeper-one-20260315T160000Z.tar.gz');
    const dir = tempDir();
    writeFileSync(join(dir, fileName), bytes);
    execFileSync('tar', ['xzf', fileName], { cwd: dir });
    const folder = join(dir, 'watchkeeper-one-20260315T160000Z');
    expect(readdirSync(folder).sort()).toEqual(Object.keys(bundleFiles).sort());
    for (const { name, text } of files) expect(readFileSync(join(folder, name), 'utf8')).toBe(text);
    expect(statSync(join(folder, 'facts.ndjson')).mode & 0o777).toBe(0o600);
    expect(execFileSync('tar', ['tzvf', fileName], { cwd: dir, encoding: 'utf8' })).not.toContain('you');
  });

  it('gives the facts back as they are in the log, with the head before the first of them', async () => {
    const { log } = await afternoon();
    const { manifest, facts } = await readBundle(await packed(log));
    expect(facts).toEqual(log.read({}));
    expect(manifest).toMatchObject({ server: 'one', facts: facts.length, truncated: false });
    expect(manifest.start).toMatchObject({ state: 'stopped', version: 0 });
    expect(manifest.versions).toMatchObject({
      watchkeeper: '0.1.0',
      protocol: '2025-11-25',
      serverInfo: { name: 'one' },
    });
  });

  it('of a window holds what happened in it, and says how it stood before', async () => {
    const { log } = await afternoon();
    const { facts, manifest } = await readBundle(await packed(log, { from: '12:30', to: '12:31:30' }));
    const inside = log.read({}).filter(({ at }) => at >= clock('12:30') && at <= clock('12:31:30'));
    expect(facts).toEqual(inside);
    expect(manifest.start).toMatchObject({ state: 'ready', context: { connection: 1, signature: 's1' } });
    const bundle = make(log, { from: '12:30', to: '12:31:30' });
    expect(textOf(bundle, 'why.txt')).toMatch(/^one: ready since .*\nReady for 27 s with 2 tools/);
    expect(textOf(bundle, 'stderr.txt')).toContain('out of memory');
    expect(textOf(bundle, 'stderr.txt').match(/^--- /gm)).toHaveLength(4);
    expect(textOf(bundle, 'catalog.txt')).toMatch(/added {2}mcp__one__put/);
    expect(textOf(bundle, 'timeline.txt').trim().split('\n')).toHaveLength(inside.length);
    expect(textOf(bundle, 'timeline.txt')).toMatch(/SessionLost -> session-lost {2}The connection was lost/);
  });

  it('of a quiet window says how it was all the same', async () => {
    const { log } = await afternoon();
    const bundle = make(log, { from: '10:00', to: '11:00' });
    expect(bundle.manifest).toMatchObject({ facts: 0, start: null });
    expect(textOf(bundle, 'why.txt')).toContain('Ready for 1 h 59 m');
    expect((await readBundle((await packBundle(bundle.manifest, bundle.files)).bytes)).facts).toEqual([]);
  });

  it('tells the entry with masked values and every revision of it', async () => {
    const { log } = await afternoon();
    const config = JSON.parse(
      textOf(make(log, { entry: { command: '/home/you/bin/one', env: { KEY: '***' } } }), 'config.json'),
    );
    expect(config.entry).toEqual({ command: '<home>/bin/one', env: { KEY: '***' } });
    expect(config.revisions.map(({ revision }: { revision: string }) => revision)).toEqual(['r1', 'r2']);
  });

  it('shows a changed definition word by word, and the grant it suspended', async () => {
    const { log, story } = await afternoon();
    const listed = (signature: string, description: string): Fact => ({
      type: 'ToolsListed',
      data: { connection: 9, signature, count: 1, tools: [{ name: 'get', description }], tookMs: 1 },
    });
    const one = 'server-one';
    await story.tell(clock('15:20'), one, { type: 'BackoffElapsed', data: {} }, reconnecting(9, 2) as Fact);
    const agreed = log.read({ stream: one, type: 'Connected', limit: 1 })[0]?.data;
    await story.tell(
      clock('15:21'),
      one,
      { type: 'Connected', data: { ...agreed, connection: 9 } } as Fact,
      listed('s3', 'Reads a file.'),
    );
    await story.tell(clock('15:22'), 'allowlist', grantAdded('mcp__one__get'), grantBound('mcp__one__get', 'i1', 'd1'));
    await story.tell(clock('15:23'), one, listed('s4', 'Reads or deletes a file.'));
    await story.tell(clock('15:23'), 'allowlist', grantSuspended('mcp__one__get', ['i1', 'd1'], ['i1', 'd2']));
    expect(textOf(make(log), 'catalog.txt')).toMatch(
      /changed {2}mcp__one__get \(granted by mcp__one__get; this change suspended the grant\)\n {4}description: Reads \{\+or deletes \+\}a file\.\n/,
    );
  });

  it('names no other server', async () => {
    const { log, story } = await afternoon();
    const data = { added: ['private-thing'], changed: ['one'], removed: [], warnings: ['server "private-thing": odd'] };
    await story.tell(clock('15:30'), 'config', { type: 'ConfigChanged', data });
    await story.tell(
      clock('15:30'),
      'server-private-thing',
      ...(log.read({ stream: 'server-one', limit: 3 }) as unknown as Fact[]),
    );
    const dead = log.read({ stream: 'server-one', type: 'SessionLost' }) as unknown as Fact[];
    const alive = log.read({ stream: 'server-one', upTo: 7 }) as unknown as Fact[];
    await story.tell(clock('15:31'), 'server-private-thing', ...alive.slice(3), ...dead.slice(0, 1));
    await story.tell(clock('15:31'), 'server-one', { type: 'BackoffElapsed', data: {} }, reconnecting(9, 2) as Fact);
    await story.tell(clock('15:31'), 'server-one', connectFailed(9, 2, 5, broken) as Fact);
    const bundle = make(log);
    for (const { text } of bundle.files) expect(text).not.toContain('private-thing');
  });

  it('holds no secret, no home folder and no name of a person, wherever they stood', async () => {
    const { log } = await afternoon();
    const dirty = {
      ...broken,
      message: 'initialize: /srv/people/you/one.js failed for you: hunter-two-secret',
      stderrTail: 'at /home/me/x.js\nAuthorization: Bearer abcdefghijkl\nyou@host C:\\Users\\name\\x your youth\n',
    };
    const story = storyOn(log);
    await story.tell(clock('15:40'), 'server-one', { type: 'BackoffElapsed', data: {} }, reconnecting(9, 2) as Fact);
    await story.tell(clock('15:41'), 'server-one', connectFailed(9, 2, 5, dirty) as Fact);
    const { manifest, files } = make(log);
    for (const { text } of files) {
      expect(text).not.toMatch(/hunter|abcdefghijkl|\/home\/|people|\\Users|\byou@/);
      expect(text.replaceAll('before you send', '')).not.toMatch(/\byou\b/);
    }
    expect(files.find(({ name }) => name === 'stderr.txt')?.text).toContain(
      'at <home>/x.js\nAuthorization: Bearer ***\n<user>@host <home>\\x your youth',
    );
    expect((await readBundle((await packBundle(manifest, files)).bytes)).facts.at(-1)?.data).toMatchObject({
      failure: { class: 'exit', phase: 'initialize', message: 'initialize: <home>/one.js failed for <user>: ***' },
    });
  });

  it('knows nothing of a server that the log does not know', async () => {
    const { log } = await afternoon();
    const about = {
      log,
      lists: [],
      nameOf: () => '',
      entry: undefined,
      scrub: (text: string) => text,
      dayStart: () => 0,
    };
    const versions = { watchkeeper: '', node: '', os: '' };
    expect(
      bundleOf({ ...about, versions }, { server: 'two', from: undefined, to: undefined, now: clock('16:00') }),
    ).toBeNull();
  });
});

describe('What is no bundle is refused in words:', () => {
  const archive = async (files: Record<string, string>, more: Record<string, unknown> = {}): Promise<Buffer> => {
    const entries = Object.entries(files).map(([name, text]) => ({
      header: { name, size: Buffer.byteLength(text), type: 'file' as const, ...more },
      body: text,
    }));
    return gzipSync(await packTar(entries as never));
  };
  const folder = 'watchkeeper-one-20260315T160000Z';

  /** A good bundle with some of its files replaced. */
  const changed = async (edit: (files: Record<string, string>) => Record<string, string>): Promise<Buffer> => {
    const { log } = await afternoon();
    const files = Object.fromEntries(make(log).files.map(({ name, text }) => [`${folder}/${name}`, text]));
    return archive(edit(files));
  };
  const facts = `${folder}/facts.ndjson`;
  const about = `${folder}/bundle.json`;
  const line = (files: Record<string, string>, edit: (lines: string[]) => string[]) => ({
    ...files,
    [facts]: edit((files[facts] ?? '').split('\n')).join('\n'),
  });

  it.each<[string, () => Promise<Uint8Array>, RegExp]>([
    ['nothing at all', async () => new Uint8Array(), /cannot be unpacked with gzip/],
    ['text', async () => Buffer.from('hello'), /cannot be unpacked with gzip/],
    ['another gzip file', async () => gzipSync('hello'), /no whole tar archive/],
    ['half of a bundle', async () => (await changed((files) => files)).subarray(0, 900), /cannot be unpacked/],
    [
      'a tar archive cut in the middle',
      async () => gzipSync(gunzipSync(await changed((files) => files)).subarray(0, 3_000)),
      /no whole tar archive/,
    ],
    ['a foreign archive', () => archive({ 'package/index.js': 'x' }), /a file that no bundle has/],
    ['a file outside the folder', () => archive({ '../facts.ndjson': 'x' }), /a file that no bundle has/],
    [
      'a path with more in it',
      () => archive({ [`${folder}/../../etc/bundle.json`]: 'x' }),
      /a file that no bundle has/,
    ],
    [
      'a link',
      () => archive({ [`${folder}/bundle.json`]: '' }, { type: 'symlink', linkname: '/etc/passwd' }),
      /something else than files/,
    ],
    ['two bundles', () => archive({ [about]: '{}', 'watchkeeper-two/bundle.json': '{}' }), /more than one bundle/],
    ['no manifest', () => archive({ [facts]: '' }), /bundle\.json is missing/],
    ['another manifest', () => archive({ [about]: '{"format": "other"}' }), /bundle\.json does not say so/],
    [
      'a newer format',
      () => archive({ [about]: '{"format": "watchkeeper-bundle", "version": 2}' }),
      /newer version .*\(format 2\)/,
    ],
    [
      'a line that is no JSON',
      () => changed((files) => line(files, ([, ...rest]) => ['{', ...rest])),
      /line 1 of facts\.ndjson is missing or no JSON/,
    ],
    [
      'a line that is no fact',
      () => changed((files) => line(files, ([, ...rest]) => ['{"a": 1}', ...rest])),
      /line 1 of facts\.ndjson is no fact/,
    ],
    [
      'a fact of another shape',
      () =>
        changed((files) => line(files, ([first = '', ...rest]) => [first.replace('"pid":1', '"pid":"x"'), ...rest])),
      /line 1 .* not what a DaemonStarted is/,
    ],
    [
      'a fact nobody knows',
      () =>
        changed((files) =>
          line(files, ([first = '', ...rest]) => [first.replace('DaemonStarted', 'DaemonSlept'), ...rest]),
        ),
      /"DaemonSlept"/,
    ],
    [
      'facts in another order',
      () => changed((files) => line(files, ([first = '', second = '', ...rest]) => [second, first, ...rest])),
      /line 2 .* order of the log/,
    ],
    ['a fact too few', () => changed((files) => line(files, ([, ...rest]) => rest)), /bundle\.json says/],
  ])('%s', async (_what, bytes, message) => {
    const refused = await readBundle(await bytes()).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(BundleError);
    expect((refused as Error).message).toMatch(message);
  });

  it('a small archive of endless zeros, before it fills the memory', async () => {
    const bomb = gzipSync(Buffer.alloc(300 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(1024 * 1024);
    await expect(readBundle(bomb)).rejects.toThrow('Unpacked, it is larger than 256 MiB, which no bundle is.');
  });

  it('an archive that is too large itself', async () => {
    await expect(readBundle(new Uint8Array(65 * 1024 * 1024))).rejects.toThrow('larger than 64 MiB');
  });

  it.each([
    ['that is not there', 'none.tar.gz', /^There is no file/],
    ['that is a folder', 'folder', /no regular file/],
  ])('a file %s', async (_what, name, message) => {
    const dir = tempDir();
    mkdirSync(join(dir, 'folder'));
    await expect(factsOfBundle(join(dir, name))).rejects.toThrow(message);
  });

  it('and reading writes nothing', async () => {
    const { log } = await afternoon();
    const dir = tempDir();
    const file = join(dir, 'one.tar.gz');
    writeFileSync(file, await packed(log));
    expect((await factsOfBundle(file)).length).toBeGreaterThan(30);
    expect(readdirSync(dir)).toEqual(['one.tar.gz']);
  });
});
