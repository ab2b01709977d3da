/** A stand-in for the daemon: a real HTTP server on loopback whose answers are written by hand. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Question } from '../../src/cli/command.ts';
import { runCommandLine } from '../../src/cli/run.ts';

export interface Asked {
  readonly route: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** An answer: a body for 200, `problem(…)`, or a function that writes to the response itself. */
export type Reply = unknown | ((asked: Asked, response: ServerResponse) => unknown);

class Refusal {
  constructor(readonly body: Readonly<Record<string, unknown>> & { readonly status: number }) {}
}

export const problem = (status: number, code: string, detail: string, more: Record<string, unknown> = {}): Refusal =>
  new Refusal({ type: `/docs/errors/${code}`, code, title: code, status, detail, error: detail, ...more });

export interface Ran {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
  readonly json: any;
}

export interface RunOptions {
  /** Answers a person gives or keys they press, in order; without them nobody can be asked. */
  readonly answers?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Columns of stdout; without them it is a pipe. */
  readonly columns?: number;
  readonly signal?: AbortSignal;
  /** What stands for the program when it starts itself again. */
  readonly script?: string;
  /** Called with everything printed to stdout so far. */
  readonly onOut?: (text: string) => void;
  /** Lines of stdin. */
  readonly typed?: readonly string[];
}

export interface Fake {
  readonly asked: Asked[];
  readonly questions: Question[];
  readonly folder: string;
  readonly dataDir: string;
  readonly configFile: string;
  routes: Record<string, Reply>;
  run(line: string | readonly string[], options?: RunOptions): Promise<Ran>;
  close(): Promise<void>;
}

export const now = Date.UTC(2026, 2, 15, 12, 0, 0);

const words = (line: string | readonly string[]): readonly string[] =>
  typeof line === 'string' ? line.split(' ').filter(Boolean) : line;

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text === '' ? undefined : JSON.parse(text);
}

/** undefined when it is text for people. */
function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `running: false`: a data directory for which no daemon runs. */
export async function fakeDaemon(routes: Record<string, Reply> = {}, { running = true } = {}): Promise<Fake> {
  const folder = await mkdtemp(join(tmpdir(), 'wk-cli-'));
  const asked: Asked[] = [];
  const questions: Question[] = [];
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const one = {
      route: `${request.method} ${url.pathname}`,
      query: Object.fromEntries(url.searchParams),
      body: await bodyOf(request),
    };
    asked.push(one);
    const reply =
      fake.routes[one.route] ??
      (one.route === 'GET /health' ? { status: 'ok', version: '0.0.0', ready: true } : undefined);
    const answer =
      typeof reply === 'function'
        ? await reply(one, response)
        : (reply ?? problem(404, 'not-found', `no ${one.route}`));
    if (response.headersSent) return;
    const refused = answer instanceof Refusal;
    response.writeHead(refused ? answer.body.status : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(refused ? answer.body : answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  if (running) {
    const facts = {
      pid: process.pid,
      port,
      url: `http://127.0.0.1:${port}`,
      socket: null,
      version: '0.0.0',
      startedAt: new Date(now).toISOString(),
    };
    await writeFile(join(folder, 'daemon.json'), JSON.stringify(facts));
    await writeFile(join(folder, 'token'), 'secret\n');
  }
  const fake: Fake = {
    asked,
    questions,
    folder,
    dataDir: folder,
    configFile: join(folder, 'mcp.json'),
    routes,
    async run(line, { answers, env = {}, columns, signal, onOut, script = 'none', typed = [] } = {}) {
      let out = '';
      let err = '';
      const left = [...(answers ?? [])];
      const tty = answers !== undefined;
      const exit = await runCommandLine({
        argv: words(line),
        env: { HOME: folder, WATCHKEEPER_DATA: folder, WATCHKEEPER_CONFIG: join(folder, 'mcp.json'), ...env },
        cwd: folder,
        streams: {
          stdin: { isTTY: tty },
          stdout: columns === undefined ? { isTTY: tty } : { isTTY: true, columns },
          stderr: { isTTY: tty },
        },
        self: { execPath: process.execPath, execArgv: [], script },
        now: () => now,
        out: (text) => {
          out += text;
          onOut?.(out);
        },
        err: (text) => {
          err += text;
        },
        ask: async (question) => {
          questions.push(question);
          return left.shift() ?? question.otherwise;
        },
        keys: () => ({ next: async () => left.shift() ?? null, close: () => {} }),
        lines: async function* () {
          yield* typed;
        },
        untilInterrupted: () => signal ?? new AbortController().signal,
      });
      return { exit, out, err, json: asJson(out) };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
  return fake;
}
