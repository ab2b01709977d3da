/** With a real Secret Service: a private session bus and a keyring of its own. Runs where the set-up of the tests found or installed gnome-keyring. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { startOAuthFake } from '../fixtures/oauth-server.ts';
import { atEnd } from '../support/cleanup.ts';
import { startDaemon } from '../support/daemon.ts';
import { missing } from '../support/needs.ts';
import { tempDir } from '../support/temp.ts';
import { until } from '../support/wait.ts';
import { freePort, logIn, textOfFiles } from './login.ts';

const has = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const available =
  process.platform === 'linux' && ['gnome-keyring-daemon', 'dbus-daemon', 'dbus-send'].every((program) => has(program));

const endWithFile = (child: ChildProcess): void =>
  atEnd(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
  });

const answers = (env: Record<string, string>): boolean => {
  const bus = ['--dest=org.freedesktop.DBus', '/org/freedesktop/DBus', 'org.freedesktop.DBus.NameHasOwner'];
  const question = ['--session', '--print-reply', ...bus, 'string:org.freedesktop.secrets'];
  const { stdout } = spawnSync('dbus-send', question, { env: { PATH: process.env.PATH, ...env }, encoding: 'utf8' });
  return /boolean true/.test(stdout);
};

/** The environment in which a keyring answers that nobody else uses. */
async function startKeyring(): Promise<Record<string, string>> {
  const home = tempDir();
  const runtime = join(home, 'run');
  mkdirSync(runtime, { mode: 0o700 });
  const bus = spawn('dbus-daemon', ['--session', '--nofork', '--print-address'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  endWithFile(bus);
  const address = await new Promise<string>((resolve) => createInterface({ input: bus.stdout }).once('line', resolve));
  const env = { DBUS_SESSION_BUS_ADDRESS: address, XDG_RUNTIME_DIR: runtime };
  const keyring = spawn('gnome-keyring-daemon', ['--foreground', '--unlock', '--components=secrets'], {
    env: { PATH: process.env.PATH, HOME: home, ...env },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  endWithFile(keyring);
  keyring.stdin.end('a password');
  await until(() => answers(env), { what: 'the Secret Service' });
  return env;
}

describe('Where a Secret Service answers', () => {
  it('tokens are there and nothing of them is on disk, over a restart and until the logout', async (context) => {
    if (!available) context.skip(missing('keyring') ?? 'there is no gnome-keyring-daemon with D-Bus on this machine');
    const env = await startKeyring();
    const fake = await startOAuthFake();
    const daemon = await startDaemon({
      servers: { web: { url: fake.url, auth: 'oauth' } },
      settings: { oauth: { callbackPort: await freePort() } },
      env,
    });
    await daemon.waitForServer('web', 'auth-required');
    expect(await logIn(daemon, 'web', fake)).toEqual({ done: true, ok: true });
    expect((await daemon.api('GET', '/health')).body.credentials).toMatchObject({ store: 'keychain', why: null });

    await daemon.restart();
    await daemon.waitForServer('web', 'ready');
    expect(fake.count('/authorize')).toBe(1);
    fake.expireAll();
    expect((await daemon.call('mcp__web__echo', { text: 'x' })).body.outcome).toBe('succeeded');

    expect(existsSync(join(daemon.dir, 'credentials'))).toBe(false);
    const texts = textOfFiles(daemon.home);
    expect(fake.secrets.filter((secret) => texts.some((text) => text.includes(secret)))).toEqual([]);

    await daemon.api('DELETE', '/v1/mcp/oauth', { name: 'web' });
    await daemon.restart();
    await daemon.waitForServer('web', 'auth-required');
    expect((await daemon.api('GET', '/v1/mcp')).body.oauth).toEqual({ web: false });
  });
});
