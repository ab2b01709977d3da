/** Recording real servers, and standing in front of what was recorded: the same tools, the same failures in the same order. */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { atEnd } from '../support/cleanup.ts';
import { type Daemon, runCli, startDaemon } from '../support/daemon.ts';
import { type Steered, stdioEntry, steered } from '../support/fixtures.ts';
import { cliMain, npmServers } from '../support/paths.ts';
import { rawStdio } from '../support/raw-stdio.ts';
import { tempDir } from '../support/temp.ts';
import { until } from '../support/wait.ts';
import { factsOf, textOf } from './asking.ts';
import { httpEntry, httpFake, meanwhile } from './given.ts';

const filesOf = (daemon: Daemon, server: string): string[] => {
  const folder = join(daemon.dir, 'recordings', server);
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name));
};
const recordedText = (daemon: Daemon, server: string): string =>
  filesOf(daemon, server)
    .map((file) => readFileSync(file, 'utf8'))
    .join('');

/** The daemon with a server that is disabled, recorded from its very first start. */
async function recordedFromTheStart(entry: Record<string, unknown>): Promise<Daemon> {
  const daemon = await startDaemon({ servers: { taped: { ...entry, disabled: true } } });
  await daemon.api('POST', '/v1/mcp/record', { name: 'taped', on: true });
  await daemon.api('POST', '/v1/mcp/enable', { name: 'taped' });
  return daemon;
}

/** What happened to the server, as far as it does not depend on the clock: from the first attempt on. */
async function story(daemon: Daemon): Promise<unknown[]> {
  const facts = await factsOf(daemon, 'taped');
  return facts
    .slice(facts.findIndex(({ type }) => type === 'ConnectStarted'))
    .map(({ type, data }) => [type, data.to, ...(data.failure ? [data.failure.class, data.failure.phase] : [])]);
}

async function exported(daemon: Daemon, ...args: string[]): Promise<string> {
  const file = join(tempDir(), 'taped.fixture.json');
  const { code, stderr } = await runCli(daemon, ['fixture', 'export', 'taped', file, ...args]);
  expect(code, stderr).toBe(0);
  return file;
}

const served = (file: string, ...args: string[]) => ({
  command: process.execPath,
  args: [cliMain, 'fixture', 'serve', file, '--clock', 'instant', ...args],
});

/** A served fixture of its own process, and its URL. */
async function serveOverHttp(file: string, ...args: string[]): Promise<{ url: string }> {
  const child = spawn(
    process.execPath,
    [cliMain, 'fixture', 'serve', file, '--http', '0', '--clock', 'instant', '--json', ...args],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { PATH: process.env.PATH, HOME: tempDir() } },
  );
  atEnd(() => void child.kill('SIGTERM'));
  let out = '';
  child.stdout.on('data', (chunk) => (out += chunk));
  return until(() => out.includes('\n') && JSON.parse(out), { what: 'the ready line of the fixture' });
}

const toolsText = async (daemon: Daemon): Promise<string> => JSON.stringify(await daemon.tools('taped'));

describe('A recorded server-everything that is served again', () => {
  it('has the same tools byte for byte and the same facts, and answers the same', async () => {
    const original = await recordedFromTheStart({ command: process.execPath, args: [npmServers.everything] });
    const settled = async (daemon: Daemon) => {
      await daemon.waitForServer('taped', 'ready', 40_000);
      const echoed = await daemon.call('mcp__taped__echo', { message: 'ahoy' });
      const added = await daemon.call('mcp__taped__get-sum', { a: 2, b: 3 });
      return [echoed.body.content, added.body.content];
    };
    const answers = await settled(original);
    expect(textOf(await original.call('mcp__taped__echo', { message: 'ahoy' }))).toContain('ahoy');
    const file = await exported(original);

    const second = await startDaemon({ servers: { taped: served(file) } });
    expect(await settled(second)).toEqual(answers);
    expect(await toolsText(second)).toBe(await toolsText(original));
    expect(await story(second)).toEqual(await story(original));
    const row = await second.server('taped');
    expect(row.serverInfo).toEqual((await original.server('taped')).serverInfo);

    const other = await second.call('mcp__taped__echo', { message: 'never said' });
    expect(other.body).toMatchObject({ outcome: 'tool-error' });
    expect(textOf(other)).toMatch(/holds no answer to tools\/call echo.*with other arguments/);
    expect(textOf(other)).not.toContain('never said');
  }, 120_000);
});

