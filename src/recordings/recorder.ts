/**
 * Who listens to which server, and writes down what is heard. Nothing here may cost a server anything: what is heard is
 * put into a queue, masked and written later, and the first error ends the recording of that server.
 */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ResolvedEntry } from '../config/entry.ts';
import type { ToolDefinition, WireTransport } from '../events/shapes.ts';
import { changingRedactor } from '../mcp/redact.ts';
import { Tap, type Traffic } from '../mcp/tap.ts';
import { type Head, RECORDING_FORMAT } from './line.ts';
import { Scribe } from './scribe.ts';
import { filesIn, Segments } from './segments.ts';

/** How long masking may take in one turn of the loop, in ms. */
const TURN_MS = 5;
/** What may wait to be masked; more is counted and left out. */
const MOST_QUEUED = 20_000;

export interface RecorderOptions {
  /** `recordings/` in the data directory; each server has a folder in it. */
  readonly folder: string;
  /** Of watchkeeper. */
  readonly version: string;
  readonly maxBytes: number;
  readonly maxMessageBytes: number;
  /** The last known list of a server, for recordings that begin while it is connected. */
  readonly toolsOf: (server: string) => readonly ToolDefinition[] | null;
  /** What a login of the server holds that must not be shown; the very same list until it changes. */
  readonly secretsOf: (server: string) => readonly string[];
  /** A recording ended by itself: nothing more can be written. Once for each. */
  readonly onFailed: (server: string, reason: string) => void;
}

export interface Kept {
  readonly server: string;
  readonly files: number;
  readonly bytes: number;
}

