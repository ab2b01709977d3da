import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { launcherEntry, steered } from '../support/fixtures.ts';
import { needsPython } from '../support/needs.ts';
import { blockingStderr } from '../support/paths.ts';
import { groupMembers, isAlive, processInfo, signal, untilGone } from '../support/processes.ts';
import { until } from '../support/wait.ts';
import {
  call,
  callError,
  childEnv,
  fakeEntry,
  list,
  open,
  openFailure,
  programEntry,
  scriptEntry,
  textOf,
} from './opening.ts';

const alive = (pgid: number) => groupMembers(pgid).filter(({ state }) => state !== 'Z');

describe('start', () => {
  it('connects, lists and calls', async () => {
    const { connection, processes } = await open(fakeEntry());
    expect(connection.agreement).toMatchObject({
      transport: 'stdio',
      era: 'legacy',
      protocolVersion: '2025-11-25',
      serverInfo: { name: 'fake' },
    });
    expect((await list(connection)).tools.map(({ name }) => name)).toContain('echo');
    expect(textOf(await call(connection, 'echo', { text: 'hello' }))).toBe('hello');
    expect(processes).toHaveLength(1);
    await connection.close();
    expect(processInfo(processes[0]?.pid ?? 0)).toBeNull();
  });

  it('writes nothing to the process before its start is recorded', async () => {
    const fake = steered();
    let release: () => void = () => {};
    const recorded = new Promise<void>((resolve) => {
      release = resolve;
    });
    const opening = open(fakeEntry(fake.options), { onProcess: () => recorded });
    await until(() => fake.counted('spawn') === 1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(fake.counts().map(({ event }) => event)).toEqual(['spawn']);
    release();
    await opening;
    expect(fake.counted('initialize')).toBe(1);
  });

  it('ends the process when its start cannot be recorded', async () => {
    let pid = 0;
    const failure = await openFailure(fakeEntry(), {
      onProcess: async (process) => {
        pid = process.pid;
        throw new Error('the log is full');
      },
    });
    expect(failure).toMatchObject({
      class: 'overload',
      message: 'spawn: the start could not be recorded: the log is full',
    });
    expect(isAlive(pid)).toBe(false);
  });

  it('gives the child exactly the environment of the entry, the mark of the run, and its own process group', async () => {
    process.env.WK_TEST_PARENT_SECRET = 'parent';
    const { connection, processes } = await open(fakeEntry({}, { env: { ...childEnv, TOKEN: 'abc' } }), {
      runId: 'run-42',
    });
    const who = JSON.parse(textOf(await call(connection, 'whoami')));
    delete process.env.WK_TEST_PARENT_SECRET;
    expect(who.env).toMatchObject({
      TOKEN: 'abc',
      WATCHKEEPER_RUN: 'run-42',
      PATH: childEnv.PATH,
      HOME: childEnv.HOME,
    });
    expect(who.env).not.toHaveProperty('WK_TEST_PARENT_SECRET');
    expect(processInfo(who.pid)?.pgid).toBe(processes[0]?.pid);
  });

  it('starts the command in the folder of the entry', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'wk-cwd-'));
    const { connection } = await open(fakeEntry({}, { cwd }));
    expect(JSON.parse(textOf(await call(connection, 'whoami'))).cwd).toBe(cwd);
  });

  const notExecutable = join(mkdtempSync(join(tmpdir(), 'wk-file-')), 'plain');
  writeFileSync(notExecutable, 'x', { mode: 0o644 });
  const noInterpreter = join(mkdtempSync(join(tmpdir(), 'wk-file-')), 'script');
  writeFileSync(noInterpreter, '#!/no/such/interpreter\n', { mode: 0o755 });

  it.each([
    [
      'a command that does not exist',
      { command: 'no-such-command-here' },
      /^spawn: command not found: no-such-command-here/,
    ],
    ['a Windows command', { command: 'cmd', args: ['/c', 'npx', 'server'] }, /^spawn: command not found: cmd/],
    [
      'a folder that does not exist',
      { cwd: '/no/such/folder' },
      /^spawn: the folder in "cwd" does not exist: \/no\/such\/folder/,
    ],
    ['a folder that is a file', { cwd: notExecutable }, /^spawn: the folder in "cwd" is not a folder/],
    ['a file that may not be executed', { command: notExecutable }, /may not be executed \(EACCES\)/],
    [
      'a script without its interpreter',
      { command: noInterpreter },
      /^spawn: the interpreter named in the first line of /,
    ],
    ['arguments the machine cannot take', { args: ['x'.repeat(4_000_000)] }, /too long/],
  ])('%s is a failure of the start that says so', async (_, more, message) => {
    const failure = await openFailure(fakeEntry({}, more));
    expect(failure).toMatchObject({ class: 'spawn', phase: 'spawn' });
    expect(failure.message).toMatch(message);
  });

  it('tells exit code and last words of a process that ends at once, and starts it no more than twice', async () => {
    const fake = steered({
      behaviour: { start: { exit: { code: 7, stderr: ['Traceback', 'ValueError: no API key'] } } },
    });
    const failure = await openFailure(fakeEntry(fake.options));
    expect(failure).toMatchObject({ class: 'exit', phase: 'initialize', exitCode: 7, signal: null });
    expect(failure.message).toContain('exited with code 7: ValueError: no API key');
    expect(failure.stderrTail).toBe('Traceback\nValueError: no API key\n');
    expect(fake.counted('spawn')).toBe(2);
    // Once it is known, each further attempt is one start.
    await openFailure(fakeEntry(fake.options));
    expect(fake.counted('spawn')).toBe(3);
  });

  it('says that initialize was not answered, and leaves no process', async () => {
    const fake = steered({ behaviour: { answers: { '*': { never: true, stderr: 'waiting for the database' } } } });
    const failure = await openFailure(fakeEntry(fake.options), { limitMs: 700 });
    expect(failure).toMatchObject({ class: 'timeout', phase: 'initialize' });
    expect(failure.message).toContain('waiting for the database');
    expect(isAlive(fake.pid())).toBe(false);
  });

  it('takes an error in answer to initialize at its word', async () => {
    const fake = steered({
      behaviour: { answers: { initialize: { error: { code: -32603, message: 'licence expired' } } } },
    });
    const failure = await openFailure(fakeEntry(fake.options));
    expect(failure).toMatchObject({
      class: 'handshake',
      phase: 'initialize',
      message: 'initialize: the server answered with error -32603: licence expired',
    });
    expect(isAlive(fake.pid())).toBe(false);
  });

  it('ends everything when the attempt is called off, even before the process is recorded', async () => {
    const stop = new AbortController();
    let pid = 0;
    const failure = await openFailure(
      fakeEntry({ behaviour: { stubborn: 'eof', answers: { '*': { never: true } } } }),
      {
        signal: stop.signal,
        onProcess: async (process) => {
          pid = process.pid;
          stop.abort();
        },
      },
    );
    expect(failure.class).toBe('timeout');
    expect(alive(pid)).toEqual([]);
  });

  it('starts nothing when the attempt was called off before', async () => {
    const fake = steered();
    await openFailure(fakeEntry(fake.options), { signal: AbortSignal.abort() });
    expect(fake.counted('spawn')).toBe(0);
  });
});

