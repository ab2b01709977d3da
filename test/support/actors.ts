/** Actors under test: a real log in a temp file, and servers that do as they are told instead of processes. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Actor } from '../../src/actors/actor.ts';
import type { Grant } from '../../src/actors/allowlist/allowlist.state.ts';
import { CallDesk, type CallDeskOptions, type CallInput, type Target } from '../../src/actors/call/call.actor.ts';
import { callRules } from '../../src/actors/call/call.rules.ts';
import type { CallContext } from '../../src/actors/call/call.state.ts';
import { Desk } from '../../src/actors/desk.ts';
import { type Head, type Heard, type Rules, step } from '../../src/actors/head.ts';
import { journalRules } from '../../src/actors/journal.ts';
import { blankLimits } from '../../src/actors/server/server.state.ts';
import { Supervisor } from '../../src/actors/supervisor.ts';
import { canonicalJson } from '../../src/canonical.ts';
import type { EntryProblem, LoadedConfig, LoadedEntry, ResolvedEntry } from '../../src/config/entry.ts';
import type { CallFact } from '../../src/events/call.events.ts';
import type { Fact } from '../../src/events/catalogue.ts';
import type { DaemonFact } from '../../src/events/daemon.events.ts';
import type { Recorded, Unrecorded } from '../../src/events/envelope.ts';
import type { EventLog, HeadRow } from '../../src/events/log.ts';
import type { Failure, FailureClass, Limits, ToolDefinition } from '../../src/events/shapes.ts';
import { openLog, type SqliteLog } from '../../src/events/sqlite.ts';
import { sha256Hex } from '../../src/hash.ts';
import { readList } from '../../src/keeper/directory.ts';
import { capResult } from '../../src/mcp/cap.ts';
import {
  CallError,
  type CallOptions,
  type Connection,
  ConnectionError,
  type OpenOptions,
  type RawResult,
  type RelayAnswer,
} from '../../src/mcp/connection.ts';
import { openCalls } from '../../src/projections/calls.projection.ts';
import { projector } from '../../src/projections/projection.ts';
import { views, viewTables } from '../../src/projections/views.ts';
import { atEnd } from './cleanup.ts';
import { projectRoot } from './paths.ts';
import { tempDir } from './temp.ts';

// --- the log ---------------------------------------------------------------------------------------------------------

export const diskFull = (): Error => new Error('database or disk is full');

/** The real log with all views, in a file of its own. */
function tempLog(): SqliteLog {
  const log = openLog({
    file: join(tempDir(), 'watchkeeper.db'),
    migrations: join(projectRoot, 'migrations'),
    durability: 'process',
    project: (db) => projector(db, views),
  });
  atEnd(() => log.close());
  return log;
}

/** In front of the real log: remembers each transaction, and refuses or delays them on demand. */
export class WatchedLog implements EventLog {
  /** What was committed, a transaction an item. */
  readonly batches: (readonly Recorded[])[] = [];
  attempts = 0;
  refused = 0;
  #failing = 0;
  #held: Promise<void> | null = null;

  constructor(readonly real: SqliteLog = tempLog()) {}

  get committed$() {
    return this.real.committed$;
  }

  /** The next `times` writes fail; until `mend` when not said otherwise. */
  fail(times = Number.POSITIVE_INFINITY): void {
    this.#failing = times;
  }

  mend(): void {
    this.#failing = 0;
  }

  /** Writes that begin from now on wait for the returned function. */
  hold(): () => void {
    let release!: () => void;
    this.#held = new Promise((resolve) => {
      release = resolve;
    });
    return () => {
      this.#held = null;
      release();
    };
  }

  async append(facts: readonly Unrecorded[], heads: readonly HeadRow[]): Promise<readonly Recorded[]> {
    this.attempts += 1;
    if (this.#held) await this.#held;
    this.#mayFail();
    const recorded = await this.real.append(facts, heads);
    this.batches.push(recorded);
    return recorded;
  }

  touch(time: number): void {
    this.#mayFail();
    this.real.touch(time);
  }

  #mayFail(): void {
    if (this.#failing <= 0) return;
    this.#failing -= 1;
    this.refused += 1;
    throw diskFull();
  }

  read: EventLog['read'] = (query) => this.real.read(query);
  lastPosition: EventLog['lastPosition'] = () => this.real.lastPosition();
  positionAt: EventLog['positionAt'] = (time) => this.real.positionAt(time);
  head: EventLog['head'] = (stream) => this.real.head(stream);
  heads: EventLog['heads'] = () => this.real.heads();
  lastAlive: EventLog['lastAlive'] = () => this.real.lastAlive();
  close(): void {
    this.real.close();
  }
}

