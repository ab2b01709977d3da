/** An open connection: what the rest of the daemon holds in its hands. */
import type { Failure } from '../events/shapes.ts';
import { callTool } from './calls.ts';
import type {
  Agreement,
  CallOptions,
  Connection,
  ListKind,
  RawList,
  RawResult,
  RelayAnswer,
  RequestOptions,
  ServerNotification,
  ServerReply,
  ServerRequest,
  ToolList,
  WatchedResources,
} from './connection.ts';
import { Link } from './link.ts';
import { listAll, listTools } from './list.ts';
import { isObject } from './message.ts';
import { headersForCall, type ParamHeaders, paramHeaders } from './param-headers.ts';
import type { Announcements } from './push-source.ts';
import { relay } from './relay.ts';
import { ResourceWatch } from './resource-watch.ts';
import type { Wire } from './wire.ts';

/** Calls under way when the session is refused are refused one by one; their answers are this close behind. */
const LAST_ANSWERS_MS = 100;

export class LiveConnection implements Connection {
  readonly agreement: Agreement;
  readonly lost: Promise<Failure>;

  readonly #wire: Wire;
  readonly #link: Link;
  readonly #resources: ResourceWatch;
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
    { announce, listen }: Announcements,
    forgetSession: () => void = () => {},
  ) {
    this.#wire = wire;
    this.agreement = agreement;
    this.#forgetSession = forgetSession;
    this.#link = new Link(wire, agreement, redact);
    this.lost = this.#link.lost;
    this.#resources = new ResourceWatch(this.#link, listen, (uri) =>
      wire.inbound.notification('notifications/resources/updated', { uri }, null),
    );
    wire.onToolsChanged = () => this.#toolsChanged();
    wire.onEnded = (reason) => {
      this.#endPush();
      this.#link.lose(this.#link.fail('watch', reason));
    };
    void this.lost.then(() => this.#endPush());
    announce(
      (push, reason) => this.#pushChanged(push, reason === undefined ? undefined : redact(reason)),
      () => this.#missed(),
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

  listAll(kind: ListKind, signal: AbortSignal): Promise<RawList> {
    return listAll(this.#link, kind, signal);
  }

  callTool(name: string, args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<RawResult> {
    const marks = this.#params.get(name);
    const headers = marks !== undefined && 'mirrors' in marks ? headersForCall(marks.mirrors, args) : undefined;
    return callTool(this.#link, name, args, options, headers);
  }

  request(
    method: string,
    params: Readonly<Record<string, unknown>> | undefined,
    options: RequestOptions,
  ): Promise<RelayAnswer> {
    return relay(this.#link, { method, params, words: method }, options);
  }

  notify(method: string, params?: Readonly<Record<string, unknown>>): void {
    this.#wire.notify(method, params);
  }

  watchResources(uris: readonly string[], signal: AbortSignal): Promise<WatchedResources> {
    return this.#resources.set(uris, signal);
  }

  onNotification(listener: (notification: ServerNotification) => void): () => void {
    return this.#wire.inbound.listen((notification) => {
      // Which resource is meant is not looked at: an update may name a part of one that is watched.
      if (notification.method === 'notifications/resources/updated' && this.#resources.idle) return;
      listener(notification);
    });
  }

  onServerRequest(handler: ((request: ServerRequest) => Promise<ServerReply>) | null): void {
    this.#wire.inbound.handler = handler;
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
    this.#endPush();
    if (failure?.class === 'session') {
      this.#forgetSession();
      await this.#wire.quiet(LAST_ANSWERS_MS);
    }
    await this.#wire.close();
  }

  #endPush(): void {
    this.#stopPush.abort();
    this.#resources.end();
  }

  #toolsChanged(): void {
    for (const listener of [...this.#onChanged]) listener();
  }

  /** The stream of announcements was away for a while: whatever is announced may have changed. */
  #missed(): void {
    this.#toolsChanged();
    for (const kind of ['prompts', 'resources']) {
      const declared = this.agreement.capabilities[kind];
      if (isObject(declared) && declared.listChanged === true)
        this.#wire.inbound.notification(`notifications/${kind}/list_changed`, undefined, null);
    }
  }

  #pushChanged(push: boolean, reason: string | undefined): void {
    if (this.#link.closed) return;
    this.#push = reason === undefined ? { push } : { push, reason };
    for (const listener of [...this.#onPush]) listener(push, reason);
  }
}
