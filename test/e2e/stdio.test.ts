import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Behaviour } from '../support/behaviour.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { blockingStderrEntry, launcherEntry, type Steered, stdioEntry, steered } from '../support/fixtures.ts';
import { needsPython } from '../support/needs.ts';
import { isAlive, residentBytes } from '../support/processes.ts';
import { tempDir } from '../support/temp.ts';
import { until } from '../support/wait.ts';
import { factsOf, leftDefunct, livingIn, marked, textOf, typesOf, warningsOf, watchMarks } from './asking.ts';

const MiB = 1_048_576;

describe('A server that writes a lot to stderr', { timeout: 60_000 }, () => {
  it('connects, answers call after call, fills neither the memory nor the log, and its last words are kept', async (context) => {
    needsPython(context);
    const daemon = await startDaemon({ servers: { loud: blockingStderrEntry({}, { connectTimeoutMs: 15_000 }) } });
    await daemon.waitForServer('loud', 'ready');
    const call = async (n: number) => textOf(await daemon.call('mcp__loud__echo', { text: `call ${n}` }));

    for (let n = 0; n < 5; n += 1) expect(await call(n)).toBe(`call ${n}`);
    const before = residentBytes(daemon.pid);
    for (let n = 5; n < 25; n += 1) expect(await call(n)).toBe(`call ${n}`);
    // Five MiB went through the pipe meanwhile.
    expect(residentBytes(daemon.pid) - before).toBeLessThan(24 * MiB);

    const rows = await factsOf(daemon, 'loud');
    expect(rows.length).toBeLessThan(10);
    const reply = await daemon.call('mcp__loud__die');
    expect(reply.status).toBe(502);
    expect(reply.body.detail).toContain('exited with code 3: fatal: the tool die was called');
    await daemon.waitForServer('loud', 'ready');
    const [lost] = await factsOf(daemon, 'loud', 'SessionLost');
    expect(lost.data.failure).toMatchObject({ class: 'exit', exitCode: 3, signal: null });
    expect(Buffer.byteLength(lost.data.failure.stderrTail)).toBeLessThanOrEqual(4096);
    expect(lost.data.failure.stderrTail).toMatch(/fatal: the tool die was called\n$/);
    expect(JSON.stringify(await daemon.events())).not.toContain('e'.repeat(4096));
  });
});

describe('Text on stdout that is not protocol', { timeout: 60_000 }, () => {
  let daemon: Daemon;

  beforeAll(async () => {
    const behaviour: Behaviour = {
      answers: {
        initialize: { stdout: ['Welcome to the server!', '', '123', '{}', '[]', 'null', 'Добро пожаловать', '欢迎'] },
      },
    };
    daemon = await startDaemon({
      servers: {
        chatty: stdioEntry({ behaviour }),
        early: stdioEntry({ behaviour: { start: { stdout: { lines: 200 } } } }),
        glued: stdioEntry(
          { behaviour: { answers: { 'tools/call': { glue: 'INFO done ', times: 1 } } } },
          { callTimeoutMs: 800 },
        ),
        broken: stdioEntry(
          { behaviour: { answers: { 'tools/call': { raw: '{"jsonrpc":"2.0","id":', times: 1 } } } },
          { callTimeoutMs: 800 },
        ),
      },
    });
    for (const name of ['chatty', 'early', 'glued', 'broken']) await daemon.waitForServer(name, 'ready');
  });
  afterAll(() => daemon.stop());

  it('before and while it answers leaves the server connected and callable', async () => {
    expect(await daemon.tools('chatty')).not.toHaveLength(0);
    const { pid } = await daemon.server('chatty');
    const reply = await daemon.call('mcp__chatty__noise', { stdout: { lines: 1000 } });
    expect(textOf(reply)).toBe('quiet again');
    expect(textOf(await daemon.call('mcp__chatty__echo', { text: 'ok' }))).toBe('ok');
    expect(textOf(await daemon.call('mcp__early__echo', { text: 'ok' }))).toBe('ok');
    expect(await daemon.server('chatty')).toMatchObject({ state: 'ready', pid });
    expect(await typesOf(daemon, 'chatty')).not.toContain('SessionLost');
  });

  it('is warned about once, with a short sample and the name of the server', async () => {
    await daemon.call('mcp__chatty__noise', { stdout: { lines: 1000 } });
    const warnings = warningsOf(daemon, 'chatty');
    expect(warnings).toHaveLength(1);
    expect(warnings[0].msg).toContain('Welcome to the server!');
    expect(warnings[0].msg.length).toBeLessThan(300);
    expect(warningsOf(daemon, 'early')).toHaveLength(1);
  });

  it.each(['glued', 'broken'])('in one answer (%s) costs that call alone', async (name) => {
    const { pid } = await daemon.server(name);
    const [lostOne, other] = await Promise.all([
      daemon.call(`mcp__${name}__echo`, { text: 'one' }),
      pause(100).then(() => daemon.call(`mcp__${name}__echo`, { text: 'two' })),
    ]);
    expect(lostOne).toMatchObject({ status: 504, body: { outcome: 'unknown' } });
    expect(textOf(other)).toBe('two');
    expect(await daemon.server(name)).toMatchObject({ state: 'ready', pid });
  });
});