describe('stdout', () => {
  const noisy = [
    'Welcome to the server!',
    '',
    '123',
    '{}',
    'сервер запущен — 起動しました',
    '[1, 2]',
    '{"not": "closed"',
    '{"jsonrpc":"2.0"}',
  ];

  it('skips what is not protocol and says so once, with a short sample', async () => {
    const { connection, warnings } = await open(fakeEntry({ behaviour: { start: { stdout: noisy } } }));
    expect(textOf(await call(connection, 'echo', { text: 'still here' }))).toBe('still here');
    await call(connection, 'noise', { stdout: { lines: 1000 } });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('Welcome to the server!');
    expect(warnings[0]?.length).toBeLessThan(250);
  });

  it('loses only the request whose answer is glued to other text', async () => {
    const { connection } = await open(
      fakeEntry({ behaviour: { answers: { 'tools/call': { times: 1, glue: 'DEBUG ' } } } }),
    );
    const error = await callError(connection, 'echo', { text: 'x' }, { idleMs: 300 });
    expect(error).toMatchObject({ kind: 'timeout', detail: { sent: true, limit: 'callTimeoutMs' } });
    expect(textOf(await call(connection, 'echo', { text: 'x' }))).toBe('x');
  });

  it('takes a line of 12 MiB', async () => {
    const { connection } = await open(fakeEntry());
    expect(textOf(await call(connection, 'big', { bytes: 12 * 1_048_576 }))).toHaveLength(12 * 1_048_576);
  });

  it('keeps characters whole that are cut between two reads', async () => {
    const { connection } = await open(fakeEntry());
    const text = textOf(await call(connection, 'multibyte', { lead: 1, char: '€', count: 200_000 }));
    expect(text).toBe(`x${'€'.repeat(200_000)}`);
  });

  it('loses a server that writes a line above 64 MiB', async () => {
    const { connection } = await open(
      programEntry(`
        import { createInterface } from 'node:readline';
        const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
        createInterface({ input: process.stdin }).on('line', (line) => {
          const { id, method, params } = JSON.parse(line);
          if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } } });
          else if (method === 'tools/call') for (let n = 0; n < 70; n += 1) process.stdout.write('x'.repeat(1_048_576));
          else if (id !== undefined) send({ id, error: { code: -32601, message: 'no' } });
        });`),
    );
    const error = await callError(connection, 'anything');
    expect(error.kind).toBe('lost');
    expect(await connection.lost).toMatchObject({
      class: 'protocol',
      message: 'watch: on stdout a line is longer than 64 MiB',
    });
  });

  it('reads an answer written right before the process ends', async () => {
    const { connection } = await open(fakeEntry({ behaviour: { leave: { after: 'tools/call', ms: 0, code: 0 } } }));
    expect(textOf(await call(connection, 'big', { bytes: 300_000 }))).toHaveLength(300_000);
    expect(await connection.lost).toMatchObject({ class: 'exit', exitCode: 0 });
  });
});

