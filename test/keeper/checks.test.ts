import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readEntry } from '../../src/config/entry.read.ts';
import { lookupIn } from '../../src/config/expand.ts';
import { resolveEntry } from '../../src/config/resolve.ts';
import { addressLooks, certificateCheck } from '../../src/keeper/checks.address.ts';
import { processLooks, runtimeOf, scriptIndex } from '../../src/keeper/checks.process.ts';
import { checksOf, fine } from '../../src/keeper/checks.ts';
import { daemonChecks } from '../../src/keeper/doctor.daemon.ts';
import { namesCheck } from '../../src/keeper/names.check.ts';
import { Noises } from '../../src/keeper/noise.ts';
import type { Check } from '../../src/replay/verdict.ts';
import { littleHttp } from '../mcp/little-http.ts';
import { atEnd } from '../support/cleanup.ts';
import { needsOpenssl } from '../support/needs.ts';
import { configured } from '../support/server.facts.ts';
import { givenLog, storyOn } from '../support/story.ts';
import { tempDir } from '../support/temp.ts';

const byName = (checks: readonly Check[]): Record<string, Check> =>
  Object.fromEntries(checks.map((check) => [check.name, check]));
const outcomes = (checks: readonly Check[]) => Object.fromEntries(checks.map(({ name, ok }) => [name, ok]));

describe('A check', () => {
  const check = (look: () => Promise<never>, limitMs = 2_000) =>
    checksOf([{ name: 'port', look, next: 'look there' }], limitMs);

  it('that throws has failed, and says why', async () => {
    const look = async () => {
      throw new Error('no such thing');
    };
    expect(await check(look)).toEqual([
      { name: 'port', ok: false, detail: 'could not be looked at: no such thing', next: 'look there' },
    ]);
  });

  it('that never ends is cut off by its own time limit, and the others are not', async () => {
    let aborted = false;
    const found = await checksOf(
      [
        {
          name: 'slow',
          look: (signal) => {
            signal.addEventListener('abort', () => {
              aborted = true;
            });
            return new Promise(() => {});
          },
          next: 'wait',
        },
        { name: 'quick', look: async () => fine('quick', 'done'), next: null },
      ],
      30,
    );
    expect(found).toEqual([
      { name: 'slow', ok: false, detail: 'no answer within 30 ms', next: 'wait' },
      { name: 'quick', ok: true, detail: 'done', next: null },
    ]);
    expect(aborted).toBe(true);
  });

  it('may find that there is nothing to say, or more than one thing', async () => {
    const found = await checksOf([
      { name: 'none', look: async () => null, next: null },
      { name: 'both', look: async () => [fine('one', '1'), fine('two', '2')], next: null },
    ]);
    expect(found.map(({ name }) => name)).toEqual(['one', 'two']);
  });
});

/** The checks of an entry that is a command, with a PATH of its own. */
async function ofCommand(
  raw: Record<string, unknown>,
  env: Record<string, string> = {},
): Promise<Record<string, Check>> {
  const { entry } = readEntry('a', raw);
  if (entry?.transport !== 'stdio') throw new Error('It is no command.');
  const environment = { PATH: process.env.PATH, ...env };
  const resolution = resolveEntry(entry, {
    lookup: lookupIn(environment, {}),
    environment,
    platform: process.platform,
  });
  if (!resolution.ok || resolution.entry.transport !== 'stdio') throw new Error('It cannot be resolved.');
  return byName(await checksOf(processLooks({ written: entry, resolved: resolution.entry, whose: 'the daemon' })));
}

/** A folder with programs: name to text of a script. */
function programs(files: Record<string, string>, mode = 0o755): string {
  const folder = tempDir();
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, name), mode);
  }
  return folder;
}

