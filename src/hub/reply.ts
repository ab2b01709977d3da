/**
 * The answer to one POST. It is one piece of JSON if nothing has to be said before the result, else an event stream; a
 * result that takes long turns it into a stream too, so that neither side takes the other for dead.
 */
import type { ServerResponse } from 'node:http';
import { safeHeaders } from '../http/headers.ts';
import type { Message } from '../mcp/message.ts';
import type { Beating, Heartbeat } from './heartbeat.ts';
import type { Stream } from './stream.ts';

export interface Accepts {
  readonly json: boolean;
  readonly stream: boolean;
}

/** What the client takes; one that says nothing takes both. */
export function acceptsOf(accept: string | undefined): Accepts {
  if (accept === undefined) return { json: true, stream: true };
  const all = accept.includes('*/*');
  return {
    json: all || accept.includes('application/json') || accept.includes('application/*'),
    stream: all || accept.includes('text/event-stream') || accept.includes('text/*'),
  };
}

export interface ReplyOptions {
  readonly response: ServerResponse;
  readonly accepts: Accepts;
  readonly heartbeat: Heartbeat;
  readonly headers: Readonly<Record<string, string>>;
  /** Responses that are due. */
  readonly due: number;
  /** The body was a batch: the answer is a list. */
  readonly batch: boolean;
  /** Makes the stream when one is needed. */
  readonly stream: () => Stream;
  /** The last response went out on the stream. */
  readonly onStreamEnd?: (stream: Stream) => void;
  /** The client went away while the answer was no stream yet. */
  readonly onLost: () => void;
}

export class Reply implements Beating {
  readonly #options: ReplyOptions;
  readonly #answers: Message[] = [];
  #stream: Stream | null = null;
  #due: number;
  /** Among all that beat; 0: not there. */
  #beating = 0;
  #over = false;

  constructor(options: ReplyOptions) {
    this.#options = options;
    this.#due = options.due;
    const { response, accepts, heartbeat } = options;
    response.once('close', () => {
      heartbeat.remove(this.#beating);
      if (this.#over || this.#stream !== null) return;
      this.#over = true;
      options.onLost();
    });
    if (!accepts.json) this.#begin();
    else if (accepts.stream) this.#beating = heartbeat.add(this);
  }

  /** Whether anything can be said before the result. */
  get speaks(): boolean {
    return this.#options.accepts.stream;
  }

  /** A notification or request that belongs to what was asked. Left out where the client takes no streams. */
  say(message: Message, lossy = false): void {
    if (this.#over || !this.speaks) return;
    this.#begin().send(message, lossy);
  }

  /** One response; `status` counts only for an answer that is one piece of JSON. */
  respond(message: Message, status = 200): void {
    if (this.#over && this.#stream === null) return;
    this.#due -= 1;
    if (this.#stream !== null) {
      this.#stream.send(message);
      if (this.#due === 0) {
        this.#stream.end();
        this.#options.onStreamEnd?.(this.#stream);
      }
    } else {
      this.#answers.push(message);
      if (this.#due === 0) this.#finish(status);
    }
    if (this.#due === 0) this.#over = true;
  }

  /** One response that will never come. */
  drop(): void {
    if (this.#over && this.#stream === null) return;
    this.#due -= 1;
    if (this.#due > 0) return;
    this.#over = true;
    if (this.#stream === null && this.#answers.length > 0) this.#finish(200);
    else if (this.#stream === null && !this.speaks) sendNothing(this.#options.response, 202);
    else {
      const stream = this.#begin();
      stream.end();
      this.#options.onStreamEnd?.(stream);
    }
  }

  /** The time without a result grew long. */
  beat(): void {
    this.#begin();
  }

  #begin(): Stream {
    if (this.#stream !== null) return this.#stream;
    this.#options.heartbeat.remove(this.#beating);
    this.#stream = this.#options.stream();
    this.#stream.attach(this.#options.response);
    for (const answer of this.#answers.splice(0)) this.#stream.send(answer);
    return this.#stream;
  }

  #finish(status: number): void {
    const { response, heartbeat, headers, batch } = this.#options;
    heartbeat.remove(this.#beating);
    sendJson(response, status, batch ? this.#answers : this.#answers[0], headers);
  }
}

/** One whole answer. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  type = 'application/json',
): void {
  const text = JSON.stringify(body);
  const lines = linesOf(headers);
  lines.push('content-type', type, 'content-length', String(Buffer.byteLength(text)));
  response.writeHead(status, lines);
  response.end(text);
}

export function sendNothing(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): void {
  const lines = linesOf(headers);
  lines.push('content-length', '0');
  response.writeHead(status, lines);
  response.end();
}

const SAFE: readonly string[] = Object.entries(safeHeaders).flat();

/** Names and values in turn: an object of headers is taken apart again by whoever writes them (ADR 27). */
function linesOf(headers: Readonly<Record<string, string>>): string[] {
  const lines = [...SAFE];
  for (const name in headers) lines.push(name, headers[name] ?? '');
  return lines;
}