describe('A recorded HTTP server that dropped its session on a call', () => {
  it('drops it again at the same call, over HTTP', async () => {
    const fake = await httpFake({
      behaviour: {
        status: {
          'tools/call': {
            after: 1,
            times: 1,
            status: 404,
            body: { jsonrpc: '2.0', error: { code: -32001, message: 'Session not found' }, id: null },
          },
        },
      },
    });
    const original = await recordedFromTheStart(httpEntry(fake));
    const through = async (daemon: Daemon) => {
      await daemon.waitForServer('taped', 'ready');
      expect(textOf(await daemon.call('mcp__taped__echo', { text: 'one' }))).toBe('one');
      expect(textOf(await daemon.call('mcp__taped__echo', { text: 'two' }))).toBe('two');
      await daemon.waitForServer('taped', 'ready');
    };
    await through(original);
    const file = await exported(original);
    expect(JSON.parse(readFileSync(file, 'utf8')).lives).toHaveLength(2);

    const { url } = await serveOverHttp(file, '--match', 'strict');
    const second = await startDaemon({ servers: { taped: { url } } });
    await through(second);
    expect(await story(second)).toEqual(await story(original));
    expect(await story(second)).toContainEqual(['SessionLost', 'session-lost', 'session', 'call']);
    expect(await toolsText(second)).toBe(await toolsText(original));
  });
});

/** What a server does wrong over a pipe, and what a client does meanwhile. */
const faults: readonly [
  string,
  Parameters<typeof stdioEntry>[0],
  Record<string, unknown>,
  (daemon: Daemon) => Promise<unknown>,
][] = [
  [
    'dies in the middle of a call, with its last words',
    { behaviour: { tools: ['echo', 'die'] } },
    {},
    async (daemon) => {
      await daemon.call('mcp__taped__echo', { text: 'before' });
      const died = await daemon.call('mcp__taped__die', { code: 7, message: 'fatal: out of tea' });
      expect(died.body).toMatchObject({ outcome: 'unknown' });
      await daemon.waitFor(
        async () => (await story(daemon)).filter(([type]: any) => type === 'ToolsListed').length === 2,
      );
      const [lost] = await daemon.events({ stream: 'server-taped', type: 'SessionLost' });
      expect(lost.data.failure).toMatchObject({ exitCode: 7, signal: null });
      expect(lost.data.failure.stderrTail).toContain('fatal: out of tea');
      return died.body.detail;
    },
  ],
  [
    'is killed',
    { behaviour: { tools: ['killed'] } },
    {},
    async (daemon) => {
      await daemon.call('mcp__taped__killed', { signal: 'SIGKILL' });
      await daemon.waitFor(
        async () => (await story(daemon)).filter(([type]: any) => type === 'ToolsListed').length === 2,
      );
      const [lost] = await daemon.events({ stream: 'server-taped', type: 'SessionLost' });
      expect(lost.data.failure).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
    },
  ],
  [
    'never answers one call, and writes what is no protocol',
    { behaviour: { tools: ['echo', 'sleep', 'noise'] } },
    { callTimeoutMs: 400 },
    async (daemon) => {
      const late = await daemon.call('mcp__taped__sleep', { ms: 600_000 });
      expect(late.status).toBe(504);
      const quiet = await daemon.call('mcp__taped__noise', { stdout: 'not JSON at all', stderr: 'grumble' });
      expect(textOf(quiet)).toBe('quiet again');
      expect(daemon.stderr()).toContain('not JSON at all');
      return late.body.outcome;
    },
  ],
  [
    'grows its list and says so',
    { behaviour: { tools: ['echo', 'grow'] } },
    {},
    async (daemon) => {
      await daemon.call('mcp__taped__grow', { name: 'more' });
      await daemon.waitFor(async () => (await daemon.tools('taped')).some(({ tool }) => tool === 'more'));
    },
  ],
  [
    'speaks the modern era, announces over a subscription and reports progress',
    { era: 'modern', behaviour: { tools: ['echo', 'progress', 'grow'] } },
    {},
    async (daemon) => {
      const worked = await daemon.call('mcp__taped__progress', { ms: 200, every: 50 });
      await meanwhile(300);
      await daemon.call('mcp__taped__grow', { name: 'more' });
      await daemon.waitFor(async () => (await daemon.tools('taped')).some(({ tool }) => tool === 'more'));
      return worked.body.content;
    },
  ],
];

