/** One client of the legacy era: from its `initialize` until it says goodbye or is forgotten. */
import type { ServerResponse } from 'node:http';
import { anyOf, type Cancel, type CancelSignal, NotWanted } from '../mcp/cancel.ts';
import { isObject, type Message } from '../mcp/message.ts';
import { Roster } from '../roster.ts';
import { EventStore } from './event.store.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { LogLevel } from './log.levels.ts';
import type { ClientReply } from './peer.ts';
import { type Members, metaOf, type RequestId } from './rpc.ts';
import { Stream } from './stream.ts';

/** `Request timed out`, `TimeoutError`, `timeout of 30000ms exceeded`. */
const OUT_OF_PATIENCE = /time(?:d)?[ -]?out/i;
/** The stream on which a client is spoken to unasked. */
const OWN_STREAM = 0;

export interface SessionOptions {
  readonly id: string;
  /** Server of `/mcp/<server>`; undefined on `/mcp`. */
  readonly server: string | undefined;
  /** Whose token opened it; nobody else may use it. */
  readonly client: string;
  readonly revision: string;
  readonly capabilities: Members;
  readonly heartbeat: Heartbeat;
  readonly now: () => number;
}

/** A request of the client that has no answer yet. */
interface Running {
  readonly id: RequestId;
  readonly cancel: Cancel;
}

export class Session {
  readonly id: string;
  readonly server: string | undefined;
  readonly client: string;
  readonly revision: string;
  readonly capabilities: Members;
  logLevel: LogLevel | null = null;
  /** Requests of the client that have no answer yet. */
  readonly running = new Roster<Running>();
  /** Ends with the session. */
  readonly ended = new AbortController();

  readonly #options: SessionOptions;
  readonly #store = new EventStore();
  /** Streams that are not at their end, whether somebody reads them or not. */
  readonly #streams = new Map<number, Stream>();
  #own: Stream | null = null;
  /** Changes nobody could be told of: there was no stream. */
  readonly #untold = new Set<string>();
  readonly #asked = new Map<RequestId, (reply: ClientReply) => void>();
  #lastStream = OWN_STREAM;
  #lastAsk = 0;
  #seen: number;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.id = options.id;
    this.server = options.server;
    this.client = options.client;
    this.revision = options.revision;
    this.capabilities = options.capabilities;
    this.#seen = options.now();
  }

  touch(): void {
    this.#seen = this.#options.now();
  }

  /** When it was last used; now, as long as something runs or somebody listens. */
  get lastUsed(): number {
    if (this.running.size > 0 || this.#own?.isOpen) this.touch();
    return this.#seen;
  }

  get headers(): Readonly<Record<string, string>> {
    return { 'mcp-session-id': this.id };
  }

  /** A stream for the answer to one POST. */
  newStream(): Stream {
    this.#lastStream += 1;
    const id = this.#lastStream;
    const stream = this.#stream(id);
    this.#streams.set(id, stream);
    return stream;
  }

  /** The answer was sent on it. */
  streamEnded(stream: Stream): void {
    this.#streams.delete(stream.id);
  }

  /** GET: the client listens from now on. What it listened on before is let go. */
  listen(response: ServerResponse): void {
    this.#own ??= this.#stream(OWN_STREAM);
    this.#own.attach(response);
    for (const method of this.#untold) this.#own.send({ jsonrpc: '2.0', method });
    this.#untold.clear();
  }

  /** GET with `Last-Event-ID`: sends what was missed on that stream and goes on there. False for an id never given. */
  resume(lastEventId: string, response: ServerResponse): boolean {
    const missed = this.#store.after(lastEventId);
    if (missed === null) return false;
    const { stream: id, events } = missed;
    if (id === OWN_STREAM) {
      this.#own ??= this.#stream(OWN_STREAM);
      this.#untold.clear();
    }
    const live = id === OWN_STREAM ? this.#own : this.#streams.get(id);
    if (live) live.attach(response, events);
    else {
      const rest = this.#stream(id);
      rest.attach(response, events);
      rest.end();
    }
    return true;
  }

  /** Says something that belongs to no request. A change that nobody hears of is told when the client listens next. */
  tell(method: string, params?: Members): void {
    this.#own?.send({ jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) }, true);
    if (!this.#own?.isOpen && method.endsWith('/list_changed')) this.#untold.add(method);
  }

  /** Asks the client over `say`, the stream of the request it concerns. */
  ask(
    say: (message: Message) => void,
    method: string,
    params: Members | undefined,
    signal: CancelSignal,
  ): Promise<ClientReply> {
    this.#lastAsk += 1;
    const id = `wk-${this.#lastAsk}`;
    return new Promise((resolve, reject) => {
      const over = anyOf(signal, this.ended.signal);
      const giveUp = (): void => {
        if (!this.#asked.delete(id)) return;
        say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
        reject(over.reason);
      };
      this.#asked.set(id, (reply) => {
        over.removeEventListener('abort', giveUp);
        resolve(reply);
      });
      over.addEventListener('abort', giveUp, { once: true });
      if (over.aborted) giveUp();
      else say({ jsonrpc: '2.0', id, method, params: forClient(params) });
    });
  }

  /** The client's answer to something it was asked; one nobody waits for is dropped. */
  answered({ id, result, error }: Message): void {
    if (id === undefined || id === null) return;
    const settle = this.#asked.get(id);
    if (!settle) return;
    this.#asked.delete(id);
    settle(error === undefined ? { result } : { error });
  }

  /** The client no longer wants the answer to one of its requests. */
  cancelled(params: Members | undefined): void {
    const id = params?.requestId;
    if (typeof id !== 'string' && typeof id !== 'number') return;
    const reason = typeof params?.reason === 'string' ? params.reason : 'cancelled by the client';
    // Clients say it in the same way when they only have no patience left; the call may still be wanted.
    const said = OUT_OF_PATIENCE.test(reason) ? new Error(reason) : new NotWanted(reason);
    // Of two with the same id the later one is meant.
    this.running
      .values()
      .findLast((running) => running.id === id)
      ?.cancel.abort(said);
  }

  /** Ends everything that is under way. */
  end(reason: Error): void {
    if (this.ended.signal.aborted) return;
    this.ended.abort(reason);
    for (const { cancel } of this.running.values()) cancel.abort(reason);
    this.#own?.end();
    for (const stream of this.#streams.values()) stream.end();
    this.#streams.clear();
  }

  #stream(id: number): Stream {
    const { heartbeat } = this.#options;
    // Older clients take an event without data for a broken message.
    const primed = this.revision >= '2025-11-25';
    return new Stream(id, { heartbeat, headers: this.headers, store: this.#store, primed });
  }
}

/** A progress token of the server means nothing to the client of the hub; nor would a task of the client's to the server. */
function forClient({ task: _, ...params }: Members = {}): Members {
  const meta = metaOf(params);
  if (meta === undefined || !('progressToken' in meta)) return params;
  const { progressToken: __, ...rest } = meta;
  return { ...params, _meta: rest };
}

/** Capabilities as a client sent them. */
export const capabilitiesIn = (params: Members | undefined): Members =>
  isObject(params?.capabilities) ? params.capabilities : {};
