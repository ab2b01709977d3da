/** One actor a server: starts and stops them, keeps them equal to the configuration, finds them. */

import { firstValueFrom, from, mergeMap, partition, ReplaySubject, race, Subject, timer } from 'rxjs';
import type { LoadedConfig, RunEntry } from '../config/entry.ts';
import { serverOf } from '../events/envelope.ts';
import type { EventLog } from '../events/log.ts';
import type { Head } from './head.ts';
import { isRefusal, type Refusal, refuse } from './refusal.ts';
import { ServerActor, type ServerActorOptions } from './server/server.actor.ts';
import type { Configuration } from './server/server.commands.ts';
import { blankLimits, type ServerContext } from './server/server.state.ts';

/** States in which something is under way. */
const ON_THE_WAY = new Set(['connecting', 'reconnecting', 'listing', 'session-lost', 'stopping']);

/**
 * A start gives its place to the next one after this long, ready or not, in ms: a server that never answers must not hold
 * the others up. Where starts that came through took longer, the processor is what all wait for, and more of them at once
 * would only make each slower: then a place is held for twice as long as those took, up to the longest.
 */
const SLOT_MS = 500;
const LONGEST_SLOT_MS = 4_000;

export interface SupervisorOptions {
  readonly log: EventLog;
  /** Processes started at once. */
  readonly parallel: number;
  /**
   * Of these, how many begin at first; others wait for one of them to come through, or for so many ms. Where all begin
   * together on few processors, all are ready late and none early.
   */
  readonly ahead: { readonly starts: number; readonly ms: number };
  readonly server: Omit<ServerActorOptions, 'name' | 'head' | 'resolve'>;
  readonly resolve: (entry: RunEntry) => ReturnType<ServerActorOptions['resolve']>;
  /** Servers that are there whatever the file says; an entry of the file with such a name goes before. */
  readonly own?: readonly RunEntry[];
}

