/** Is the process with this number alive, and is it the one that was meant? */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Clock ticks a second in `/proc/<pid>/stat`: fixed by the kernel's interface on every common architecture. */
const ticksPerSecond = 100;

/** State letter and start of a process (ms since the epoch) from `/proc`; null when there is no such process. */
function fromProc(pid: number): { readonly state: string; readonly startedAt: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may hold blanks and brackets itself.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const uptime = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
    const age = uptime - Number(fields[19]) / ticksPerSecond;
    return { state: fields[0] ?? '', startedAt: Date.now() - age * 1000 };
  } catch {
    return null;
  }
}

/** Reads `[[dd-]hh:]mm:ss` as milliseconds. */
export function parseElapsed(text: string): number | null {
  const match = /^(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+)$/.exec(text.trim());
  if (!match) return null;
  const [days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0));
  return ((((days ?? 0) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0)) * 1000;
}

function fromPs(pid: number): { readonly startedAt: number } | null {
  try {
    const elapsed = parseElapsed(execFileSync('ps', ['-o', 'etime=', '-p', String(pid)], { encoding: 'utf8' }));
    return elapsed === null ? null : { startedAt: Date.now() - elapsed };
  } catch {
    return null;
  }
}

/** A process that ended and that nobody has asked after (a zombie) does not count as alive. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
  return process.platform !== 'linux' || fromProc(pid)?.state !== 'Z';
}

/**
 * Whether `pid` is still the process that wrote `startedAt` (ISO 8601) into `daemon.json`: numbers are given out again,
 * but a later owner of the number started later. false when that cannot be found out.
 */
export function isSameProcess(pid: number, startedAt: string): boolean {
  if (!isAlive(pid) || process.platform === 'win32') return false;
  const process_ = process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
  return process_ !== null && process_.startedAt <= Date.parse(startedAt) + 2000;
}
