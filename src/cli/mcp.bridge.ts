/**
 * MCP over stdin and stdout, carried to the daemon's endpoint and back. The daemon may be restarted meanwhile: a session is
 * opened anew without the client noticing, and subscriptions are asked for again.
 */
import type { IncomingMessage } from 'node:http';
import { AnswerLost, headerText, type McpAsk, messagesOf } from '../api/mcp.ts';
import { asLine, headersOf, isModern, isRequest, type Message, parsed } from './bridge.messages.ts';
import { BridgeSession } from './bridge.session.ts';
import { Subscription } from './bridge.subscription.ts';

export interface BridgeOptions {
  readonly path: string;
  /** Sent with everything. */
  readonly headers: Readonly<Record<string, string>>;
  readonly exchange: (ask: McpAsk) => Promise<IncomingMessage>;
  /** One message for the client, as JSON on one line. */
  readonly emit: (line: string) => void;
  /** How long a daemon that is away is waited for, in ms. */
  readonly patienceMs: number;
}

const PARSE_ERROR = -32700;
const INTERNAL_ERROR = -32603;
const AGAIN_MS = 200;
/** A daemon that starts does not know its servers at once; one that still does not after this long never will, in ms. */
const UNKNOWN_MS = 1_000;

interface Running {
  readonly abort: AbortController;
  readonly modern: boolean;
  readonly subscription: boolean;
}

export class Bridge {
  readonly #options: BridgeOptions;
  readonly #running = new Map<string | number, Running>();
  readonly #over = new AbortController();
  readonly #session: BridgeSession;
  #opening: Promise<unknown> = Promise.resolve();
  #listening = false;

  constructor(options: BridgeOptions) {
    this.#options = options;
    this.#session = new BridgeSession({ ...options, signal: this.#over.signal });
  }

