/**
 * The shell of one server: it runs the effects the machine names (connection, list, watch, close) and reports what comes of
 * them. It holds no rule: `decide` turns reports into facts, and only facts move the machine.
 */
import { auditTime, Subject } from 'rxjs';
import type { BuiltinEntry, EntryProblem, ResolvedEntry } from '../../config/entry.ts';
import type { ServerFact } from '../../events/server.events.ts';
import type { Failure, ToolDefinition } from '../../events/shapes.ts';
import { type Connection, ConnectionError, type OpenConnection, type ToolList } from '../../mcp/connection.ts';
import { Actor } from '../actor.ts';
import { bodyOf } from '../body.ts';
import type { Desk } from '../desk.ts';
import type { Head } from '../head.ts';
import { problemText } from './problem.text.ts';
import type { ServerCommand, ServerReport } from './server.commands.ts';
import { type OfConnection, serverMachine } from './server.machine.ts';
import { serverRules } from './server.rules.ts';
import type { ServerContext } from './server.state.ts';

/** Announcements that come closer together than this lead to one list, in ms. */
const BURST_MS = 100;
/** How long a server is taken to speak an old protocol without being asked, in ms. */
const LEGACY_VERDICT_MS = 86_400_000;
/** Share of the poll interval by which a poll may come early, so that many servers do not poll at once. */
const POLL_JITTER = 0.1;

export interface ServerActorOptions {
  readonly name: string;
  readonly desk: Desk;
  readonly head?: Head<ServerContext> | undefined;
  readonly open: OpenConnection<ResolvedEntry | BuiltinEntry>;
  /** The entry with its placeholders replaced, read anew at each start. */
  readonly resolve: () => ResolvedEntry | BuiltinEntry | EntryProblem;
  /** What becomes of a list as received: its signature, the tools taken, what is wrong with the others. */
  readonly read: (received: readonly ToolDefinition[]) => {
    readonly signature: string;
    readonly tools: readonly ToolDefinition[];
    readonly warnings: readonly string[];
  };
  readonly runId: string;
  readonly version: string;
  /** Nothing is started before this. */
  readonly after: Promise<unknown>;
  readonly onWarning: (server: string, message: string) => void;
  /** The server answered something: what `lastSeen` shows between facts. `at` in ms since the epoch. */
  readonly onSeen: (server: string, at: number) => void;
}

/** What stays of one connection while its end is awaited. */
interface Link {
  readonly number: number;
  readonly abort: AbortController;
  connection: Connection | null;
  stderrTail: (() => string) | null;
  /** Of the process that was started last for it. */
  pid: number | null;
  /** Something was announced that no list has answered yet. */
  announced: boolean;
}

export class ServerActor {
  readonly name: string;
  readonly actor: Actor<ServerContext, ServerFact, ServerCommand>;
  readonly #options: ServerActorOptions;
  #link: Link | null = null;
  /** Resolves when nothing of any earlier connection is left. */
  #ended: Promise<unknown>;
  #uses = 0;
  #lastUse = 0;

  constructor(options: ServerActorOptions) {
    this.#options = options;
    this.name = options.name;
    this.#ended = options.after.catch(() => {});
    this.actor = new Actor({
      stream: `server-${options.name}`,
      desk: options.desk,
      rules: serverRules,
      head: options.head,
      keepHead: true,
    });
  }

  /** Gives the actor its body. Only at rest: what a dead daemon left open is closed before. */
  start(): void {
    this.actor.embody(
      bodyOf<ServerFact, OfConnection>({
        machine: serverMachine,
        head: this.actor.head,
        effects: {
          connection: ({ connection }) => this.#connect(connection),
          list: ({ connection }) => this.#list(connection),
          watch: ({ connection }) => this.#watch(connection),
          close: ({ connection }) => this.#close(connection),
        },
        issue: (report: ServerReport) => this.#report(this.#withTail(report)),
        onThrow: (error) => {
          const failure: Failure = { class: 'protocol', phase: 'connect', message: `connect: ${String(error)}` };
          this.#report({ type: 'ReportFailure', connection: this.actor.head.context.connection, failure });
        },
      }),
    );
  }

