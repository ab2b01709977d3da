/**
 * Between a channel and the SDK's client: requests of our own go out and come back as they are, and so does what the server
 * says by itself; the handshake and the listen streams are the SDK's. The SDK re-reads results through its schemas, where
 * one unknown content block or one odd tool fails the whole.
 */
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import { isTooDeep, MAX_DEPTH } from '../canonical.ts';
import { Roster } from '../roster.ts';
import type { Channel } from './channel.ts';
import type { ProgressReport } from './connection.ts';
import { Fault, type Observation } from './failure.ts';
import { CLIENT_CAPABILITIES, forwarded } from './hop.ts';
import { Inbound } from './inbound.ts';
import { type Id, isObject, type Message, type RpcError } from './message.ts';

/** What became of a request. `sent` says whether it may have reached the server. */
export type Answer =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly error: RpcError }
  | { readonly kind: 'fault'; readonly observation: Observation; readonly sent: boolean };

export interface Asked {
  readonly answer: Promise<Answer>;
  /** Whether the server may be waiting for us rather than we for it. */
  awaited(): boolean;
  /** Gives the request up and tells the server. Resolves with whether it may have reached the server. */
  cancel(reason: string): Promise<boolean>;
  /** Gives it up without a word to the server. */
  abandon(): void;
}

export interface AskOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Asks the server for progress. */
  readonly onProgress?: ((progress: ProgressReport) => void) | undefined;
  /** A request of the server that may belong to this one came or was answered. */
  readonly onActivity?: (() => void) | undefined;
  /** The caller's `_meta`; what belongs to one hop is taken out. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** Client capabilities in place of those of the envelope; modern era only. */
  readonly capabilities?: Readonly<Record<string, unknown>> | undefined;
  /** Told the id before anything is sent. */
  readonly onSent?: ((id: number) => void) | undefined;
}

interface Pending {
  /** Its result is looked through by whoever asked, however deep it is. */
  readonly takesDepth: boolean;
  readonly settle: (answer: Answer) => void;
  readonly onProgress: ((progress: ProgressReport) => void) | undefined;
  readonly onActivity: (() => void) | undefined;
}

/** Ids of ours; the SDK counts from 0 and makes a handful. Numbers, since some servers cannot read others. */
const FIRST_ID = 1_000;

const INTERNAL_ERROR = -32603;
const TOO_DEEP = `is nested more than ${MAX_DEPTH} levels deep, which nothing can hand on`;

type VersionedChannel = Channel & { protocolVersion?: string | undefined };

export class Wire {
  /** Closing a request's own stream is how it is cancelled on a modern connection. */
  readonly perRequestStream: boolean;
  /** Why the channel ended by itself. */
  ended: Observation | null = null;
  onToolsChanged: () => void = () => {};
  onEnded: (reason: Observation) => void = () => {};
  /** What every request of the modern era carries in `_meta`; null in the legacy era. */
  envelope: Readonly<Record<string, unknown>> | null = null;

  readonly inbound = new Inbound(
    (message) => void this.#channel.send(message).catch(() => {}),
    (related) => this.#touch(related),
  );

  readonly #channel: VersionedChannel;
  readonly #pending = new Roster<Pending>(FIRST_ID);
  #side: SdkSide | null = null;
  #onQuiet: () => void = () => {};
  #closed = false;

  constructor(channel: VersionedChannel, perRequestStream: boolean) {
    this.#channel = channel;
    this.perRequestStream = perRequestStream;
    channel.onmessage = (message, over) => this.receive(message, over);
    channel.onend = (reason) => this.#end(reason);
  }

  /** The SDK's end of the wire. A new one takes the place of the one before, which hears nothing any more. */
  side(): SdkSide {
    this.#side = new SdkSide(this.#channel, this.perRequestStream);
    return this.#side;
  }