describe('What a command needs', () => {
  it('is all there', async () => {
    const folder = tempDir();
    writeFileSync(join(folder, 'server.mjs'), '');
    const found = await ofCommand({ command: 'node', args: ['--no-warnings', 'server.mjs'], cwd: folder });
    expect(outcomes(Object.values(found))).toEqual({ command: true, cwd: true, script: true, runtime: true });
    expect(found.runtime?.detail).toContain(`node ${process.versions.node.split('.').slice(0, 2).join('.')}`);
  });

  it('is a program on the PATH of the child: the PATH is named, and near names', async () => {
    const folder = programs({ frobnicate: '', other: '' });
    const { command } = await ofCommand({ command: 'frobnicat' }, { PATH: folder });
    expect(command).toMatchObject({ ok: false });
    expect(command?.detail).toBe(
      `not found: command frobnicat is not on the PATH of the daemon; its PATH is ${folder}`,
    );
    expect(command?.next).toContain('did you mean frobnicate?');
  });

  it('is looked for in the PATH that the entry sets itself, which is not shown', async () => {
    const folder = programs({ frobnicate: '' });
    const path = [folder, '/secret-place'].join(delimiter);
    expect((await ofCommand({ command: 'frobnicate', env: { PATH: path } })).command?.ok).toBe(true);
    const { command } = await ofCommand({ command: 'nothing-of-the-kind', env: { PATH: path } });
    expect(command?.detail).toContain('which the entry sets itself');
    expect(command?.detail).not.toContain('secret-place');
  });

  it('is a file that exists and may be executed, where the command is a path', async () => {
    const folder = programs({ plain: '' }, 0o644);
    expect((await ofCommand({ command: join(folder, 'gone') })).command?.detail).toContain('there is no file');
    expect((await ofCommand({ command: './plain', cwd: folder })).command?.detail).toContain('may not be executed');
    chmodSync(join(folder, 'plain'), 0o755);
    expect((await ofCommand({ command: './plain', cwd: folder })).command?.ok).toBe(true);
  });

  it('is a folder', async () => {
    const folder = programs({ file: '' });
    expect((await ofCommand({ command: 'sh', cwd: join(folder, 'gone') })).cwd?.detail).toContain('does not exist');
    expect((await ofCommand({ command: 'sh', cwd: join(folder, 'file') })).cwd?.detail).toContain('is not a folder');
  });

  it('is the script in its arguments, named as it is written', async () => {
    const { script } = await ofCommand({ command: 'node', args: ['${PLACE}/server.mjs'] }, { PLACE: '/secret-place' });
    expect(script).toMatchObject({ ok: false, detail: 'the file ${PLACE}/server.mjs does not exist' });
  });

  it.each([
    ['node', ['server.js', '--flag'], 0],
    ['node', ['--require', 'x', '--inspect', 'dist/main.mjs'], 3],
    ['/usr/bin/python3', ['-u', 'server.py'], 1],
    ['python', ['-m', 'server'], -1],
    ['node', ['-e', 'code()'], -1],
    ['node', [], -1],
    ['deno', ['run', '--allow-net', 'main.ts'], 2],
    ['bun', ['run', 'dev'], -1],
    ['npx', ['-y', '@scope/server'], -1],
    ['uv', ['run', '/opt/server/main.py'], 1],
    ['mytool', ['relative.js'], -1],
  ])('finds the script of %s %j at %i', (command, args, index) => {
    expect(scriptIndex(command, args)).toBe(index);
  });

  it('is a runtime that is new enough', async () => {
    const old = programs({ node: 'echo v16.20.1', npx: '', python3: 'echo Python 3.8.10', uvx: '', mute: '' });
    const PATH = [old, '/usr/bin', '/bin'].join(delimiter);
    expect((await ofCommand({ command: 'npx' }, { PATH })).runtime?.detail).toContain('node 16.20 is too old');
    expect((await ofCommand({ command: 'python3' }, { PATH })).runtime?.detail).toContain('python3 3.8 is too old');
    expect((await ofCommand({ command: 'uvx' }, { PATH: old })).runtime?.detail).toBe('uv is not on its PATH');
    expect((await ofCommand({ command: 'mute' }, { PATH })).runtime).toBeUndefined();
  });

  it('is a runtime that tells its version, asked without any variable but the PATH', async () => {
    const folder = programs({ node: 'echo "$TOKEN-v20.1.0"', python3: 'exit 3' });
    const PATH = [folder, '/usr/bin', '/bin'].join(delimiter);
    const { runtime } = await ofCommand({ command: 'node', env: { TOKEN: 'hush' } }, { PATH });
    expect(runtime).toMatchObject({ ok: true });
    expect(runtime?.detail).not.toContain('hush');
    expect((await ofCommand({ command: 'python3' }, { PATH })).runtime).toMatchObject({
      ok: false,
      next: 'Start it by hand: python3 --version',
    });
  });

  it.each([
    ['node', 'node'],
    ['npx.cmd', 'node'],
    ['/opt/python3.12', '/opt/python3.12'],
    ['uvx', 'uv'],
    ['docker', undefined],
  ])('of %s is the runtime %s', (command, program) => {
    expect(runtimeOf(command)?.program).toBe(program);
  });
});