/** Every row of every view and every head, as text: what "rebuilt equals live" compares. */
export function dumpViews({ db }: SqliteLog): Record<string, string[]> {
  return Object.fromEntries(
    [...viewTables, 'heads'].map((table) => [
      table,
      db
        .prepare(`select * from ${table}`)
        .all()
        .map((row) => JSON.stringify(row))
        .sort(),
    ]),
  );
}

/** The head that a stream leads to. */
export function foldOf<Context, F extends Fact>(
  rules: Rules<Context, F, never, never>,
  facts: readonly Pick<Recorded, 'type' | 'data' | 'at'>[],
): Head<Context> {
  return facts.reduce<Head<Context>>((head, fact) => step(rules, head, fact as unknown as Heard<F>), {
    ...rules.initial,
    version: 0,
  });
}

// --- a desk ----------------------------------------------------------------------------------------------------------

export interface DeskUnderTest {
  readonly log: WatchedLog;
  readonly desk: Desk;
  readonly fatal: unknown[];
  /** Each time the desk said so: the trouble, or null for "it takes facts again". */
  readonly degraded: unknown[];
}

export function deskUnderTest({ log = new WatchedLog(), retryMs = 10, random = Math.random } = {}): DeskUnderTest {
  const fatal: unknown[] = [];
  const degraded: unknown[] = [];
  let ids = 0;
  const desk = new Desk({
    log,
    now: Date.now,
    random,
    newId: () => `c-${++ids}`,
    onFatal: (error) => fatal.push(error),
    onDegraded: (error) => degraded.push(error),
    retryMs,
  });
  atEnd(() => desk.close());
  return { log, desk, fatal, degraded };
}

/** Lets everything that is due in this turn of the event loop happen, commits included. */
export async function turn(times = 1): Promise<void> {
  for (let left = times * 3; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
}

// --- entries ---------------------------------------------------------------------------------------------------------

/** Short, so that tests need not wait; the poll is out of the way. */
export const quick: Limits = {
  ...blankLimits,
  connectTimeoutMs: 1_000,
  listTimeoutMs: 1_000,
  callTimeoutMs: 2_000,
  callMaxMs: 4_000,
  pollIntervalMs: 60_000,
  stableMs: 20_000,
};

export interface EntryOptions {
  readonly disabled?: boolean;
  readonly lazy?: boolean;
  readonly limits?: Partial<Limits>;
  /** Anything else of the entry that changed. */
  readonly edition?: number;
  readonly identity?: string;
  readonly transport?: 'stdio' | 'streamable-http';
  readonly problem?: EntryProblem;
}

export function entryOf(name: string, options: EntryOptions = {}): LoadedEntry {
  const { disabled = false, lazy = false, identity = `identity of ${name}`, transport = 'stdio', problem } = options;
  const shared = {
    name,
    disabled,
    lazy,
    include: [],
    exclude: [],
    toolPrefix: undefined,
    repeatCalls: 'unsent' as const,
    limits: { ...quick, ...options.limits },
  };
  const entry: LoadedEntry['entry'] =
    transport === 'stdio'
      ? { ...shared, transport, command: 'server', args: [], env: {}, cwd: undefined, inheritEnv: false }
      : {
          ...shared,
          transport,
          explicitType: true,
          url: `http://127.0.0.1/${name}`,
          headers: {},
          auth: undefined,
          oauthClientName: undefined,
          oauth: {},
          rawAuthorization: false,
        };
  return {
    name,
    revision: sha256Hex(JSON.stringify([name, options])),
    identity,
    transport: problem ? null : transport,
    entry: problem ? null : entry,
    problem: problem ?? null,
    warnings: [],
  };
}

export const configOf = (...entries: readonly LoadedEntry[]): LoadedConfig => ({
  entries: [...entries].sort((a, b) => (a.name < b.name ? -1 : 1)),
  warnings: [],
});

// --- servers that do as they are told ------------------------------------------------------------------------------

export const failureOf = (kind: FailureClass, message = `connect: ${kind}`, more: Partial<Failure> = {}): Failure => ({
  class: kind,
  phase: 'connect',
  message,
  ...more,
});

/** What an opening or a list comes to: a failure, no answer at all, or success after so many ms. */
export type Act = Failure | 'hang' | number;

export interface TakenCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly options: CallOptions;
  /** Which opening of the server took it, from 1. */
  readonly opening: number;
}

