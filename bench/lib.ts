/** What the benchmarks share: statistics, a daemon to measure, readings of /proc. Linux only. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../src/root.ts';

// Node reads this file at every start; measured with it set, spawning would look 40 ms dearer than it is.
delete process.env.NODE_EXTRA_CA_CERTS;

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);
export const quantile = (values: readonly number[], q: number): number =>
  sorted(values)[Math.min(values.length - 1, Math.floor(q * values.length))] ?? Number.NaN;
export const median = (values: readonly number[]): number => quantile(values, 0.5);
export const round = (value: number, digits = 0): number => Number(value.toFixed(digits));

/** Prints one figure beside what it has to reach. */
export function figure(
  what: string,
  value: number,
  unit: string,
  limit?: { at: 'most' | 'least'; value: number },
): void {
  const met =
    limit === undefined ? '' : (limit.at === 'most' ? value <= limit.value : value >= limit.value) ? 'met' : 'NOT MET';
  const target = limit === undefined ? '' : `at ${limit.at} ${limit.value} ${unit}`;
  console.log(`${what.padEnd(62)} ${String(value).padStart(12)} ${unit.padEnd(10)} ${target.padEnd(28)} ${met}`);
}

export const fixture = (name: string): string => join(packageRoot(), 'test/fixtures', name);
export const tinyServer = { command: process.execPath, args: [join(packageRoot(), 'bench/servers/tiny.mjs')] };
export const sdkServer = { command: process.execPath, args: [join(packageRoot(), 'bench/servers/sdk.mjs')] };

/** User and system time of a process and its threads, in ms. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Resident memory, in MiB. */
export const residentMiB = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

export interface Measured {
  readonly pid: number;
  readonly url: string;
  readonly token: string;
  readonly dir: string;
  /** When the process was started, on the clock of `performance.now`. */
  readonly startedAt: number;
  get(path: string): Promise<unknown>;
  post(path: string, body: unknown): Promise<{ status: number; body: any }>;
  stop(): Promise<void>;
}

/** Starts the built daemon, or another `program`, with these servers in a directory of its own. Resolves when it says that it is ready. */
export async function startMeasured(
  servers: object,
  port = 0,
  program = join(packageRoot(), 'dist/cli/main.js'),
): Promise<Measured> {
  const dir = mkdtempSync(join(tmpdir(), 'watchkeeper-bench-'));
  writeFileSync(join(dir, 'mcp.json'), JSON.stringify({ servers }));
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    [
      program,
      'up',
      '--json',
      '--quiet',
      '--port',
      String(port),
      '--config',
      join(dir, 'mcp.json'),
      '--data',
      join(dir, 'data'),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, HOME: dir } },
  );
  const line = await firstLine(child);
  const { url, pid } = JSON.parse(line) as { url: string; pid: number };
  const token = readFileSync(join(dir, 'data/token'), 'utf8').trim();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return {
    pid,
    url,
    token,
    dir,
    startedAt,
    get: async (path) => (await fetch(url + path, { headers })).json(),
    post: async (path, body) => {
      const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: response.status, body: await response.json() };
    },
    stop: async () => {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await gone;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (data) => {
      text += data;
      const [line, rest] = text.split('\n');
      if (rest !== undefined && line) resolve(line);
    });
    child.once('exit', (code) => reject(new Error(`The process ended with ${code}: ${text}`)));
  });
}

/** What a promise gives, or null when it fails or takes longer. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  return Promise.race([promise.catch(() => null), sleep(ms).then(() => null)]);
}

/** Polls until `check` gives something. */
export async function until<T>(
  check: () => Promise<T | undefined | false> | T | undefined | false,
  everyMs = 5,
  limitMs = 60_000,
): Promise<T> {
  const end = performance.now() + limitMs;
  for (;;) {
    const found = await check();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > end) throw new Error('It did not happen in time.');
    await sleep(everyMs);
  }
}