describe('A start that fails', { timeout: 60_000 }, () => {
  const trace = [
    'Traceback (most recent call last):',
    '  File "server.py", line 1',
    'ImportError: no module named mcp',
  ];
  const ends: readonly [name: string, exit: { code?: number; signal?: NodeJS.Signals }, fact: object, words: string][] =
    [
      ['exit-1', { code: 1 }, { exitCode: 1, signal: null }, 'exited with code 1:'],
      ['exit-0', { code: 0 }, { exitCode: 0, signal: null }, 'exited with code 0:'],
      ['exit-127', { code: 127 }, { exitCode: 127, signal: null }, 'exited with code 127:'],
      ['exit-255', { code: 255 }, { exitCode: 255, signal: null }, 'exited with code 255:'],
      [
        'segfault',
        { signal: 'SIGSEGV' },
        { exitCode: null, signal: 'SIGSEGV' },
        'was ended by SIGSEGV; its last words:',
      ],
      [
        'aborted',
        { signal: 'SIGABRT' },
        { exitCode: null, signal: 'SIGABRT' },
        'was ended by SIGABRT; its last words:',
      ],
      [
        'out-of-memory',
        { signal: 'SIGKILL' },
        { exitCode: null, signal: 'SIGKILL' },
        'was ended by SIGKILL; its last words:',
      ],
    ];
  const silence = { initialize: { never: true }, 'server/discover': { never: true } };
  const fakes = new Map<string, Steered>();
  let daemon: Daemon;
  let most: Record<string, number>;

  beforeAll(async () => {
    const entry = (name: string, behaviour: Behaviour, more: Record<string, unknown> = {}) => {
      const fake = steered({ behaviour });
      fakes.set(name, fake);
      return [name, stdioEntry(fake.options, { env: { MARK: name }, ...more })] as const;
    };
    const servers = Object.fromEntries([
      entry('silent', { answers: silence, start: { stderr: 'waiting for a lock' } }, { connectTimeoutMs: 3_000 }),
      entry('mute', { answers: silence, stubborn: 'eof' }, { connectTimeoutMs: 1_200 }),
      entry('refusing', { answers: { initialize: { error: { code: -32000, message: 'licence expired' } } } }),
      entry('slow', { answers: { initialize: { delayMs: 3_000 } } }, { connectTimeoutMs: 15_000 }),
      entry('listless', { answers: { 'tools/list': { never: true } } }, { listTimeoutMs: 1_000 }),
      ...ends.map(([name, exit]) => entry(name, { start: { exit: { ...exit, stderr: trace } } })),
      entry('good', {}),
    ]);
    const watching = watchMarks();
    daemon = await startDaemon({ servers, settings: { start: { parallel: 20 } } });
    await daemon.waitForServer('slow', 'ready', 20_000);
    await until(() => (fakes.get('silent')?.counted('spawn') ?? 0) >= 2, { limitMs: 20_000, what: 'a second attempt' });
    most = await watching.stop();
  });
  afterAll(() => daemon.stop());

  it('for want of an answer to initialize ends at its deadline and says so', async () => {
    const limits = { silent: 3_000, mute: 1_200 };
    for (const [name, limit] of Object.entries(limits)) {
      const [failed] = await factsOf(daemon, name, 'ConnectFailed');
      expect(failed.data.failure).toMatchObject({ class: 'timeout', phase: 'initialize' });
      expect(failed.data.failure.message).toContain(`initialize: no answer within ${limit} ms`);
    }
    const [failed] = await factsOf(daemon, 'silent', 'ConnectFailed');
    expect(failed.data.failure.stderrTail).toContain('waiting for a lock');
  });

  it('for want of a list ends at its own deadline and says so', async () => {
    const [failed] = await factsOf(daemon, 'listless', 'ConnectFailed');
    expect(failed.data.failure).toMatchObject({ class: 'timeout', phase: 'list' });
    expect(failed.data.failure.message).toContain('1000 ms');
  });

  it('because the server refuses is told in its own words', async () => {
    const [failed] = await factsOf(daemon, 'refusing', 'ConnectFailed');
    expect(failed.data.failure).toMatchObject({ class: 'handshake', phase: 'initialize' });
    expect(failed.data.failure.message).toContain('licence expired');
    expect((await daemon.server('refusing')).error.message).toContain('licence expired');
  });

  it.each(ends)(
    'by the end of the process (%s) gives code or signal and the last words',
    async (name, _exit, fact, words) => {
      const [failed] = await factsOf(daemon, name, 'ConnectFailed');
      expect(failed.data.failure).toMatchObject({ class: 'exit', phase: 'initialize', ...fact });
      expect(failed.data.failure.message).toContain(`${words} ImportError: no module named mcp`);
      expect(failed.data.failure.stderrTail).toContain(trace.join('\n'));
      const row = await daemon.server(name);
      expect(row.error.class).toBe('exit');
      expect(warningsOf(daemon, name)[0]).toMatchObject({ phase: 'initialize', class: 'exit' });
    },
  );

  it('delays no other server, and one that is merely slow connects', async () => {
    expect((await daemon.server('slow')).state).toBe('ready');
    const ready = async (name: string) => (await factsOf(daemon, name, 'ToolsListed'))[0].position;
    expect(await ready('good')).toBeLessThan(await ready('slow'));
  });

  it('is followed by the next attempt only when its process is gone', async () => {
    for (const [name, count] of Object.entries(most)) expect.soft(count, name).toBeLessThanOrEqual(1);
    expect(most.silent).toBe(1);
    expect(await leftDefunct(daemon)).toEqual([]);
  });
});

