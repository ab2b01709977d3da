import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { startOAuthFake } from '../fixtures/oauth-server.ts';
import { makeHome, runCli, startDaemon } from '../support/daemon.ts';
import { fakeArgs, stdioEntry } from '../support/fixtures.ts';
import { needs } from '../support/needs.ts';
import { isAlive, signal } from '../support/processes.ts';
import { onTerminal } from '../support/tmux.ts';
import { until } from '../support/wait.ts';
import { callsOf } from './given.ts';
import { freePort } from './login.ts';

const twoTools = { behaviour: { tools: ['add', 'echo'] } };

/** An entry that says what it lacks and ends. */
const lacking = {
  command: process.execPath,
  args: ['-e', "console.error('DATABASE_URL is not set'); process.exit(3)"],
};

/** Arguments as a person types them. */
const typed = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' ');

describe('On the terminal', () => {
  beforeEach((context) => needs(context, 'tmux'));

  it('a server is added, fails, is mended, granted a tool, asked about, followed back in time and removed', async () => {
    const daemon = await startDaemon({ servers: {} });
    const screen = onTerminal(daemon, ['/mcp', 'add']);
    await screen.see(/Add a server/);

    screen.paste(JSON.stringify({ mcpServers: { notes: lacking } }));
    await screen.see(/Name +notes/);
    screen.keys('C-s');
    await screen.see(/did not work: initialize: .*code 3/);
    expect(screen.text()).toMatch(/│ DATABASE_URL is not set/);
    expect(await daemon.server('notes')).toBeUndefined();
    screen.keys('s');
    await screen.see(/notes {2}↻ backing-off[\s\S]*next try in \d+ s/);

    screen.keys('e');
    await screen.see(/Change notes/);
    screen.keys('Down');
    await screen.see(/› Arguments/);
    screen.keys('C-u');
    screen.paste(typed(fakeArgs(twoTools)));
    await screen.see(/stdio-server/);
    screen.keys('C-s');
    await screen.see(/notes {2}● ready/);

    screen.keys('1');
    await screen.see(/\[ \] echo/);
    screen.keys('End', 'Space');
    await screen.see(/\[x\] echo[\s\S]*/);
    expect(screen.text()).toMatch(/\[-\] all 2 tools/);
    screen.keys('Enter');
    await screen.see(/Saved: 1 run/);
    expect((await daemon.api('GET', '/v1/allowlist')).body.tool.entries).toEqual(['mcp__notes__echo']);

    await runCli(daemon, ['call', 'mcp__notes__add', 'a=1', 'b=2']);
    await screen.see(/A call waits for you[\s\S]*add of notes[\s\S]*a: 1[\s\S]*o once/);
    screen.keys('o');
    await screen.see(/Approved\. It runs once/);
    await daemon.waitFor(async () => (await callsOf(daemon))[0]?.outcome === 'succeeded');
    await screen.unsee(/A call waits/);

    screen.keys('2');
    await screen.see(/› .* ToolsListed/);
    screen.keys('Home');
    await screen.see(/AS OF[\s\S]*› .* ServerConfigured/);
    screen.keys('Right', 'Right', 'Right');
    await screen.see(/notes {2}… connecting[\s\S]*AS OF/);
    screen.keys('Escape');
    await screen.unsee(/AS OF/);
    await screen.see(/notes {2}● ready/);

    screen.keys('d');
    await screen.see(/Remove notes\?/);
    screen.keys('Enter');
    await screen.unsee(/Remove notes\?/);
    expect(await daemon.server('notes')).toMatchObject({ state: 'ready' });
    screen.keys('d', 'y');
    await screen.see(/notes is removed/);
    await screen.see(/No servers yet/);
    expect(await daemon.server('notes')).toBeUndefined();

    screen.keys('q');
    await screen.see(/EXIT 0/);
    expect(screen.modes()).toEqual({ alternate: false, cursor: true });
  });

  it('it starts the daemon if none runs, says when it is gone, comes back to its place and gives the terminal back', async () => {
    const home = makeHome({ servers: { notes: stdioEntry(twoTools), other: stdioEntry(twoTools) } });
    const screen = onTerminal(home, ['/mcp', 'other']);
    await screen.see(/other {2}● ready[\s\S]*\[ \] echo/);
    screen.keys('2');
    await screen.see(/› .* ToolsListed/);

    const { pid } = JSON.parse(readFileSync(join(home.dir, 'daemon.json'), 'utf8'));
    signal(pid, 'SIGTERM');
    await screen.see(/The daemon does not answer/);
    await runCli(home, ['up', '--detach', '--port', '0']);
    await screen.see(/The daemon is back/);
    await screen.see(/other {2}● ready[\s\S]*2 timeline[\s\S]*ServerStopped/);

    screen.resize(140, 45);
    await screen.see(/ {100}|─{140}/);
    screen.resize(60, 20);
    await screen.see(/^─{60}$/m);

    signal(screen.pid(), 'SIGTERM');
    await screen.see(/EXIT 1/);
    expect(screen.modes()).toEqual({ alternate: false, cursor: true });
    await runCli(home, ['down']);
  });

  it('Ctrl-Z gives the terminal to the shell, and fg takes it again with all that was on it', async () => {
    const daemon = await startDaemon({ servers: { notes: stdioEntry(twoTools) } });
    await daemon.waitForServer('notes', 'ready');
    const screen = onTerminal(daemon, ['tui', 'add'], { inShell: true });
    await screen.see(/Add a server/);
    screen.type('half-typed');
    await screen.see(/Name +half-typed/);

    screen.keys('C-z');
    await screen.see(/Stopped/);
    expect(screen.modes()).toEqual({ alternate: false, cursor: true });
    screen.type('stty -a | grep -o " icanon" && echo $((40 + 2))');
    screen.keys('Enter');
    await screen.see(/icanon\n42/);

    screen.type('fg');
    screen.keys('Enter');
    await screen.see(/Add a server[\s\S]*Name +half-typed/);
    expect(screen.modes()).toEqual({ alternate: true, cursor: false });
    screen.type('!');
    await screen.see(/Name +half-typed!/);

    screen.keys('C-z');
    await screen.see(/Stopped/);
    screen.type('kill %1; kill -CONT %1');
    screen.keys('Enter');
    await until(
      () => {
        screen.type('jobs');
        screen.keys('Enter');
        return /Terminated/.test(screen.text());
      },
      { limitMs: 10_000, everyMs: 200, what: 'the end of the stopped program' },
    );
  });

  it.each(['SIGTERM', 'SIGHUP', 'SIGINT'] as const)(
    'what is on the terminal after %s can be used as before',
    async (name) => {
      const daemon = await startDaemon({ servers: {} });
      const screen = onTerminal(daemon, ['tui'], { inShell: true });
      await screen.see(/No servers yet/);
      signal(screen.pid(), name);
      await screen.unsee(/No servers yet/);
      screen.type('stty -a | grep -o " icanon" && echo $((40 + 2))');
      screen.keys('Enter');
      await screen.see(/icanon\n42/);
      expect(screen.modes()).toEqual({ alternate: false, cursor: true });
      // Nothing is wrapped in the marks of a paste any more.
      screen.paste('echo pasted');
      screen.keys('Enter');
      await screen.see(/^pasted$/m);
    },
  );

  it('a call is not answered by what is being typed when it appears', async () => {
    const daemon = await startDaemon({ servers: { notes: stdioEntry(twoTools) } });
    await daemon.waitForServer('notes', 'ready');
    const screen = onTerminal(daemon, ['tui', 'add']);
    await screen.see(/› Name/);
    await runCli(daemon, ['call', 'mcp__notes__echo', 'text=hello']);
    await screen.see(/A call waits[\s\S]*Ctrl-G/);
    screen.type('otsd');
    await screen.see(/Name +otsd/);
    expect(await callsOf(daemon, '?state=held')).toHaveLength(1);

    screen.keys('C-g');
    await screen.see(/d deny/);
    screen.keys('d');
    await screen.see(/Reason for the caller/);
    screen.type('not today');
    screen.keys('Enter');
    await screen.see(/Denied/);
    expect((await callsOf(daemon))[0]).toMatchObject({
      outcome: 'denied',
      reason: expect.stringContaining('not today'),
    });
    expect(screen.text()).toMatch(/Name +otsd/);
  });

  it('a login shows its address from the first column on and takes what is pasted at any time', async () => {
    const [fake, port] = [await startOAuthFake(), await freePort()];
    const daemon = await startDaemon({
      servers: { web: { url: fake.url, auth: 'oauth' } },
      settings: { oauth: { callbackPort: port } },
    });
    await daemon.waitForServer('web', 'auth-required');
    const screen = onTerminal(daemon, ['tui', 'web'], { columns: 100, rows: 40 });
    await screen.see(/web {2}! auth-required/);
    screen.keys('6');
    await screen.see(/not logged in/);
    screen.keys('c');
    await screen.see(new RegExp(`Redirect URI +http://localhost:${port}/callback`));
    screen.keys('Escape');
    await screen.see(/not logged in/);
    screen.keys('l');
    const shown = await screen.see(/^http.*\n[\s\S]*Waiting until/m);
    expect(shown.split('\n').find((line) => line.startsWith('http'))).toHaveLength(100);
    // On three rows, and one line to whoever marks it with the mouse.
    const address =
      screen
        .copied()
        .split('\n')
        .find((line) => line.startsWith('http')) ?? '';
    expect(address).toMatch(/[?&]state=[^&]{20,}/);
    screen.paste(await fake.approve(address.trimEnd()));
    await screen.see(/callback/);
    screen.keys('Enter');
    await screen.see(/Logged in to web/);
    await screen.see(/web {2}● ready/);
  });

  it('what a server writes to stderr comes as it is written, harmless and masked', async () => {
    const beats = [
      '-e',
      "let n = 0; setInterval(() => console.error('\\u001b[2Jbeat', ++n, process.env.API_TOKEN), 200); process.stdin.resume()",
    ];
    const entry = {
      command: process.execPath,
      args: beats,
      env: { API_TOKEN: 'literal-secret-1' },
      connectTimeoutMs: 60_000,
    };
    const daemon = await startDaemon({ servers: { heart: entry } });
    await daemon.waitForServer('heart', (row) => row.pid !== null);
    const screen = onTerminal(daemon, ['tui', 'heart']);
    await screen.see(/heart {2}… connecting/);
    screen.keys('3');
    await screen.see(/pid \d+\) writes[\s\S]*│ beat 2 \*\*\*/);
    await screen.see(/│ beat 9 \*\*\*/);
    expect(screen.text()).not.toContain('literal-secret');
  });

  it('it ends when the terminal is gone', async () => {
    const daemon = await startDaemon({ servers: {} });
    const screen = onTerminal(daemon, ['tui']);
    await screen.see(/No servers yet/);
    const pid = screen.pid();
    screen.hangUp();
    await until(() => !isAlive(pid), { limitMs: 10_000, everyMs: 50, what: 'the end of the program' });
  });

  it('colours are left out with NO_COLOR, and the words and signs stay', async () => {
    const daemon = await startDaemon({ servers: { notes: stdioEntry(twoTools) } });
    await daemon.waitForServer('notes', 'ready');
    const plain = onTerminal(daemon, ['tui'], { env: { NO_COLOR: '1' } });
    await plain.see(/› notes +● ready/);
    expect(plain.colors()).toEqual([]);
    const colored = onTerminal(daemon, ['tui']);
    await colored.see(/› notes +● ready/);
    expect(colored.colors()).toContain('32');
  });
});

describe('Not on a terminal', () => {
  it('the terminal ends at once, says why, and starts no daemon', async () => {
    const home = makeHome();
    const { code, stderr } = await runCli(home, ['/mcp']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/needs a terminal[\s\S]*watchkeeper status/);
    expect(existsSync(join(home.dir, 'daemon.json'))).toBe(false);
  });
});
