import type { Limits } from '../events/shapes.ts';
import type { EntryAsWritten } from './schema.ts';

/** Commands that may have to fetch a package or an image before the server starts. */
const fetchers = new Set(['npx', 'uvx', 'pnpm', 'bunx', 'docker', 'podman']);

/** Limits of one entry with the defaults of the contract filled in; milliseconds. Pure. */
export function limitsOf(written: EntryAsWritten): Limits {
  const callTimeoutMs = written.callTimeoutMs ?? 60_000;
  return {
    connectTimeoutMs:
      written.connectTimeoutMs ?? (fetches(written.command ?? '', written.args ?? []) ? 120_000 : 30_000),
    listTimeoutMs: written.listTimeoutMs ?? 30_000,
    callTimeoutMs,
    // A longer limit for silence alone is meant to be reachable.
    callMaxMs: written.callMaxMs ?? Math.max(600_000, callTimeoutMs),
    pollIntervalMs: written.pollIntervalMs ?? 60_000,
    idleStopMs: written.idleStopMs ?? null,
    stableMs: written.stableMs ?? 60_000,
    maxConcurrency: written.maxConcurrency ?? null,
  };
}

/** Also sees `/usr/bin/npx`, `npx.cmd` and `cmd /c npx`. */
function fetches(command: string, args: readonly string[]): boolean {
  const program = programOf(command);
  if (program === 'cmd' && args[0]?.toLowerCase() === '/c') return fetchers.has(programOf(args[1] ?? ''));
  return fetchers.has(program);
}

const programOf = (command: string): string =>
  (command.trim().split(/[/\\]/).at(-1) ?? '').toLowerCase().replace(/\.(?:cmd|exe|bat|ps1)$/, '');