describe('A recorded server that is served over a pipe', () => {
  it.each(faults)('%s, and does so again', async (_title, options, limits, through) => {
    const original = await recordedFromTheStart(stdioEntry(options, limits));
    await original.waitForServer('taped', 'ready');
    const told = await through(original);
    const file = await exported(original);
    const second = await startDaemon({ servers: { taped: { ...served(file), ...limits } } });
    await second.waitForServer('taped', 'ready');
    expect(await through(second)).toEqual(told);
    expect(await story(second)).toEqual(await story(original));
    expect(await toolsText(second)).toBe(await toolsText(original));
  });

  it('fails at its first starts, and comes up at the one at which it came up', async () => {
    const fake: Steered = steered({
      behaviour: { tools: ['echo'], start: { exit: { code: 4, stderr: 'no database yet', spawns: 2 } } },
    });
    const original = await recordedFromTheStart(stdioEntry(fake.options));
    await original.waitForServer('taped', 'ready', 40_000);
    const file = await exported(original);
    const second = await startDaemon({ servers: { taped: served(file) } });
    await second.waitForServer('taped', 'ready', 40_000);
    const failures = (facts: unknown[]) => facts.filter(([type]: any) => type !== 'ProcessStarted');
    expect(failures(await story(second))).toEqual(failures(await story(original)));
    const texts = async (daemon: Daemon) =>
      (await daemon.events({ stream: 'server-taped', type: 'ConnectFailed' })).map(({ data }) => data.failure.message);
    expect(await texts(second)).toEqual(await texts(original));
  }, 90_000);

  it('takes the time it took when the clock is real, and a share of it when it is scaled', async () => {
    const original = await recordedFromTheStart(
      stdioEntry({ behaviour: { tools: ['echo'], answers: { 'tools/call': { delayMs: 900 } } } }),
    );
    await original.waitForServer('taped', 'ready');
    await original.call('mcp__taped__echo', { text: 'slowly' });
    const file = await exported(original);
    const took = async (clock: string) => {
      const raw = rawStdio([cliMain, 'fixture', 'serve', file, '--life', '1', '--clock', clock]);
      await raw.handshake();
      const began = performance.now();
      const { result } = await raw.request('tools/call', { name: 'echo', arguments: { text: 'slowly' } });
      expect(result.content).toEqual([{ type: 'text', text: 'slowly' }]);
      raw.closeInput();
      expect(await raw.exited).toEqual({ code: 0, signal: null });
      return performance.now() - began;
    };
    expect(await took('real')).toBeGreaterThan(850);
    expect(await took('scaled:3')).toBeGreaterThan(250);
  });

  it('plays the next life at each start of the same starter, and the first one for another', async () => {
    const original = await recordedFromTheStart(stdioEntry({ behaviour: { tools: ['die'] } }));
    await original.waitForServer('taped', 'ready');
    await original.call('mcp__taped__die', { code: 5, message: 'gone' });
    await original.waitFor(
      async () => (await story(original)).filter(([type]: any) => type === 'ToolsListed').length === 2,
    );
    const file = await exported(original);
    const state = join(tempDir(), 'played.json');
    const ends = async (...args: string[]) => {
      const raw = rawStdio([cliMain, 'fixture', 'serve', file, '--clock', 'instant', ...args]);
      await raw.handshake();
      raw.post('tools/call', { name: 'die', arguments: { code: 5, message: 'gone' } });
      setTimeout(() => raw.closeInput(), 1_500);
      return (await raw.exited).code;
    };
    expect([await ends('--state', state), await ends('--state', state), await ends('--state', state)]).toEqual([
      5, 0, 0,
    ]);
    rmSync(state);
    expect(await ends('--state', state)).toBe(5);
    expect(await ends('--life', '1')).toBe(5);
  });
});

