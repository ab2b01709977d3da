/**
 * MCP over stdin and stdout, carried to the daemon's endpoint and back. The daemon may be restarted meanwhile: a session is
 * opened anew without the client noticing, and subscriptions are asked for again.
 */
import type { IncomingMessage } from 'node:http';
import { headerText, type McpAsk, messagesOf } from '../api/mcp.ts';

type Members = Readonly<Record<string, unknown>>;

interface Message {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Members;
}

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

const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';
const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};
const PARSE_ERROR = -32700;
const INTERNAL_ERROR = -32603;
const AGAIN_MS = 200;

export class Bridge {
  readonly #options: BridgeOptions;
  readonly #running = new Map<string | number, AbortController>();
  readonly #over = new AbortController();
  #session: string | undefined;
  #revision: string | undefined;
  /** What the client began with, to begin again with another daemon. */
  #greeting: Message | null = null;
  #opening: Promise<unknown> = Promise.resolve();
  #listening = false;

  constructor(options: BridgeOptions) {
    this.#options = options;
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
    const { method, id, params } = message;
    if (method === 'notifications/cancelled') this.#cancel(params);
    if (method === 'initialize' && !isModern(message)) {
      this.#greeting = message;
      this.#session = undefined;
      this.#opening = this.#carry(message, line);
      await this.#opening;
      this.#running.delete(id ?? '');
      return;
    }
    await this.#opening;
    await this.#carry(message, line);
    if (method === 'notifications/initialized') void this.#listen();
    else if (id !== undefined && id !== null) this.#running.delete(id);
  }