export class ScriptedServer {
  tools: readonly ToolDefinition[] = [{ name: 'get', inputSchema: { type: 'object' } }];
  /** What the next openings come to, in order; after that they succeed at once. */
  readonly openings: Act[] = [];
  readonly lists: Act[] = [];
  closeMs = 0;
  /** Answers a call that was taken; never settles for a server that is silent. */
  onCall: (call: TakenCall) => Promise<RawResult> = async ({ tool }) => ({ content: [{ type: 'text', text: tool }] });

  opened = 0;
  /** Ends that were begun, and those that are over. */
  closing = 0;
  closed = 0;
  listed = 0;
  /** Openings and connections that have not ended. */
  alive = 0;
  /** Times at which two of them were alive at once. */
  overlaps = 0;
  /** Failures that were really met, openings that hung included. */
  faults = 0;
  readonly taken: TakenCall[] = [];
  connection: ScriptedConnection | null = null;

  constructor(readonly name: string) {}

  async open(options: OpenOptions): Promise<Connection> {
    this.opened += 1;
    this.alive += 1;
    if (this.alive > 1) this.overlaps += 1;
    try {
      if (options.entry.transport === 'stdio') {
        await options.onProcess({ pid: 1_000 + this.opened, startedAt: Date.now() });
      }
      await this.act(this.openings.shift(), options.signal);
      options.signal.throwIfAborted();
    } catch (error) {
      this.alive -= 1;
      throw error;
    }
    this.connection = new ScriptedConnection(this, this.opened, options.entry.transport);
    return this.connection;
  }

  /** The connection ends without being asked to; calls under way are lost with it. */
  lose(failure: Failure = failureOf('exit', 'watch: it exited with code 1', { phase: 'watch', exitCode: 1 })): void {
    this.faults += 1;
    this.connection?.end(failure);
  }

  /** The server forgets its session: it takes nothing more, and says so to everyone who asks. */
  forgetSession(): void {
    this.faults += 1;
    this.connection?.forget();
  }

  announce(): void {
    this.connection?.announce();
  }

  async act(act: Act | undefined, signal: AbortSignal): Promise<void> {
    if (act === undefined) return;
    if (typeof act === 'number') {
      await pause(act, undefined, { signal }).catch(() => {});
      return;
    }
    this.faults += 1;
    if (act !== 'hang') throw new ConnectionError(act);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }
}

export class ScriptedConnection implements Connection {
  readonly agreement: Connection['agreement'];
  readonly lost: Promise<Failure>;
  /** It ended, or is being closed. */
  over = false;
  #sessionGone = false;
  #lose!: (failure: Failure) => void;
  #closing: Promise<void> | null = null;
  readonly #listeners = new Set<() => void>();
  readonly #underWay = new Set<(error: CallError) => void>();

  constructor(
    readonly server: ScriptedServer,
    readonly opening: number,
    transport: 'stdio' | 'streamable-http' | 'sse',
  ) {
    this.agreement = {
      transport,
      era: 'legacy',
      eraFrom: 'probed',
      protocolVersion: '2025-11-25',
      serverInfo: { name: server.name, version: '1' },
      capabilities: {},
      instructions: null,
      session: transport !== 'stdio',
    };
    this.lost = new Promise((resolve) => {
      this.#lose = resolve;
    });
  }

  async listTools(signal: AbortSignal) {
    this.server.listed += 1;
    await this.server.act(this.server.lists.shift(), signal);
    signal.throwIfAborted();
    if (this.over) throw new ConnectionError(failureOf('transport', 'list: the connection is gone'));
    return { tools: this.server.tools, warnings: [] };
  }

