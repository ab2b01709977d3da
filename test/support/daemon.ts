/** Starts the built daemon with a home of its own, and asks it over HTTP what tests want to know. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { atEnd } from './cleanup.ts';
import { buildReport, cliMain } from './paths.ts';
import { findByEnv, isAlive, signal } from './processes.ts';
import { tempDir } from './temp.ts';
import { until } from './wait.ts';

export interface DaemonOptions {
  /** Entries of `mcp.json`, by name. */
  servers?: Record<string, unknown>;
  /** The text of `mcp.json`, instead of `servers`. */
  configText?: string;
  /** `watchkeeper.json`. */
  settings?: Record<string, unknown>;
  /** Lines of `allow_tool`. */
  allow?: readonly string[];
  /** `watchkeeper.env`. */
  variables?: Record<string, string>;
  /** More environment for the daemon; undefined takes a variable away. */
  env?: Record<string, string | undefined>;
  /** More arguments for `up`. */
  args?: readonly string[];
  /** The data directory; one inside the private home by default. */
  dataDir?: string;
  /** How long to wait for the ready line. */
  limitMs?: number;
}

export interface ApiReply {
  readonly status: number;
  readonly body: any;
  readonly headers: Headers;
}

export interface Ready {
  readonly pid: number;
  readonly port: number;
  readonly url: string;
  readonly socket: string;
  readonly version: string;
  readonly startedAt: string;
}

export interface Exited {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The private home and the files in it. Everything that runs for this home carries `HOME=<home>` in its environment. */
export interface Home {
  readonly home: string;
  readonly config: string;
  readonly dir: string;
  writeConfig(servers: Record<string, unknown>): void;
}

export function makeHome(options: DaemonOptions = {}): Home {
  const home = tempDir();
  const folder = join(home, '.config/agenvoy');
  const config = join(folder, 'mcp.json');
  const dir = options.dataDir ?? join(home, '.local/share/watchkeeper');
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, `${name}.next`), text, { mode: 0o600 });
    renameSync(join(folder, `${name}.next`), join(folder, name));
  };
  mkdirSync(folder, { recursive: true });
  write('mcp.json', options.configText ?? textOf(options.servers ?? {}));
  if (options.settings !== undefined) write('watchkeeper.json', JSON.stringify(options.settings));
  if (options.allow !== undefined) write('allow_tool', options.allow.map((line) => `${line}\n`).join(''));
  if (options.variables !== undefined) {
    write(
      'watchkeeper.env',
      Object.entries(options.variables)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    );
  }
  // Whatever was started for this home, by whichever daemon, ends with the test file.
  atEnd(async () => {
    for (const { pid } of findByEnv('HOME', home)) signal(pid, 'SIGKILL');
    await until(() => findByEnv('HOME', home).length === 0, { what: `the end of what ran for ${home}` });
  });
  return { home, config, dir, writeConfig: (servers) => write('mcp.json', textOf(servers)) };
}

function textOf(servers: Record<string, unknown>): string {
  return `${JSON.stringify({ mcpServers: servers }, null, 2)}\n`;
}

/** The environment of a daemon or a command: a plain one, whatever the tests run in. */
export function plainEnv(home: string, more: Record<string, string | undefined> = {}): Record<string, string> {
  const env = { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', TMPDIR: process.env.TMPDIR, ...more };
  return Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined));
}

function refuseWithoutBuild(): void {
  const report = existsSync(buildReport)
    ? JSON.parse(readFileSync(buildReport, 'utf8'))
    : { ok: false, error: 'it was never run' };
  if (!report.ok || !existsSync(cliMain))
    throw new Error(`The daemon is not built (npm run build): ${report.error ?? 'dist is missing'}`);
}

interface Running {
  readonly child: ChildProcess;
  readonly exited: Promise<Exited>;
  readonly ready: Ready;
  readonly token: string;
}

interface Output {
  stdout: string;
  stderr: string;
}