  /** Resolves when no request of ours waits for its answer any more, or after `ms`. */
  quiet(ms: number): Promise<void> {
    if (this.#pending.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#onQuiet = () => {};
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#onQuiet = done;
    });
  }

  /** Rejects with a `Fault`. */
  start(): Promise<void> {
    return this.#channel.start();
  }

  async close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      this.#failAll({ seen: 'daemon', detail: 'the connection was closed' });
      this.inbound.end();
      this.#side?.onclose?.();
    }
    await this.#channel.close();
  }

  /** Sends a request. The answer never rejects. */
  ask(method: string, params: Readonly<Record<string, unknown>> | undefined, options: AskOptions = {}): Asked {
    const { answer, settle } = settling();
    const end = this.ended;
    if (end !== null || this.#closed) {
      settle({
        kind: 'fault',
        observation: end ?? { seen: 'daemon', detail: 'the connection is closed' },
        sent: false,
      });
      return { answer, awaited: () => false, cancel: async () => false, abandon: () => {} };
    }
    const stop = this.#channel.breaksOff ? new AbortController() : null;
    const id = this.#pending.add({
      takesDepth: method === 'tools/list',
      onProgress: options.onProgress,
      onActivity: options.onActivity,
      settle: (outcome) => {
        this.#forget(id);
        settle(outcome);
        if (this.#pending.size === 0) this.#onQuiet();
      },
    });
    options.onSent?.(id);
    const sending = this.#channel
      .send(this.#request(id, method, params, options), {
        signal: stop?.signal,
        headers: options.headers,
        onAnswerEnd: (observation) => this.#pending.get(id)?.settle({ kind: 'fault', observation, sent: true }),
      })
      .then(
        () => true,
        (error: unknown) => {
          const fault = asFault(error);
          this.#pending.get(id)?.settle({ kind: 'fault', observation: fault.observation, sent: fault.sent });
          return fault.sent;
        },
      );
    const abandon = () => {
      if (this.#forget(id)) stop?.abort();
    };
    return {
      answer,
      awaited: () => this.inbound.waits(id),
      cancel: (reason) => this.#cancel(id, reason, stop, sending),
      abandon,
    };
  }

  /** Says something that has no answer. The modern era has no such messages beside cancellations. */
  notify(method: string, params: Readonly<Record<string, unknown>> | undefined): void {
    if (this.ended !== null || this.#closed || this.envelope !== null) return;
    void this.#channel.send({ jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) }).catch(() => {});
  }

  /**
   * A message from the server. `over`: the request on whose own stream it came. What is nested too deeply could be written
   * by nobody it is meant for: an answer becomes an error, a request is refused, and anything else is dropped.
   */
  receive(message: Message, over?: Id): void {
    if (isTooDeep(message) && !this.#pending.get(Number(message.id))?.takesDepth) this.#tooDeep(message);
    else this.#receive(message, over);
  }

  #tooDeep({ id, method }: Message): void {
    if (id === undefined) return;
    if (method === undefined)
      this.#receive({ jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: `The answer ${TOO_DEEP}.` } });
    else if (this.envelope === null || !this.perRequestStream) this.inbound.reject(id, `The request ${TOO_DEEP}.`);
  }

  #receive(message: Message, over?: Id): void {
    if (message.method === undefined) {
      const id = Number(message.id);
      if (Number.isInteger(id) && id >= FIRST_ID && id < this.#pending.next && message.id !== null) {
        // A late answer to a request that was given up finds nobody and is dropped.
        this.#pending
          .get(id)
          ?.settle(
            message.error === undefined
              ? { kind: 'result', result: message.result }
              : { kind: 'error', error: message.error },
          );
        return;
      }
    } else {
      const related = this.#relatedTo(over);
      if (message.id === undefined) this.#notified(message.method, message, related);
      else this.#requested(message.id, message.method, message.params, related);
      return;
    }
    this.#side?.receive(message);
  }

  #notified(method: string, message: Message, related: number | null): void {
    switch (method) {
      case 'notifications/progress':
        this.#progress(message.params ?? {});
        break;
      case 'notifications/tools/list_changed':
        this.onToolsChanged();
        break;
      case 'notifications/cancelled':
        if (!this.inbound.cancelled(message.params?.requestId)) this.#side?.receive(message);
        break;
      case 'notifications/subscriptions/acknowledged':
        this.#side?.receive(message);
        break;
      default:
        this.inbound.notification(method, message.params, related);
    }
  }

  /** The modern era knows no requests of servers, and over HTTP it has no way to answer one. */
  #requested(id: Id, method: string, params: Message['params'], related: number | null): void {
    if (this.envelope === null) this.inbound.request(id, method, params, related);
    else if (!this.perRequestStream) this.inbound.refuse(id, method);
  }

  #relatedTo(over: Id | undefined): number | null {
    return typeof over === 'number' && this.#pending.get(over) !== undefined ? over : null;
  }

  #request(
    id: number,
    method: string,
    params: Readonly<Record<string, unknown>> | undefined,
    { onProgress, meta, capabilities }: AskOptions,
  ): Message {
    const progress = onProgress !== undefined;
    if (this.envelope === null && !progress && meta === undefined)
      return { jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) };
    // Nearly every call, and so without asking what might be there.
    if (this.envelope === null && meta === undefined && params?._meta === undefined) {
      const sent: Record<string, unknown> = { ...params };
      sent._meta = { progressToken: id };
      return { jsonrpc: '2.0', id, method, params: sent };
    }
    const whole = {
      ...this.envelope,
      ...(this.envelope !== null && capabilities !== undefined ? { [CLIENT_CAPABILITIES]: capabilities } : {}),
      ...(isObject(params?._meta) ? params._meta : {}),
      ...forwarded(meta, this.envelope !== null),
      ...(progress ? { progressToken: id } : {}),
    };
    return { jsonrpc: '2.0', id, method, params: { ...params, _meta: whole } };
  }

  #forget(id: number): boolean {
    const known = this.#pending.delete(id);
    if (known) this.inbound.over(id);
    return known;
  }

  #touch(related: number | null): void {
    if (related !== null) this.#pending.get(related)?.onActivity?.();
    else for (const { onActivity } of this.#pending.values()) onActivity?.();
  }

  #progress(params: Readonly<Record<string, unknown>>): void {
    const { progressToken, progress, total, message, _meta } = params;
    const pending = this.#pending.get(Number(progressToken));
    if (pending?.onProgress === undefined || typeof progress !== 'number') return;
    pending.onProgress({
      progress,
      ...(typeof total === 'number' ? { total } : {}),
      ...(typeof message === 'string' ? { message } : {}),
      ...(_meta === undefined ? {} : { _meta }),
    });
  }

  /** Legacy servers and those on a pipe are told; over modern HTTP closing the stream says it. */
  async #cancel(id: number, reason: string, stop: AbortController | null, sending: Promise<boolean>): Promise<boolean> {
    if (!this.#forget(id)) return sending;
    if (this.envelope === null || !this.perRequestStream) {
      const notice: Message = {
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: id, reason, ...this.#meta() },
      };
      void this.#channel.send(notice).catch(() => {});
    }
    stop?.abort();
    return sending;
  }

  #meta(): Readonly<Record<string, unknown>> {
    return this.envelope === null ? {} : { _meta: this.envelope };
  }

  #end(reason: Observation): void {
    if (this.ended !== null || this.#closed) return;
    this.ended = reason;
    this.#failAll(reason);
    this.inbound.end();
    this.#side?.onclose?.();
    this.onEnded(reason);
  }

  #failAll(observation: Observation): void {
    for (const { settle } of this.#pending.values()) settle({ kind: 'fault', observation, sent: true });
  }
}