export interface Settled {
  readonly name: string;
  readonly ok: boolean;
  readonly state: string;
  readonly error: ServerContext['error'];
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #actors = new Map<string, ServerActor>();
  /** What is still being closed of servers that were forgotten. */
  readonly #leaving = new Map<string, Promise<unknown>>();
  readonly #entries = new Map<string, RunEntry>();
  readonly #starts = new Subject<string>();
  #slotMs = SLOT_MS;
  #begun = 0;
  /** A start has come to its end, well or not. */
  readonly #through = new ReplaySubject<void>(1);
  #stopping = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    const [processes, connections] = partition(this.#starts, (name) => this.#isProcess(name));
    processes.pipe(mergeMap((name) => from(this.#start(name)), options.parallel)).subscribe();
    // Connections over HTTP cost this machine next to nothing: they wait for nobody.
    connections.pipe(mergeMap((name) => from(this.#start(name)))).subscribe();
    options.log.committed$.subscribe((facts) => {
      for (const { type, stream, data } of facts) {
        if (data.to === 'idle') this.#starts.next(serverOf(stream));
        // Its actor hears the fact first.
        else if (type === 'ServerStopped') setImmediate(() => this.#forget(serverOf(stream)));
      }
    });
  }

  get names(): string[] {
    return [...this.#actors.keys()].sort();
  }

  /** Entries of the file, and those of the daemon's own; sorted by name. */
  get entries(): readonly RunEntry[] {
    return [...this.#entries.values()];
  }

  entry(name: string): RunEntry | undefined {
    return this.#entries.get(name);
  }

  find(name: string): ServerActor | undefined {
    return this.#actors.get(name);
  }

  /** Closes what a dead daemon left open. Before any body exists; part of the transaction that records the start. */
  closeOpenEnds(lastAlive: number): void {
    for (const { stream } of this.#options.log.heads()) {
      if (!stream.startsWith('server-')) continue;
      void this.#actor(serverOf(stream)).insist({ type: 'CloseOpenEnds', lastAlive });
    }
  }

  /** Bodies are born once everything is at rest. */
  embody(): void {
    for (const actor of this.#actors.values()) actor.start();
    this.#embodied = true;
  }
  #embodied = false;

  /** Makes what runs equal to what is configured; only entries that changed are touched. */
  async reconcile(config: LoadedConfig): Promise<void> {
    this.#have(config.entries);
    const cause = this.#options.server.desk.stamp().id;
    await Promise.all([
      ...this.entries.map((entry) => this.#configure(entry, cause)),
      ...[...this.#actors.values()]
        .filter(({ name }) => !this.#entries.has(name))
        .map((actor) => actor.insist({ type: 'RemoveServer' }, cause)),
    ]);
    for (const name of this.#actors.keys()) this.#forget(name);
  }

  /** Configures the daemon's own servers where there is no file to reconcile with: they need none. */
  async offerOwn(): Promise<void> {
    const missing = (this.#options.own ?? []).filter(({ name }) => !this.#entries.has(name));
    this.#have([...this.#entries.values(), ...missing]);
    const cause = this.#options.server.desk.stamp().id;
    await Promise.all(missing.map((entry) => this.#configure(entry, cause)));
  }

  #have(entries: readonly RunEntry[]): void {
    const all = new Map([...(this.#options.own ?? []), ...entries].map((entry) => [entry.name, entry]));
    this.#entries.clear();
    for (const name of [...all.keys()].sort()) this.#entries.set(name, all.get(name) as RunEntry);
  }

  #configure(entry: RunEntry, cause: string): Promise<unknown> {
    return this.#actor(entry.name).insist({ type: 'ConfigureServer', configuration: configurationOf(entry) }, cause);
  }

  /** Tries entries again that failed for want of a variable: variables may be there now. */
  async retryConfigErrors(): Promise<void> {
    await Promise.all(
      [...this.#actors.values()]
        .filter(({ actor }) => actor.head.state === 'failed' && actor.head.context.error?.class === 'config')
        .map((actor) => actor.tell({ type: 'ReconnectServer' })),
    );
  }

  /** Starts a server that waits for its first use. */
  async wake(name: string): Promise<void> {
    const actor = this.#actors.get(name);
    if (actor?.actor.head.state === 'idle') await actor.tell({ type: 'StartServer' });
  }

  /** Closes, connects, lists and registers; answers when it has settled or `timeoutMs` is over. */
  async reconnect(name: string, timeoutMs: number): Promise<Settled | Refusal> {
    const actor = this.#actors.get(name);
    if (!actor) return refuse('unknown-server', `There is no server "${name}".`);
    const told = await actor.tell({ type: 'ReconnectServer' });
    if (isRefusal(told)) return told;
    await actor.actor
      .until(({ state }) => !ON_THE_WAY.has(state) && state !== 'idle', AbortSignal.timeout(timeoutMs))
      .catch(() => {});
    const { state, context } = actor.actor.committedHead;
    return { name, ok: state === 'ready', state, error: context.error };
  }

  /** Resolves with the head once the server is ready, or with what it is when waiting makes no sense any more. */
  async whenReady(name: string, signal: AbortSignal): Promise<Head<ServerContext> | null> {
    const actor = this.#actors.get(name);
    if (!actor) return null;
    await this.wake(name);
    const settled = (head: Head<ServerContext>): boolean =>
      head.state !== 'idle' && (!ON_THE_WAY.has(head.state) || head.state === 'stopping');
    // What is committed may be ready still while the loss of its session has been decided and is about to be.
    await actor.actor.until((committed) => settled(committed) && settled(actor.actor.head), signal).catch(() => {});
    return actor.actor.committedHead;
  }

  /** Resolves when a server that was removed has stopped, or another took its name, or `timeoutMs` is over. */
  async whenGone(name: string, timeoutMs: number): Promise<void> {
    await this.#actors
      .get(name)
      ?.actor.until(
        ({ state, context }) => state === 'stopped' || context.wanted !== 'gone',
        AbortSignal.timeout(timeoutMs),
      )
      .catch(() => {});
  }

  /** Stops every server in parallel; resolves when nothing of them is left. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const ends = [...this.#actors.values()].map(async (actor) => {
      const told = await actor.tell({ type: 'StopServer' });
      if (!isRefusal(told))
        await actor.actor
          .until(({ state }) => state === 'stopped' || state === 'disabled', AbortSignal.timeout(9_000))
          .catch(() => {});
      // Ends what is still open, also when the log takes no more facts.
      actor.dispose();
      await actor.ended;
    });
    await Promise.all([...ends, ...this.#leaving.values()]);
    this.#starts.complete();
  }

  #actor(name: string): ServerActor {
    const known = this.#actors.get(name);
    if (known) return known;
    const row = this.#options.log.head(`server-${name}`);
    const actor = new ServerActor({
      ...this.#options.server,
      name,
      after: Promise.all([this.#options.server.after, this.#leaving.get(name)]),
      head: row ? { state: row.state, context: row.context as ServerContext, version: row.version } : undefined,
      resolve: () => {
        const entry = this.#entries.get(name);
        return entry ? this.#options.resolve(entry) : { field: 'name', message: 'the entry is no longer in the file' };
      },
    });
    this.#actors.set(name, actor);
    if (this.#embodied) actor.start();
    return actor;
  }

  /** A server that was removed and has stopped needs no actor. */
  #forget(name: string): void {
    const actor = this.#actors.get(name);
    if (!actor || this.#stopping || this.#entries.has(name)) return;
    // While something is still to be written, an actor made anew would begin from an older head.
    const { head, committedHead } = actor.actor;
    const { state, context } = committedHead;
    if (head !== committedHead) return;
    if (state !== 'stopped' || context.wanted !== 'gone') return;
    actor.dispose();
    this.#actors.delete(name);
    const ended = actor.ended.then(() => {
      if (this.#leaving.get(name) === ended) this.#leaving.delete(name);
    });
    this.#leaving.set(name, ended);
  }

  #isProcess(name: string): boolean {
    return this.#actors.get(name)?.actor.head.context.transport === 'stdio';
  }

  async #start(name: string): Promise<void> {
    if (this.#isProcess(name)) await this.#turn();
    const actor = this.#actors.get(name);
    if (!actor || this.#stopping || actor.actor.head.state !== 'idle') return;
    const { lazy, stopReason } = actor.actor.head.context;
    // Both wait for their next use.
    if (lazy || stopReason === 'idle') return;
    const began = performance.now();
    await actor.insist({ type: 'StartServer' });
    if (!this.#isProcess(name)) return;
    const { state } = await actor.actor
      .until(({ state }) => state !== 'connecting' && state !== 'listing', AbortSignal.timeout(this.#slotMs))
      .catch(() => actor.actor.committedHead);
    this.#through.next();
    if (state === 'ready')
      this.#slotMs = Math.min(LONGEST_SLOT_MS, Math.max(this.#slotMs, Math.ceil(2 * (performance.now() - began))));
  }

  #turn(): Promise<unknown> | undefined {
    this.#begun += 1;
    const { starts, ms } = this.#options.ahead;
    if (this.#begun <= starts) return undefined;
    return firstValueFrom(race(this.#through, timer(ms)));
  }
}

function configurationOf({ entry, revision, identity, transport, problem }: RunEntry): Configuration {
  return {
    revision,
    identity,
    transport,
    wanted: entry?.disabled ? 'off' : 'on',
    lazy: entry?.lazy ?? false,
    limits: entry?.limits ?? blankLimits,
    problem,
  };
}
