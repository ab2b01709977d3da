import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { startOAuthFake } from '../fixtures/oauth-server.ts';
import { type Daemon, makeHome, runCli, startDaemon } from '../support/daemon.ts';
import { stdioEntry } from '../support/fixtures.ts';
import { needsTmux } from '../support/needs.ts';
import { stdioServer } from '../support/paths.ts';
import { childrenOf, isAlive, signal } from '../support/processes.ts';
import { openTerminal, type Terminal } from '../support/tmux.ts';
import { callsOf } from './given.ts';
import { freePort } from './login.ts';

beforeEach(needsTmux);

const allowed = (daemon: Daemon): string => {
  try {
    return readFileSync(daemon.config.replace('mcp.json', 'allow_tool'), 'utf8');
  } catch {
    return '';
  }
};

/** Opens the one server with a name out of the list. */
async function open(terminal: Terminal, name: string): Promise<void> {
  await terminal.press('/');
  await terminal.type(`mcp ${name}`);
  await terminal.press('Enter');
  await terminal.shows('[1 Tools]');
}

describe('The terminal view', () => {
  it('adds a server, shows it fail, mends it, grants a tool, lets a call through, shows the past and removes it', async () => {
    const daemon = await startDaemon({ servers: {} });
    const terminal = await openTerminal(daemon, ['tui']);
    await terminal.shows('No servers yet.');

    // Out of a README, with something missing.
    await terminal.press('a');
    await terminal.shows('Paste a JSON snippet');
    const behaviour = { start: { exit: { code: 3, stderr: 'there is no license key' } } };
    const entry = { command: process.execPath, args: [stdioServer, '--behave', JSON.stringify(behaviour)] };
    await terminal.paste(JSON.stringify({ mcpServers: { notes: entry } }));
    await terminal.shows('Filled in from what you pasted.');
    await terminal.press('Enter');
    await terminal.shows('It does not work: nothing was saved.');
    expect(await terminal.screen()).toContain('│ there is no license key');
    expect(await daemon.status()).toEqual([]);
    await terminal.press('s');
    await terminal.shows('notes is added');
    await terminal.shows(/backing-off[\s\S]*next try in \d+ s · exit: .*code 3/);
    await terminal.press('Escape');
    await terminal.shows(/▸ notes +◔ backing-off[\s\S]*code 3/);

    // Mended: only its arguments are typed anew.
    await terminal.press('e');
    await terminal.shows('Change notes');
    await terminal.press('Tab', 'C-u');
    await terminal.shows('as in a shell');
    await terminal.type(stdioServer);
    await terminal.shows('stdio-server.mjs');
    await terminal.press('C-s');
    await terminal.shows('notes is changed');
    await terminal.shows(/● ready .*stdio/);
    await daemon.waitForServer('notes', 'ready');

    // One tool by its own name.
    await terminal.press('1');
    await terminal.shows(/\[ \] echo/);
    await terminal.press('/');
    await terminal.type('echo');
    await terminal.press('Enter');
    await terminal.hides('The whole server');
    await terminal.press('Space');
    await terminal.shows(/\[x\] echo/);
    expect(allowed(daemon)).toBe('');
    await terminal.press('Enter');
    await terminal.shows('1 tool of notes runs without asking.');
    expect(allowed(daemon)).toBe('mcp__notes__echo\n');
    await terminal.press('Escape');
    await terminal.shows('The whole server');

    // A call of another process, over whatever is shown.
    const called = runCli(daemon, ['call', 'notes.add', '--wait', '--json-args', '{"a": 19, "b": 23}']);
    await terminal.shows('A call waits for you');
    await terminal.shows('o run once');
    const held = await terminal.screen();
    expect(held).toMatch(/add of notes {2}mcp__notes__add/);
    expect(held).toMatch(/a: 19[\s\S]*b: 23/);
    await terminal.press('o');
    await terminal.shows('Approved once: mcp__notes__add');
    expect(await called).toMatchObject({ code: 0, stdout: expect.stringContaining('42') });

    // As it was when it failed.
    await terminal.press('2');
    await terminal.shows(/\[2 Timeline\][\s\S]*its tools are known/);
    await terminal.press('Home', 'Left');
    await terminal.shows(/AS OF .* fact \d+ .*○ stopped/);
    const failed = (await daemon.events({ stream: 'server-notes', type: 'ConnectFailed' }))[0]?.position;
    for (let steps = 0; steps < 12 && !(await terminal.screen()).includes(` fact ${failed} `); steps += 1) {
      const before = /AS OF .*? fact (\d+)/.exec(await terminal.screen())?.[1];
      await terminal.press('Right');
      await terminal.hides(` fact ${before} `);
    }
    await terminal.shows(new RegExp(` fact ${failed} .*backing-off[\\s\\S]*code 3`));
    await terminal.press('Escape');
    await terminal.shows(/● ready .*stdio/);

    // Gone, but only after a yes.
    await terminal.press('d');
    await terminal.shows('Remove notes?');
    await terminal.press('Enter');
    await terminal.hides('Remove notes?');
    expect(await daemon.status()).toHaveLength(1);
    await terminal.press('d');
    await terminal.shows('Remove notes?');
    await terminal.press('y');
    await terminal.shows('No servers yet.');
    expect(await daemon.status()).toEqual([]);
    await terminal.press('q');
    await terminal.shows('ended 0');
  }, 120_000);

  it('is called /mcp too, starts a daemon where none runs, and opens what is named', async () => {
    const home = makeHome({ servers: { notes: stdioEntry() } });
    const terminal = await openTerminal(home, ['/mcp', 'notes']);
    await terminal.shows(/notes[\s\S]*\[1 Tools\]/, 60_000);
    await terminal.shows(/\[ \] echo/);
    expect(JSON.parse(readFileSync(`${home.dir}/daemon.json`, 'utf8')).pid).toBeGreaterThan(0);
    await terminal.press('/');
    await terminal.type('mcp add');
    await terminal.press('Enter');
    await terminal.shows('Add a server');
    await terminal.press('Escape');
    await terminal.press('/');
    await terminal.type('mcp note');
    await terminal.press('Enter');
    await terminal.shows('There is no server "note". Did you mean "notes"?');
    await terminal.press('q');
    await terminal.shows('ended 0');
    expect((await runCli(home, ['down'])).code).toBe(0);
  }, 120_000);

  it('takes what is being typed for no answer to a call that appears meanwhile', async () => {
    const daemon = await startDaemon({ servers: { notes: stdioEntry() } });
    await daemon.waitForServer('notes', 'ready');
    const terminal = await openTerminal(daemon, ['/mcp', 'add']);
    await terminal.shows('Add a server');
    await daemon.api('POST', '/v1/mcp/call', { tool: 'mcp__notes__echo', arguments: { text: 'hi' }, wait: false });
    await terminal.shows('A call waits for you');
    // As long as the keyboard is not still, keys go on to the form below.
    await terminal.type('toolbox');
    await terminal.shows('o run once');
    expect((await callsOf(daemon, '?state=held')).length).toBe(1);
    await terminal.press('l');
    await terminal.shows(/Name +toolbox/);
    await terminal.press('C-c');
    await terminal.shows('ended 0');
  }, 60_000);

  it('denies with a reason', async () => {
    const daemon = await startDaemon({ servers: { notes: stdioEntry() } });
    await daemon.waitForServer('notes', 'ready');
    const terminal = await openTerminal(daemon, ['tui', '--no-bell']);
    await terminal.shows('notes');
    await daemon.api('POST', '/v1/mcp/call', { tool: 'mcp__notes__echo', arguments: { text: 'hi' }, wait: false });
    await terminal.shows('d deny');
    await terminal.press('d');
    await terminal.shows('Why not?');
    await terminal.type('not on a friday');
    await terminal.press('Enter');
    await terminal.shows('Denied: mcp__notes__echo');
    expect(await callsOf(daemon)).toMatchObject([
      { outcome: 'denied', reason: expect.stringContaining('not on a friday') },
    ]);
  }, 60_000);

  it('says that the daemon is gone, goes on when it is back, and keeps its place', async () => {
    const daemon = await startDaemon({ servers: { notes: stdioEntry(), tasks: stdioEntry() } });
    await daemon.waitForServer('tasks', 'ready');
    const terminal = await openTerminal(daemon, ['tui']);
    await terminal.shows('tasks');
    await open(terminal, 'tasks');
    await terminal.press('2');
    await terminal.shows('[2 Timeline]');
    await daemon.kill();
    await terminal.shows('The daemon does not answer');
    await daemon.restart();
    await terminal.shows('The daemon is back.');
    await terminal.shows(/tasks[\s\S]*\[2 Timeline\]/);
    await daemon.waitForServer('tasks', 'ready');
    await terminal.shows(/● ready .*stdio/);
  }, 60_000);

  it('follows the size of the terminal', async () => {
    const daemon = await startDaemon({ servers: { notes: stdioEntry() } });
    const terminal = await openTerminal(daemon, ['tui'], { columns: 140, rows: 45 });
    await terminal.shows(/LAST HOUR +ERROR/);
    await terminal.resize(80, 24);
    // The whole screen is drawn anew: the last row is where it is now.
    const small = await terminal.shows(/^(?:.*\n){23}.*q quit\n$/);
    expect(small).toMatch(/▸ notes/);
    expect(small).not.toContain('ERROR');
    await terminal.resize(30, 8);
    await terminal.shows('Too small');
    await terminal.resize(100, 30);
    await terminal.shows(/SERVER▾ +STATE/);
  }, 60_000);

  it('writes no colour with NO_COLOR', async () => {
    const daemon = await startDaemon({ servers: { notes: stdioEntry(), tasks: stdioEntry() } });
    await daemon.waitForServer('tasks', 'ready');
    const plain = await openTerminal(daemon, ['tui'], { env: { NO_COLOR: '1' } });
    await plain.shows(/tasks +● ready/);
    const colors = /\u001b\[(?:\d+;)*(?:3[0-7]|4[0-7]|9[0-7]|38;|48;)/;
    expect(await plain.screen({ colors: true })).not.toMatch(colors);
    const colored = await openTerminal(daemon, ['tui']);
    await colored.shows(/tasks +● ready/);
    expect(await colored.screen({ colors: true })).toMatch(colors);
  }, 60_000);
});

describe('The terminal', () => {
  const boom = {
    NODE_OPTIONS: `--import data:text/javascript,process.on('SIGUSR2',()=>{throw%20new%20Error('boom')})`,
  };

  it.each<[string, NodeJS.Signals, string, Record<string, string>]>([
    ['is given back after SIGTERM', 'SIGTERM', 'ended 0', {}],
    ['is given back after an error nobody caught, which is then read on it', 'SIGUSR2', 'boom', boom],
  ])(
    '%s',
    async (_title, name, words, env) => {
      const daemon = await startDaemon({ servers: { notes: stdioEntry() } });
      const terminal = await openTerminal(daemon, ['tui'], { env });
      await terminal.shows('notes');
      expect([await terminal.ask('alternate_on'), await terminal.ask('cursor_flag')]).toEqual(['1', '0']);
      const [view] = childrenOf(Number(await terminal.ask('pane_pid')));
      signal(view?.pid ?? 0, name);
      await terminal.shows(words);
      const screen = await terminal.shows(/ended \d+\n(?:icanon\necho|echo\nicanon)/);
      expect(screen).not.toContain('Watchkeeper ·');
      expect([await terminal.ask('alternate_on'), await terminal.ask('cursor_flag')]).toEqual(['0', '1']);
      expect(isAlive(view?.pid ?? 0)).toBe(false);
    },
    60_000,
  );

  it('is needed: without one the command says so and what to type instead', async () => {
    const home = makeHome();
    const ran = await runCli(home, ['tui'], { input: '' });
    expect(ran.code).toBe(2);
    expect(ran.stderr).toMatch(/needs a terminal[\s\S]*watchkeeper status/);
  });
});

describe('A login in the terminal view', () => {
  it('shows an address that can be copied whole, and takes the one the browser ended at', async () => {
    const fake = await startOAuthFake();
    const daemon = await startDaemon({
      servers: { web: { url: fake.url, auth: 'oauth' } },
      settings: { oauth: { callbackPort: await freePort() } },
    });
    await daemon.waitForServer('web', 'auth-required');
    const terminal = await openTerminal(daemon, ['/mcp', 'web']);
    await terminal.shows('6 Login');
    await terminal.press('6');
    await terminal.shows('No token is kept');
    await terminal.press('Enter');
    await terminal.shows('Waiting for the browser');
    const lines = (await terminal.screen({ joined: true })).split('\n');
    const address = lines.find((line) => /^https?:\/\/\S+$/.test(line.trim()))?.trim() ?? '';
    expect(new URL(address).searchParams.get('state')).toBeTruthy();
    await terminal.paste('http://localhost:1/callback?code=x&state=wrong');
    await terminal.press('Enter');
    await terminal.shows('another login');
    await terminal.press('C-u');
    await terminal.paste(await fake.approve(address));
    await terminal.press('Enter');
    await terminal.shows('You are logged in to web.');
    await terminal.press('Enter');
    await terminal.shows(/● ready/);
  }, 60_000);
});
