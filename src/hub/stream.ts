/** One event stream of the endpoint: of a POST's answer, or the one on which a session is spoken to unasked. */
import type { ServerResponse } from 'node:http';
import { streamHeaders } from '../http/headers.ts';
import type { Message } from '../mcp/message.ts';
import type { EventStore, StoredEvent } from './event.store.ts';
import type { Beating, Heartbeat } from './heartbeat.ts';

/** How soon a client may come back after a break, in ms. */
const RETRY_MS = 1_000;
/** With more than this waiting for a slow reader, in bytes, what may be lost is left out. */
const FULL_BYTES = 1024 * 1024;

export interface StreamOptions {
  readonly heartbeat: Heartbeat;
  readonly headers: Readonly<Record<string, string>>;
  /** Where events are kept for a client that comes back; null: nowhere. */
  readonly store: EventStore | null;
  /** Whether the stream begins with an event that only says where it begins. */
  readonly primed: boolean;
  /** The connection was lost, or ended by the client. */
  readonly onLost?: () => void;
}

export class Stream implements Beating {
  readonly id: number;
  readonly #options: StreamOptions;
  #response: ServerResponse | null = null;
  #ended = false;
  /** Among all that beat; 0: not there. */
  #beating = 0;

  constructor(id: number, options: StreamOptions) {
    this.id = id;
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#response !== null;
  }

  /** Begins on a connection, or goes on there; the one before is let go. `missed` is sent first. */
  attach(response: ServerResponse, missed: readonly StoredEvent[] = []): void {
    const { store, headers, primed, heartbeat } = this.#options;
    const before = this.#response;
    this.#response = response;
    before?.end();
    response.writeHead(200, { ...streamHeaders, ...headers });
    if (store !== null && primed) response.write(`id: ${store.mark(this.id)}\nretry: ${RETRY_MS}\ndata: \n\n`);
    else response.flushHeaders();
    for (const { id, text } of missed) response.write(frame(text, id));
    response.once('close', () => {
      if (this.#response !== response) return;
      this.#response = null;
      heartbeat.remove(this.#beating);
      if (!this.#ended) this.#options.onLost?.();
    });
    if (this.#ended) this.end();
    else {
      heartbeat.remove(this.#beating);
      this.#beating = heartbeat.add(this);
    }
  }

  /** `lossy`: may be left out when the reader does not keep up. */
  send(message: Message, lossy = false): void {
    if (this.#ended) return;
    const response = this.#response;
    if (lossy && response !== null && response.writableLength > FULL_BYTES) return;
    const text = JSON.stringify(message);
    const id = this.#options.store?.add(this.id, text);
    response?.write(frame(text, id));
  }

  end(): void {
    this.#ended = true;
    this.#options.heartbeat.remove(this.#beating);
    const response = this.#response;
    this.#response = null;
    response?.end();
  }

  /** Lets the connection go and keeps the stream: the client is to come back for the rest. */
  release(): void {
    const response = this.#response;
    this.#response = null;
    this.#options.heartbeat.remove(this.#beating);
    response?.end();
  }

  beat(): void {
    if (this.#response !== null && !this.#response.writableNeedDrain) this.#response.write(': still here\n\n');
  }
}

const frame = (text: string, id: string | undefined): string =>
  id === undefined ? `event: message\ndata: ${text}\n\n` : `event: message\nid: ${id}\ndata: ${text}\n\n`;
