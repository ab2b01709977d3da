/** Looks at processes through /proc (Linux). */
import { readdirSync, readFileSync } from 'node:fs';
import { until } from './wait.ts';

export interface ProcessInfo {
  readonly pid: number;
  readonly ppid: number;
  readonly pgid: number;
  /** `R`, `S`, `D`, `Z` (defunct)… */
  readonly state: string;
}

/** Null when there is no such process. A defunct one is there, with state `Z`. */
export function processInfo(pid: number): ProcessInfo | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command's name may hold spaces and brackets; what follows the last bracket is regular.
    const [state = '?', ppid, pgid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { pid, state, ppid: Number(ppid), pgid: Number(pgid) };
  } catch {
    return null;
  }
}

export function allProcesses(): ProcessInfo[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => processInfo(Number(name)))
    .filter((info) => info !== null);
}

/** Runs or sleeps; a defunct process is not alive. */
export function isAlive(pid: number): boolean {
  const info = processInfo(pid);
  return info !== null && info.state !== 'Z';
}

export function childrenOf(pid: number): ProcessInfo[] {
  return allProcesses().filter((info) => info.ppid === pid);
}

/** Children, their children and so on; those that were handed to another parent are not among them. */
export function descendantsOf(pid: number): ProcessInfo[] {
  const all = allProcesses();
  const found: ProcessInfo[] = [];
  const queue = [pid];
  for (let parent = queue.shift(); parent !== undefined; parent = queue.shift()) {
    for (const info of all) {
      if (info.ppid !== parent) continue;
      found.push(info);
      queue.push(info.pid);
    }
  }
  return found;
}

export function groupMembers(pgid: number): ProcessInfo[] {
  return allProcesses().filter((info) => info.pgid === pgid);
}

/** Processes that were started with this variable, whoever their parent is now. */
export function findByEnv(name: string, value: string): ProcessInfo[] {
  const wanted = `${name}=${value}`;
  return allProcesses().filter(({ pid }) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(wanted);
    } catch {
      return false;
    }
  });
}

/** Sends a signal; a process that is gone already is no error. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export async function untilGone(pid: number, limitMs = 10_000): Promise<void> {
  await until(() => processInfo(pid) === null, { limitMs, what: `the end of process ${pid}` });
}

/** Resident memory in bytes, 0 when the process is gone. */
export function residentBytes(pid: number): number {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kilobytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}