describe.concurrent('A process tree that clings to life', { timeout: 60_000 }, () => {
  const shapes: Record<string, Record<string, unknown>> = {
    launched: launcherEntry({ behaviour: { stubborn: true } }),
    staying: launcherEntry({ behaviour: { stubborn: true }, stay: true }),
    direct: stdioEntry({ behaviour: { stubborn: true } }),
    eof: stdioEntry({ behaviour: { stubborn: 'eof' } }),
    sigterm: launcherEntry({ behaviour: { stubborn: 'sigterm' } }),
    shell: { command: 'sh', args: ['-c', '"$$0" "$$@"; exit $$?', ...shellArgs()] },
  };
  const marks = Object.keys(shapes);
  const servers = (run: string) =>
    Object.fromEntries(marks.map((name) => [name, { ...shapes[name], env: { MARK: `${run}-${name}` } }]));
  const groups = (daemon: Daemon) => daemon.status().then((rows) => rows.map(({ pid }) => pid as number));
  const allGone = (pgids: readonly number[], what: string) =>
    until(() => pgids.every((pgid) => livingIn(pgid).length === 0), { limitMs: 15_000, what });

  function shellArgs(): string[] {
    const { command, args } = stdioEntry({ behaviour: { stubborn: 'sigterm' } }) as { command: string; args: string[] };
    return [command, ...args];
  }

  it('is gone after its entry is removed, disabled or changed, and the changed ones run anew', async () => {
    const entries = servers('edited');
    const daemon = await startDaemon({ servers: entries, settings: { start: { parallel: 10 } } });
    for (const name of marks) await daemon.waitForServer(name, 'ready');
    const before = Object.fromEntries((await daemon.status()).map(({ name, pid }) => [name, pid]));

    // One file does it all: two entries go, two are disabled, two get another argument.
    const [gone, alsoGone, off, alsoOff, changed, alsoChanged] = marks as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    const more = (name: string) => ({ ...entries[name], env: { MARK: `edited-${name}`, MORE: '1' } });
    daemon.writeConfig({
      [off]: { ...entries[off], disabled: true },
      [alsoOff]: { ...entries[alsoOff], disabled: true },
      [changed]: more(changed),
      [alsoChanged]: more(alsoChanged),
    });
    await allGone(Object.values(before), 'the end of the old processes');
    expect(await leftDefunct(daemon)).toEqual([]);
    await daemon.waitForServer(off, 'disabled');
    await daemon.waitForServer(alsoOff, 'disabled');
    await daemon.waitForServer(changed, 'ready', 20_000);
    await daemon.waitForServer(alsoChanged, 'ready', 20_000);
    expect((await daemon.status()).map(({ name, state }) => [name, state])).toEqual(
      [
        [off, 'disabled'],
        [alsoOff, 'disabled'],
        [changed, 'ready'],
        [alsoChanged, 'ready'],
      ].sort(),
    );
    for (const name of [gone, alsoGone, off, alsoOff]) expect(marked(`edited-${name}`)).toEqual([]);
    await daemon.kill();
  });

  it('is gone when the daemon was told to stop, which then exits 0 within its time', async () => {
    const daemon = await startDaemon({ servers: servers('stopped'), settings: { start: { parallel: 10 } } });
    for (const name of marks) await daemon.waitForServer(name, 'ready');
    const pgids = await groups(daemon);
    const began = Date.now();
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    expect(Date.now() - began).toBeLessThan(10_000);
    for (const pgid of pgids) expect(livingIn(pgid)).toEqual([]);
  });

  it('does not stay beside the new one after the daemon was killed', async () => {
    const daemon = await startDaemon({ servers: servers('killed'), settings: { start: { parallel: 10 } } });
    for (const name of marks) await daemon.waitForServer(name, 'ready');
    const pgids = await groups(daemon);
    await daemon.kill();
    expect(marked('killed-direct').length).toBe(1);
    const watching = watchMarks();
    await daemon.restart();
    for (const name of marks) await daemon.waitForServer(name, 'ready');
    for (const pgid of pgids) expect(livingIn(pgid)).toEqual([]);
    expect((await watching.stop())['killed-direct']).toBe(1);
    expect(await groups(daemon)).not.toEqual(pgids);
    await daemon.kill();
  });
});

