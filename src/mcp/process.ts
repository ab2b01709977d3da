/**
 * A stdio server as a channel: its own process group, its exit seen as such, stderr always drained, lines up to 64 MiB.
 * The SDK's own transport waits for pipes to close, tells no exit code and leaves grandchildren alive.
 */

import type { ChildProcess } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import spawn from 'cross-spawn';
import type { Channel } from './channel.ts';
import { RUN_VARIABLE } from './connection.ts';
import { Fault, type Observation } from './failure.ts';
import { endGroup, groupGone } from './group.ts';
import { LineSplitter, LineTooLong } from './lines.ts';
import { type Message, messagesIn } from './message.ts';
import { Noise } from './noise.ts';
import { Tail } from './tail.ts';
import { Tap } from './tap.ts';

/** The largest line taken from a server. */
export const LINE_LIMIT = 64 * 1_048_576;
/** How long what a process wrote before it ended is still read, when something else holds its pipes open. */
const DRAIN_MS = 100;
/** A closed pipe is usually the first sign of an exit; only if the process lives on is the pipe the news. */
const EXIT_AFTER_PIPE_MS = 200;
/** Shutdown (specification, stdio): close stdin, wait, SIGTERM, wait, SIGKILL. */
const AFTER_STDIN_MS = 2_000;
const AFTER_TERM_MS = 5_000;
/** What is left of a group whose leader ended by itself has nobody to answer to. */
const AFTER_LEADER_MS = 1_000;
/** Characters that are written without waiting for more. */
const WRITE_AT_ONCE = 65_536;
/** Enough of a line for a sample, so that a huge one is not decoded. */
const SAMPLE_BYTES = 1_024;
/** What an ear is given of a line that is no protocol. */
const TAPPED_BYTES = 65_536;

export interface ProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** The child's whole environment, apart from the run's mark. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly runId: string;
  readonly onProcess: (process: { pid: number; startedAt: number }) => Promise<void>;
  readonly onWarning: (message: string) => void;
  readonly redact: (text: string) => string;
  readonly tap?: Tap | undefined;
}

export class ProcessChannel implements Channel {
  readonly breaksOff = false;
  onmessage: (message: Message) => void = () => {};
  onend: (reason: Observation) => void = () => {};