  /** Resolves when every request has its answer, or after `ms`. */
  async quiet(ms: number): Promise<void> {
    for (const until = Date.now() + ms; this.#running.size > 0 && Date.now() < until; )
      await pause(20, this.#over.signal);
  }

  /** The client is gone. */
  async close(): Promise<void> {
    this.#over.abort();
    for (const running of this.#running.values()) running.abort();
    if (this.#session === undefined) return;
    const { path, exchange } = this.#options;
    await exchange({ method: 'DELETE', path, headers: this.#headers(), signal: AbortSignal.timeout(500) }).then(
      (answer) => answer.resume(),
      () => {},
    );
  }

  #cancel(params: Members | undefined): void {
    const id = params?.requestId;
    // In the modern era the daemon hears of it by the end of the stream.
    if ((typeof id === 'string' || typeof id === 'number') && this.#session === undefined)
      this.#running.get(id)?.abort();
  }

  /** Sends one message and hands on what comes back, however often the daemon goes away before it took it. */
  async #carry(message: Message, line: string): Promise<void> {
    const { id, method } = message;
    const isRequest = method !== undefined && id !== undefined && id !== null;
    const cancel = new AbortController();
    if (isRequest) this.#running.set(id, cancel);
    const signal = AbortSignal.any([cancel.signal, this.#over.signal]);
    const until = Date.now() + this.#options.patienceMs;
    for (let renewed = false; ; ) {
      try {
        const answer = await this.#post(message, line, signal);
        if (answer.statusCode === 404 && this.#session !== undefined && method !== 'initialize' && !renewed) {
          answer.resume();
          renewed = true;
          await this.#renew(signal);
          continue;
        }
        await this.#handOn(message, answer, isRequest);
        if (method !== 'subscriptions/listen' || signal.aborted) return;
        // A subscription that broke off is asked for again; the client keeps the one it has.
        await pause(AGAIN_MS, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (Date.now() > until && method !== 'subscriptions/listen') {
          if (isRequest) this.#fail(id, INTERNAL_ERROR, error instanceof Error ? error.message : String(error));
          return;
        }
        await pause(AGAIN_MS, signal);
      }
    }
  }

  async #post(message: Message, line: string, signal: AbortSignal): Promise<IncomingMessage> {
    const { path, exchange } = this.#options;
    const headers = isModern(message) ? this.#modernHeaders(message) : this.#headers();
    const answer = await exchange({ method: 'POST', path, headers, body: line, signal });
    if (message.method === 'initialize' && !isModern(message)) {
      const given = answer.headers['mcp-session-id'];
      this.#session = typeof given === 'string' ? given : undefined;
    }
    return answer;
  }

  /** Everything in an answer; a request that gets no response in it is answered with an error. */
  async #handOn(message: Message, answer: IncomingMessage, isRequest: boolean): Promise<void> {
    let answered = !isRequest;
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
        if (said.method === undefined && isRequest) {
          if (said.id !== message.id && said.id !== null) continue;
          answered = true;
          if (message.method === 'initialize') this.#revision = revisionIn(said);
        } else if (said.jsonrpc !== '2.0') continue;
        this.#options.emit(said.id === null && isRequest ? JSON.stringify({ ...said, id: message.id }) : data);
      }
    } catch {
      // Told below: the answer broke off.
    }
    if (answered || message.method === 'subscriptions/listen' || this.#running.get(message.id ?? '')?.signal.aborted)
      return;
    if (this.#over.signal.aborted) return;
    const why = answer.statusCode === 200 ? 'broke off before it answered; the call may have run' : 'did not take it';
    this.#fail(message.id ?? null, INTERNAL_ERROR, refusal ?? `The daemon ${why} (HTTP ${answer.statusCode}).`);
  }

  /** Opens a session in place of one the daemon no longer knows. */
  async #renew(signal: AbortSignal): Promise<void> {
    const greeting = this.#greeting;
    if (greeting === null) return;
    this.#session = undefined;
    const answer = await this.#post(greeting, JSON.stringify(greeting), signal);
    answer.resume();
    const initialized: Message & { jsonrpc: string } = { jsonrpc: '2.0', method: 'notifications/initialized' };
    (await this.#post(initialized, JSON.stringify(initialized), signal)).resume();
    for (const list of ['tools', 'prompts', 'resources'])
      this.#options.emit(JSON.stringify({ jsonrpc: '2.0', method: `notifications/${list}/list_changed` }));
  }

  /** What the daemon says unasked, for as long as the client is there. */
  async #listen(): Promise<void> {
    if (this.#listening) return;
    this.#listening = true;
    const { path, exchange, emit } = this.#options;
    const { signal } = this.#over;
    let lastEventId: string | undefined;
    while (!signal.aborted) {
      const session = this.#session;
      try {
        const from: Record<string, string> = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
        const answer = await exchange({ method: 'GET', path, headers: { ...this.#headers(), ...from }, signal });
        if (answer.statusCode === 404 && this.#session === session) {
          lastEventId = undefined;
          await this.#renew(signal);
        }
        if (answer.statusCode !== 200) answer.resume();
        else
          for await (const { data, id } of messagesOf(answer)) {
            lastEventId = id ?? lastEventId;
            if (parsed(data) !== null) emit(data);
          }
      } catch {
        // The daemon is away; asked again below.
      }
      await pause(AGAIN_MS, signal);
    }
  }

  #headers(): Record<string, string> {
    return {
      ...this.#options.headers,
      ...(this.#session === undefined ? {} : { 'mcp-session-id': this.#session }),
      ...(this.#session === undefined || this.#revision === undefined
        ? {}
        : { 'mcp-protocol-version': this.#revision }),
    };
  }

  #modernHeaders({ method = '', params }: Message): Record<string, string> {
    const member = NAMED[method];
    const name = member === undefined ? undefined : params?.[member];
    return {
      ...this.#options.headers,
      'mcp-protocol-version': String(metaOf(params)[PROTOCOL_VERSION]),
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': headerText(name) } : {}),
    };
  }

  #fail(id: string | number | null, code: number, message: string): void {
    this.#options.emit(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }));
  }
}

const metaOf = (params: Members | undefined): Members => (params?._meta ?? {}) as Members;

/** A request that carries its own revision needs no session. */
function isModern({ params }: Message): boolean {
  const meta = metaOf(params);
  return typeof meta[PROTOCOL_VERSION] === 'string' && CLIENT_CAPABILITIES in meta;
}

function parsed(
  data: string,
): (Message & { readonly jsonrpc?: string; readonly result?: unknown; readonly detail?: unknown }) | null {
  if (data === '') return null;
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null ? (value as Message & { jsonrpc?: string }) : null;
  } catch {
    return null;
  }
}

function revisionIn({ result }: { readonly result?: unknown }): string | undefined {
  const revision = (result as Members | undefined)?.protocolVersion;
  return typeof revision === 'string' ? revision : undefined;
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
