/** An open connection: what the rest of the daemon holds in its hands. */
import type { Failure } from '../events/shapes.ts';
import { callTool } from './calls.ts';
import type { Agreement, CallOptions, Connection, RawResult, ToolList } from './connection.ts';
import { Link } from './link.ts';
import { listTools } from './list.ts';
import { headersForCall, type ParamHeaders, paramHeaders } from './param-headers.ts';
import type { Announce } from './push-source.ts';
import type { Wire } from './wire.ts';

/** Calls under way when the session is refused are refused one by one; their answers are this close behind. */
const LAST_ANSWERS_MS = 100;

export class LiveConnection implements Connection {
  readonly agreement: Agreement;
  readonly lost: Promise<Failure>;

  readonly #wire: Wire;
  readonly #link: Link;
  readonly #forgetSession: () => void;
  readonly #onChanged = new Set<() => void>();
  readonly #onPush = new Set<(push: boolean, reason?: string) => void>();
  readonly #stopPush = new AbortController();
  #push: { push: boolean; reason?: string } | null = null;
  #params = new Map<string, ParamHeaders>();
  #closing: Promise<void> | null = null;

  constructor(
    wire: Wire,
    agreement: Agreement,
    redact: (text: string) => string,
    announce: Announce,
    forgetSession: () => void = () => {},
  ) {
    this.#wire = wire;
    this.agreement = agreement;
    this.#forgetSession = forgetSession;
    this.#link = new Link(wire, agreement, redact);
    this.lost = this.#link.lost;
    const changed = () => {
      for (const listener of [...this.#onChanged]) listener();
    };
    wire.onToolsChanged = changed;
    wire.onEnded = (reason) => {
      this.#stopPush.abort();
      this.#link.lose(this.#link.fail('watch', reason));
    };
    void this.lost.then(() => this.#stopPush.abort());
    announce(
      (push, reason) => this.#pushChanged(push, reason === undefined ? undefined : redact(reason)),
      changed,
      this.#stopPush.signal,
    );
  }

  async listTools(signal: AbortSignal): Promise<ToolList> {
    const list = await listTools(this.#link, signal);
    if (this.agreement.era === 'modern' && this.agreement.transport === 'streamable-http') {
      this.#params = new Map(list.tools.map((tool) => [tool.name, paramHeaders(tool.inputSchema)]));
    }
    return list;
  }

  callTool(name: string, args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<RawResult> {
    const marks = this.#params.get(name);
    const headers = marks !== undefined && 'mirrors' in marks ? headersForCall(marks.mirrors, args) : {};
    return callTool(this.#link, name, args, options, headers);
  }

  onToolsChanged(listener: () => void): () => void {
    this.#onChanged.add(listener);
    return () => this.#onChanged.delete(listener);
  }

  /** What is known already is told at once, after the caller's own turn. */
  onPush(listener: (push: boolean, reason?: string) => void): () => void {
    this.#onPush.add(listener);
    const known = this.#push;
    if (known !== null) {
      queueMicrotask(() => {
        if (this.#onPush.has(listener) && this.#push === known) listener(known.push, known.reason);
      });
    }
    return () => this.#onPush.delete(listener);
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const failure = this.#link.failure;
    this.#link.closed = true;
    this.#stopPush.abort();
    if (failure?.class === 'session') {
      this.#forgetSession();
      await this.#wire.quiet(LAST_ANSWERS_MS);
    }
    await this.#wire.close();
  }

  #pushChanged(push: boolean, reason: string | undefined): void {
    if (this.#link.closed) return;
    this.#push = reason === undefined ? { push } : { push, reason };
    for (const listener of [...this.#onPush]) listener(push, reason);
  }
}
