/** Entries of `mcp.json` that start the fake servers, and the files that steer and watch them. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Behaviour, FakeEra } from './behaviour.ts';
import { countOf, readCounts } from './counters.ts';
import { blockingStderr, launcher, stdioServer } from './paths.ts';
import { tempDir } from './temp.ts';

export interface FakeOptions {
  era?: FakeEra;
  behaviour?: Behaviour;
  /** Control file. */
  control?: string;
  /** Counter file. */
  count?: string;
}

/** Arguments for `node`, script first. */
export function fakeArgs({ era, behaviour, control, count }: FakeOptions = {}, script = stdioServer): string[] {
  const args = [script];
  if (era !== undefined) args.push('--era', era);
  if (behaviour !== undefined) args.push('--behave', JSON.stringify(behaviour));
  if (control !== undefined) args.push('--control', control);
  if (count !== undefined) args.push('--count', count);
  return args;
}

/** A dollar sign in an entry starts a placeholder. */
const literally = (text: string) => text.replaceAll('$', '$$$$');

/** An entry with the stdio fake; `more` holds further keys of the entry. */
export function stdioEntry(options: FakeOptions = {}, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { command: process.execPath, args: fakeArgs(options).map(literally), ...more };
}

/** The same behind a launcher that passes no signals on. */
export function launcherEntry(
  options: FakeOptions & { detach?: boolean; stay?: boolean } = {},
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  const flags = [...(options.detach ? ['--detach'] : []), ...(options.stay ? ['--stay'] : [])];
  return { command: process.execPath, args: [launcher, ...flags, ...fakeArgs(options).map(literally)], ...more };
}

/** The server whose writes to stderr block. Needs `python3`. */
export function blockingStderrEntry(
  { start, call, count }: { start?: number; call?: number; count?: string } = {},
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  const args = [blockingStderr];
  if (start !== undefined) args.push('--start', String(start));
  if (call !== undefined) args.push('--call', String(call));
  if (count !== undefined) args.push('--count', count);
  return { command: 'python3', args, ...more };
}

/** Writes the control file in one step. */
export function writeControl(file: string, behaviour: Behaviour): void {
  const next = `${file}.next`;
  writeFileSync(next, JSON.stringify(behaviour));
  renameSync(next, file);
}

export interface Steered {
  /** Options for `stdioEntry` and its sisters. */
  readonly options: FakeOptions & { control: string; count: string };
  readonly control: string;
  readonly count: string;
  /** Changes some keys of the behaviour of the running and of every later process. */
  set(patch: Behaviour): void;
  counted(event: string, name?: string): number;
  counts(): ReturnType<typeof readCounts>;
  /** The pid of the newest process. */
  pid(): number;
}

/** A fake that is steered and counted through files in a temp directory of its own. */
export function steered(options: { era?: FakeEra; behaviour?: Behaviour } = {}): Steered {
  const dir = tempDir('wk-fake-');
  const control = join(dir, 'control.json');
  const count = join(dir, 'counts.jsonl');
  writeControl(control, options.behaviour ?? {});
  return {
    options: { ...(options.era === undefined ? {} : { era: options.era }), control, count },
    control,
    count,
    set: (patch) => writeControl(control, { ...JSON.parse(readFileSync(control, 'utf8')), ...patch }),
    counted: (event, name) => countOf(count, event, name),
    counts: () => readCounts(count),
    pid: () => readCounts(count).findLast((line) => line.event === 'spawn')?.pid ?? 0,
  };
}
