/** A Secret Service of a test's own: a private session bus, and a GNOME keyring on it with a home of its own. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { atEnd } from './cleanup.ts';
import { tempDir } from './temp.ts';
import { until } from './wait.ts';

/** A bus that starts nothing by itself, so that a keyring that is gone stays gone. */
const busConfig = (
  folder: string,
): string => `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:dir=${folder}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
`;

export interface Keyring {
  /** What a program needs to find it. */
  readonly env: Readonly<Record<string, string>>;
  /** Where its files are. */
  readonly home: string;
  /** Locks what is open; nobody is there to type the password. */
  lock(): void;
  unlock(): Promise<void>;
  /** Ends the keyring; the bus stays. */
  vanish(): Promise<void>;
  /** Starts it again, open or locked. */
  comeBack(how?: 'open' | 'locked'): Promise<void>;
  /** The secret of an entry with these attributes, as other programs see it; null when there is none. */
  look(attributes: Readonly<Record<string, string>>): string | null;
  /** Puts one there, as other programs do. */
  put(attributes: Readonly<Record<string, string>>, secret: string): void;
}

/** Starts one, open, under a password. `empty`: it has never been opened by anybody, and has no place for anything. */
export async function startKeyring({ empty = false } = {}): Promise<Keyring> {
  const home = tempDir();
  const runtime = join(home, 'run');
  mkdirSync(runtime, { mode: 0o700 });
  writeFileSync(join(home, 'bus.conf'), busConfig(runtime));
  const plain = { PATH: process.env.PATH, HOME: home };
  const bus = spawn('dbus-daemon', [`--config-file=${join(home, 'bus.conf')}`, '--nofork', '--print-address'], {
    env: plain,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  atEnd(() => ended(bus));
  const address = await new Promise<string>((resolve, reject) => {
    createInterface({ input: bus.stdout }).once('line', resolve);
    bus.once('error', reject);
  });
  const env = { DBUS_SESSION_BUS_ADDRESS: address, XDG_RUNTIME_DIR: runtime };
  const send = (...args: string[]): string => {
    const all = ['--session', '--print-reply', ...args];
    return spawnSync('dbus-send', all, { env: { ...plain, ...env }, encoding: 'utf8' }).stdout;
  };
  const secretTool = (options: { input?: string }, ...args: string[]) =>
    spawnSync('secret-tool', args, { ...options, env: { ...plain, ...env }, encoding: 'utf8' });
  const owned = (): boolean =>
    /boolean true/.test(
      send(
        '--dest=org.freedesktop.DBus',
        '/org/freedesktop/DBus',
        'org.freedesktop.DBus.NameHasOwner',
        'string:org.freedesktop.secrets',
      ),
    );

  let daemon: ChildProcess | undefined;
  const start = async (open: boolean): Promise<void> => {
    const args = ['--foreground', '--components=secrets', ...(open ? ['--unlock'] : [])];
    const child = spawn('gnome-keyring-daemon', args, {
      env: { ...plain, ...env },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    daemon = child;
    atEnd(() => ended(child));
    child.stdin.end(open ? 'a password' : '');
    await until(owned, { what: 'the Secret Service' });
  };
  const vanish = async (): Promise<void> => {
    if (daemon) await ended(daemon);
    await until(() => !owned(), { what: 'the end of the Secret Service' });
  };
  const lock = (): void => {
    const collection = '/org/freedesktop/secrets/collection/login';
    send(
      '--dest=org.freedesktop.secrets',
      '/org/freedesktop/secrets',
      'org.freedesktop.Secret.Service.Lock',
      `array:objpath:${collection}`,
    );
  };
  await start(!empty);
  return {
    env,
    home,
    lock,
    async unlock() {
      await vanish();
      await start(true);
    },
    vanish,
    comeBack: (how = 'open') => start(how === 'open'),
    look(attributes) {
      const asked = secretTool({}, 'lookup', ...Object.entries(attributes).flat());
      return asked.status === 0 ? asked.stdout : null;
    },
    put(attributes, secret) {
      const kept = secretTool({ input: secret }, 'store', '--label', 'a test', ...Object.entries(attributes).flat());
      if (kept.status !== 0) throw new Error(kept.stderr);
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
}