/** What the SDK's client takes for a transport. The channel is started and closed by whoever made it. */
export class SdkSide implements Transport {
  onmessage: Transport['onmessage'];
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  readonly hasPerRequestStream: boolean;
  /** The fault that ended the last sending that failed. */
  fault: Fault | null = null;

  readonly #channel: VersionedChannel;
  readonly #waiting = new Set<unknown>();

  constructor(channel: VersionedChannel, perRequestStream: boolean) {
    this.#channel = channel;
    this.hasPerRequestStream = perRequestStream;
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const end = options?.onRequestStreamEnd;
    const id = 'method' in message && 'id' in message ? message.id : undefined;
    if (id !== undefined) this.#waiting.add(id);
    const onAnswerEnd = end === undefined ? (reason: Observation) => this.#unanswered(id, reason) : () => end();
    try {
      await this.#channel.send(message as Message, {
        signal: options?.requestSignal,
        headers: options?.headers,
        onAnswerEnd,
      });
    } catch (error) {
      this.fault = asFault(error);
      throw error;
    }
  }

  setProtocolVersion(version: string): void {
    this.#channel.protocolVersion = version;
  }

  async close(): Promise<void> {
    this.onclose?.();
  }

  receive(message: Message): void {
    if (message.method === undefined) this.#waiting.delete(message.id);
    try {
      this.onmessage?.(message as JSONRPCMessage);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** The stream of an answer ended without it, which the SDK would wait out. */
  #unanswered(id: unknown, reason: Observation): void {
    if (id === undefined || !this.#waiting.has(id)) return;
    this.fault = new Fault(reason, true);
    this.onclose?.();
  }
}

function settling(): { answer: Promise<Answer>; settle: (answer: Answer) => void } {
  let settle: (answer: Answer) => void = () => {};
  const answer = new Promise<Answer>((resolve) => {
    settle = resolve;
  });
  return { answer, settle };
}

export function asFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  return new Fault({ seen: 'unparsable', detail: error instanceof Error ? error.message : String(error) }, true);
}
