/**
 * Servers that outlived the daemon that started them (it was killed). They are found by the mark every child carries in its
 * environment, never by a pid alone: a pid may belong to somebody else by now.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { RUN_VARIABLE } from '../mcp/connection.ts';

export interface Marked {
  readonly pid: number;
  readonly run: string;
}

/** Processes that carry the mark of this data directory and of another run than `run`. Empty where /proc does not exist. */
export function findOrphans(owner: string, run: string): Marked[] {
  return processes().flatMap((pid) => {
    const mark = markOf(pid);
    if (!mark?.startsWith(`${owner}:`)) return [];
    const theirs = mark.slice(owner.length + 1);
    return theirs === run || pid === process.pid ? [] : [{ pid, run: theirs }];
  });
}

/**
 * Ends what earlier runs left: SIGTERM, and SIGKILL after `patienceMs`. Resolves with how many there were, when none is left.
 */
export async function endOrphans(owner: string, run: string, patienceMs = 500): Promise<number> {
  const found = findOrphans(owner, run);
  for (const { pid } of found) signal(pid, 'SIGTERM');
  const until = performance.now() + patienceMs;
  let left = found;
  while (left.length > 0 && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    left = findOrphans(owner, run);
  }
  for (let round = 0; left.length > 0 && round < 50; round += 1) {
    for (const { pid } of left) signal(pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 20));
    left = findOrphans(owner, run);
  }
  return found.length;
}

function processes(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function markOf(pid: number): string | undefined {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return variables.find((entry) => entry.startsWith(`${RUN_VARIABLE}=`))?.slice(RUN_VARIABLE.length + 1);
  } catch {
    // Ended meanwhile, or not ours to read.
    return undefined;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Ended meanwhile.
  }
}