/** The checks of an address. */
async function ofAddress(url: string, { connected = false, now = Date.now } = {}): Promise<Record<string, Check>> {
  return byName(await checksOf(addressLooks({ url: new URL(url), connected, now })));
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe('What an address needs', () => {
  it('is a port that is open', async () => {
    const server = createServer();
    const port = await listening(server);
    await new Promise((resolve) => server.close(resolve));
    const found = await ofAddress(`http://127.0.0.1:${port}/mcp`);
    expect(outcomes(Object.values(found))).toEqual({ port: false, http: false });
    expect(found.port?.detail).toBe(`port ${port} of 127.0.0.1 cannot be reached: nothing listens there`);
  });

  it('is a host that is known', async () => {
    const found = await ofAddress('http://no-such-host.invalid/mcp');
    expect(found.host).toMatchObject({ ok: false });
    expect(found.host?.detail).toContain('no-such-host.invalid');
    expect((await ofAddress('http://localhost:9/mcp')).host?.ok).toBe(true);
  });

  it.each([
    [200, true],
    [401, true],
    [405, true],
    [406, true],
    [404, false],
    [302, false],
    [500, false],
    [503, false],
  ])('is an answer: HTTP %i is good: %s', async (status, ok) => {
    const { url } = await littleHttp((_seen, response) => void response.writeHead(status, { location: '/' }).end());
    const { http } = await ofAddress(url);
    expect(http).toMatchObject({ ok, detail: `${url} answers a plain request with HTTP ${status}` });
    expect((await ofAddress(url, { connected: true })).http?.ok).toBe(true);
  });

  it('is asked for without query, credentials and headers of the entry, and once', async () => {
    const { url, seen } = await littleHttp((_seen, response) => void response.writeHead(302, { location: '/x' }).end());
    await ofAddress(url.replace('http://', 'http://me:hush@').concat('?key=hush'));
    expect(seen.map((one) => one.url)).toEqual(['/mcp']);
    expect(JSON.stringify(seen)).not.toContain('hush');
    expect(Object.keys(seen[0]?.headers ?? {}).sort()).toEqual(['accept', 'connection', 'host']);
  });

  it('is a clock that agrees', async () => {
    const date = new Date(Date.now() - 3_600_000).toUTCString();
    const { url } = await littleHttp((_seen, response) => void response.writeHead(200, { date }).end());
    const { clock } = await ofAddress(url);
    expect(clock).toMatchObject({ ok: false, detail: expect.stringMatching(/is 60 minutes behind this one/) });
    expect((await ofAddress(url, { now: () => Date.now() - 3_600_000 })).clock).toBeUndefined();
  });

  it('is an answer in time', async () => {
    const port = await listening(createServer(() => {}));
    const looks = addressLooks({ url: new URL(`http://127.0.0.1:${port}/`), connected: false, now: Date.now });
    const { http, port: open } = byName(await checksOf(looks, 200));
    expect(open?.ok).toBe(true);
    expect(http).toMatchObject({ ok: false, detail: 'no answer within 200 ms' });
  });

  it('is a certificate that is trusted', async (context) => {
    needsOpenssl(context);
    const folder = tempDir();
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const made = [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '9',
      '-subj',
      '/CN=localhost',
      '-keyout',
      key,
      '-out',
      cert,
    ];
    expect(spawnSync('openssl', made).status).toBe(0);
    const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_request, response) => {
      response.end();
    });
    const found = await ofAddress(`https://127.0.0.1:${await listening(server)}/mcp`);
    expect(found.certificate).toMatchObject({ ok: false });
    expect(found.certificate?.detail).toMatch(/not trusted: DEPTH_ZERO_SELF_SIGNED_CERT, valid until \d{4}-/);
    expect(found.http?.detail).toBe('no HTTP answer: DEPTH_ZERO_SELF_SIGNED_CERT');
  });

  it('is TLS, where the address says so', async () => {
    const { url } = await littleHttp((_seen, response) => void response.end());
    const { certificate } = await ofAddress(url.replace('http:', 'https:'));
    expect(certificate).toMatchObject({ ok: false, next: 'Is it http:// and not https://?' });
  });

  it.each([
    [{ until: Date.UTC(2026, 5, 1), distrust: null }, true, 'is good, valid until 2026-06-01'],
    [{ until: Date.UTC(2026, 0, 9), distrust: null }, false, 'ends soon, valid until 2026-01-09'],
    [{ until: Date.UTC(2025, 0, 9), distrust: 'CERT_HAS_EXPIRED' }, false, 'is not trusted: CERT_HAS_EXPIRED'],
    [{ until: Number.NaN, distrust: null }, true, 'is good'],
  ])('with the certificate %j: good is %s', (certificate, ok, words) => {
    const check = certificateCheck('example.com', certificate, Date.UTC(2026, 0, 1));
    expect(check).toMatchObject({ ok, detail: expect.stringContaining(words) });
  });
});

