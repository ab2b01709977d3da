/** Streamable HTTP as a channel (specification 2025-11-25 and 2026-07-28, transports). */
import type { Channel, SendOptions } from './channel.ts';
import { type Answer, type Exchanger, type Headers, mediaType, readAll } from './exchange.ts';
import { Fault, type Observation } from './failure.ts';
import { type Id, type Message, messagesIn } from './message.ts';
import { headerValue } from './param-headers.ts';
import { LINE_LIMIT } from './process.ts';
import { readEvents } from './sse-body.ts';
import { codeOfFault, overheard } from './tap.http.ts';
import { Tap } from './tap.ts';

const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';
/** A server may close the stream of an answer and let the client come back for the rest (revision 2025-11-25). */
const RESUME_TRIES = 5;
const RESUME_MS = 1_000;
const LONGEST_RESUME_MS = 30_000;
/** A server that does not answer the goodbye is left without. */
const GOODBYE_MS = 1_000;

export class StreamableChannel implements Channel {
  readonly breaksOff = true;
  onmessage: (message: Message, over?: Id) => void = () => {};
  onend: (reason: Observation) => void = () => {};
  /** Given by the server with the answer to initialize; legacy era only. */
  sessionId: string | undefined;
  /** Set once a legacy version is agreed; requests of the modern era carry theirs in the body. */
  protocolVersion: string | undefined;

  readonly tap: Tap;
  readonly #http: Exchanger;
  #closing: Promise<void> | null = null;

  constructor(http: Exchanger, tap = new Tap()) {
    this.#http = http;
    this.tap = tap;
  }

  get target(): string {
    return this.#http.target;
  }

  async start(): Promise<void> {}

  async send(message: Message, options: SendOptions = {}): Promise<void> {
    const x = this.tap.exchange();
    this.tap.ear?.({ is: 'out', message, x });
    const answer = await overheard(
      this.tap,
      x,
      this.#http.send('POST', this.#headersFor(message, options.headers), JSON.stringify(message), options.signal),
    );
    if (message.method === 'initialize') {
      const given = answer.headers['mcp-session-id'];
      this.sessionId = typeof given === 'string' && given !== '' ? given : undefined;
    }
    const wantsAnswer = message.method !== undefined && message.id !== undefined;
    if (!wantsAnswer || answer.status === 202 || answer.status === 204) {
      answer.body.resume();
      return;
    }
    switch (mediaType(answer)) {
      case 'text/event-stream':
        void this.#follow(answer, message, options, x);
        return;
      case 'application/json':
        this.#deliver(await readAll(answer, LINE_LIMIT, this.target), message.id, x);
        options.onAnswerEnd?.({
          seen: 'unparsable',
          detail: `${this.target} answered without the response to the request`,
        });
        return;
      default: {
        answer.body.destroy();
        const type = answer.headers['content-type'] ?? 'no content type';
        throw new Fault(
          { seen: 'unparsable', detail: `${this.target} answered with ${type} where JSON or an event stream was due` },
          true,
        );
      }
    }
  }

  /** The stream on which a legacy server speaks unasked. Rejects with a `Fault` when it is not to be had. */
  async openPush(lastEventId: string | undefined, signal: AbortSignal): Promise<{ answer: Answer; x: number }> {
    const x = this.tap.exchange();
    this.tap.ear?.({ is: 'push', x });
    const answer = await overheard(this.tap, x, this.#http.send('GET', this.#streamHeaders(lastEventId), null, signal));
    if (mediaType(answer) === 'text/event-stream') return { answer, x };
    answer.body.destroy();
    throw new Fault({ seen: 'unparsable', detail: `${this.target} answered GET without an event stream` }, true);
  }

  close(): Promise<void> {
    if (this.#closing === null) {
      this.tap.close();
      this.#closing = this.#leave();
    }
    return this.#closing;
  }

  /** The session is gone already; the server is not asked to end it. */
  forgetSession(): void {
    this.sessionId = undefined;
  }

  async #leave(): Promise<void> {
    if (this.sessionId !== undefined) {
      const answer = this.#http.send('DELETE', this.#sessionHeaders(), null, AbortSignal.timeout(GOODBYE_MS));
      await answer.then(
        ({ body }) => body.resume(),
        () => {},
      );
    }
    this.#http.close();
  }

  /** Reads the answer's stream to its end, and where it left off if the server wants that. */
  async #follow(first: Answer, message: Message, options: SendOptions, x: number): Promise<void> {
    let answered = false;
    let lastEventId: string | undefined;
    let pauseMs = RESUME_MS;
    let fromServer: number | undefined;
    let reason: Observation = { seen: 'stream-ended', target: this.target };
    let code: string | null = null;
    let answer: Answer | null = first;
    for (let tries = 0; ; tries += 1) {
      if (answer !== null) {
        tries = 0;
        const end = await readEvents(answer, LINE_LIMIT, (data) => {
          if (this.#deliver(data, message.id, x).some(({ id, method }) => method === undefined && id === message.id))
            answered = true;
        });
        lastEventId = end.lastEventId ?? lastEventId;
        fromServer = end.retryMs ?? fromServer;
        code = codeOfFault(end.fault);
        if (end.fault !== null) reason = end.fault.observation;
      }
      if (answered || options.signal?.aborted || this.#closing !== null) return;
      if (lastEventId === undefined || tries >= RESUME_TRIES) break;
      await pause(Math.min(fromServer ?? pauseMs, LONGEST_RESUME_MS), options.signal);
      pauseMs *= 2;
      if (options.signal?.aborted || this.#closing !== null) return;
      answer = await this.#http
        .send('GET', this.#streamHeaders(lastEventId), null, options.signal)
        .catch((fault: Fault) => {
          reason = fault.observation;
          return null;
        });
    }
    this.tap.ear?.({ is: 'ended', x, code });
    options.onAnswerEnd?.(reason);
  }

  #deliver(text: string, over: Id | undefined, x: number): readonly Message[] {
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      this.tap.ear?.({ is: 'body', x, text });
      return [];
    }
    const messages = messagesIn(parsed);
    if (messages === null) {
      this.tap.ear?.({ is: 'body', x, text });
      return [];
    }
    for (const message of messages) {
      this.tap.ear?.({ is: 'in', message, x });
      this.onmessage(message, over);
    }
    return messages;
  }

  #headersFor(message: Message, more: Headers | undefined): Headers {
    const session = message.method === 'initialize' ? {} : this.#sessionHeaders();
    return {
      ...more,
      ...session,
      ...modernHeaders(message),
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    };
  }

  #streamHeaders(lastEventId: string | undefined): Headers {
    return {
      ...this.#sessionHeaders(),
      accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    };
  }

  #sessionHeaders(): Headers {
    return {
      ...(this.sessionId === undefined ? {} : { 'mcp-session-id': this.sessionId }),
      ...(this.protocolVersion === undefined ? {} : { 'mcp-protocol-version': this.protocolVersion }),
    };
  }
}

/** What a modern request repeats in its headers (2026-07-28, standard headers); nothing for a legacy message. */
function modernHeaders({ method, params }: Message): Headers {
  const meta = params?._meta as Readonly<Record<string, unknown>> | undefined;
  const version = meta?.[PROTOCOL_VERSION];
  if (method === undefined || typeof version !== 'string') return {};
  const name =
    method === 'resources/read'
      ? params?.uri
      : method === 'tools/call' || method === 'prompts/get'
        ? params?.name
        : undefined;
  return {
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(typeof name === 'string' ? { 'mcp-name': headerValue(name) } : {}),
  };
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}
