/**
 * Programs from Debian's packages, by purpose. A purpose whose programs are there already asks for nothing, wherever
 * they come from; else its packages are installed where that can be done without asking: as root, with `apt-get`.
 */
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run } from './run.mjs';

const onPath = (program) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

const postgresql = '/usr/lib/postgresql';
const hasPostgresql = () =>
  existsSync(postgresql) &&
  readdirSync(postgresql).some((version) => existsSync(join(postgresql, version, 'bin/initdb')));

/**
 * `missing` names the first program that is not there, or is undefined. The keyring is asked over a bus that tests
 * start themselves: `dbus-x11` is named because it is the smallest package that gnome-keyring takes for a session bus.
 */
const purposes = {
  chromium: { packages: ['chromium'], missing: () => (existsSync('/usr/bin/chromium') ? undefined : 'chromium') },
  postgresql: { packages: ['postgresql'], missing: () => (hasPostgresql() ? undefined : 'PostgreSQL server') },
  keyring: {
    packages: ['gnome-keyring', 'dbus', 'dbus-bin', 'dbus-daemon', 'dbus-x11'],
    missing: () => ['gnome-keyring-daemon', 'dbus-daemon', 'dbus-send'].find((program) => !onPath(program)),
  },
  tmux: { packages: ['tmux'], missing: () => (onPath('tmux') ? undefined : 'tmux') },
};

/** Why nothing can be installed here, or undefined. */
function obstacle() {
  if (process.platform !== 'linux' || !onPath('apt-get')) return 'there is no apt-get here';
  return process.getuid?.() === 0 ? undefined : 'only root can';
}

/** The wait is for another installation on the machine; RUNLEVEL keeps services that a package brings from starting. */
const apt = (...args) =>
  run('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=300', ...args], {
    title: `apt-get ${args[0]}`,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
  });

async function install({ packages, missing }) {
  const what = missing();
  if (what === undefined) return null;
  const names = packages.join(' ');
  const why = obstacle();
  if (why !== undefined) return `there is no ${what} on this machine; install ${names} (${why})`;
  console.error(`Installing ${names} for the tests …`);
  try {
    await apt('install', '-y', '--no-install-recommends', ...packages);
  } catch (error) {
    return error.message;
  }
  const still = missing();
  return still === undefined ? null : `there is no ${still} although ${names} is installed`;
}

/** Resolves with the reason for each purpose that cannot be served here, and null for each that can. Never rejects. */
export async function installDebianPackages() {
  if (Object.values(purposes).some(({ missing }) => missing() !== undefined) && obstacle() === undefined) {
    // Lists that cannot be read anew may still do: what then fails is the installation, which says why.
    await apt('update').catch((error) => console.error(error.message));
  }
  const outcome = {};
  for (const [purpose, wanted] of Object.entries(purposes)) outcome[purpose] = await install(wanted);
  return outcome;
}