describe('An HTTP server', () => {
  it.each([
    ['legacy', { behaviour: { tools: ['echo', 'ask', 'grow'], transport: 'sse' } }],
    ['modern', { era: 'modern', behaviour: { tools: ['echo', 'progress', 'grow'] } }],
    ['legacy', { behaviour: { tools: ['echo', 'progress', 'grow'], reply: 'sse', sessions: false } }],
  ] as const)('of the %s era is served in its era and transport: %j', async (era, options) => {
    const fake = await httpFake(options as never);
    const original = await recordedFromTheStart(httpEntry(fake));
    const through = async (daemon: Daemon) => {
      const row = await daemon.waitForServer('taped', 'ready');
      const echoed = await daemon.call('mcp__taped__echo', { text: 'one' });
      // The stream for announcements is opened on the side.
      await meanwhile(500);
      await daemon.call('mcp__taped__grow', { name: 'more' });
      await daemon.waitFor(async () => (await daemon.tools('taped')).some(({ tool }) => tool === 'more'));
      return [row.era, row.transport, row.protocolVersion, echoed.body.content];
    };
    const told = await through(original);
    expect(told[0]).toBe(era);
    const { url } = await serveOverHttp(await exported(original));
    const second = await startDaemon({ servers: { taped: { url } } });
    expect(await through(second)).toEqual(told);
    expect(await story(second)).toEqual(await story(original));
    expect(await toolsText(second)).toBe(await toolsText(original));
  });

  it('that answered with errors answers with them again', async () => {
    const fake = await httpFake({
      behaviour: {
        status: {
          initialize: { times: 1, status: 503, body: 'not yet', headers: { 'retry-after': '1' } },
          'tools/list': { times: 1, status: 500, body: 'broken' },
        },
      },
    });
    const original = await recordedFromTheStart(httpEntry(fake));
    await original.waitForServer('taped', 'ready', 40_000);
    const { url } = await serveOverHttp(await exported(original));
    const second = await startDaemon({ servers: { taped: { url } } });
    await second.waitForServer('taped', 'ready', 40_000);
    expect(await story(second)).toEqual(await story(original));
    expect((await story(second)).filter(([type]: any) => type === 'ConnectFailed')).toHaveLength(2);
  }, 90_000);
});

describe('The switch', () => {
  it('takes effect on an open connection, is shown, and is remembered when the daemon starts again', async () => {
    const daemon = await startDaemon({ servers: { taped: stdioEntry({ behaviour: { tools: ['echo'] } }) } });
    await daemon.waitForServer('taped', 'ready');
    await daemon.call('mcp__taped__echo', { text: 'unheard' });
    expect((await daemon.api('GET', '/v1/mcp/record')).body).toEqual({ recordings: [] });
    const on = await daemon.api('POST', '/v1/mcp/record', { name: 'taped', on: true });
    expect(on).toMatchObject({ status: 200, body: { ok: true, server: 'taped', on: true, error: null } });
    expect((await daemon.server('taped')).recording).toBe(true);
    await daemon.call('mcp__taped__echo', { text: 'heard' });

    // Made from the middle of a connection, it can be served all the same.
    const file = await exported(daemon);
    const second = await startDaemon({ servers: { taped: served(file) } });
    await second.waitForServer('taped', 'ready');
    expect(textOf(await second.call('mcp__taped__echo', { text: 'heard' }))).toBe('heard');
    expect(await toolsText(second)).toBe(await toolsText(daemon));

    await daemon.restart();
    await daemon.waitForServer('taped', 'ready');
    await daemon.call('mcp__taped__echo', { text: 'heard later' });
    const off = await runCli(daemon, ['record', 'taped', 'off', '--json']);
    expect(JSON.parse(off.stdout)).toMatchObject({ ok: true, on: false, files: 2 });
    await daemon.call('mcp__taped__echo', { text: 'unheard again' });
    expect(recordedText(daemon, 'taped')).toContain('heard later');
    expect(recordedText(daemon, 'taped')).not.toContain('unheard');
    expect((await daemon.server('taped')).recording).toBeUndefined();
    const types = (await daemon.events({ stream: 'daemon' })).map(({ type }) => type);
    expect(types.filter((type) => type.startsWith('Recording'))).toEqual(['RecordingStarted', 'RecordingStopped']);

    await daemon.restart();
    await daemon.waitForServer('taped', 'ready');
    expect((await daemon.api('GET', '/v1/mcp/record')).body.recordings).toMatchObject([{ server: 'taped', on: false }]);
    await daemon.stop();
    const offline = await exported(daemon);
    expect(readFileSync(offline, 'utf8')).toContain('heard later');
  }, 60_000);

  it('deletes what was recorded, also of a server that is gone, and never something else', async () => {
    const daemon = await startDaemon({ servers: { taped: stdioEntry({ behaviour: { tools: ['echo'] } }) } });
    await daemon.api('POST', '/v1/mcp/record', { name: 'taped', on: true });
    await daemon.waitForServer('taped', 'ready');
    await daemon.api('POST', '/v1/mcp/remove', { name: 'taped' });
    await daemon.waitFor(async () => (await daemon.events({ type: 'RecordingStopped' })).length === 1);
    expect((await daemon.api('GET', '/v1/mcp/record')).body.recordings).toMatchObject([{ server: 'taped', on: false }]);
    expect((await daemon.api('POST', '/v1/mcp/record', { name: '..', on: false, delete: true })).status).toBe(404);
    expect((await runCli(daemon, ['record', 'taped', 'off', '--delete'])).code).toBe(0);
    expect((await daemon.api('GET', '/v1/mcp/record')).body.recordings).toEqual([]);
    expect((await daemon.api('POST', '/v1/mcp/fixture', { name: 'taped' })).body.code).toBe('unknown-server');
  });
});

