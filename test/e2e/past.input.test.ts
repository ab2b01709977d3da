/** Commands about the past with what people type wrongly: with a daemon and on the files alone they say the same. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Daemon, makeHome, plainEnv, runCli, startDaemon } from '../support/daemon.ts';
import { stdioEntry } from '../support/fixtures.ts';
import { cliMain } from '../support/paths.ts';

type Row = readonly [line: string, code: number, said: RegExp];

const rows: readonly Row[] = [
  ['why nobody', 1, /^watchkeeper: There is no server "nobody"\.\n/],
  ['why onne', 1, /Did you mean "one"\?\n {2}watchkeeper why one\n$/],
  ['why one --at soon', 2, /--at soon: not a moment/],
  ['why one --at 99999', 2, /lies in the future/],
  ['why one --at 2100-01-01', 2, /lies in the future/],
  ['why one --at 3d', 1, /The log knows nothing of .*one.* at that time yet/],
  ['status nobody --at 0s', 1, /There is no server "nobody"/],
  ['status --at 99999', 2, /lies in the future/],
  ['status --at 2100-01-01', 2, /lies in the future/],
  ['tools nobody --at 0s', 1, /There is no server "nobody"/],
  ['tools --at 99999', 2, /lies in the future/],
  ['tools --at 2100-01-01', 2, /lies in the future/],
  ['tools nobody --changes', 1, /There is no server "nobody"/],
  ['tools --changes --from 99999', 2, /lies in the future/],
  ['tools --changes --from 5m --to 10m', 2, /is after/],
  ['history nobody', 1, /There is no server "nobody"\.\n {2}watchkeeper status\n$/],
  ['history one --from 2100-01-01', 2, /--from lies in the future\./],
  ['history one --from 5m --to 10m', 2, /--from is after --to/],
  ['history --summary --from 2100-01-01', 2, /--from lies in the future\./],
  ['history nobody --summary', 1, /There is no server "nobody"/],
  ['replay nobody', 1, /There is no server "nobody"/],
  ['replay nobody --verify', 1, /There is no server "nobody"/],
  ['replay one --speed 0', 2, /--speed 0: not a number above 0\./],
  ['replay one --what-if nope=3', 2, /"nope" cannot be changed\. What can: connectTimeoutMs/],
  ['replay one --what-if connectTimeoutMs=-1', 2, /whole number of milliseconds/],
  ['replay --bundle none.tar.gz', 1, /There is no file .*none\.tar\.gz/],
  ['replay --bundle none.tar.gz --verify', 1, /There is no file .*none\.tar\.gz/],
  ['replay --bundle text.tar.gz --verify', 1, /no bundle of watchkeeper, or it is broken/],
  ['replay --bundle cut.tar.gz --what-if connectTimeoutMs=5s', 1, /broken/],
  ['replay --bundle good.tar.gz --verify --speed 2', 2, /--step and --speed are for playing/],
  ['replay --bundle good.tar.gz --fast', 2, /--fast goes with --verify/],
  ['doctor nobody', 1, /There is no server "nobody"/],
  ['bundle nobody', 1, /There is no server "nobody"/],
  ['bundle one no/such/folder/x.tar.gz', 1, /There is no folder /],
  ['fixture serve none.json', 1, /There is no file .*none\.json/],
  ['fixture serve text.tar.gz', 1, /cannot be served: /],
];

let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon({ servers: { one: stdioEntry() } });
  await daemon.waitForServer('one', 'ready');
  const good = join(daemon.home, 'good.tar.gz');
  expect((await runCli(daemon, ['bundle', 'one', good])).code).toBe(0);
  const bytes = readFileSync(good);
  writeFileSync(join(daemon.home, 'cut.tar.gz'), bytes.subarray(0, bytes.length / 2));
  writeFileSync(join(daemon.home, 'text.tar.gz'), 'no archive at all');
  const tar = Buffer.from(gunzipSync(bytes));
  const place = tar.indexOf('"to":"listing"');
  tar.write('"to":"stopped"', place);
  writeFileSync(join(daemon.home, 'changed.tar.gz'), gzipSync(tar));
});

const check = async ([line, code, said]: Row): Promise<void> => {
  const answer = await runCli(daemon, line.split(' '));
  expect(answer.stderr).toMatch(said);
  expect(answer).toMatchObject({ code, stdout: '' });
  // Of the HTTP API nobody wants to hear who typed a command.
  expect(answer.stderr).not.toContain('`detail`');
  // Whatever it is, the last line is what to type next.
  expect(answer.stderr.trimEnd().split('\n').at(-1)).toMatch(/^ {2}watchkeeper /);
};

describe('What is typed wrongly about the past', () => {
  it.each(rows)('with a daemon: %s', (...row) => check(row));

  it('a changed row of a bundle is found, with its position', async () => {
    const whole = await runCli(daemon, ['replay', '--bundle', 'good.tar.gz', '--verify']);
    expect(whole).toMatchObject({ code: 0, stdout: expect.stringMatching(/^one: \d+ facts, all explained/) });
    const { code, stdout } = await runCli(daemon, ['replay', '--bundle', 'changed.tar.gz', '--verify']);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^position \d+ {2}server-one \d+ {2}Connected\n {2}recorded {2}stopped\n {2}folded {4}listing\n/,
    );
  });
});

describe('The same without a daemon', () => {
  beforeAll(async () => {
    await daemon.stop();
  });
  it.each(rows)('%s', (...row) => check(row));

  it.each([
    'why one',
    'history one',
    'status --at 0s',
    'tools --at 0s',
    'tools --changes',
    'replay --verify',
    'bundle one',
  ])('%s of an empty file says so', async (line) => {
    const home = makeHome({ servers: { one: stdioEntry() } });
    mkdirSync(home.dir, { recursive: true });
    writeFileSync(join(home.dir, 'watchkeeper.db'), '');
    const { code, stderr } = await runCli(home, line.split(' '));
    expect(code).toBe(1);
    expect(stderr).toMatch(/holds no log: no daemon has written to it yet\.\n {2}watchkeeper up --detach\n$/);
  });
});

describe('Without a daemon and without a log', () => {
  it.each([
    'why nobody',
    'history nobody',
    'history --summary',
    'status --at 0s',
    'tools --at 0s',
    'tools --changes',
    'changes',
    'replay --verify',
    'doctor nobody',
    'bundle nobody',
    'ledger',
    'ledger verify',
  ])('%s says that no daemon runs, whatever else is wrong', async (line) => {
    const home = makeHome({ servers: { one: stdioEntry() } });
    const { code, stdout, stderr } = await runCli(home, line.split(' '));
    expect(stderr).toMatch(/^watchkeeper: No daemon runs for .*\n {2}watchkeeper up --detach\n$/);
    expect([code, stdout]).toEqual([3, '']);
  });
});

describe('A fixture of which a byte was changed', () => {
  it('is refused or served, and never ends in a stack', async () => {
    const own = await startDaemon({ servers: { one: stdioEntry() } });
    await own.waitForServer('one', 'ready');
    await runCli(own, ['record', 'one', 'on']);
    await own.api('POST', '/v1/mcp/reconnect', { name: 'one' });
    const file = join(own.home, 'one.json');
    expect(await runCli(own, ['fixture', 'export', 'one', file])).toMatchObject({ code: 0 });
    const bytes = readFileSync(file);
    const step = Math.max(1, Math.floor(bytes.length / 12));
    for (let at = 3; at < bytes.length; at += step) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 0x40;
      const bad = join(own.home, `bad-${at}.json`);
      writeFileSync(bad, changed);
      const { stderr, code } = await served(own, bad);
      expect([0, 1]).toContain(code);
      expect(stderr).not.toMatch(/\n\s+at .*:\d+:\d+/);
      if (code === 1) expect(stderr).toMatch(/cannot be served: .*\n {2}watchkeeper fixture export/s);
    }
  });
});

/** Serves a file to a client that goes at once. */
async function served(home: { home: string; config: string; dir: string }, file: string) {
  const env = plainEnv(home.home, { WATCHKEEPER_CONFIG: home.config, WATCHKEEPER_DATA: home.dir });
  const child = spawn(process.execPath, [cliMain, 'fixture', 'serve', file, '--clock', 'instant'], { env });
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += String(text);
  });
  child.stdin.on('error', () => {});
  child.stdin.end();
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stderr };
}

describe('The history of a daemon that was killed', () => {
  it('is unobserved after its last sign of life, and not as it was for ever', async () => {
    const own = await startDaemon({ servers: { one: stdioEntry() } });
    await own.waitForServer('one', 'ready');
    await own.kill();
    const { stdout } = await runCli(own, ['history', 'one', '--json']);
    const [before, last] = JSON.parse(stdout).intervals.slice(-2);
    expect(before).toMatchObject({ state: 'ready', to: last.from });
    expect(last).toMatchObject({ state: 'unobserved', to: null, position: null });
  });
});
