import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Daemon, makeHome, startDaemon, startIn } from '../support/daemon.ts';
import { type Steered, stdioEntry, steered } from '../support/fixtures.ts';
import { isAlive, untilGone } from '../support/processes.ts';
import { until } from '../support/wait.ts';
import { factsOf, textOf, warningsOf } from './asking.ts';

/** Longer than any time a change is given to settle or to come back. */
const QUIET_MS = 2_500;

const textOfServers = (servers: Record<string, unknown>) => `${JSON.stringify({ mcpServers: servers }, null, 2)}\n`;

/** An editor's save: a new file, put in the place of the old one. */
function saveByRename(file: string, text: string): void {
  writeFileSync(`${file}.tmp~`, text);
  renameSync(`${file}.tmp~`, file);
}

async function changes(daemon: Daemon): Promise<any[]> {
  return (await daemon.events({ stream: 'config' })).map(({ type, data }) => ({ type, ...data }));
}

/** What a change of the file says: `ConfigChanged` with these names and no others. */
const changed = (names: { added?: string[]; changed?: string[]; removed?: string[] }) => ({
  type: 'ConfigChanged',
  added: [],
  changed: [],
  removed: [],
  warnings: [],
  ...names,
});

const untilChanges = (daemon: Daemon, count: number) =>
  until(async () => (await changes(daemon)).length >= count, { limitMs: 15_000, what: `${count} changes of the file` });

