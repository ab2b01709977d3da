/**
 * The bridge's session with the daemon, for clients of the revisions that have sessions. When another daemon does not know
 * it, a new one is opened in its place, with what the client had asked for: the client never hears of it.
 */
import type { IncomingMessage } from 'node:http';
import { type McpAsk, messagesOf } from '../api/mcp.ts';
import { asLine, isObject, type Message, parsed } from './bridge.messages.ts';

export interface SessionOptions {
  readonly path: string;
  /** Sent with everything. */
  readonly headers: Readonly<Record<string, string>>;
  readonly exchange: (ask: McpAsk) => Promise<IncomingMessage>;
  readonly emit: (line: string) => void;
  /** Ends when the client is gone. */
  readonly signal: AbortSignal;
}

const LISTS = ['tools', 'prompts', 'resources'];

export class BridgeSession {
  readonly #options: SessionOptions;
  /** What the client began with, to begin again with another daemon. */
  #greeting: Message | null = null;
  #id: string | undefined;
  #revision: string | undefined;
  #renewing: Promise<void> | null = null;
  /** A session was opened in place of another, and the client does not know what happened meanwhile. */
  #missed = false;
  readonly #watched = new Set<string>();
  /** Of these, what the daemon could not find yet: its servers may still be starting. */
  readonly #unfound = new Set<string>();
  #logLevel: unknown;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** The id the daemon gave it; undefined as long as there is none. */
  get id(): string | undefined {
    return this.#id;
  }

  get headers(): Record<string, string> {
    const { headers } = this.#options;
    if (this.#id === undefined) return { ...headers };
    const own = { ...headers, 'mcp-session-id': this.#id };
    return this.#revision === undefined ? own : { ...own, 'mcp-protocol-version': this.#revision };
  }

  /** The client says hello. */
  begin(greeting: Message): void {
    this.#greeting = greeting;
    this.#id = undefined;
    this.#revision = undefined;
    this.#watched.clear();
    this.#unfound.clear();
    this.#logLevel = undefined;
  }

  /** The daemon's answer to that: `result` is the one of `initialize`. */
  began(id: unknown, result: unknown): void {
    this.#id = typeof id === 'string' ? id : undefined;
    this.#revision = revisionIn(result);
  }

  /** Keeps in mind what a client asks of its session for longer than one request. */
  note({ method, params }: Message): void {
    if (method === 'logging/setLevel') this.#logLevel = params?.level;
    else if (typeof params?.uri !== 'string') return;
    else if (method === 'resources/subscribe') this.#watched.add(params.uri);
    else if (method === 'resources/unsubscribe') {
      this.#watched.delete(params.uri);
      this.#unfound.delete(params.uri);
    }
  }

  /**
   * Opens a session in place of one that is not known any more, however many notice it. Rejects when there is no daemon
   * that takes it; then the one before stays, and is found out again.
   */
  renew(unknown: string): Promise<void> {
    if (this.#id !== unknown) return Promise.resolve();
    this.#renewing ??= this.#open().finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  async #open(): Promise<void> {
    const greeting = this.#greeting;
    if (greeting === null) throw new Error('The client never began a session.');
    const { headers } = this.#options;
    const answer = await this.#post(greeting, headers);
    const id = answer.headers['mcp-session-id'];
    let revision: string | undefined;
    for await (const { data } of messagesOf(answer)) revision ??= revisionIn(parsed(data)?.result);
    if (typeof id !== 'string') throw new Error(`The daemon opened no session (HTTP ${answer.statusCode}).`);
    const own = { ...headers, 'mcp-session-id': id, ...(revision ? { 'mcp-protocol-version': revision } : {}) };
    for (const message of this.#greetings()) (await this.#post(message, own)).resume();
    for (const uri of this.#watched) await this.#watch(uri, own);
    this.#id = id;
    this.#revision = revision;
    this.#missed = true;
  }

  /** The daemon's stream is open: the client learns what may have changed before, since nobody listened. */
  catchUp(): void {
    if (!this.#missed) return;
    this.#missed = false;
    const { emit } = this.#options;
    for (const list of LISTS) emit(asLine({ method: `notifications/${list}/list_changed` }));
    for (const uri of this.#watched) emit(asLine({ method: 'notifications/resources/updated', params: { uri } }));
  }

  #greetings(): readonly Message[] {
    const initialized: Message = { method: 'notifications/initialized' };
    const level = this.#logLevel;
    return level === undefined
      ? [initialized]
      : [initialized, { id: 'level', method: 'logging/setLevel', params: { level } }];
  }

  async #watch(uri: string, headers: Readonly<Record<string, string>>): Promise<void> {
    const answer = await this.#post({ id: `watch ${uri}`, method: 'resources/subscribe', params: { uri } }, headers);
    this.#unfound.add(uri);
    for await (const { data } of messagesOf(answer)) if (parsed(data)?.result !== undefined) this.#unfound.delete(uri);
  }

  /** The daemon says something of its own accord; lists that changed may hold what was not found before. Never rejects. */
  async heard({ method }: Message): Promise<void> {
    if (method !== 'notifications/resources/list_changed') return;
    for (const uri of [...this.#unfound]) await this.#watch(uri, this.headers).catch(() => {});
  }

  #post(message: Message, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> {
    const { path, exchange, signal } = this.#options;
    return exchange({ method: 'POST', path, headers, body: asLine(message), signal });
  }
}

export function revisionIn(result: unknown): string | undefined {
  const revision = isObject(result) ? result.protocolVersion : undefined;
  return typeof revision === 'string' ? revision : undefined;
}