async function launch(home: Home, options: DaemonOptions, output: Output): Promise<Running> {
  const args = ['up', '--json', '--port', '0', '--config', home.config, '--data', home.dir, ...(options.args ?? [])];
  const child = spawn(process.execPath, [cliMain, ...args], {
    cwd: home.home,
    env: plainEnv(home.home, options.env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const started = output.stdout.length;
  child.stdout.on('data', (chunk) => (output.stdout += chunk));
  child.stderr.on('data', (chunk) => (output.stderr += chunk));
  let end: Exited | undefined;
  const exited = new Promise<Exited>((resolve) => {
    child.on('exit', (code, name) => {
      end = { code, signal: name };
      resolve(end);
    });
  });
  const line = await until(() => end ?? /^\{.*\}$/m.exec(output.stdout.slice(started))?.[0], {
    limitMs: options.limitMs ?? 20_000,
    what: 'the ready line',
  }).catch((error: Error) => {
    signal(child.pid ?? 0, 'SIGKILL');
    throw new Error(`${error.message} stderr:\n${output.stderr}`);
  });
  if (typeof line !== 'string') throw new DaemonExited(line, output.stderr);
  return { child, exited, ready: JSON.parse(line), token: readFileSync(join(home.dir, 'token'), 'utf8').trim() };
}

/** The daemon ended before it was ready. */
export class DaemonExited extends Error {
  override readonly name = 'DaemonExited';
  constructor(
    readonly end: Exited,
    readonly stderr: string,
  ) {
    super(`The daemon ended before it was ready (code ${end.code}, signal ${end.signal}). stderr:\n${stderr}`);
  }
}

export interface Daemon extends Home {
  readonly url: string;
  readonly port: number;
  readonly token: string;
  readonly pid: number;
  readonly ready: Ready;
  /** `body` is sent as JSON; the answer's body is parsed when it is JSON. The token is sent unless a header says otherwise. */
  api(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiReply>;
  /** Rows of `GET /v1/mcp/status`. */
  status(): Promise<any[]>;
  /** The row of one server. */
  server(name: string): Promise<any>;
  /** `GET /v1/mcp/tools`. */
  tools(server?: string): Promise<any[]>;
  /** `POST /v1/mcp/call` in mode `allow-all`, unless `more` says otherwise. */
  call(tool: string, args?: Record<string, unknown>, more?: Record<string, unknown>): Promise<ApiReply>;
  /** Every event of the log, or of one stream, or of one type. */
  events(query?: { stream?: string; type?: string; after?: number }): Promise<any[]>;
  /** Rows of `GET /v1/mcp/history`. */
  history(name?: string): Promise<any[]>;
  /** Asks until the predicate holds for the status row of `name`, and resolves with it. */
  waitForServer(name: string, predicate: string | ((row: any) => boolean), limitMs?: number): Promise<any>;
  waitFor<Value>(
    predicate: (daemon: Daemon) => Value | Promise<Value>,
    limitMs?: number,
  ): Promise<NonNullable<Exclude<Value, false>>>;
  /** SIGTERM; resolves with the end. A daemon that does not go within 15 s is killed and it rejects. */
  stop(): Promise<Exited>;
  /** SIGKILL. */
  kill(): Promise<Exited>;
  /** Starts it again in the same home; stops it before if it runs. `more` replaces options. */
  restart(more?: Partial<DaemonOptions>): Promise<void>;
  readonly exited: Promise<Exited>;
  /** What all runs wrote so far. */
  stderr(): string;
  stdout(): string;
}

/** Rejects with `DaemonExited` when the daemon ends before its ready line. */
export async function startDaemon(options: DaemonOptions = {}): Promise<Daemon> {
  refuseWithoutBuild();
  return startIn(makeHome(options), options);
}

/** The same in a home that exists already; two daemons may be started in one. */
export async function startIn(home: Home, options: DaemonOptions = {}): Promise<Daemon> {
  const output: Output = { stdout: '', stderr: '' };
  let current = options;
  let running = await launch(home, current, output);

  const end = async (name: NodeJS.Signals): Promise<Exited> => {
    const { pid = 0 } = running.child;
    signal(pid, name);
    await until(() => !isAlive(pid), { limitMs: 15_000, what: `the end of the daemon after ${name}` }).catch(
      (error: Error) => {
        signal(pid, 'SIGKILL');
        throw new Error(`${error.message} stderr:\n${output.stderr}`);
      },
    );
    return running.exited;
  };
  atEnd(async () => {
    if (isAlive(running.child.pid ?? 0)) await end('SIGTERM');
  });

  const daemon: Daemon = {
    ...home,
    get url() {
      return running.ready.url;
    },
    get port() {
      return running.ready.port;
    },
    get token() {
      return running.token;
    },
    get pid() {
      return running.child.pid ?? 0;
    },
    get ready() {
      return running.ready;
    },
    get exited() {
      return running.exited;
    },
    async api(method, path, body, headers = {}) {
      const response = await fetch(`${running.ready.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${running.token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const json = (response.headers.get('content-type') ?? '').includes('json');
      return { status: response.status, body: json ? JSON.parse(text) : text, headers: response.headers };
    },
    async status() {
      return (await daemon.api('GET', '/v1/mcp/status')).body.servers;
    },
    async server(name) {
      return (await daemon.status()).find((row) => row.name === name);
    },
    async tools(server) {
      const query = server === undefined ? '' : `?server=${encodeURIComponent(server)}`;
      return (await daemon.api('GET', `/v1/mcp/tools${query}`)).body.tools;
    },
    call: (tool, args = {}, more = {}) =>
      daemon.api('POST', '/v1/mcp/call', { tool, arguments: args, permission_mode: 'allow-all', ...more }),
    async events({ stream, type, after = 0 } = {}) {
      const found: any[] = [];
      for (let next: number | null = after; next !== null; ) {
        const query: URLSearchParams = new URLSearchParams({ after: String(next), limit: '1000' });
        if (stream !== undefined) query.set('stream', stream);
        if (type !== undefined) query.set('type', type);
        const { body } = await daemon.api('GET', `/v1/events?${query}`);
        found.push(...body.events);
        next = body.next;
      }
      return found;
    },
    async history(name) {
      const query = name === undefined ? '' : `?name=${encodeURIComponent(name)}`;
      return (await daemon.api('GET', `/v1/mcp/history${query}`)).body.intervals;
    },
    async waitForServer(name, predicate, limitMs) {
      const holds = typeof predicate === 'string' ? (row: any) => row.state === predicate : predicate;
      let last: any;
      try {
        return await daemon.waitFor(async () => {
          last = await daemon.server(name);
          return last !== undefined && holds(last) ? last : false;
        }, limitMs);
      } catch (error) {
        const wanted = typeof predicate === 'string' ? predicate : 'as wanted';
        throw new Error(`${name} did not become ${wanted}; last seen: ${JSON.stringify(last)}`, { cause: error });
      }
    },
    waitFor: (predicate, limitMs = 15_000) => until(() => predicate(daemon), { limitMs, everyMs: 20 }),
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    async restart(more = {}) {
      if (isAlive(running.child.pid ?? 0)) await end('SIGTERM');
      current = { ...current, ...more };
      running = await launch(home, current, output);
    },
    stderr: () => output.stderr,
    stdout: () => output.stdout,
  };
  return daemon;
}

/** Runs one command of the CLI for that home to its end. */
export async function runCli(
  home: Home,
  args: readonly string[],
  { env = {}, input }: { env?: Record<string, string | undefined>; input?: string } = {},
): Promise<Exited & { stdout: string; stderr: string }> {
  refuseWithoutBuild();
  const child = spawn(process.execPath, [cliMain, ...args], {
    cwd: home.home,
    env: plainEnv(home.home, { WATCHKEEPER_CONFIG: home.config, WATCHKEEPER_DATA: home.dir, ...env }),
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.end(input);
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk) => (stdout += chunk));
  child.stderr?.on('data', (chunk) => (stderr += chunk));
  return new Promise((resolve) => child.on('close', (code, name) => resolve({ code, signal: name, stdout, stderr })));
}