  callTool(tool: string, args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<RawResult> {
    const { signal, idleMs, maxMs } = options;
    if (signal.aborted) return Promise.reject(new CallError('cancelled', 'call: cancelled', { sent: false }));
    if (this.over) return Promise.reject(new CallError('not-sent', 'call: not connected', { sent: false }));
    if (this.#sessionGone) {
      const failure = failureOf('session', 'call: the server does not know the session', { httpStatus: 404 });
      this.#lose(failure);
      return Promise.reject(new CallError('session-refused', failure.message, { sent: true, failure }));
    }
    const call: TakenCall = { tool, args, options, opening: this.opening };
    this.server.taken.push(call);
    return new Promise((resolve, reject) => {
      const limit = idleMs < maxMs ? 'callTimeoutMs' : 'callMaxMs';
      const fail = (error: CallError): void => {
        done();
        reject(error);
      };
      const timer = setTimeout(
        () => fail(new CallError('timeout', `call: no answer (${limit})`, { sent: true, limit })),
        Math.min(idleMs, maxMs),
      );
      const cancelled = (): void => fail(new CallError('cancelled', 'call: cancelled', { sent: true }));
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', cancelled);
        this.#underWay.delete(fail);
      };
      signal.addEventListener('abort', cancelled, { once: true });
      this.#underWay.add(fail);
      this.server.onCall(call).then((result) => {
        done();
        resolve(result);
      }, fail);
    });
  }