describe('A server that dies during calls', { timeout: 60_000 }, () => {
  type End = readonly [tool: string, args: Record<string, unknown>, fact: object, words: string];
  const ends: readonly End[] = [
    ['die', {}, { exitCode: 3, signal: null }, 'exited with code 3: fatal: the tool die was called'],
    ['die', { code: 0, message: 'bye' }, { exitCode: 0, signal: null }, 'exited with code 0: bye'],
    ['die', { code: 255, message: 'worse' }, { exitCode: 255, signal: null }, 'exited with code 255: worse'],
    ['killed', {}, { exitCode: null, signal: 'SIGKILL' }, 'was ended by SIGKILL'],
    [
      'killed',
      { signal: 'SIGTERM', message: 'told' },
      { exitCode: null, signal: 'SIGTERM' },
      'was ended by SIGTERM; its last words: told',
    ],
    ['killed', { signal: 'SIGSEGV' }, { exitCode: null, signal: 'SIGSEGV' }, 'was ended by SIGSEGV'],
    ['killed', { signal: 'SIGABRT' }, { exitCode: null, signal: 'SIGABRT' }, 'was ended by SIGABRT'],
    ['killed', { signal: 'SIGHUP' }, { exitCode: null, signal: 'SIGHUP' }, 'was ended by SIGHUP'],
    ['orphan', {}, { exitCode: 0, signal: null }, 'exited with code 0: grandchild'],
    ['orphan', { detached: true, ms: 20_000 }, { exitCode: 0, signal: null }, 'exited with code 0: grandchild'],
  ];
  const nameOf = (n: number) => `mortal-${n}`;
  let daemon: Daemon;

  beforeAll(async () => {
    const servers = Object.fromEntries(ends.map((_, n) => [nameOf(n), stdioEntry({}, { callTimeoutMs: 25_000 })]));
    daemon = await startDaemon({ servers, settings: { start: { parallel: 10 } } });
    for (const name of Object.keys(servers)) await daemon.waitForServer(name, 'ready');
  });
  afterAll(() => daemon.stop());

  it.each(ends.map((end, n) => [n, ...end] as const))(
    'fails every call under way at once, is seen as lost and comes back (case %i: %s %o)',
    async (n, tool, args, fact, words) => {
      const name = nameOf(n);
      const { pid } = await daemon.server(name);
      const sleeping = [60_000, 50_000].map((ms) => daemon.call(`mcp__${name}__sleep`, { ms }));
      await until(
        async () => (await daemon.api('GET', `/v1/mcp/calls?state=running&server=${name}`)).body.calls.length === 2,
      );
      const replies = await Promise.all([...sleeping, daemon.call(`mcp__${name}__${tool}`, args)]);
      for (const { status, body } of replies) {
        expect(status).toBe(502);
        expect(body.outcome).toBe('unknown');
        expect(body.detail).toContain(words);
      }
      const row = await daemon.waitForServer(name, (server) => server.state === 'ready' && server.pid !== pid);
      expect(row.error).toBeNull();
      expect(isAlive(pid)).toBe(false);
      expect(textOf(await daemon.call(`mcp__${name}__echo`, { text: 'back' }))).toBe('back');

      const lost = await factsOf(daemon, name, 'SessionLost');
      expect(lost).toHaveLength(1);
      expect(lost[0].data.failure).toMatchObject({ class: 'exit', ...fact });
      expect(await factsOf(daemon, name, 'Connected')).toHaveLength(2);
      expect(await leftDefunct(daemon)).toEqual([]);
    },
  );

  it('and does not come back fails later calls at once instead of parking them', async () => {
    const fake = steered();
    const shaky = await startDaemon({ servers: { shaky: stdioEntry(fake.options) } });
    await shaky.waitForServer('shaky', 'ready');
    fake.set({ start: { exit: { code: 9, stderr: 'cannot start any more' } } });
    await shaky.call('mcp__shaky__die');
    await shaky.waitForServer('shaky', ({ state, attempt }) => state === 'backing-off' && attempt >= 3);
    const { nextAttemptAt } = await shaky.server('shaky');
    const reply = await shaky.call('mcp__shaky__echo', { text: 'anyone?' });
    expect(reply).toMatchObject({ status: 503, body: { outcome: 'failed' } });
    expect(Date.now()).toBeLessThan(Date.parse(nextAttemptAt));
    expect((await shaky.tools('shaky')).every(({ stale }) => stale)).toBe(true);
    fake.set({ start: {} });
    await shaky.waitForServer('shaky', 'ready', 20_000);
    expect(textOf(await shaky.call('mcp__shaky__echo', { text: 'yes' }))).toBe('yes');
    await shaky.stop();
  });
});

