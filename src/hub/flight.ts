/**
 * One request on its way through the hub. It outlives the client's own request where a server wants input in the middle
 * of it and the client is modern: then the client gets `input_required`, the request waits here, and the client's next
 * request goes on with it. So a tool call that asks back is one call, decided on once.
 */
import { setImmediate } from 'node:timers';
import { Cancel, type CancelSignal } from '../mcp/cancel.ts';
import type { ProgressReport, ServerReply } from '../mcp/connection.ts';
import { isObject } from '../mcp/message.ts';
import { type ClientReply, canBeAsked, type Peer } from './peer.ts';
import { codes, type Members, RpcFailure } from './rpc.ts';

export interface InputRequest {
  readonly method: string;
  readonly params?: Members;
}

export type Turn =
  | { readonly kind: 'result'; readonly result: Members }
  | { readonly kind: 'input'; readonly requests: Readonly<Record<string, InputRequest>> };

interface Wanted {
  readonly request: InputRequest;
  readonly settle: (response: Members) => void;
}

interface Waiter {
  readonly resolve: (turn: Turn) => void;
  readonly reject: (error: unknown) => void;
}

/** Progress that would stand still goes on by this much. */
const STEP = 1e-6;

export class Flight {
  readonly server: string;
  /** The client that waits now; null while it is asked for input in the modern way. */
  peer: Peer | null = null;
  /** Ids the server knows the request by, one a round. */
  readonly sent: number[] = [];
  /** An error of the protocol the server answered with, kept for a client that can make use of it. */
  rejection: RpcFailure | null = null;

  readonly #cancel = new Cancel();
  readonly #wanted = new Map<string, Wanted>();
  #waiter: Waiter | null = null;
  #outcome: { readonly result: Members } | { readonly error: unknown } | null = null;
  #progress = Number.NEGATIVE_INFINITY;
  #telling = false;
  #asks = 0;
  #asking = 0;
  #askedAt = 0;

  constructor(server: string) {
    this.server = server;
  }

  /** Ends when nobody wants the result any more. */
  get signal(): CancelSignal {
    return this.#cancel.signal;
  }

  /** For how long the server has been waiting for an answer of this client, in ms; null when it waits for none. */
  get asksSince(): number | null {
    return this.#asking === 0 ? null : performance.now() - this.#askedAt;
  }

  cancel(reason: unknown): void {
    this.#cancel.abort(reason);
  }

  begin(work: () => Promise<Members>): void {
    work().then(
      (result) => this.#end({ result }),
      (error: unknown) => this.#end({ error }),
    );
  }

  /** What comes next, for the client that waits now: the result, or a wish for input. */
  next(peer: Peer): Promise<Turn> {
    this.peer = peer;
    const left = (): void => {
      if (this.peer === peer) this.cancel(peer.signal.reason);
    };
    if (peer.signal.aborted) left();
    else peer.signal.addEventListener('abort', left, { once: true });
    return new Promise<Turn>((resolve, reject) => {
      this.#waiter = { resolve, reject };
      this.#tell();
    });
  }

  /**
   * Input a modern server wants before it goes on, asked of the client in the way of the client's era. Rejects when the
   * client cannot give it.
   */
  async input(requests: Readonly<Record<string, unknown>>): Promise<Members> {
    const answers = Object.entries(requests).map(async ([key, request]) => {
      if (!isObject(request) || typeof request.method !== 'string')
        throw new RpcFailure(codes.internal, `The server asked for input "${key}" without saying what.`);
      const params = isObject(request.params) ? request.params : undefined;
      const reply = await this.ask(request.method, params, this.signal, key);
      if ('error' in reply) throw new RpcFailure(reply.error.code, reply.error.message, reply.error.data);
      return [key, reply.result] as const;
    });
    return Object.fromEntries(await Promise.all(answers));
  }

  /** One request to the client. Resolves with an error where the client is not able to answer such a thing. */
  async ask(method: string, params: Members | undefined, signal: CancelSignal, key?: string): Promise<ServerReply> {
    const { peer } = this;
    // While it is asked already, the client is one that can be asked; what it declared is looked at when it is back.
    if (peer !== null && !canBeAsked(peer, method, params)) return unable(method);
    this.#asking += 1;
    this.#askedAt = performance.now();
    try {
      if (peer?.ask) return await peer.ask(method, params, signal).catch(() => gone(method));
      return await this.#askLater(method, params, signal, key);
    } finally {
      this.#asking -= 1;
    }
  }

  /** Takes what a modern client brings; names still missing are asked for again. Throws for what is no answer at all. */
  bring(responses: unknown): void {
    if (!isObject(responses))
      throw new RpcFailure(codes.invalidParams, 'Invalid params: "inputResponses" must be an object.');
    for (const [key, response] of Object.entries(responses)) {
      if (this.#wanted.has(key) && !isObject(response))
        throw new RpcFailure(codes.invalidParams, `Invalid params: inputResponses["${key}"] must be an object.`);
    }
    for (const [key, { settle }] of [...this.#wanted]) {
      const response = responses[key];
      if (!isObject(response)) continue;
      this.#wanted.delete(key);
      settle(response);
    }
  }

  /** What the server says in the course of the request; lost while the client is away to find an answer. */
  notify(method: string, params: Members, lossy = false): void {
    this.peer?.notify(method, params, lossy);
  }

  /** Progress, under the token of whoever waits now. Never goes back, whatever servers count. */
  progress(report: ProgressReport): void {
    const token = this.peer?.progressToken;
    if (token === undefined) return;
    const progress = report.progress > this.#progress ? report.progress : this.#progress + STEP;
    this.#progress = progress;
    this.notify('notifications/progress', { ...report, progress, progressToken: token }, true);
  }

  #askLater(method: string, params: Members | undefined, signal: CancelSignal, name?: string): Promise<ServerReply> {
    this.#asks += 1;
    const key = name ?? `request-${this.#asks}`;
    return new Promise((resolve) => {
      const giveUp = (): void => {
        this.#wanted.delete(key);
        resolve(gone(method));
      };
      if (signal.aborted) return giveUp();
      signal.addEventListener('abort', giveUp, { once: true });
      this.#wanted.set(key, {
        request: params === undefined ? { method } : { method, params },
        settle: (response) => {
          signal.removeEventListener('abort', giveUp);
          resolve({ result: response });
        },
      });
      this.#tellSoon();
    });
  }

  #end(outcome: { readonly result: Members } | { readonly error: unknown }): void {
    this.#outcome = outcome;
    this.#wanted.clear();
    this.#tell();
  }

  /** Several wishes of one moment are told together. */
  #tellSoon(): void {
    if (this.#telling) return;
    this.#telling = true;
    setImmediate(() => {
      this.#telling = false;
      this.#tell();
    });
  }

  #tell(): void {
    const waiter = this.#waiter;
    if (waiter === null) return;
    if (this.#outcome !== null) {
      this.#waiter = null;
      if ('error' in this.#outcome) waiter.reject(this.#outcome.error);
      else waiter.resolve({ kind: 'result', result: this.#outcome.result });
    } else if (this.#wanted.size > 0 && !this.#telling) {
      this.#waiter = null;
      this.peer = null;
      const requests = Object.fromEntries([...this.#wanted].map(([key, { request }]) => [key, request]));
      waiter.resolve({ kind: 'input', requests });
    }
  }
}

const unable = (method: string): ClientReply => ({
  error: { code: codes.methodNotFound, message: `The client that made the call does not offer ${method}.` },
});

const gone = (method: string): ClientReply => ({
  error: { code: codes.internal, message: `The client that made the call left before it answered ${method}.` },
});