  onToolsChanged(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  onPush(): () => void {
    return () => {};
  }

  async listAll() {
    return { items: [], warnings: [] };
  }

  async request(method: string): Promise<RelayAnswer> {
    return { kind: 'error', error: { code: -32601, message: `Method not found: ${method}` } };
  }

  notify(): void {}

  async watchResources(uris: readonly string[]) {
    return { watched: [], refused: uris.map((uri) => ({ uri, error: null })) };
  }

  onNotification(): () => void {
    return () => {};
  }

  onServerRequest(): void {}

  announce(): void {
    for (const listener of this.#listeners) listener();
  }

  forget(): void {
    this.#sessionGone = true;
  }

  end(failure: Failure): void {
    if (this.over) return;
    this.over = true;
    for (const fail of [...this.#underWay]) {
      fail(new CallError('lost', 'call: the connection ended before the answer', { sent: true, failure }));
    }
    this.#lose(failure);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.over = true;
    this.server.closing += 1;
    for (const fail of [...this.#underWay]) {
      fail(new CallError('lost', 'call: the connection was closed before the answer', { sent: true }));
    }
    if (this.server.closeMs > 0) await pause(this.server.closeMs);
    this.server.alive -= 1;
    this.server.closed += 1;
    if (this.server.connection === this) this.server.connection = null;
  }
}

// --- a whole crew ------------------------------------------------------------------------------------------------

export interface CrewOptions {
  readonly log?: WatchedLog;
  readonly parallel?: number;
  readonly ahead?: { readonly starts: number; readonly ms: number };
  readonly windowMs?: number;
  readonly holdMs?: number;
  readonly retryMs?: number;
  readonly rules?: Partial<Pick<CallDeskOptions, 'repeats' | 'sees' | 'overRate' | 'remarksOn'>>;
}

export interface Crew extends DeskUnderTest {
  readonly supervisor: Supervisor;
  readonly calls: CallDesk;
  /** Made on first mention. */
  readonly server: (name: string) => ScriptedServer;
  readonly servers: ReadonlyMap<string, ScriptedServer>;
  readonly warnings: string[];
  /** Grants there are now. */
  readonly grants: Grant[];
  /** Hash of a tool's definition by `server/tool`; every other tool has `d`. */
  readonly definitions: Map<string, string | null>;
  readonly configure: (...entries: readonly LoadedEntry[]) => Promise<void>;
  readonly state: (name: string) => string | undefined;
  /** Resolves once the server's committed state is one of these. */
  readonly reaches: (name: string, ...states: readonly string[]) => Promise<void>;
  /** Facts of a server, by type and where they led. */
  readonly story: (name: string) => string[];
  readonly call: (target: Target, more?: Partial<CallInput>) => ReturnType<CallDesk['call']>;
  /** As `kill -9` would leave it: what is committed stays, and nothing more is heard of it. */
  readonly kill: () => Promise<void>;
}

const PATIENCE_MS = 20_000;

/** What the daemon wires, with scripted servers at the far end; started, with nothing configured yet. */
export async function crew(options: CrewOptions = {}): Promise<Crew> {
  const {
    parallel = 8,
    ahead = { starts: parallel, ms: 0 },
    windowMs = 5_000,
    holdMs = 60_000,
    retryMs = 10,
  } = options;
  const under = deskUnderTest({ retryMs, ...(options.log ? { log: options.log } : {}) });
  const { log, desk } = under;
  const servers = new Map<string, ScriptedServer>();
  const warnings: string[] = [];
  const grants: Grant[] = [];
  const definitions = new Map<string, string | null>();
  const server = (name: string): ScriptedServer => {
    const known = servers.get(name) ?? new ScriptedServer(name);
    servers.set(name, known);
    return known;
  };

  const supervisor = new Supervisor({
    log,
    parallel,
    ahead,
    resolve: ({ name, transport, problem }) => problem ?? resolvedEntry(name, transport === 'stdio'),
    server: {
      desk,
      open: async ({ entry, ...opening }) => {
        if (entry.transport === 'builtin') throw new Error(`"${entry.name}" has no world in these tests.`);
        return server(entry.name).open({ ...opening, entry });
      },
      read: readList,
      runId: 'run',
      version: '0.0.0-test',
      after: Promise.resolve(),
      onWarning: (name, message) => warnings.push(`${name}: ${message}`),
      onSeen: () => {},
    },
  });
  let ids = 0;
  const calls = new CallDesk({
    desk,
    supervisor,
    definitionOf: (name, tool) => {
      const known = definitions.get(`${name}/${tool}`);
      return known === undefined ? 'd' : known;
    },
    grantsFor: (name) => grants.filter((grant) => grant.server === name),
    windowMs,
    holdMs,
    canonical: canonicalJson,
    hash: sha256Hex,
    cap: capResult,
    newId: () => `${Date.now()}-${++ids}`,
    fold: (id) => foldOf<CallContext, CallFact>(callRules, log.read({ stream: `call-${id}` })),
    ...options.rules,
  });

  const row = log.head('daemon');
  const journal = new Actor<null, DaemonFact, DaemonFact>({
    stream: 'daemon',
    desk,
    rules: journalRules<DaemonFact>(),
    head: row ? { state: row.state, context: null, version: row.version } : undefined,
    keepHead: true,
  });
  const lastAlive = log.lastAlive();
  desk.startClockAt(log.read({ after: log.lastPosition() - 1 })[0]?.at ?? 0);
  const started = journal.report(
    { type: 'DaemonStarted', data: { run: 'run', version: '0.0.0-test', pid: process.pid, lastAlive } },
    undefined,
  );
  supervisor.closeOpenEnds(lastAlive ?? desk.now());
  calls.closeOpenEnds(openCalls(log.real.db).map(({ id }) => id));
  await started;
  supervisor.embody();
  let killed = false;
  atEnd(async () => {
    if (killed) return;
    log.mend();
    await supervisor.stop();
  });

  return {
    ...under,
    supervisor,
    calls,
    server,
    servers,
    warnings,
    grants,
    definitions,
    configure: (...entries) => supervisor.reconcile(configOf(...entries)),
    state: (name) => supervisor.find(name)?.actor.committedHead.state,
    reaches: async (name, ...states) => {
      const actor = supervisor.find(name)?.actor;
      if (!actor) throw new Error(`There is no server "${name}".`);
      const limit = AbortSignal.timeout(PATIENCE_MS);
      await actor
        .until(({ state }) => states.includes(state), limit)
        .catch(() => {
          throw new Error(`"${name}" is ${actor.committedHead.state} and did not become ${states.join(' or ')}.`);
        });
    },
    story: (name) =>
      log.read({ stream: `server-${name}` }).map(({ type, data }) => (data.to ? `${type} → ${data.to}` : type)),
    call: (target, more = {}) =>
      calls.call({
        target,
        args: {},
        mode: 'allow-all',
        client: 'main',
        door: 'http',
        timeoutMs: undefined,
        wait: true,
        signal: new AbortController().signal,
        ...more,
      }),
    kill: async () => {
      killed = true;
      await desk.close();
      for (const name of supervisor.names) supervisor.find(name)?.dispose();
    },
  };
}

const resolvedEntry = (name: string, stdio: boolean): ResolvedEntry =>
  stdio
    ? { transport: 'stdio', name, command: 'server', args: [], env: {}, cwd: undefined, secrets: [] }
    : {
        transport: 'streamable-http',
        name,
        explicitType: true,
        url: `http://127.0.0.1/${name}`,
        headers: {},
        secrets: [],
      };

export const toolOf = (server: string, tool = 'get'): Target => ({
  server,
  tool,
  name: `mcp__${server}__${tool}`,
  definition: 'd',
  hasOutputSchema: false,
});

/** A grant of a whole server, as the crew's entries are identified. */
export const wholeServer = (server: string): Grant => ({
  entry: `mcp__${server}__*`,
  server,
  tool: '*',
  state: 'bound',
  binding: { identity: `identity of ${server}`, definition: null },
});