describe('What is recorded', () => {
  const secrets = {
    TAPED_SECRET: 'plum-pudding/7+7=14&more',
    TAPED_ARGUMENT: 'Zwetschgenkn\u00f6del-4711',
    TAPED_HEADER: 'quince-jelly-90210',
  };
  /** The ways in which a server may repeat a value, each with a part that must not be kept. */
  const formsOf = (value: string): readonly (readonly [sent: string, gone: string])[] => {
    const bytes = Buffer.from(value);
    const plain = [
      value,
      encodeURIComponent(value),
      JSON.stringify(value).slice(1, -1),
      bytes.toString('base64'),
      bytes.toString('base64url'),
      bytes.toString('hex'),
    ].map((form) => [form, form.slice(0, -3)] as const);
    // In the middle of something longer, where it begins at any place of a group of three.
    const inside = [0, 1, 2].map((before) => {
      const text = Buffer.concat([Buffer.alloc(before, 'x'), bytes, Buffer.from('tail')]).toString('base64');
      return [text, text.slice(4, 4 * Math.floor((before + bytes.length) / 3) - 4)] as const;
    });
    return [...plain, ...inside];
  };

  it('holds no secret of the entry, in whatever form the server repeats it, and nothing that looks like a credential', async () => {
    const whoami = stdioEntry({ behaviour: { tools: ['whoami', 'echo', 'noise'] } });
    const daemon = await startDaemon({
      servers: {
        taped: {
          ...whoami,
          args: [...(whoami.args as string[]), '--api-key', '${TAPED_ARGUMENT}'],
          env: { KEY: '${TAPED_SECRET}', OTHER: 'literal-gooseberry-fool' },
        },
        remote: {
          url: (await httpFake({ behaviour: { bearer: secrets.TAPED_HEADER } })).url,
          headers: { Authorization: 'Bearer ${TAPED_HEADER}' },
        },
      },
      variables: secrets,
      allow: ['mcp__taped__*', 'mcp__remote__*'],
    });
    for (const name of ['taped', 'remote']) {
      await daemon.api('POST', '/v1/mcp/record', { name, on: true });
      await daemon.waitForServer(name, 'ready');
      await daemon.api('POST', '/v1/mcp/reconnect', { name });
      await daemon.waitForServer(name, 'ready');
    }
    const told = textOf(await daemon.call('mcp__taped__whoami'));
    expect(told).toContain('plum-pudding');
    expect(told).toContain('4711');
    for (const [text] of [...formsOf(secrets.TAPED_SECRET), ...formsOf(secrets.TAPED_ARGUMENT)]) {
      expect(textOf(await daemon.call('mcp__taped__echo', { text: `<${text}>` }))).toBe(`<${text}>`);
      await daemon.call('mcp__taped__noise', { stdout: `garbage ${text} here`, stderr: `oh ${text} no\n` });
    }
    const more = ['ghp_0123456789abcdefghij', 'Bearer abcdefghijklmnop', 'literal-gooseberry-fool'];
    for (const text of more)
      await daemon.call('mcp__taped__echo', { text, password: 'swordfish-1', nested: { api_key: 'k-123456789' } });
    await daemon.call('mcp__remote__echo', { text: `seen ${secrets.TAPED_HEADER}` });
    await daemon.api('POST', '/v1/mcp/record', { name: 'taped', on: false });
    await daemon.api('POST', '/v1/mcp/record', { name: 'remote', on: false });
    const kept = recordedText(daemon, 'taped') + recordedText(daemon, 'remote');
    expect(kept).toContain('garbage *** here');
    const planted = [...Object.values(secrets), ...more, 'swordfish-1', 'k-123456789'].flatMap(formsOf);
    expect(planted.filter(([, gone]) => kept.includes(gone))).toEqual([]);
    // Sessions are labels.
    expect(kept).toContain('"session":"session-1"');
    expect(kept).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-/);
    const { body } = await daemon.api('POST', '/v1/mcp/fixture', { name: 'taped' });
    expect(planted.filter(([, gone]) => JSON.stringify(body).includes(gone))).toEqual([]);
  });

  it('is private, stays within its limit, and drops the oldest first', async () => {
    const limit = 262_144;
    const daemon = await startDaemon({
      servers: { taped: stdioEntry({ behaviour: { tools: ['echo', 'big'] } }) },
      settings: { recording: { maxBytes: limit, maxMessageBytes: 65_536 } },
    });
    await daemon.waitForServer('taped', 'ready');
    await daemon.api('POST', '/v1/mcp/record', { name: 'taped', on: true });
    for (let n = 0; n < 40; n += 1) await daemon.call('mcp__taped__echo', { text: `${n} ${'x'.repeat(8_000)}` });
    await daemon.call('mcp__taped__big', { bytes: 100_000 });
    await daemon.call('mcp__taped__echo', { text: 'the last one' });
    await daemon.api('POST', '/v1/mcp/record', { name: 'taped', on: false });
    const files = filesOf(daemon, 'taped');
    expect(files.length).toBeGreaterThan(3);
    const sizes = files.map((file) => statSync(file).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(limit);
    expect(files.map((file) => statSync(file).mode & 0o777)).toEqual(files.map(() => 0o600));
    for (const folder of ['recordings', 'recordings/taped'])
      expect(statSync(join(daemon.dir, folder)).mode & 0o777).toBe(0o700);
    const text = recordedText(daemon, 'taped');
    expect(text).not.toContain('"text":"0 xxx');
    expect(text).toContain('the last one');
    expect(text).not.toContain('x'.repeat(65_536));
    // The beginning is gone, and the fixture knows the tools all the same.
    const { body: fixture } = await daemon.api('POST', '/v1/mcp/fixture', { name: 'taped' });
    expect(fixture.lives).toHaveLength(1);
    expect(fixture.lives[0].known.map(({ method }: any) => method)).toEqual(['tools/list']);
    expect(fixture.lives[0].steps.some(({ cut }: any) => cut > 100_000)).toBe(true);
  });

  it('that cannot be written ends with one warning, and the server goes on', async () => {
    const daemon = await startDaemon({
      servers: { taped: stdioEntry({ behaviour: { tools: ['echo'] } }) },
      settings: { recording: { maxBytes: 65_536 } },
    });
    await daemon.waitForServer('taped', 'ready');
    const folder = join(daemon.dir, 'recordings');
    writeFileSync(folder, 'in the way');
    const refused = await daemon.api('POST', '/v1/mcp/record', { name: 'taped', on: true });
    expect(refused).toMatchObject({ status: 503, body: { code: 'recording-unavailable' } });
    rmSync(folder);

    expect((await daemon.api('POST', '/v1/mcp/record', { name: 'taped', on: true })).status).toBe(200);
    rmSync(join(folder, 'taped'), { recursive: true });
    writeFileSync(join(folder, 'taped'), 'in the way');
    for (let n = 0; n < 20; n += 1) {
      const { body } = await daemon.call('mcp__taped__echo', { text: 'y'.repeat(4_000) });
      expect(body.outcome).toBe('succeeded');
    }
    await daemon.waitFor(async () => (await daemon.events({ type: 'RecordingStopped' })).length === 1);
    const [{ data }] = await daemon.events({ type: 'RecordingStopped' });
    expect(data).toMatchObject({ server: 'taped', reason: 'write-failed', detail: expect.stringContaining('ENOTDIR') });
    expect(daemon.stderr().match(/The recording ended/g)).toHaveLength(1);
    expect((await daemon.server('taped')).recording).toBeUndefined();
    rmSync(join(folder, 'taped'));
    mkdirSync(join(folder, 'taped'));
    expect((await daemon.api('POST', '/v1/mcp/record', { name: 'taped', on: true })).body).toMatchObject({
      on: true,
      error: null,
    });
  });
});
