import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Faults, type OAuthFake, startOAuthFake } from '../fixtures/oauth-server.ts';
import { type Daemon, plainEnv, startDaemon } from '../support/daemon.ts';
import { cliMain } from '../support/paths.ts';
import { until } from '../support/wait.ts';
import { freePort } from './login.ts';

async function given(faults: Partial<Faults> = {}): Promise<{ fake: OAuthFake; daemon: Daemon; port: number }> {
  const fake = await startOAuthFake(faults);
  const port = await freePort();
  const daemon = await startDaemon({
    servers: { web: { url: fake.url, auth: 'oauth' }, plain: { url: fake.url } },
    settings: { oauth: { callbackPort: port } },
  });
  await daemon.waitForServer('web', 'auth-required');
  return { fake, daemon, port };
}

interface Running {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  readonly exit: Promise<number | null>;
  type(line: string): void;
}

function run(daemon: Daemon, args: readonly string[], env: Record<string, string> = {}): Running {
  const all = [cliMain, ...args, '--config', daemon.config, '--data', daemon.dir];
  const child = spawn(process.execPath, all, { env: plainEnv(daemon.home, env), stdio: 'pipe' });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => (out += chunk));
  child.stderr.on('data', (chunk) => (err += chunk));
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, out: () => out, err: () => err, exit, type: (line) => child.stdin.write(`${line}\n`) };
}

const addressIn = ({ out, err }: Running): Promise<string> =>
  until(() => /https?:\/\/\S+\/authorize\?\S+/.exec(out())?.[0], { what: `an address; ${err()}` });

describe('watchkeeper login', () => {
  it('prints the address and ends when the browser has come back', async () => {
    const { fake, daemon } = await given();
    const command = run(daemon, ['login', 'web', '--no-browser']);
    await fake.browse(await addressIn(command));
    expect(await command.exit).toBe(0);
    expect(command.out()).toMatch(/^http:\/\/localhost:\d+\/authorize\?\S+\nLogged in to web\.\n$/);
    expect((await daemon.server('web')).state).toBe('ready');
  });

  it('takes the address that the browser ended at, and says why it does not take another', async () => {
    const { fake, daemon } = await given();
    const command = run(daemon, ['login', 'web']);
    const url = await fake.approve(await addressIn(command));
    command.type('hello');
    await until(() => /not an address/.test(command.err()), { what: 'a reason' });
    command.type(url.replace(/state=[^&]+/, 'state=other'));
    await until(() => /another login/.test(command.err()), { what: 'another reason' });
    command.type(url);
    expect(await command.exit).toBe(0);
    expect(command.out()).toMatch(/Logged in to web/);
  });

  it('gives the address to the program in BROWSER as its only argument', async () => {
    const { fake, daemon } = await given();
    const browser = join(daemon.home, 'browser.sh');
    const seen = join(daemon.home, 'seen');
    writeFileSync(browser, `#!/bin/sh\nprintf '%s\\n' "$#" "$1" > ${seen}.next\nmv ${seen}.next ${seen}\n`);
    chmodSync(browser, 0o755);
    const command = run(daemon, ['login', 'web', '--json'], { BROWSER: browser });
    await until(() => existsSync(seen), { what: 'the browser' });
    const [count, url = ''] = readFileSync(seen, 'utf8').split('\n');
    expect(count).toBe('1');
    await fake.browse(url);
    expect(await command.exit).toBe(0);
    const frames = command
      .out()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(frames).toEqual([{ url }, { done: true, ok: true }]);
  });

  it('opens nothing when the port is taken, and says which setting to change', async () => {
    const { daemon, port } = await given();
    const { createServer } = await import('node:net');
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(port, '127.0.0.1', resolve));
    const browser = join(daemon.home, 'browser.sh');
    writeFileSync(browser, `#!/bin/sh\ntouch ${daemon.home}/opened\n`);
    chmodSync(browser, 0o755);
    const command = run(daemon, ['login', 'web'], { BROWSER: browser });
    expect(await command.exit).toBe(1);
    squatter.close();
    expect(command.err()).toMatch(/oauth\.callbackPort[\s\S]*watchkeeper .*login web/);
    expect(existsSync(join(daemon.home, 'opened'))).toBe(false);
  });

  it('takes a client that was registered by hand, its secret from the environment', async () => {
    const { fake, daemon, port } = await given({ registrationStatus: 403 });
    fake.addClient('by-hand', 'hand-secret', `http://localhost:${port}/callback`);
    const env = { WATCHKEEPER_CLIENT_SECRET: 'hand-secret' };
    const command = run(daemon, ['login', 'web', '--no-browser', '--client-id', 'by-hand'], env);
    await fake.browse(await addressIn(command));
    expect(await command.exit).toBe(0);
    expect([command.out(), command.err()].join()).not.toContain('hand-secret');
  });

  it.each([
    [['login', 'wob'], 1, /There is no server "wob"[\s\S]*watchkeeper .*login web/],
    [['login', 'plain'], 1, /"auth": "oauth"/],
    [['login', 'web', '--redirect-uri', 'http://localhost:1/'], 2, /--client-id/],
    [['logout', 'wob'], 1, /watchkeeper .*logout web/],
  ])('%j ends with %s and the next command', async (args, code, words) => {
    const { daemon } = await given();
    const command = run(daemon, args);
    expect(await command.exit).toBe(code);
    expect(command.err()).toMatch(words);
  });
});

describe('watchkeeper logout', () => {
  it('deletes the login', async () => {
    const { fake, daemon } = await given();
    const login = run(daemon, ['login', 'web', '--no-browser']);
    await fake.browse(await addressIn(login));
    await login.exit;
    const command = run(daemon, ['logout', 'web']);
    expect([await command.exit, command.out()]).toEqual([0, 'Logged out of web.\n']);
    await daemon.waitForServer('web', 'auth-required');
    expect((await daemon.api('GET', '/v1/mcp')).body.oauth).toEqual({ plain: false, web: false });
  });
});