describe.concurrent('A configuration file saved by an editor', { timeout: 60_000 }, () => {
  it('is seen once for each save by renaming, and only the entry that changed is started anew', async () => {
    const fakes = [steered(), steered()] as [Steered, Steered];
    const servers = (n: number) => ({
      one: stdioEntry(fakes[0].options, { env: { N: String(n) } }),
      two: stdioEntry(fakes[1].options),
    });
    const daemon = await startDaemon({ servers: servers(0) });
    for (const name of ['one', 'two']) await daemon.waitForServer(name, 'ready');
    for (let n = 1; n <= 3; n += 1) {
      const { pid } = await daemon.server('one');
      saveByRename(daemon.config, textOfServers(servers(n)));
      await untilChanges(daemon, n);
      await daemon.waitForServer('one', (row) => row.state === 'ready' && row.pid !== pid);
      expect(isAlive(pid)).toBe(false);
      const { env } = JSON.parse(textOf(await daemon.call('mcp__one__whoami')));
      expect(env.N).toBe(String(n));
    }
    expect(await changes(daemon)).toEqual(Array(3).fill(changed({ changed: ['one'] })));
    expect(fakes[0].counted('spawn')).toBe(4);
    expect(fakes[1].counted('spawn')).toBe(1);
    await daemon.stop();
  });

  it('in two halves is never taken half', async () => {
    const fake = steered();
    const before = { one: stdioEntry(fake.options) };
    const daemon = await startDaemon({ servers: before });
    await daemon.waitForServer('one', 'ready');
    const text = textOfServers({ ...before, two: stdioEntry(), three: stdioEntry() });
    writeFileSync(daemon.config, text.slice(0, text.length / 2));
    await pause(300);
    expect(await changes(daemon)).toEqual([]);
    writeFileSync(daemon.config, text);
    await daemon.waitForServer('three', 'ready');
    expect(await changes(daemon)).toEqual([changed({ added: ['three', 'two'] })]);
    expect(fake.counted('spawn')).toBe(1);
    await daemon.stop();
  });

  it('left broken keeps what runs and says where, until it is mended', async () => {
    const fake = steered();
    const servers = { one: stdioEntry(fake.options) };
    const daemon = await startDaemon({ servers });
    await daemon.waitForServer('one', 'ready');
    writeFileSync(daemon.config, '{\n  "mcpServers": {\n    "one": { "command": \n');
    await untilChanges(daemon, 1);
    const [rejected] = await changes(daemon);
    expect(rejected.type).toBe('ConfigRejected');
    expect(rejected.line).toBeGreaterThan(2);
    expect((await daemon.api('GET', '/v1/mcp')).body.problem).toMatchObject({
      line: rejected.line,
      column: rejected.column,
    });
    expect((await daemon.server('one')).state).toBe('ready');
    expect(warningsOf(daemon).some(({ msg }) => msg.includes('mcp.json'))).toBe(true);

    writeFileSync(daemon.config, textOfServers({ ...servers, two: stdioEntry() }));
    await daemon.waitForServer('two', 'ready');
    expect((await daemon.api('GET', '/v1/mcp')).body).not.toHaveProperty('problem');
    expect(fake.counted('spawn')).toBe(1);
    await daemon.stop();
  });

  it('by deleting it and writing it again changes nothing but what differs', async () => {
    const fake = steered();
    const servers = { one: stdioEntry(fake.options) };
    const daemon = await startDaemon({ servers });
    await daemon.waitForServer('one', 'ready');
    unlinkSync(daemon.config);
    await pause(250);
    writeFileSync(daemon.config, textOfServers(servers));
    await pause(QUIET_MS);
    expect(await changes(daemon)).toEqual([]);

    unlinkSync(daemon.config);
    await pause(250);
    writeFileSync(daemon.config, textOfServers({ ...servers, two: stdioEntry() }));
    await daemon.waitForServer('two', 'ready');
    expect(await changes(daemon)).toEqual([changed({ added: ['two'] })]);
    expect(fake.counted('spawn')).toBe(1);

    // Gone for good is no order to stop everything.
    rmSync(daemon.config);
    await untilChanges(daemon, 2);
    expect((await changes(daemon)).at(-1)).toMatchObject({ type: 'ConfigRejected' });
    expect((await daemon.status()).map(({ state }) => state)).toEqual(['ready', 'ready']);
    await daemon.stop();
  });

  it('with one of ten entries changed leaves a call on another one alone', async () => {
    const fakes = Array.from({ length: 10 }, () => steered());
    const servers = Object.fromEntries(fakes.map((fake, n) => [`s${n}`, stdioEntry(fake.options)]));
    const daemon = await startDaemon({ servers });
    for (const name of Object.keys(servers)) await daemon.waitForServer(name, 'ready');
    const { pid } = await daemon.server('s3');
    const sleeping = daemon.call('mcp__s7__sleep', { ms: 1_500 });
    saveByRename(
      daemon.config,
      textOfServers({ ...servers, s3: stdioEntry(fakes[3]?.options, { env: { NEW: '1' } }) }),
    );
    await daemon.waitForServer('s3', (row) => row.state === 'ready' && row.pid !== pid);
    expect(textOf(await sleeping)).toBe('slept 1500 ms');
    await untilGone(pid);
    expect(fakes.map((fake) => fake.counted('spawn'))).toEqual([1, 1, 1, 2, 1, 1, 1, 1, 1, 1]);
    expect(await changes(daemon)).toEqual([changed({ changed: ['s3'] })]);
    await daemon.stop();
  });

  it('with other spaces, another order of keys and new comments starts nothing anew', async () => {
    const fake = steered();
    const entry = stdioEntry(fake.options, { env: { A: '1', B: '2' } });
    const daemon = await startDaemon({ servers: { one: entry } });
    const { since } = await daemon.waitForServer('one', 'ready');
    const { command, args } = entry;
    writeFileSync(
      daemon.config,
      `\uFEFF// a comment\r\n{ "mcpServers": {"one":{"env":{"B":"2","A":"1"},\r\n"args":${JSON.stringify(args)},/* here */"command":${JSON.stringify(command)},},},}`,
    );
    await pause(QUIET_MS);
    expect(await changes(daemon)).toEqual([]);
    expect(await daemon.server('one')).toMatchObject({ state: 'ready', since });
    expect(fake.counted('spawn')).toBe(1);
    expect(readFileSync(daemon.config, 'utf8')).toContain('// a comment');
    await daemon.stop();
  });

  it('behind a link is seen when the target is replaced, and when the link points elsewhere', async () => {
    const home = makeHome();
    const folder = join(home.home, 'dotfiles');
    const target = join(folder, 'servers.json');
    const other = join(folder, 'others.json');
    mkdirSync(folder);
    writeFileSync(target, textOfServers({ one: stdioEntry() }));
    writeFileSync(other, textOfServers({ four: stdioEntry() }));
    rmSync(home.config);
    symlinkSync(target, home.config);
    const daemon = await startIn(home);
    await daemon.waitForServer('one', 'ready');
    saveByRename(target, textOfServers({ one: stdioEntry(), two: stdioEntry() }));
    await daemon.waitForServer('two', 'ready');
    saveByRename(target, textOfServers({ one: stdioEntry(), three: stdioEntry() }));
    await daemon.waitForServer('three', 'ready');
    symlinkSync(other, `${home.config}.next`);
    renameSync(`${home.config}.next`, home.config);
    await daemon.waitForServer('four', 'ready');
    expect(await changes(daemon)).toEqual([
      changed({ added: ['two'] }),
      changed({ added: ['three'], removed: ['two'] }),
      changed({ added: ['four'], removed: ['one', 'three'] }),
    ]);
    expect((await daemon.status()).map(({ name }) => name)).toEqual(['four']);
    await daemon.stop();
  });

  it('without an entry and with it again at once starts nothing twice at the same time', async () => {
    const fake = steered();
    const servers = { one: stdioEntry(fake.options), two: stdioEntry() };
    const { one: _one, ...rest } = servers;
    const daemon = await startDaemon({ servers });
    await daemon.waitForServer('one', 'ready');

    // So quickly that it is one save.
    saveByRename(daemon.config, textOfServers(rest));
    saveByRename(daemon.config, textOfServers(servers));
    await pause(QUIET_MS);
    expect(await changes(daemon)).toEqual([]);
    expect(fake.counted('spawn')).toBe(1);

    // Slowly enough to be two, but not for the old process, which takes its time to leave.
    fake.set({ stubborn: 'eof' });
    const { pid } = await daemon.server('one');
    await daemon.api('POST', '/v1/mcp/reconnect', { name: 'one' });
    const stubborn = (await daemon.server('one')).pid;
    expect(stubborn).not.toBe(pid);
    saveByRename(daemon.config, textOfServers(rest));
    await untilChanges(daemon, 1);
    saveByRename(daemon.config, textOfServers(servers));
    await untilChanges(daemon, 2);
    const anew = await daemon.waitForServer('one', (row) => row.state === 'ready' && row.pid !== stubborn);
    expect(isAlive(stubborn)).toBe(false);
    expect(anew.pid).toBe(fake.pid());
    expect(await changes(daemon)).toEqual([changed({ removed: ['one'] }), changed({ added: ['one'] })]);
    const stopped = (await factsOf(daemon, 'one', 'ServerStopped')).at(-1);
    const started = (await factsOf(daemon, 'one', 'ProcessStarted')).at(-1);
    expect(stopped.position).toBeLessThan(started.position);
    await daemon.kill();
  });

  it('with entries that are wrong shows each of them as failed and runs all others', async () => {
    const daemon = await startDaemon({ servers: { good: stdioEntry() } });
    await daemon.waitForServer('good', 'ready');
    saveByRename(
      daemon.config,
      textOfServers({
        good: stdioEntry(),
        both: { command: 'x', url: 'http://127.0.0.1:9' },
        neither: {},
        'args-text': { command: 'x', args: '-y' },
        negative: { command: 'x', connectTimeoutMs: -1 },
        typo: stdioEntry({}, { enviroment: { A: '1' } }),
        'bad name': stdioEntry(),
        unset: stdioEntry({}, { env: { TOKEN: '$NO_SUCH_VARIABLE' } }),
      }),
    );
    await daemon.waitForServer('typo', 'ready');
    await daemon.waitForServer('unset', 'failed');
    const rows = await daemon.status();
    const failed = rows.filter(({ state }) => state === 'failed');
    expect(failed.map(({ name, error }) => [name, error.class])).toEqual(
      ['args-text', 'bad name', 'both', 'negative', 'neither', 'unset'].map((name) => [name, 'config']),
    );
    const { error } = rows.find(({ name }) => name === 'unset');
    expect(error.message).toContain('NO_SUCH_VARIABLE');
    expect(error.message).toContain('TOKEN');
    expect((await daemon.server('good')).state).toBe('ready');
    expect((await changes(daemon)).at(-1).warnings.join('\n')).toContain('enviroment');
    await daemon.stop();
  });
});