/** An open channel of a server. */
interface Channel {
  readonly tap: Tap;
  readonly transport: WireTransport;
  readonly redact: () => (text: string) => string;
}

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #channels = new Map<string, Set<Channel>>();
  readonly #recordings = new Map<string, Recording>();
  /** Servers whose recording is being opened or closed. */
  readonly #changing = new Map<string, Promise<unknown>>();
  readonly #run = Date.now().toString(36);
  #lives = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  isOn(server: string): boolean {
    return this.#recordings.has(server);
  }

  /** The tap of a channel that is about to be opened. */
  open(entry: ResolvedEntry, transport: WireTransport): Tap {
    const tap = new Tap();
    let redact: ((text: string) => string) | undefined;
    const channel: Channel = {
      tap,
      transport,
      redact: () => {
        redact ??= changingRedactor(entry.secrets, () => this.#options.secretsOf(entry.name), true);
        return redact;
      },
    };
    const all = this.#channels.get(entry.name) ?? new Set();
    this.#channels.set(entry.name, all.add(channel));
    tap.onClosed = () => all.delete(channel);
    this.#recordings.get(entry.name)?.listen(channel, this.#newLife(), false);
    return tap;
  }

  #newLife(): string {
    this.#lives += 1;
    return `${this.#run}-${this.#lives}`;
  }

  /** Begins to record, at once and on open connections too. Rejects when the first file cannot be made. */
  start(server: string): Promise<void> {
    return this.#oneByOne(server, async () => {
      if (this.#recordings.has(server)) return;
      const recording = new Recording(server, this.#options, () => void this.#fail(server, recording));
      await recording.open();
      this.#recordings.set(server, recording);
      for (const channel of this.#channels.get(server) ?? []) recording.listen(channel, this.#newLife(), true);
    });
  }

  /** Ends a recording and writes what was heard so far. */
  stop(server: string): Promise<void> {
    return this.#oneByOne(server, async () => {
      const recording = this.#recordings.get(server);
      this.#recordings.delete(server);
      for (const { tap } of this.#channels.get(server) ?? []) tap.ear = undefined;
      await recording?.close();
    });
  }

  /** Deletes every file of a server. Only while it is not recorded. */
  delete(server: string): Promise<void> {
    return this.#oneByOne(server, async () => {
      if (!this.#recordings.has(server)) await rm(join(this.#options.folder, server), { recursive: true, force: true });
    });
  }

  /** Writes out what was heard so far. */
  async flush(server: string): Promise<void> {
    await this.#recordings.get(server)?.flush();
  }

  async kept(server: string): Promise<Kept> {
    const files = await filesIn(join(this.#options.folder, server));
    return { server, files: files.length, bytes: files.reduce((sum, file) => sum + file.bytes, 0) };
  }

  /** Servers of which there are files, sorted. */
  async servers(): Promise<readonly string[]> {
    const found = await readdir(this.#options.folder, { withFileTypes: true }).catch(() => []);
    return found
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#recordings.keys()].map((server) => this.stop(server)));
  }

  #fail(server: string, recording: Recording): void {
    if (this.#recordings.get(server) !== recording) return;
    this.#recordings.delete(server);
    for (const { tap } of this.#channels.get(server) ?? []) tap.ear = undefined;
    this.#options.onFailed(server, recording.reason);
  }

  #oneByOne<T>(server: string, work: () => Promise<T>): Promise<T> {
    const done = (this.#changing.get(server) ?? Promise.resolve()).then(work, work);
    const settled = done.catch(() => {});
    this.#changing.set(server, settled);
    void settled.then(() => {
      if (this.#changing.get(server) === settled) this.#changing.delete(server);
    });
    return done;
  }
}

interface Heard {
  readonly scribe: Scribe;
  readonly traffic: Traffic | { readonly is: 'begin'; readonly joined: boolean };
  readonly at: number;
}

/** The recording of one server while it is on. */
class Recording {
  /** Why it ended by itself. */
  reason = '';
  readonly #server: string;
  readonly #options: RecorderOptions;
  readonly #onFailed: () => void;
  readonly #open = new Set<Scribe>();
  #queue: Heard[] = [];
  #missed = 0;
  #draining = false;
  #segments: Segments | null = null;
  #over = false;

  constructor(server: string, options: RecorderOptions, onFailed: () => void) {
    this.#server = server;
    this.#options = options;
    this.#onFailed = onFailed;
  }

  async open(): Promise<void> {
    const { folder, maxBytes } = this.#options;
    this.#segments = await Segments.open({
      folder: join(folder, this.#server),
      maxBytes,
      preface: (first) => this.#preface(first),
      onError: (error) => this.#end(error instanceof Error ? error.message : String(error)),
    });
  }

  /** `joined`: the channel was open before. */
  listen({ tap, transport, redact }: Channel, life: string, joined: boolean): void {
    const { maxMessageBytes, toolsOf } = this.#options;
    const scribe = new Scribe({ life, transport, redact: redact(), maxMessageBytes });
    if (joined && tap.agreement !== null) {
      scribe.remember(tap.agreement);
      const tools = toolsOf(this.#server);
      if (tools !== null) scribe.rememberList('tools/list', { tools });
    }
    this.#hear({ scribe, traffic: { is: 'begin', joined }, at: now() });
    tap.ear = (traffic) => this.#hear({ scribe, traffic, at: now() - (traffic.is === 'exit' ? traffic.agoMs : 0) });
  }

  async flush(): Promise<void> {
    while (this.#queue.length > 0 && !this.#over) this.#drain(Number.POSITIVE_INFINITY);
    await this.#segments?.flush();
  }

  async close(): Promise<void> {
    await this.flush();
    this.#over = true;
    await this.#segments?.close();
  }

  #hear(heard: Heard): void {
    if (this.#over) return;
    if (this.#queue.length >= MOST_QUEUED) {
      this.#missed += 1;
      return;
    }
    this.#queue.push(heard);
    this.#later();
  }

  #later(): void {
    if (this.#draining) return;
    this.#draining = true;
    setImmediate(() => {
      this.#draining = false;
      try {
        this.#drain(TURN_MS);
      } catch (error) {
        this.#end(error instanceof Error ? error.message : String(error));
      }
      if (this.#queue.length > 0 && !this.#over) this.#later();
    });
  }

  #drain(forMs: number): void {
    const until = performance.now() + forMs;
    let done = 0;
    for (const { scribe, traffic, at } of this.#queue) {
      done += 1;
      if (traffic.is === 'begin') this.#open.add(scribe);
      const lines =
        traffic.is === 'begin' ? scribe.begin(at, traffic.joined ? { joined: true } : {}) : scribe.write(traffic, at);
      for (const line of lines) {
        if (this.#missed > 0 && this.#take({ at: line.at, life: line.life, is: 'missed', count: this.#missed }))
          this.#missed = 0;
        if (!this.#take(line)) this.#missed += 1;
      }
      if (traffic.is === 'closed') this.#open.delete(scribe);
      if (performance.now() > until) break;
    }
    this.#queue = this.#queue.slice(done);
  }

  #take(line: object): boolean {
    return this.#segments?.take(JSON.stringify(line)) ?? false;
  }

  /** Channels that are open go on in every file. */
  #preface(first: boolean): string {
    const at = now();
    const head: Head = {
      recording: RECORDING_FORMAT,
      server: this.#server,
      version: this.#options.version,
      at,
    };
    const open = first ? [] : [...this.#open].flatMap((scribe) => scribe.begin(at, { again: true }));
    return [head, ...open].map((line) => `${JSON.stringify(line)}\n`).join('');
  }

  #end(reason: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#queue = [];
    this.reason = reason;
    this.#onFailed();
  }
}

/** As the log counts, also over a machine that slept. */
const now = (): number => Date.now();
