import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toolsHistory } from '../../src/http/contract.catalog.ts';
import { why as shape } from '../../src/http/contract.why.ts';
import { factsOfBundle } from '../../src/replay/bundle.ts';
import { type Daemon, runCli, startDaemon } from '../support/daemon.ts';
import { type Steered, stdioEntry, steered } from '../support/fixtures.ts';
import { signal } from '../support/processes.ts';

const tool = (description: string, type: string) => ({
  name: 'read',
  description,
  inputSchema: { type: 'object', properties: { path: { type } } },
});

describe('A daemon is asked why', { timeout: 60_000 }, () => {
  let daemon: Daemon;
  let flaky: Steered;
  const secret = 'correct-horse-battery';

  const whyOf = async (name: string, at?: string | number) => {
    const query = at === undefined ? '' : `&at=${encodeURIComponent(at)}`;
    const { status, body } = await daemon.api('GET', `/v1/mcp/why?name=${name}${query}`);
    expect(status).toBe(200);
    return shape.parse(body);
  };

  beforeAll(async () => {
    flaky = steered({
      behaviour: { tools: [tool('Reads a file.', 'string')], info: { name: 'reader', version: '1.0.0' } },
    });
    daemon = await startDaemon({
      servers: {
        flaky: stdioEntry(flaky.options, { env: { KEY: '${KEY}' } }),
        broken: stdioEntry({ behaviour: { start: { exit: { code: 3, stderr: 'cannot open the index' } } } }),
        absent: { command: 'no-such-command-anywhere' },
        unset: { command: 'node', env: { TOKEN: '${NOT_SET_ANYWHERE}' } },
        off: { command: 'node', disabled: true },
        later: stdioEntry({}, { lazy: true }),
      },
      allow: ['mcp__flaky__read'],
      variables: { KEY: secret },
      env: { USER: 'someone-here' },
    });
    await daemon.waitForServer('flaky', 'ready');
    await daemon.waitForServer('broken', 'backing-off');
  });
  afterAll(() => daemon.stop());

  it.each([
    [
      'flaky',
      ['ready'],
      /^Ready for .* with 1 tool, since the first attempt\. The connection was not lost today\.$/,
      null,
    ],
    [
      'broken',
      ['backing-off', 'reconnecting'],
      /\(exit\): initialize: the process exited with code 3: cannot open the index/,
      undefined,
    ],
    ['absent', ['failed'], /The last failure: spawn: .*no-such-command-anywhere/, 'watchkeeper reconnect absent'],
    ['unset', ['failed'], /\(config\): env\.TOKEN needs the variable NOT_SET_ANYWHERE/, 'watchkeeper config check'],
    ['off', ['disabled'], /^Disabled/, 'watchkeeper enable off'],
    ['later', ['idle'], /lazy/, 'watchkeeper reconnect later'],
  ])('%s is as it is, and answers what it is and what to do', async (name, states, summary, command) => {
    const why = await whyOf(name);
    expect(states).toContain(why.state);
    expect(why.summary).toMatch(summary);
    if (command !== undefined) expect(why.next?.command ?? null).toBe(command);
    for (const { position, fact } of why.chain)
      expect((await daemon.events({ after: position - 1 }))[0]).toMatchObject({ position, type: fact });
  });

  it('what led from a kill to being ready again, with the last words of the process', async () => {
    const before = (await whyOf('flaky')).position;
    const { pid } = await daemon.server('flaky');
    signal(pid, 'SIGKILL');
    await daemon.waitForServer('flaky', (row) => row.state === 'ready' && row.pid !== pid);
    const why = await whyOf('flaky');
    expect(why.chain.map(({ fact }) => fact)).toEqual([
      'ToolsListed',
      'Connected',
      'ReconnectStarted',
      'SessionLost',
      'ToolsListed',
    ]);
    expect(why.failure).toMatchObject({ class: 'exit', phase: 'watch', signal: 'SIGKILL' });
    expect(why.losses).toEqual({ today: 1, atLeast: false });
    const then = await whyOf('flaky', before);
    expect(then).toMatchObject({ state: 'ready', until: { fact: 'SessionLost', state: 'session-lost' } });
    expect(then.since).not.toBe(why.since);
  });

  it('is not sure which server is meant, and names the near one', async () => {
    const { status, body } = await daemon.api('GET', '/v1/mcp/why?name=flakey');
    expect([status, body.code]).toEqual([404, 'unknown-server']);
    expect(body.detail).toContain('Did you mean "flaky"?');
    const { code, stderr } = await runCli(daemon, ['why', 'flakey']);
    expect(code).toBe(1);
    expect(stderr).toContain('watchkeeper why flaky');
  });

  it('how a granted tool changed, word by word, and that its grant was suspended', async () => {
    await daemon.waitFor(async () => (await daemon.tools('flaky'))[0]?.allowed);
    const before = (await daemon.events()).at(-1).position;
    flaky.set({ tools: [tool('Reads or deletes a file.', 'number'), 'echo'], orders: [{ id: 1, do: 'announce' }] });
    await daemon.waitForServer('flaky', ({ tools }) => tools === 2);
    await daemon.waitFor(async () => (await daemon.api('GET', '/v1/allowlist')).body.tool.suspended.length > 0);

    const { body } = await daemon.api('GET', `/v1/mcp/tools/history?server=flaky&from=${before}`);
    const { changes, difference, tools } = toolsHistory.parse(body);
    expect(changes).toMatchObject([
      { name: 'mcp__flaky__echo', change: 'added', grant: null },
      {
        name: 'mcp__flaky__read',
        change: 'changed',
        parts: ['description', 'inputSchema'],
        grant: { entry: 'mcp__flaky__read', suspended: true },
      },
    ]);
    expect(difference?.map(({ name, change }) => `${change} ${name}`)).toEqual([
      'added mcp__flaky__echo',
      'changed mcp__flaky__read',
    ]);
    const read = tools.find(({ tool: name }) => name === 'read');
    expect(read?.firstSeen.position).toBeLessThan(before);
    expect(read?.lastChanged.position).toBeGreaterThan(before);

    const { code, stdout, stderr } = await runCli(daemon, ['tools', 'flaky', '--changes', '--from', String(before)]);
    expect(code).toBe(0);
    expect(stdout).toContain('+ mcp__flaky__echo');
    expect(stdout).toContain('~ mcp__flaky__read  granted; this change suspended the grant');
    expect(stdout).toContain('description: Reads {+or deletes +}a file.');
    expect(stdout).toContain('inputSchema.path.type: [-"string"-] {+"number"+}');
    expect(stderr).toContain('Calls of these ask again: mcp__flaky__read.');
    expect((await runCli(daemon, ['tools', 'flaky', '--diff', '--from', String(before)])).stdout).toMatch(
      /^ {2}\+ mcp__flaky__echo\n {2}~ mcp__flaky__read\n/,
    );
    const { changes: since } = await whyOf('flaky');
    expect(since.map(({ kind }) => kind)).toEqual(['tools', 'daemon']);
    expect(since[0]?.text).toBe('Its tool list changed: 1 tool added (echo) and 1 tool changed (read).');
  });

  it('and bundles what it knows, readable by tar and by its owner only, without a secret or a home', async () => {
    flaky.set({
      orders: [{ id: 2, do: 'exit', code: 9, stderr: `the key is ${secret} of someone-here in ${daemon.home}/x` }],
    });
    await daemon.waitFor(async () => (await whyOf('flaky')).losses.today === 2);
    const { code, stdout } = await runCli(daemon, ['bundle', 'flaky'], { env: { USER: 'someone-here' } });
    expect(code).toBe(0);
    const [file = ''] = stdout.split(' (', 1);
    expect(basename(file)).toMatch(/^watchkeeper-flaky-\d{8}T\d{6}Z\.tar\.gz$/);
    expect(stdout).toContain('timeline.txt');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    execFileSync('tar', ['xzf', file], { cwd: daemon.home });
    const folder = file.replace('.tar.gz', '');
    const all = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    expect(all).toHaveLength(9);
    for (const text of all) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(daemon.home);
      expect(text).not.toContain('someone-here');
      expect(text).not.toContain('broken');
    }
    expect(readFileSync(join(folder, 'stderr.txt'), 'utf8')).toContain('the key is *** of <user> in <home>/x');
    expect(JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')).entry.env).toEqual({ KEY: '${KEY}' });
    const facts = await factsOfBundle(file);
    const logged = (await daemon.events({ stream: 'server-flaky' })).map(({ position, type }) => [position, type]);
    expect(
      facts.filter(({ stream }) => stream === 'server-flaky').map(({ position, type }) => [position, type]),
    ).toEqual(logged.slice(0, facts.filter(({ stream }) => stream === 'server-flaky').length));

    writeFileSync(join(daemon.home, 'mine.tar.gz'), 'mine');
    const again = await runCli(daemon, ['bundle', 'flaky', 'mine.tar.gz']);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain('exists already and is left as it is');
    expect(readFileSync(join(daemon.home, 'mine.tar.gz'), 'utf8')).toBe('mine');
  });
});

