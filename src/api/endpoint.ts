/** Where the daemon of a data directory can be reached: read anew for each request, since it may have been restarted. */
import { lstatSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DaemonUnreachable } from './errors.ts';

/** What the daemon writes about itself into `daemon.json`. */
export interface DaemonFile {
  readonly pid: number;
  readonly port: number;
  readonly url: string;
  readonly socket: string | null;
  readonly version: string;
  readonly startedAt: string;
}

/** One way to the daemon; the token goes with TCP only. */
export type Endpoint =
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number; readonly token: string };

/** Reads `daemon.json`. Throws DaemonUnreachable if there is none. */
export function readDaemonFile(dataDir: string): DaemonFile {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'daemon.json'), 'utf8')) as DaemonFile;
  } catch (cause) {
    throw new DaemonUnreachable(`No daemon runs for ${dataDir}; start it with "watchkeeper up".`, { cause });
  }
}

/** The ways to try, best first. */
export function endpointsOf(dataDir: string): readonly Endpoint[] {
  const daemon = readDaemonFile(dataDir);
  const socket = daemon.socket && !isForeign(daemon.socket, dataDir) ? [{ socketPath: daemon.socket }] : [];
  // Another program may have taken the port of a dead daemon; it must not be given the token.
  return isAlive(daemon.pid) ? [...socket, tcp(dataDir, daemon)] : socket;
}

/**
 * A socket that does not fit into the data directory lies where others may write too, and may be theirs by now: only the
 * owner of the directory is told anything.
 */
function isForeign(socket: string, dataDir: string): boolean {
  if (process.platform === 'win32') return false;
  const found = lstatSync(socket, { throwIfNoEntry: false });
  return found !== undefined && found.uid !== statSync(dataDir).uid;
}

function tcp(dataDir: string, { url }: DaemonFile): Endpoint {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port), token: readToken(dataDir) };
}

function readToken(dataDir: string): string {
  try {
    return readFileSync(join(dataDir, 'token'), 'utf8').trim();
  } catch {
    return '';
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