  /** The live connection with this number; null when it is gone. */
  connection(number: number): Connection | null {
    return this.#link?.number === number ? this.#link.connection : null;
  }

  /** The process that runs now, and the end of what it wrote to stderr, masked; null when none runs. */
  process(): { readonly pid: number; readonly stderr: string } | null {
    const { pid = null, stderrTail = null } = this.#link ?? {};
    return pid === null || stderrTail === null ? null : { pid, stderr: stderrTail() };
  }

  /** A call begins; to be told when it ends. Idle stop counts from the end of the last one. */
  use(): () => void {
    this.#uses += 1;
    return () => {
      this.#uses -= 1;
      this.#lastUse = this.#options.desk.now();
    };
  }

  tell(command: ServerCommand, cause?: string): ReturnType<Actor<ServerContext, ServerFact, ServerCommand>['tell']> {
    return this.actor.tell(command, undefined, cause);
  }

  /** For what follows from the configuration or the daemon itself: no log in trouble makes it undone, it is only done later. */
  insist(command: ServerCommand, cause?: string): Promise<unknown> {
    return this.actor.report(command, undefined, cause);
  }

  /** Resolves when no process and no socket of this server is left. */
  get ended(): Promise<unknown> {
    return this.#ended;
  }

  dispose(): void {
    this.actor.stop();
  }