describe('What a child is given', { timeout: 60_000 }, () => {
  let daemon: Daemon;
  let folder: string;

  beforeAll(async () => {
    folder = tempDir();
    const plainFile = join(folder, 'plain.txt');
    const script = join(folder, 'no-interpreter');
    writeFileSync(plainFile, 'hello\n', { mode: 0o644 });
    writeFileSync(script, '#!/no/such/interpreter\n', { mode: 0o755 });
    mkdirSync(join(folder, 'work'));
    const notFound = (command: string, args: string[] = []) => ({ command, args });
    daemon = await startDaemon({
      env: {
        SECRET_X: '1',
        SECRET_Y: '2',
        LC_TIME: 'C',
        HTTPS_PROXY: 'http://127.0.0.1:9',
        XDG_CACHE_HOME: '/tmp/cache',
      },
      servers: {
        plain: stdioEntry(),
        declared: stdioEntry({}, { env: { GREETING: 'hello', EMPTY: '' } }),
        'own-path': stdioEntry({}, { env: { PATH: '/nowhere' } }),
        asked: stdioEntry({}, { env: { X: '$SECRET_X' } }),
        inheriting: stdioEntry({}, { inheritEnv: ['SECRET_X'] }),
        'inheriting-all': stdioEntry({}, { inheritEnv: true }),
        cwd: stdioEntry({}, { cwd: join(folder, 'work') }),
        'cwd-missing': stdioEntry({}, { cwd: join(folder, 'nowhere') }),
        'cwd-file': stdioEntry({}, { cwd: plainFile }),
        windows: notFound('cmd', ['/c', 'npx', '-y', 'some-server']),
        missing: notFound('no-such-command-anywhere'),
        'missing-path': notFound(join(folder, 'bin/server')),
        'not-executable': notFound(plainFile),
        'a-folder': notFound(folder),
        'no-interpreter': notFound(script),
        'too-long': notFound('node', ['x'.repeat(200_000)]),
      },
      settings: { start: { parallel: 20 } },
    });
    for (const { name } of await daemon.status()) {
      await daemon.waitForServer(name, ({ state }) => state === 'ready' || state === 'failed');
    }
  });
  afterAll(() => daemon.stop());

  const whoami = async (name: string) => JSON.parse(textOf(await daemon.call(`mcp__${name}__whoami`)));

  it('is a base environment without anything else of the daemon', async () => {
    const { env, cwd } = await whoami('plain');
    expect(env).toMatchObject({
      PATH: process.env.PATH,
      HOME: daemon.home,
      LC_TIME: 'C',
      HTTPS_PROXY: 'http://127.0.0.1:9',
      XDG_CACHE_HOME: '/tmp/cache',
    });
    expect(env).not.toHaveProperty('SECRET_X');
    expect(env).not.toHaveProperty('SECRET_Y');
    expect(typeof cwd).toBe('string');
  });

  it('is what the entry declares, added to the base', async () => {
    expect((await whoami('declared')).env).toMatchObject({
      GREETING: 'hello',
      EMPTY: '',
      PATH: process.env.PATH,
      HOME: daemon.home,
    });
    expect((await whoami('declared')).env).not.toHaveProperty('SECRET_X');
    expect((await whoami('own-path')).env.PATH).toBe('/nowhere');
    const asked = (await whoami('asked')).env;
    expect(asked.X).toBe('1');
    expect(asked).not.toHaveProperty('SECRET_X');
  });

  it('is more of the daemon only where the entry says so', async () => {
    const some = (await whoami('inheriting')).env;
    expect(some.SECRET_X).toBe('1');
    expect(some).not.toHaveProperty('SECRET_Y');
    expect((await whoami('inheriting-all')).env).toMatchObject({ SECRET_X: '1', SECRET_Y: '2' });
  });

  it('is the folder of the entry', async () => {
    expect((await whoami('cwd')).cwd).toBe(join(folder, 'work'));
  });

  it.each([
    ['cwd-missing', /"cwd" does not exist/],
    ['cwd-file', /"cwd" is not a folder/],
    ['windows', /command not found: cmd/],
    ['missing', /command not found: no-such-command-anywhere/],
    ['missing-path', /command not found: .*bin\/server/],
    ['not-executable', /plain\.txt may not be executed/],
    ['a-folder', /may not be executed/],
    ['no-interpreter', /interpreter .* not found/],
    ['too-long', /too long/],
  ])('or nothing: %s is one clear error and is not tried again', async (name, words) => {
    const row = await daemon.server(name);
    expect(row).toMatchObject({
      state: 'failed',
      connected: false,
      error: { class: 'spawn' },
      nextAttemptAt: null,
      pid: null,
    });
    expect(row.error.message).toMatch(words);
    expect(row.error.message).toMatch(/^spawn: /);
    await pause(300);
    expect((await typesOf(daemon, name)).slice(-2)).toEqual(['ConnectStarted', 'ServerFailed']);
    expect(await factsOf(daemon, name, 'ConnectStarted', 'ReconnectStarted')).toHaveLength(1);
  });

  it('is looked for again when someone asks for it', async () => {
    const command = join(folder, 'late');
    const entry = stdioEntry() as { command: string; args: string[] };
    expect((await daemon.api('POST', '/v1/mcp', { name: 'late', server: { command, args: entry.args } })).status).toBe(
      200,
    );
    await daemon.waitForServer('late', 'failed');
    writeFileSync(command, `#!/bin/sh\nexec '${entry.command}' "$@"\n`);
    chmodSync(command, 0o755);
    const { body } = await daemon.api('POST', '/v1/mcp/reconnect', { name: 'late' });
    expect(body).toMatchObject({ ok: true, servers: [{ name: 'late', ok: true, state: 'ready' }] });
  });

  it('is never the home of the person who runs the tests', () => {
    expect(daemon.home).not.toBe(homedir());
  });
});

