/** What several of these tests ask of a running daemon and of the process table. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiReply, Daemon } from '../support/daemon.ts';
import { allProcesses, descendantsOf, findByEnv, groupMembers, type ProcessInfo } from '../support/processes.ts';

/** The first text block of a call's result. */
export function textOf({ body }: ApiReply): string {
  return body.content?.[0]?.text;
}

/** Facts of one server, or those of some types. */
export async function factsOf(daemon: Daemon, server: string, ...types: string[]): Promise<any[]> {
  const facts = await daemon.events({ stream: `server-${server}` });
  return types.length === 0 ? facts : facts.filter(({ type }) => types.includes(type));
}

export async function typesOf(daemon: Daemon, server: string): Promise<string[]> {
  return (await factsOf(daemon, server)).map(({ type }) => type);
}

/** The position of the newest fact. */
export async function lastPosition(daemon: Daemon): Promise<number> {
  return (await daemon.events()).at(-1)?.position ?? 0;
}

/** Lines of the daemon's own log about one server, warnings and worse. */
export function warningsOf(daemon: Daemon, server?: string): any[] {
  return daemon
    .stderr()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter((line) => line.level >= 40 && (server === undefined || line.server === server));
}

/** Living processes that carry `MARK=<mark>` in their environment: an entry's `env` puts it there. */
export function marked(mark: string): ProcessInfo[] {
  return findByEnv('MARK', mark).filter(({ state }) => state !== 'Z');
}

/** Members of a process group that have not ended. */
export function livingIn(pgid: number): ProcessInfo[] {
  return groupMembers(pgid).filter(({ state }) => state !== 'Z');
}

/**
 * Processes below the daemon that ended and were left uncollected. Whoever ends is defunct for a moment, until the daemon
 * hears of it: only what still is so some time later counts.
 */
export async function leftDefunct(daemon: Daemon): Promise<ProcessInfo[]> {
  const defunct = () => descendantsOf(daemon.pid).filter(({ state }) => state === 'Z');
  const before = new Set(defunct().map(({ pid }) => pid));
  await pause(1_000);
  return defunct().filter(({ pid }) => before.has(pid));
}

/** Looks again and again at how many living processes carry each `MARK`, until `stop`; resolves with the most seen at once. */
export function watchMarks(everyMs = 50): { stop(): Promise<Record<string, number>> } {
  const most: Record<string, number> = {};
  let watching = true;
  const look = () => {
    const now: Record<string, number> = {};
    for (const { pid, state } of allProcesses()) {
      const mark = state === 'Z' ? undefined : environmentOf(pid).MARK;
      if (mark !== undefined) now[mark] = (now[mark] ?? 0) + 1;
    }
    for (const [mark, count] of Object.entries(now)) most[mark] = Math.max(most[mark] ?? 0, count);
  };
  const done = (async () => {
    for (; watching; await pause(everyMs)) look();
    return most;
  })();
  return {
    stop() {
      watching = false;
      return done;
    },
  };
}

/** The environment a process was started with; nothing when it has ended. */
export function environmentOf(pid: number): Record<string, string> {
  try {
    const entries = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
    return Object.fromEntries(
      entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
    );
  } catch {
    return {};
  }
}

/** Whether the intervals of one server follow each other without gap or overlap, only the last one open. */
export function isUnbroken(intervals: readonly any[]): boolean {
  return intervals.every(({ from, to }, n) => {
    const next = intervals[n + 1];
    return next === undefined ? to === null : to === next.from && from <= to;
  });
}