describe('The daemon itself', () => {
  const folder = tempDir();
  mkdirSync(join(folder, 'data'));
  const look = {
    dataDir: join(folder, 'data'),
    configFile: '/c/mcp.json',
    problem: null,
    trouble: null,
    log: null,
    now: Date.now,
  };

  it('is well', async () => {
    const log = givenLog();
    await storyOn(log).tell(Date.now(), 'server-a', configured());
    expect(outcomes(await daemonChecks({ ...look, log }))).toEqual({
      running: true,
      log: true,
      disk: true,
      clock: true,
      config: true,
    });
  });

  it('says what is wrong: no daemon, a log that takes no facts, a folder that is gone, a clock set back, a broken file', async () => {
    const log = givenLog();
    await storyOn(log).tell(Date.now() + 60_000, 'server-a', configured());
    const problem = { message: 'a comma is missing', line: 3, column: 7 };
    const found = byName(
      await daemonChecks({ ...look, dataDir: join(folder, 'gone'), log, problem, trouble: new Error('disk full') }),
    );
    expect(outcomes(Object.values(found))).toEqual({
      running: true,
      log: false,
      disk: false,
      clock: false,
      config: false,
    });
    expect(found.log?.detail).toContain('disk full');
    expect(found.clock?.detail).toMatch(/(?:59|60) s behind the newest fact/);
    expect(found.config?.detail).toContain('line 3, column 7');
    expect(byName(await daemonChecks({ ...look, trouble: undefined })).running).toMatchObject({
      ok: false,
      next: 'watchkeeper up --detach',
    });
  });
});

describe('Names of tools', () => {
  it.each([
    [[], null],
    [['a__get'], true],
    [['x'.repeat(46)], true],
    [['x'.repeat(47), 'a__get'], false],
  ])('%j fit what clients take: %s', (listed, ok) => {
    expect(namesCheck('a', listed)?.ok ?? null).toBe(ok);
  });
});

describe('What is heard on stdout', () => {
  it('is kept by server, the newest few, and nothing else is', () => {
    const noises = new Noises();
    for (let n = 0; n < 9; n += 1) noises.note('a', `wrote a line to stdout that is not protocol: ${n}`, n);
    noises.note('a', 'close: something else', 99);
    expect(noises.of('a').map(({ at }) => at)).toEqual([4, 5, 6, 7, 8]);
    expect(noises.of('b')).toEqual([]);
  });
});