  #report(report: ServerReport): Promise<readonly unknown[]> {
    return this.actor.report(report, undefined);
  }

  #withTail(report: ServerReport): ServerReport {
    const stderrTail = report.type === 'ReportTimeout' ? this.#link?.stderrTail?.() : undefined;
    return report.type === 'ReportTimeout' && stderrTail ? { ...report, stderrTail } : report;
  }

  #connect(number: number): () => void {
    const link: Link = {
      number,
      abort: new AbortController(),
      connection: null,
      stderrTail: null,
      pid: null,
      announced: false,
    };
    this.#link = link;
    const before = this.#ended;
    const opening = before.then(() => (link.abort.signal.aborted ? undefined : this.#open(link)));
    return () => {
      link.abort.abort();
      if (this.#link === link) this.#link = null;
      // Two processes of one server never run at once: the next connection awaits this.
      this.#ended = opening
        .then(() => link.connection?.close())
        .catch((error) => this.#options.onWarning(this.name, `close: ${String(error)}`));
    };
  }

  async #open(link: Link): Promise<void> {
    const { number: connection, abort } = link;
    const fail = (failure: Failure): void => {
      if (!abort.signal.aborted) this.#report({ type: 'ReportFailure', connection, failure });
    };
    const entry = this.#options.resolve();
    if (!('transport' in entry)) {
      fail({ class: 'config', phase: 'config', message: problemText(entry) });
      return;
    }
    const began = performance.now();
    try {
      const opened = await this.#options.open({
        entry,
        verdict: this.#verdict(),
        signal: abort.signal,
        runId: this.#options.runId,
        version: this.#options.version,
        onWarning: (message) => this.#options.onWarning(this.name, message),
        onStderr: (tail) => {
          link.stderrTail = tail;
        },
        onProcess: async ({ pid, startedAt }) => {
          link.pid = pid;
          await this.#report({ type: 'ReportProcess', connection, pid, startedAt });
        },
      });
      link.connection = opened;
      if (abort.signal.aborted) return;
      void opened.lost.then(fail);
      // From here on nothing announced is missed, also between the first list and the watch.
      opened.onToolsChanged(() => {
        link.announced = true;
      });
      opened.onPush((push, reason) => {
        if (!abort.signal.aborted)
          this.#report({ type: 'ReportPush', connection, push, ...(reason ? { reason } : {}) });
      });
      this.#options.onSeen(this.name, this.#options.desk.now());
      const tookMs = Math.round(performance.now() - began);
      this.#report({ type: 'ReportConnected', connection, agreement: opened.agreement, tookMs });
    } catch (error) {
      fail(failureOf(error, 'connect'));
    }
  }

  /** A server may have learnt the newer protocol meanwhile: what is known of an old one is asked again after a day. */
  #verdict(): ServerContext['verdict'] {
    const { verdict } = this.actor.head.context;
    const old = verdict?.era === 'legacy' && this.#options.desk.now() - verdict.at > LEGACY_VERDICT_MS;
    return old ? null : verdict;
  }

  #list(number: number): () => void {
    const abort = new AbortController();
    void this.#readTools(number, abort.signal, 'first');
    return () => abort.abort();
  }

  #watch(number: number): () => void {
    const connection = this.connection(number);
    if (!connection) return () => {};
    const { limits } = this.actor.head.context;
    const abort = new AbortController();
    const announced = new Subject<void>();
    let timer: NodeJS.Timeout | null = null;
    let reading = false;
    let again = false;

    const scheduled = (): void => {
      const early = Math.random() * POLL_JITTER * limits.pollIntervalMs;
      timer = setTimeout(() => void read(), limits.pollIntervalMs - early);
      timer.unref();
    };
    const read = async (): Promise<void> => {
      // One list at a time; whatever is announced meanwhile leads to one more.
      if (reading) {
        again = true;
        return;
      }
      reading = true;
      if (timer) clearTimeout(timer);
      await this.#readTools(number, abort.signal, 'later');
      reading = false;
      if (abort.signal.aborted) return;
      scheduled();
      if (again) {
        again = false;
        announced.next();
      }
    };
    const bursts = announced.pipe(auditTime(BURST_MS)).subscribe(() => void read());
    const deafen = connection.onToolsChanged(() => announced.next());
    scheduled();
    if (this.#link?.announced) announced.next();
    const unused = this.#watchUse(number);

    return () => {
      abort.abort();
      bursts.unsubscribe();
      deafen();
      unused();
      if (timer) clearTimeout(timer);
    };
  }

  /** Reports a server that nobody used for `idleStopMs`. */
  #watchUse(connection: number): () => void {
    const { idleStopMs } = this.actor.head.context.limits;
    if (idleStopMs === null) return () => {};
    this.#lastUse = this.#options.desk.now();
    let timer: NodeJS.Timeout;
    const check = (): void => {
      const rest = this.#uses > 0 ? idleStopMs : this.#lastUse + idleStopMs - this.#options.desk.now();
      if (rest <= 0) this.#report({ type: 'ReportUnused', connection });
      else timer = setTimeout(check, rest).unref();
    };
    timer = setTimeout(check, idleStopMs).unref();
    return () => clearTimeout(timer);
  }

  async #readTools(number: number, signal: AbortSignal, which: 'first' | 'later'): Promise<void> {
    const connection = this.connection(number);
    if (!connection) return;
    const { listTimeoutMs } = this.actor.head.context.limits;
    // The first list has the machine's own limit, which ends the connection; a later one only costs itself.
    const limited = which === 'first' ? signal : AbortSignal.any([signal, AbortSignal.timeout(listTimeoutMs)]);
    if (this.#link) this.#link.announced = false;
    const began = performance.now();
    let list: ToolList;
    try {
      list = await connection.listTools(limited);
    } catch (error) {
      if (signal.aborted) return;
      const timedOut = which === 'later' && limited.aborted;
      const failure: Failure = timedOut
        ? {
            class: 'timeout',
            phase: 'list',
            message: `list: no answer within ${listTimeoutMs} ms (listTimeoutMs); the list known before stays`,
          }
        : failureOf(error, 'list');
      this.#report({ type: which === 'first' ? 'ReportFailure' : 'ReportListFailed', connection: number, failure });
      return;
    }
    if (signal.aborted) return;
    this.#options.onSeen(this.name, this.#options.desk.now());
    const tookMs = Math.round(performance.now() - began);
    const { signature, tools, warnings } = this.#options.read(list.tools);
    await this.#report({
      type: 'ReportTools',
      connection: number,
      signature,
      tools,
      warnings: [...list.warnings, ...warnings],
      tookMs,
    });
  }

  #close(connection: number): () => void {
    void this.#ended.then(() => this.#report({ type: 'ReportStopped', connection }));
    return () => {};
  }
}

const failureOf = (error: unknown, phase: Failure['phase']): Failure =>
  error instanceof ConnectionError
    ? error.failure
    : { class: 'protocol', phase, message: `${phase}: ${error instanceof Error ? error.message : String(error)}` };
