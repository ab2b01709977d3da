/** What a server says by itself: notifications for whoever listens, requests for the one who answers. */
import type { ServerNotification, ServerReply, ServerRequest } from './connection.ts';
import { type Id, isObject, type Message } from './message.ts';

export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;

interface OpenRequest {
  readonly related: number | null;
  readonly cancel: AbortController;
}

export class Inbound {
  handler: ((request: ServerRequest) => Promise<ServerReply>) | null = null;

  readonly #send: (message: Message) => void;
  /** A request of the server begins or ends to wait for us; null: nobody knows for which of ours it came. */
  readonly #activity: (related: number | null) => void;
  readonly #listeners = new Set<(notification: ServerNotification) => void>();
  readonly #open = new Map<Id, OpenRequest>();

  constructor(send: (message: Message) => void, activity: (related: number | null) => void) {
    this.#send = send;
    this.#activity = activity;
  }

  listen(listener: (notification: ServerNotification) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  notification(method: string, params: ServerNotification['params'], related: number | null): void {
    if (this.#listeners.size === 0) return;
    const notification = { method, params: withoutSubscription(params), related };
    for (const listener of [...this.#listeners]) listener(notification);
  }

  request(id: Id, method: string, params: ServerRequest['params'], related: number | null): void {
    const { handler } = this;
    if (method === 'ping') {
      this.#reply(id, { result: {} });
      return;
    }
    if (handler === null) {
      this.refuse(id, method);
      return;
    }
    const cancel = new AbortController();
    this.#open.set(id, { related, cancel });
    this.#activity(related);
    const answer = async () => handler({ method, params, related, signal: cancel.signal });
    void answer()
      .catch((error: unknown) => ({
        error: { code: INTERNAL_ERROR, message: error instanceof Error ? error.message : String(error) },
      }))
      .then((reply) => {
        if (!this.#open.delete(id)) return;
        this.#activity(related);
        this.#reply(id, reply);
      });
  }

  refuse(id: Id, method: string): void {
    this.#reply(id, { error: { code: METHOD_NOT_FOUND, message: `Method not found: ${method}` } });
  }

  /** For a request that cannot be handed on as it is. */
  reject(id: Id, message: string): void {
    this.#reply(id, { error: { code: INVALID_PARAMS, message } });
  }

  /** The server no longer wants the reply. False when no such request is open. */
  cancelled(requestId: unknown): boolean {
    const open = this.#open.get(requestId as Id);
    if (open === undefined) return false;
    this.#open.delete(requestId as Id);
    open.cancel.abort(new Error('the server cancelled its request'));
    this.#activity(open.related);
    return true;
  }

  /** Whether a request of the server that may belong to this one of ours waits for our reply. */
  waits(id: number): boolean {
    for (const { related } of this.#open.values()) if (related === null || related === id) return true;
    return false;
  }

  /** A request of ours is over: what the server asked for its sake is moot. A reply is sent all the same, if one comes. */
  over(id: number): void {
    if (this.#open.size === 0) return;
    for (const { related, cancel } of this.#open.values())
      if (related === id) cancel.abort(new Error('the request it belongs to is over'));
  }

  end(): void {
    for (const { cancel } of this.#open.values()) cancel.abort(new Error('the connection is over'));
    this.#open.clear();
  }

  #reply(id: Id, reply: ServerReply): void {
    this.#send('result' in reply ? { jsonrpc: '2.0', id, result: reply.result } : { jsonrpc: '2.0', id, ...reply });
  }
}

/** The id of a stream of ours means nothing to anybody else. */
function withoutSubscription(params: ServerNotification['params']): ServerNotification['params'] {
  const meta = params?._meta;
  if (!isObject(meta) || !(SUBSCRIPTION_ID in meta)) return params;
  const { [SUBSCRIPTION_ID]: _, ...rest } = meta;
  const { _meta, ...others } = params ?? {};
  return Object.keys(rest).length === 0 ? others : { ...others, _meta: rest };
}