  /** One line of the client. Never throws. */
  async receive(line: string): Promise<void> {
    if (line.trim() === '') return;
    let message: Message;
    try {
      message = JSON.parse(line) as Message;
    } catch {
      this.#fail(null, PARSE_ERROR, 'Parse error');
      return;
    }
    if (message.method === 'notifications/cancelled' && this.#cancelled(message)) return;
    if (message.method === 'initialize' && !isModern(message)) {
      this.#session.begin(message);
      this.#opening = this.#request(message, line);
      return void (await this.#opening);
    }
    await this.#opening;
    this.#session.note(message);
    await this.#request(message, line);
    if (message.method === 'notifications/initialized') void this.#listen();
  }

  /** Resolves when every request has its answer, or after `ms`. */
  async quiet(ms: number): Promise<void> {
    const waits = (): boolean => [...this.#running.values()].some(({ subscription }) => !subscription);
    for (const until = Date.now() + ms; waits() && Date.now() < until; ) await pause(20, this.#over.signal);
  }

  /** The client is gone. */
  async close(): Promise<void> {
    this.#over.abort();
    for (const { abort } of this.#running.values()) abort.abort();
    if (this.#session.id === undefined) return;
    const { path, exchange } = this.#options;
    const { headers } = this.#session;
    await exchange({ method: 'DELETE', path, headers, signal: AbortSignal.timeout(500) }).then(
      (answer) => answer.resume(),
      () => {},
    );
  }

  /** In the modern era the daemon hears of it by the end of the stream, and by nothing else. */
  #cancelled({ params }: Message): boolean {
    const id = params?.requestId;
    const running = typeof id === 'string' || typeof id === 'number' ? this.#running.get(id) : undefined;
    if (!running?.modern) return false;
    running.abort.abort();
    return true;
  }

  async #request(message: Message, line: string): Promise<void> {
    const { id } = message;
    if (!isRequest(message) || id === undefined || id === null) return this.#carry(message, line, this.#over.signal);
    const subscription = message.method === 'subscriptions/listen';
    const running = { abort: new AbortController(), modern: isModern(message), subscription };
    this.#running.set(id, running);
    const signal = AbortSignal.any([running.abort.signal, this.#over.signal]);
    await (subscription ? this.#subscribe(message, line, signal) : this.#carry(message, line, signal));
    if (this.#running.get(id) === running) this.#running.delete(id);
  }

  /** Sends one message and hands on what comes back, however often the daemon goes away before it took it. */
  async #carry(message: Message, line: string, signal: AbortSignal): Promise<void> {
    const until = Date.now() + this.#options.patienceMs;
    const isForLater = laterWith(UNKNOWN_MS);
    for (let renewed = false; ; ) {
      const session = isModern(message) ? undefined : this.#session.id;
      try {
        const answer = await this.#post(message, line, signal);
        if (answer.statusCode === 404 && session !== undefined && !isProblem(answer)) {
          answer.resume();
          await this.#session.renew(session);
          if (renewed) throw new Error('The daemon forgot a session that was just opened.');
          renewed = true;
        } else if (isForLater(answer)) {
          answer.resume();
          throw new Error(`The daemon did not take it (HTTP ${answer.statusCode}).`);
        } else return await this.#handOn(message, answer, signal);
      } catch (error) {
        if (signal.aborted) return;
        const why = error instanceof Error ? error.message : String(error);
        const isLate = Date.now() > until;
        if (isLate && !isRequest(message)) return;
        if (error instanceof AnswerLost && mayDoHarm(message))
          return this.#fail(message.id, INTERNAL_ERROR, `${why}; the call may have run.`);
        if (isLate) return this.#fail(message.id, INTERNAL_ERROR, why);
        await pause(AGAIN_MS, signal);
      }
    }
  }

  /** The same for a subscription, whose answer lasts: when it breaks off it is asked for again, for as long as it takes. */
  async #subscribe(message: Message, line: string, signal: AbortSignal): Promise<void> {
    const subscription = new Subscription(message.id);
    const until = Date.now() + this.#options.patienceMs;
    const isForLater = laterWith(UNKNOWN_MS);
    for (; !signal.aborted; await pause(AGAIN_MS, signal)) {
      try {
        const answer = await this.#post(message, line, signal);
        if (isForLater(answer)) {
          answer.resume();
          continue;
        }
        if (isProblem(answer)) return await this.#handOn(message, answer, signal);
        for await (const { data } of messagesOf(answer)) {
          const said = parsed(data);
          for (const one of said ? subscription.heard(said, data) : []) this.#options.emit(one);
          if (subscription.over) return;
        }
      } catch (error) {
        if (signal.aborted || subscription.acknowledged || Date.now() < until) continue;
        return this.#fail(message.id, INTERNAL_ERROR, error instanceof Error ? error.message : String(error));
      }
    }
  }

  async #post(message: Message, line: string, signal: AbortSignal): Promise<IncomingMessage> {
    const { path, exchange } = this.#options;
    const headers = isModern(message) ? this.#modernHeaders(message) : this.#session.headers;
    return exchange({ method: 'POST', path, headers, body: line, once: mayDoHarm(message), signal });
  }

  /** Everything in an answer; a request that gets no response in it is answered with an error. */
  async #handOn(message: Message, answer: IncomingMessage, signal: AbortSignal): Promise<void> {
    const { id, method } = message;
    if (!isRequest(message) && !Array.isArray(message)) return void answer.resume();
    let answered = Array.isArray(message);
    /** What a problem says that came instead of a message of the protocol. */
    let refusal: string | null = null;
    try {
      for await (const { data } of messagesOf(answer)) {
        const said = parsed(data);
        if (said === null) continue;
        if (typeof said.detail === 'string' && said.jsonrpc === undefined) {
          refusal = said.detail;
          continue;
        }
        if (said.jsonrpc !== '2.0' && !Array.isArray(said)) continue;
        if (said.method === undefined && !Array.isArray(said)) {
          if (said.id !== id && said.id !== null) continue;
          answered = true;
          if (method === 'initialize') this.#session.began(answer.headers['mcp-session-id'], said.result);
        }
        this.#options.emit(said.id === null ? asLine({ ...said, id }) : data);
      }
    } catch {
      // Told below: the answer broke off.
    }
    if (answered || signal.aborted) return;
    const why = answer.statusCode === 200 ? 'broke off before it answered; the call may have run' : 'did not take it';
    this.#fail(id, INTERNAL_ERROR, refusal ?? `The daemon ${why} (HTTP ${answer.statusCode}).`);
  }

  /** What the daemon says unasked, for as long as the client is there. */
  async #listen(): Promise<void> {
    if (this.#listening) return;
    this.#listening = true;
    const { path, exchange, emit } = this.#options;
    const { signal } = this.#over;
    let last: { readonly session: string; readonly event: string } | null = null;
    for (; !signal.aborted; await pause(AGAIN_MS, signal)) {
      const session = this.#session.id;
      if (session === undefined) continue;
      try {
        const from: Record<string, string> = last?.session === session ? { 'last-event-id': last.event } : {};
        const headers = { ...this.#session.headers, ...from };
        const answer = await exchange({ method: 'GET', path, headers, signal });
        if (answer.statusCode !== 200) {
          answer.resume();
          if (answer.statusCode === 404 && !isProblem(answer)) await this.#session.renew(session);
          continue;
        }
        this.#session.catchUp();
        for await (const { data, id } of messagesOf(answer)) {
          if (id !== undefined) last = { session, event: id };
          const said = parsed(data);
          if (said === null) continue;
          emit(data);
          void this.#session.heard(said);
        }
      } catch {
        // The daemon is away; asked again.
      }
    }
  }

  #modernHeaders(message: Message): Record<string, string> {
    const { version, method, name } = headersOf(message);
    const { headers } = this.#options;
    const standard = { ...headers, 'mcp-protocol-version': version, 'mcp-method': method };
    return name === undefined ? standard : { ...standard, 'mcp-name': headerText(name) };
  }

  /** An error for a request; nobody waits for one to anything else. */
  #fail(id: Message['id'], code: number, message: string): void {
    if (id !== undefined) this.#options.emit(asLine({ id, error: { code, message } }));
  }
}

/** What must not be sent twice without knowing that it was not taken. */
const mayDoHarm = (message: Message): boolean => message.method === 'tools/call' || Array.isArray(message);

const isProblem = ({ headers }: IncomingMessage): boolean =>
  (headers['content-type'] ?? '').startsWith('application/problem+json');

/** Whether the daemon stops, or has only begun: it took nothing, and may soon. */
function laterWith(unknownMs: number): (answer: IncomingMessage) => boolean {
  let unknownSince: number | null = null;
  return (answer) => {
    const isUnknown = answer.statusCode === 404 && isProblem(answer);
    unknownSince = isUnknown ? (unknownSince ?? Date.now()) : null;
    return answer.statusCode === 503 || (unknownSince !== null && Date.now() < unknownSince + unknownMs);
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}