describe('stderr', () => {
  it('never stops a server that writes a lot to it', async (context) => {
    needsPython(context);
    const { connection } = await open(scriptEntry([blockingStderr], { command: 'python3' }));
    for (let n = 0; n < 20; n += 1) expect(textOf(await call(connection, 'echo', { text: `${n}` }))).toBe(`${n}`);
    const error = await callError(connection, 'die');
    expect(error.detail.failure).toMatchObject({ class: 'exit', exitCode: 3 });
    expect(error.message).toContain('fatal: the tool die was called');
    expect(Buffer.byteLength(error.detail.failure?.stderrTail ?? '')).toBeLessThanOrEqual(4096);
  });

  it('is shown without the secrets of the entry', async () => {
    const entry = fakeEntry({}, { env: { ...childEnv, KEY: 'tr0ub4dor' }, secrets: ['tr0ub4dor'] });
    const { connection } = await open(entry);
    const error = await callError(connection, 'die', {
      message: 'login with tr0ub4dor failed, Authorization: Bearer abcdefgh',
    });
    expect(error.detail.failure?.stderrTail).toBe('login with *** failed, Authorization: Bearer ***\n');
    expect(JSON.stringify([error.message, error.detail])).not.toContain('tr0ub4dor');
  });
});

describe('end', () => {
  it.each([
    ['a code', 'die', { code: 3 }, { exitCode: 3, signal: null }],
    ['a signal', 'killed', { signal: 'SIGKILL' }, { exitCode: null, signal: 'SIGKILL' }],
    ['another signal', 'killed', { signal: 'SIGSEGV' }, { exitCode: null, signal: 'SIGSEGV' }],
  ])('fails every call at once when the process ends with %s', async (_, tool, args, how) => {
    const { connection } = await open(fakeEntry());
    const waiting = [
      callError(connection, 'sleep', { ms: 60_000 }),
      callError(connection, 'sleep', { ms: 60_000 }),
      callError(connection, tool, args),
    ];
    for (const error of await Promise.all(waiting)) {
      expect(error).toMatchObject({ kind: 'lost', detail: { sent: true, failure: { class: 'exit', ...how } } });
    }
    expect(await connection.lost).toMatchObject({ class: 'exit', phase: 'watch', ...how });
    expect(await callError(connection, 'echo')).toMatchObject({ kind: 'not-sent', detail: { sent: false } });
    await expect(list(connection)).rejects.toThrow(/the process/);
  });

  it('sees the end of the process though a grandchild holds its pipes, and ends the grandchild', async () => {
    const { connection, processes } = await open(fakeEntry());
    const pid = processes[0]?.pid ?? 0;
    const error = await callError(connection, 'orphan', { ms: 60_000 });
    expect(error.detail.failure).toMatchObject({ class: 'exit', exitCode: 0 });
    await until(() => alive(pid).length === 0);
    await connection.close();
  });

  it('ends a process that leaves when stdin closes without a signal', async () => {
    const fake = steered();
    const { connection } = await open(fakeEntry(fake.options));
    await connection.close();
    expect(isAlive(fake.pid())).toBe(false);
    expect(fake.counts().at(-1)).toMatchObject({ event: 'exit', name: '0' });
    await expect(Promise.race([connection.lost, Promise.resolve('pending')])).resolves.toBe('pending');
  });

  it('leaves no process of a launcher that passes no signal on to a server that ignores everything', async () => {
    const fake = steered({ behaviour: { stubborn: true } });
    const { command, args } = launcherEntry({ ...fake.options, stay: true }) as { command: string; args: string[] };
    const { connection, processes } = await open(scriptEntry(args, { command }));
    const pid = processes[0]?.pid ?? 0;
    expect(alive(pid)).toHaveLength(2);
    await connection.close();
    expect(alive(pid)).toEqual([]);
    expect(fake.counted('signal')).toBe(1);
  }, 15_000);

  it('ends the server when its launcher was killed', async () => {
    const fake = steered({ behaviour: { stubborn: 'eof' } });
    const { command, args } = launcherEntry(fake.options) as { command: string; args: string[] };
    const { connection, processes } = await open(scriptEntry(args, { command }));
    signal(processes[0]?.pid ?? 0, 'SIGKILL');
    expect(await connection.lost).toMatchObject({ class: 'exit', signal: 'SIGKILL' });
    await connection.close();
    expect(isAlive(fake.pid())).toBe(false);
  });

  it('counts a process that closes its stdout and lives on as lost', async () => {
    const { connection, processes } = await open(
      programEntry(`
        import { closeSync } from 'node:fs';
        import { createInterface } from 'node:readline';
        const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
        createInterface({ input: process.stdin }).on('line', (line) => {
          const { id, method, params } = JSON.parse(line);
          if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo: { name: 'x', version: '1' } } });
          else if (method === 'tools/call') closeSync(1);
          else if (id !== undefined) send({ id, error: { code: -32601, message: 'no' } });
        });`),
    );
    const error = await callError(connection, 'anything');
    expect(error).toMatchObject({ kind: 'lost', detail: { failure: { class: 'transport' } } });
    await connection.close();
    await untilGone(processes[0]?.pid ?? 0);
  });

  it('closes once, however often it is asked', async () => {
    const { connection } = await open(fakeEntry());
    await Promise.all([connection.close(), connection.close()]);
    await connection.close();
    expect(await callError(connection, 'echo')).toMatchObject({ kind: 'not-sent' });
  });

  it('fails calls under way when it is closed', async () => {
    const { connection } = await open(fakeEntry());
    const error = callError(connection, 'sleep', { ms: 60_000 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await connection.close();
    expect(await error).toMatchObject({ kind: 'lost', detail: { sent: true } });
  });
});
