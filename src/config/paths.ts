/** Where everything lives. */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { posix, win32 } from 'node:path';
import { sha256Hex } from '../hash.ts';
import { homeFolder } from './home.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface PathFlags {
  readonly config?: string | undefined;
  readonly data?: string | undefined;
}

/** What the answer depends on besides flags and environment. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly cwd: string;
  readonly temp: string;
  /** undefined where there are no user ids. */
  readonly uid: number | undefined;
  readonly exists: (file: string) => boolean;
}

export interface Paths {
  readonly configFile: string;
  /** `chosen`: by flag or `WATCHKEEPER_CONFIG`, so that files beside it may need trust; `own`: the user's own place. */
  readonly configOrigin: 'chosen' | 'own';
  readonly allowFile: string;
  readonly settingsFile: string;
  readonly variablesFile: string;
  readonly dataDir: string;
  readonly databaseFile: string;
  readonly tokenFile: string;
  readonly daemonFile: string;
  readonly recordingsDir: string;
  readonly socket: SocketAddress;
}

export interface SocketAddress {
  /** Path of a Unix socket, or name of a Windows pipe. */
  readonly path: string;
  /** A directory outside the data directory that must exist, with mode 0700 and owned by us, before listening; else null. */
  readonly directory: string | null;
}

/** Longest path of a Unix socket that works everywhere, in bytes. */
export const longestSocketPath = 103;

const here = (env: Environment): Machine => ({
  platform: process.platform,
  home: homeFolder(env),
  cwd: process.cwd(),
  temp: tmpdir(),
  uid: process.getuid?.(),
  exists: existsSync,
});

/**
 * Resolves every path of the contract (files and environment). Flags win over `WATCHKEEPER_*`, those over the XDG
 * variables; a variable that is empty counts as unset and a relative XDG path is ignored, as that specification says.
 */
export function resolvePaths(flags: PathFlags, env: Environment, machine: Machine = here(env)): Paths {
  const path = machine.platform === 'win32' ? win32 : posix;
  const chosen = flags.config || env.WATCHKEEPER_CONFIG;
  const configFile = chosen ? path.resolve(machine.cwd, chosen) : ownConfigFile(env, machine);
  const data = flags.data || env.WATCHKEEPER_DATA;
  const dataDir = data ? path.resolve(machine.cwd, data) : ownDataDir(env, machine);
  const beside = (name: string): string => path.join(path.dirname(configFile), name);
  return {
    configFile,
    configOrigin: chosen ? 'chosen' : 'own',
    allowFile: beside('allow_tool'),
    settingsFile: beside('watchkeeper.json'),
    variablesFile: beside('watchkeeper.env'),
    dataDir,
    databaseFile: path.join(dataDir, 'watchkeeper.db'),
    tokenFile: path.join(dataDir, 'token'),
    daemonFile: path.join(dataDir, 'daemon.json'),
    recordingsDir: path.join(dataDir, 'recordings'),
    socket: socketAddress(dataDir, env, machine),
  };
}

/** `daemon.sock` in the data directory; elsewhere when that path is too long; a named pipe on Windows. */
export function socketAddress(dataDir: string, env: Environment, machine: Machine): SocketAddress {
  const id = sha256Hex(dataDir).slice(0, 16);
  if (machine.platform === 'win32') return { path: `\\\\.\\pipe\\watchkeeper-${id}`, directory: null };
  const inData = posix.join(dataDir, 'daemon.sock');
  if (fits(inData)) return { path: inData, directory: null };
  const own = `watchkeeper-${machine.uid ?? 'user'}`;
  const folders = [absolute(env.XDG_RUNTIME_DIR, posix), machine.temp, '/tmp'].filter((folder) => folder !== undefined);
  const [directory = posix.join('/tmp', own)] = folders
    .map((folder) => posix.join(folder, own))
    .filter((folder) => fits(posix.join(folder, `${id}.sock`)));
  return { path: posix.join(directory, `${id}.sock`), directory };
}

const fits = (path: string): boolean => Buffer.byteLength(path) <= longestSocketPath;

const absolute = (value: string | undefined, path: typeof posix): string | undefined =>
  value && path.isAbsolute(value) ? value : undefined;

function ownConfigFile(env: Environment, { platform, home, exists }: Machine): string {
  if (platform === 'win32') return win32.join(env.USERPROFILE || home, '.config', 'agenvoy', 'mcp.json');
  const usual = posix.join(home, '.config', 'agenvoy', 'mcp.json');
  const xdg = absolute(env.XDG_CONFIG_HOME, posix);
  if (xdg === undefined) return usual;
  const preferred = posix.join(xdg, 'agenvoy', 'mcp.json');
  return !exists(preferred) && exists(usual) ? usual : preferred;
}

function ownDataDir(env: Environment, { platform, home }: Machine): string {
  if (platform === 'win32') {
    const local = absolute(env.LOCALAPPDATA, win32);
    return win32.join(local ?? win32.join(env.USERPROFILE || home, 'AppData', 'Local'), 'watchkeeper');
  }
  return posix.join(absolute(env.XDG_DATA_HOME, posix) ?? posix.join(home, '.local', 'share'), 'watchkeeper');
}
