/** A PostgreSQL server of its own: a new cluster in a temp folder, on a Unix socket alone, ended with the test file. */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { atEnd } from './cleanup.ts';
import { tempDir } from './temp.ts';
import { until } from './wait.ts';

const versions = '/usr/lib/postgresql';
const OWNER = 'keeper';

export interface Postgres {
  /** For a client on this machine. */
  readonly url: string;
  /** Runs SQL as the owner; rows as text, columns apart by `|`. */
  sql(text: string): Promise<string>;
}

/** Where Debian puts its programs: a folder a version, the newest wins. */
function programs(): string {
  const [newest] = readdirSync(versions)
    .filter((version) => existsSync(join(versions, version, 'bin/initdb')))
    .sort((a, b) => Number(b) - Number(a));
  if (newest === undefined) throw new Error(`There is no PostgreSQL server under ${versions}.`);
  return join(versions, newest, 'bin');
}

/** PostgreSQL refuses to run as root: it gets the account that its package made. */
function account(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string): number => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
  return { uid: idOf('-u'), gid: idOf('-g') };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  // "Fast": whoever is connected is cut off.
  child.kill('SIGINT');
  const hard = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await gone;
  clearTimeout(hard);
}

/** Starts it with one empty database, `tea`. */
export async function startPostgres(): Promise<Postgres> {
  const bin = programs();
  const home = tempDir('wk-pg-');
  const data = join(home, 'data');
  mkdirSync(data, { mode: 0o700 });
  const who = account();
  // The socket is in here, for the servers that tests start.
  chmodSync(home, 0o755);
  if (who.uid !== undefined && who.gid !== undefined)
    for (const folder of [home, data]) chownSync(folder, who.uid, who.gid);
  const options = { ...who, cwd: home, env: { PATH: process.env.PATH, LANG: 'C.UTF-8' } };
  const run = promisify(execFile);
  await run(join(bin, 'initdb'), ['-D', data, '-U', OWNER, '-A', 'trust', '-E', 'UTF8', '--no-sync'], options);

  const settings = ['listen_addresses=', `unix_socket_directories=${home}`, 'fsync=off'].flatMap((one) => ['-c', one]);
  const child = spawn(join(bin, 'postgres'), ['-D', data, ...settings], { ...options, stdio: 'ignore' });
  atEnd(() => end(child));
  const ask = async (database: string, text: string): Promise<string> => {
    const args = ['-h', home, '-U', OWNER, '-d', database, '-XqAt', '-v', 'ON_ERROR_STOP=1', '-c', text];
    return (await run(join(bin, 'psql'), args, options)).stdout.trim();
  };
  await until(() => ask('postgres', 'select 1'), { limitMs: 30_000, everyMs: 100, what: 'PostgreSQL' });
  await ask('postgres', 'create database tea');
  return {
    url: `postgresql://${OWNER}@localhost/tea?host=${encodeURIComponent(home)}`,
    sql: (text) => ask('tea', text),
  };
}