describe('A server that leaves right after it connected', { timeout: 60_000 }, () => {
  const leaves: readonly (readonly [name: string, leave: Behaviour['leave']])[] = [
    ['code-0', { code: 0, ms: 50 }],
    ['code-1', { code: 1, ms: 20, stderr: 'no more work' }],
    ['killed', { signal: 'SIGKILL', ms: 50 }],
    ['at-once', { code: 0, ms: 0 }],
    ['before-the-list', { code: 0, ms: 0, after: 'initialize' }],
  ];
  const fakes = new Map(leaves.map(([name, leave]) => [name, steered({ behaviour: { leave } })]));
  const spawns = (name: string) => fakes.get(name)?.counted('spawn') ?? 0;
  let daemon: Daemon;

  beforeAll(async () => {
    const servers = Object.fromEntries([...fakes].map(([name, fake]) => [name, stdioEntry(fake.options)]));
    daemon = await startDaemon({ servers, settings: { start: { parallel: 10 } } });
    await pause(7_000);
  });
  afterAll(() => daemon.stop());

  it.each(leaves)('is started ever less often (%s)', async (name) => {
    // At 0 s, at once after the first loss, then after pauses that grow from half a second on.
    expect(spawns(name)).toBeGreaterThanOrEqual(3);
    expect(spawns(name)).toBeLessThanOrEqual(8);
    const pauses = (await factsOf(daemon, name, 'ReconnectDelayed', 'ConnectFailed')).map(({ data }) => data.delayMs);
    pauses.forEach((delayMs, n) => {
      // A loss counts one less than a failed start: half of the full pause of the one before at least, less the time it was up.
      expect.soft(delayMs, `pause ${n}`).toBeGreaterThan(125 * 2 ** n - 200);
      expect.soft(delayMs, `pause ${n}`).toBeLessThanOrEqual(500 * 2 ** n);
    });
    expect(pauses.length).toBeGreaterThanOrEqual(2);
    const rows = await factsOf(daemon, name);
    expect(rows.length).toBeLessThanOrEqual(3 + 8 * spawns(name));
  });

  it('shows when it is tried next, and why', async () => {
    const row = await daemon.waitForServer('code-1', 'backing-off');
    expect(row).toMatchObject({ connected: false, pid: null, error: { class: 'exit' } });
    expect(row.error.message).toContain('exited with code 1: no more work');
    expect(Date.parse(row.nextAttemptAt)).toBeGreaterThan(Date.parse(row.since));
    expect(row.attempt).toBeGreaterThan(1);
  });

  it('is not started again once it is disabled, and starts anew when it is enabled', async () => {
    const fake = steered({ behaviour: { leave: { code: 0 } } });
    const own = await startDaemon({ servers: { leaver: stdioEntry(fake.options) } });
    const { nextAttemptAt } = await own.waitForServer('leaver', 'backing-off');
    expect((await own.api('POST', '/v1/mcp/disable', { name: 'leaver' })).status).toBe(200);
    await own.waitForServer('leaver', 'disabled');
    const { length: rows } = await factsOf(own, 'leaver');
    const spawned = fake.counted('spawn');
    await pause(Math.max(0, Date.parse(nextAttemptAt) - Date.now()) + 1_000);
    expect(fake.counted('spawn')).toBe(spawned);
    expect(await factsOf(own, 'leaver')).toHaveLength(rows);

    fake.set({ leave: undefined });
    expect((await own.api('POST', '/v1/mcp/enable', { name: 'leaver' })).status).toBe(200);
    await own.waitForServer('leaver', 'ready');
    expect(fake.counted('spawn')).toBe(spawned + 1);
    await own.stop();
  });

  it('is forgiven once it has held for a while', async () => {
    const fake = steered();
    const servers = { settling: stdioEntry(fake.options, { stableMs: 700 }) };
    const calm = await startDaemon({ servers });
    await calm.waitForServer('settling', 'ready');
    await calm.call('mcp__settling__die');
    await until(async () => (await factsOf(calm, 'settling', 'SettledDown')).length === 1);
    await calm.call('mcp__settling__die');
    await calm.waitForServer('settling', 'ready');
    // Both losses were the first of their kind: renewed at once.
    expect(await factsOf(calm, 'settling', 'SessionLost')).toHaveLength(2);
    expect(await factsOf(calm, 'settling', 'ReconnectDelayed')).toHaveLength(0);
    await calm.stop();
  });
});
