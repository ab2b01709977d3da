/** A child's whole process group: asking whether anything of it is left, and ending it. */
import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

/** After SIGKILL; what is left then cannot be ended by anyone (it hangs in the kernel). */
const GIVE_UP_MS = 3_000;
const FIRST_LOOK_MS = 30;
const LONGEST_LOOK_MS = 500;

/** Sends a signal to every member; false when there is none left. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
    return true;
  } catch (error) {
    // EPERM: there are members, and none of them is ours to signal.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Resolves with true as soon as no living member is left, with false after `ms`. Members that ended and whose parent does
 * not collect them answer signals as if alive, so the process table is read as well, ever less often.
 */
export async function groupGone(pid: number, ms: number): Promise<boolean> {
  const until = performance.now() + ms;
  let look = FIRST_LOOK_MS;
  let nextLook = performance.now() + look;
  for (let step = 2; ; step = Math.min(step * 2, 50)) {
    if (!signalGroup(pid, 0)) return true;
    if (performance.now() >= nextLook) {
      if (await onlyDefunct(pid)) return true;
      look = Math.min(look * 2, LONGEST_LOOK_MS);
      nextLook = performance.now() + look;
    }
    const left = until - performance.now();
    if (left <= 0) return false;
    await pause(Math.min(step, left));
  }
}

/** SIGTERM to the group now, SIGKILL after `graceMs`. Resolves when no living member is left. */
export async function endGroup(pid: number, graceMs: number): Promise<void> {
  if (process.platform === 'win32') return endTree(pid);
  if (!signalGroup(pid, 'SIGTERM') || (await groupGone(pid, graceMs))) return;
  signalGroup(pid, 'SIGKILL');
  await groupGone(pid, GIVE_UP_MS);
}

/** Members that ended and that their parent has not collected. Without a process table to read: false. */
async function onlyDefunct(pid: number): Promise<boolean> {
  const entries = await readdir('/proc').catch(() => []);
  if (entries.length === 0) return false;
  for (const entry of entries) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '');
    // The name, in brackets, may itself hold spaces and brackets.
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(group) === pid && state !== 'Z' && state !== 'X') return false;
  }
  return true;
}

/** Windows has no process groups; taskkill walks the tree. */
function endTree(pid: number): Promise<void> {
  return new Promise((resolve) => {
    const killer = spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true });
    killer.on('error', () => resolve());
    killer.on('exit', () => resolve());
  });
}