  readonly #options: ProcessOptions;
  readonly #tap: Tap;
  readonly #tail = new Tail();
  readonly #noise: Noise;
  #spawning: Promise<unknown> | null = null;
  #child: ChildProcess | null = null;
  #exit: { exitCode: number | null; signal: string | null } | null = null;
  #exited: Promise<void> = Promise.resolve();
  #closing: Promise<void> | null = null;
  #ended = false;
  /** What was said in this turn of the loop: a write costs more than all the rest of a call. */
  #unwritten = '';
  /** The end of what a dead leader left behind. */
  #swept: Promise<void> | null = null;

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.#tap = options.tap ?? new Tap();
    this.#noise = new Noise(options.onWarning);
  }

  /** Pid of the command itself, which is also its process group. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Last 4 KiB of stderr, masked. */
  stderrTail(): string {
    return this.#tail.text(this.#options.redact);
  }

  /** Starts the process and resolves when its start has been recorded; nothing is written to it before. */
  async start(): Promise<void> {
    const { cwd, command } = this.#options;
    if (cwd !== undefined) await checkFolder(cwd);
    if (this.#closing !== null) throw new Fault({ seen: 'daemon', detail: 'the start was called off' }, false);
    const spawning = this.#spawn();
    this.#spawning = spawning;
    const child = await spawning.catch(async (error: NodeJS.ErrnoException) => {
      const code = error.code ?? 'UNKNOWN';
      throw new Fault({ seen: 'spawn-error', code, ...(await culprit(command, code)) }, false);
    });
    const pid = child.pid as number;
    this.#tap.ear?.({ is: 'process', pid });
    try {
      await this.#options.onProcess({ pid, startedAt: Date.now() });
    } catch (error) {
      await this.close();
      throw new Fault(
        {
          seen: 'daemon',
          detail: `the start could not be recorded: ${error instanceof Error ? error.message : String(error)}`,
        },
        false,
      );
    }
    if (this.#exit !== null) throw new Fault(await this.#howItEnded(), false);
  }

  send(message: Message): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin || this.#ended || this.#exit !== null || this.#closing !== null || !stdin.writable) {
      return Promise.reject(new Fault(this.#endSoFar(), false));
    }
    this.#tap.ear?.({ is: 'out', message });
    if (this.#unwritten === '') process.nextTick(() => this.#write());
    this.#unwritten += `${JSON.stringify(message)}\n`;
    if (this.#unwritten.length > WRITE_AT_ONCE) this.#write();
    return Promise.resolve();
  }

  close(): Promise<void> {
    if (this.#closing === null) {
      this.#tap.close();
      this.#closing = this.#shutDown();
    }
    return this.#closing;
  }

  /** The process is at fault if it does not read; callers have their own limits, so the pipe's backlog is not waited for. */
  #write(): void {
    const text = this.#unwritten;
    this.#unwritten = '';
    if (text !== '' && this.#child?.stdin?.writable) this.#child.stdin.write(text);
  }

  #spawn(): Promise<ChildProcess> {
    const { command, args, env, cwd, runId } = this.#options;
    return new Promise((resolve, reject) => {
      // Throws by itself for some errors (arguments too long), reports others as an event.
      const child = spawn(command, [...args], {
        env: { ...env, [RUN_VARIABLE]: runId },
        cwd,
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: process.platform !== 'win32',
        windowsHide: true,
      });
      child.once('error', reject);
      child.once('spawn', () => {
        child.off('error', reject);
        child.on('error', () => {});
        this.#child = child;
        this.#listen(child);
        resolve(child);
      });
    });
  }

  #listen(child: ChildProcess): void {
    const lines = new LineSplitter(LINE_LIMIT);
    child.stdout?.on('data', (chunk: Buffer) => {
      if (this.#ended) return;
      try {
        lines.push(chunk, (line) => this.#line(line));
      } catch (error) {
        if (!(error instanceof LineTooLong)) throw error;
        this.#end({ seen: 'unparsable', detail: `on stdout ${error.message}` });
      }
    });
    child.stdout?.on('error', () => {});
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#tail.push(chunk);
      this.#tap.ear?.({ is: 'stderr', chunk });
    });
    child.stderr?.on('error', () => {});
    child.stdin?.on('error', () => this.#pipeClosed('stdin'));
    child.stdout?.once('end', () => this.#pipeClosed('stdout'));
    this.#exited = new Promise((resolve) => {
      child.once('exit', (exitCode, signal) => {
        this.#exit = { exitCode, signal };
        const endedAt = performance.now();
        this.#swept ??= this.#sweep();
        resolve();
        void this.#drained(child).then(() => {
          if (!this.#ended && lines.pending > 0) this.#line(lines.rest(), true);
          child.stdout?.destroy();
          child.stderr?.destroy();
          child.stdin?.destroy();
          this.#tap.ear?.({ is: 'exit', exitCode, signal, agoMs: performance.now() - endedAt });
          this.#end(this.#endSoFar());
        });
      });
    });
  }

  #line(line: Buffer, partial = false): void {
    let start = 0;
    while (start < line.length && ((line[start] ?? 0) === 0x20 || (line[start] ?? 0) === 0x09)) start += 1;
    if (start === line.length) return;
    const first = line[start];
    if (first === 0x7b || first === 0x5b) {
      const messages = parse(line);
      if (messages !== null) {
        for (const message of messages) {
          this.#tap.ear?.({ is: 'in', message });
          this.onmessage(message);
        }
        return;
      }
    }
    this.#tap.ear?.({ is: 'stdout', text: line.subarray(0, TAPPED_BYTES).toString('utf8'), partial });
    this.#noise.heard(() => this.#options.redact(line.subarray(0, SAMPLE_BYTES).toString('utf8')));
  }

  /** What the process wrote before it ended is in its pipes; a grandchild may hold them open for ever. */
  #drained(child: ChildProcess): Promise<void> {
    return new Promise((resolve) => {
      // Timers come before input in a turn of the loop: after a busy one, what is in the pipes has yet to be read.
      const timer = setTimeout(() => setImmediate(resolve), DRAIN_MS);
      child.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #pipeClosed(pipe: 'stdin' | 'stdout'): void {
    if (this.#exit !== null || this.#ended || this.#closing !== null) return;
    setTimeout(() => {
      if (this.#exit !== null) return;
      this.#tap.ear?.({ is: 'pipe', pipe });
      this.#end({ seen: 'pipe-closed', pipe, stderrTail: this.stderrTail() });
    }, EXIT_AFTER_PIPE_MS);
  }

  #end(reason: Observation): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#closing === null) this.onend(reason);
  }

  #endSoFar(): Observation {
    if (this.#exit === null) return { seen: 'daemon', detail: 'the connection is closed' };
    return { seen: 'exit', ...this.#exit, stderrTail: this.stderrTail() };
  }

  async #howItEnded(): Promise<Observation> {
    if (this.#child !== null) await this.#drained(this.#child);
    return this.#endSoFar();
  }

  async #sweep(): Promise<void> {
    const pid = this.pid;
    if (pid !== null && process.platform !== 'win32' && !(await groupGone(pid, 0)))
      await endGroup(pid, AFTER_LEADER_MS);
  }

  async #shutDown(): Promise<void> {
    await this.#spawning?.catch(() => {});
    const child = this.#child;
    if (child === null || child.pid === undefined) return;
    if (this.#exit === null) {
      this.#write();
      child.stdin?.end();
      await within(AFTER_STDIN_MS, this.#exited);
    }
    if (this.#exit === null) {
      await endGroup(child.pid, AFTER_TERM_MS);
      await within(AFTER_LEADER_MS, this.#exited);
    }
    await this.#swept;
    this.#ended = true;
    child.stdout?.destroy();
    child.stderr?.destroy();
    child.stdin?.destroy();
  }
}

function parse(line: Buffer): readonly Message[] | null {
  try {
    return messagesIn(JSON.parse(line.toString('utf8')));
  } catch {
    return null;
  }
}

/** Resolves with the promise, or after `ms`. */
function within(ms: number, promise: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void promise.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Node reports a missing working directory as a missing command. */
async function checkFolder(cwd: string): Promise<void> {
  const wrong = (code: string) => new Fault({ seen: 'spawn-error', code, wrong: 'cwd', value: cwd }, false);
  const found = await stat(cwd).catch((error: NodeJS.ErrnoException) => {
    throw wrong(error.code ?? 'ENOENT');
  });
  if (!found.isDirectory()) throw wrong('ENOTDIR');
  await access(cwd, constants.X_OK).catch((error: NodeJS.ErrnoException) => {
    throw wrong(error.code ?? 'EACCES');
  });
}

/** A script whose interpreter is missing is reported as missing itself. */
async function culprit(command: string, code: string): Promise<{ wrong: 'command' | 'interpreter'; value: string }> {
  const there =
    code === 'ENOENT' &&
    isAbsolute(command) &&
    (await access(command).then(
      () => true,
      () => false,
    ));
  return { wrong: there ? 'interpreter' : 'command', value: command };
}