describe('Without a daemon', { timeout: 60_000 }, () => {
  it('the same is told from the files: of one that was stopped, and of one that died', async () => {
    const fake = steered();
    const daemon = await startDaemon({
      servers: { one: stdioEntry(fake.options, { env: { KEY: 'literal-secret-1' } }) },
    });
    await daemon.waitForServer('one', 'ready');
    await daemon.stop();
    const stopped = await runCli(daemon, ['why', 'one', '--json']);
    expect(stopped.code).toBe(0);
    expect(shape.parse(JSON.parse(stopped.stdout))).toMatchObject({
      state: 'stopped',
      next: { command: 'watchkeeper up --detach' },
    });
    expect(JSON.parse(stopped.stdout).chain[0]).toMatchObject({ fact: 'DaemonStopped' });

    await daemon.restart();
    await daemon.waitForServer('one', 'ready');
    await daemon.kill();
    const died = await runCli(daemon, ['why', 'one']);
    expect(died.code).toBe(0);
    expect(died.stdout).toMatch(/^one: unobserved since /);
    expect(died.stdout).toContain('When it was last seen it was ready.');
    expect(died.stderr).toContain('No daemon runs; this is what its log says.');
    expect(await runCli(daemon, ['why', 'onee'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('watchkeeper why one'),
    });

    const { code, stdout } = await runCli(daemon, ['bundle', 'one', 'one.tar.gz', '--json']);
    expect(code).toBe(0);
    const { file, bytes } = JSON.parse(stdout);
    expect(statSync(file).size).toBe(bytes);
    expect(execFileSync('tar', ['xzOf', file], { encoding: 'utf8' })).not.toContain('literal-secret-1');
    expect((await factsOfBundle(file)).some(({ type }) => type === 'DaemonStarted')).toBe(true);

    const played = await runCli(daemon, ['replay', '--bundle', 'one.tar.gz']);
    expect(played).toMatchObject({ code: 0, stdout: expect.stringMatching(/listing → ready.*its tools are known/) });
    expect(played.stdout).not.toMatch(/daemon started/);
    writeFileSync(join(daemon.home, 'no.tar.gz'), 'no bundle');
    const refused = await runCli(daemon, ['replay', '--bundle', 'no.tar.gz']);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    const mixed = await runCli(daemon, ['replay', 'one', '--bundle', 'one.tar.gz']);
    expect(mixed).toMatchObject({ code: 2, stderr: expect.stringContaining('A bundle is about one server') });
    const verified = await runCli(daemon, [
      'replay',
      '--bundle',
      'one.tar.gz',
      '--verify',
      '--what-if',
      'connectTimeoutMs=5s',
    ]);
    expect(verified).toMatchObject({ code: 0, stderr: '' });
    expect(verified.stdout).toMatch(/^one: \d+ facts, all explained by the machine\.\n/);
    expect(verified.stdout).toContain('Not in the bundle, and so not looked at:');
    expect(verified.stdout).toMatch(/available .*%/);
  });
});
