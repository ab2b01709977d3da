/** Speaks JSON-RPC with a stdio server line by line, without any client library. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { atEnd } from './cleanup.ts';
import { signal } from './processes.ts';
import { until } from './wait.ts';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RawStdio {
  readonly pid: number;
  /** Every line of stdout, protocol or not. */
  readonly lines: readonly string[];
  /** Messages of the server that are no answers. */
  readonly notes: readonly any[];
  /** Resolves with `{result}` or `{error}`; rejects after `limitMs` (15,000). */
  request(method: string, params?: Record<string, unknown>, limitMs?: number): Promise<any>;
  /** Sends without waiting and returns the id used. */
  post(method: string, params?: Record<string, unknown>): number;
  notify(method: string, params?: Record<string, unknown>): void;
  send(message: unknown): void;
  /** `initialize` and `notifications/initialized`. */
  handshake(): Promise<any>;
  stderr(): string;
  readonly exited: Promise<Ended>;
  closeInput(): void;
  kill(name: NodeJS.Signals): void;
}

export interface RawOptions {
  command?: string;
  /** false: nobody reads stderr. */
  readStderr?: boolean;
  env?: Record<string, string>;
}

export function rawStdio(
  args: readonly string[],
  { command = process.execPath, readStderr = true, env = {} }: RawOptions = {},
): RawStdio {
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
  });
  const pid = child.pid ?? 0;
  const answers = new Map<number, any>();
  const lines: string[] = [];
  const notes: any[] = [];
  let stderr = '';
  let lastId = 0;

  atEnd(() => signal(pid, 'SIGKILL'));
  child.stdin.on('error', () => {});
  if (readStderr) child.stderr.on('data', (chunk) => (stderr += chunk));
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    const message = parse(line);
    if (message === undefined) return;
    if (message.method === undefined) answers.set(message.id, message);
    else notes.push(message);
  });

  const send = (message: unknown) => child.stdin.write(`${JSON.stringify(message)}\n`);
  const raw: RawStdio = {
    pid,
    lines,
    notes,
    send,
    post(method, params) {
      lastId += 1;
      send({ jsonrpc: '2.0', id: lastId, method, params });
      return lastId;
    },
    request(method, params, limitMs = 15_000) {
      const id = raw.post(method, params);
      return until(() => answers.get(id), { limitMs, everyMs: 3, what: `an answer to ${method}` });
    },
    notify: (method, params) => send({ jsonrpc: '2.0', method, params }),
    async handshake() {
      const answer = await raw.request('initialize', {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'raw', version: '1.0.0' },
      });
      raw.notify('notifications/initialized');
      return answer;
    },
    stderr: () => stderr,
    exited: exitOf(child),
    closeInput: () => child.stdin.end(),
    kill: (name) => signal(pid, name),
  };
  return raw;
}

function parse(line: string): any {
  try {
    const value = JSON.parse(line);
    return value?.jsonrpc === '2.0' ? value : undefined;
  } catch {
    return undefined;
  }
}

function exitOf(child: ChildProcess): Promise<Ended> {
  return new Promise((resolve) => child.on('exit', (code, name) => resolve({ code, signal: name })));
}

/** The metadata every request of the modern era carries. */
export function modernMeta(more: Record<string, unknown> = {}): { _meta: Record<string, unknown> } {
  return {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1.0.0' },
      ...more,
    },
  };
}
