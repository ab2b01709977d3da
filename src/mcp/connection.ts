/** One upstream connection behind one small interface, whatever the transport and the protocol era. */
import type { ResolvedEntry } from '../config/entry.ts';
import type { Era, Failure, ServerInfo, ToolDefinition, Transport, WireTransport } from '../events/shapes.ts';
import type { CancelSignal } from './cancel.ts';
import type { Tap } from './tap.ts';

/** What the server and the daemon agreed on. */
export interface Agreement {
  readonly transport: Transport;
  readonly era: Era;
  readonly eraFrom: 'probed' | 'remembered' | 'declared';
  readonly protocolVersion: string;
  readonly serverInfo: ServerInfo | null;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly instructions: string | null;
  readonly session: boolean;
}

/** What was learnt of a server earlier, so that the probe can be skipped. */
export interface Verdict {
  readonly era: Era;
  readonly transport: Transport;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** How long a list may be kept (revision 2026-07-28): the weakest of all its pages. */
export interface CacheHint {
  readonly ttlMs: number;
  readonly cacheScope: 'public' | 'private';
}

export interface ToolList {
  /** As received, unknown members included, pages joined, in the server's order. */
  readonly tools: readonly ToolDefinition[];
  readonly warnings: readonly string[];
  /** Absent when the server gives none. */
  readonly cache?: CacheHint;
}

/** What can be listed beside tools, and the member that tells two entries apart: `name`, `uri`, `uriTemplate`. */
export type ListKind = 'prompts' | 'resources' | 'resourceTemplates';

export interface RawList {
  /** As received; those without a text in the telling member are left out, of two equal ones the first is kept. */
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly warnings: readonly string[];
  readonly cache?: CacheHint;
}

export interface ProgressReport {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
  readonly _meta?: unknown;
}

export interface RequestOptions {
  /** Ends when the caller or the daemon no longer wants the answer; the server is told, under the id it knows. */
  readonly signal: CancelSignal;
  /** Time without answer or progress, in milliseconds. It stands still while a request of the server waits for our answer. */
  readonly idleMs: number;
  /** Time in all, in milliseconds. */
  readonly maxMs: number;
  readonly onProgress?: ((progress: ProgressReport) => void) | undefined;
  /**
   * The caller's own `_meta`. All of it goes on but what belongs to a single hop: `progressToken`, protocol version, client
   * info, client capabilities, subscription id, and on a legacy connection the log level.
   */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** What the caller can do, declared with this request in place of what was declared at the start. Modern era only. */
  readonly capabilities?: Readonly<Record<string, unknown>> | undefined;
  /** Told before the request leaves: the id the server of this connection will know it by. Never when nothing is sent. */
  readonly onSent?: ((id: number) => void) | undefined;
}

export interface CallOptions extends RequestOptions {
  /** Whose call it is, as the ledger names the client. Nothing of it goes over a wire. */
  readonly client?: string | undefined;
  /** Further members of `params`, sent as they are: `inputResponses` and `requestState` (modern), `task` (legacy). */
  readonly more?: Readonly<Record<string, unknown>> | undefined;
}

/** An answer of the server, whichever kind. The error's message is free of secrets; `data` is as received. */
export type RelayAnswer =
  | { readonly kind: 'result'; readonly result: RawResult }
  | { readonly kind: 'error'; readonly error: RelayError };

export interface RelayError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** A notification as received. */
export interface ServerNotification {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>> | undefined;
  /** Id (see `onSent`) of the request on whose own stream it came; null on a pipe, the push stream, the older transport. */
  readonly related: number | null;
}

/** A request of a legacy server to its client, such as `sampling/createMessage`, `elicitation/create`, `roots/list`. */
export interface ServerRequest {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>> | undefined;
  /** As in a notification. Null says nothing: the request may belong to any call that is under way, or to none. */
  readonly related: number | null;
  /**
   * Ends when the server cancels the request or the connection is over, and the reply then goes nowhere; or when the related
   * request of ours is over.
   */
  readonly signal: AbortSignal;
}

export type ServerReply = { readonly result: unknown } | { readonly error: RelayError };

/** What became of the wish to hear of changes of resources. */
export interface WatchedResources {
  readonly watched: readonly string[];
  /** In the legacy era with the server's own error; null where it left the URI out without a word. */
  readonly refused: readonly { readonly uri: string; readonly error: RelayError | null }[];
}

/** A `tools/call` result as received. */
export type RawResult = Readonly<Record<string, unknown>> & { readonly content?: unknown };

/**
 * Why a call has no result.
 * - `not-sent`: it surely never left.
 * - `session-refused`: the server provably did not take it (a 404, or a 400 that refuses the session).
 * - `rejected`: the server answered with a JSON-RPC error; the call was answered, not run as a tool result.
 * - `lost`: it was sent and the connection ended before the answer.
 * - `timeout`: no answer within `limit`.
 * - `cancelled`: the signal ended it; `sent` says whether it had left.
 */
export class CallError extends Error {
  override readonly name = 'CallError';
  constructor(
    readonly kind: 'not-sent' | 'session-refused' | 'rejected' | 'lost' | 'timeout' | 'cancelled',
    message: string,
    readonly detail: {
      readonly sent: boolean;
      readonly failure?: Failure;
      readonly limit?: 'callTimeoutMs' | 'callMaxMs';
      readonly code?: number;
      readonly data?: unknown;
    },
  ) {
    super(message);
  }
}

/** Anything that failed while connecting or listing, already classified. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  constructor(readonly failure: Failure) {
    super(failure.message);
  }
}

export interface Connection {
  readonly agreement: Agreement;
  /** All pages of the list. Rejects with a ConnectionError; a failed page fails the whole list. */
  listTools(signal: AbortSignal): Promise<ToolList>;
  /** Rejects with a CallError and nothing else. */
  callTool(name: string, args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<RawResult>;
  /**
   * All pages of a list. Empty when the server does not declare it or does not know the method. Rejects with a
   * ConnectionError, as `listTools` does.
   */
  listAll(kind: ListKind, signal: AbortSignal): Promise<RawList>;
  /**
   * Any request, relayed as it is: `params` without `_meta`. Resolves with the server's answer, an error too. Rejects with a
   * CallError and nothing else, when there is no JSON-RPC answer; never with one that has a `code`.
   */
  request(
    method: string,
    params: Readonly<Record<string, unknown>> | undefined,
    options: RequestOptions,
  ): Promise<RelayAnswer>;
  /** Tells the server something (`notifications/roots/list_changed`). Whether it arrives is not known. */
  notify(method: string, params?: Readonly<Record<string, unknown>>): void;
  /**
   * The whole set of resources whose changes are wanted from now on, in place of the set before; updates come as
   * notifications. Both eras: `resources/subscribe` and `unsubscribe`, or a listen stream that is opened again when it
   * breaks. Never rejects: what could not be had is in `refused`.
   */
  watchResources(uris: readonly string[], signal: AbortSignal): Promise<WatchedResources>;
  /**
   * Everything a server says unasked but progress, cancellations and `tools/list_changed`: log messages, changes of
   * prompts and resources, whatever comes next. The subscription id of our own stream is taken out.
   */
  onNotification(listener: (notification: ServerNotification) => void): () => void;
  /**
   * Who answers a legacy server's requests; one at a time, the last one given. Without one the
   * server gets -32601, when it throws -32603. Ping is answered here.
   */
  onServerRequest(handler: ((request: ServerRequest) => Promise<ServerReply>) | null): void;
  /** Called once per announcement; bursts are merged by the caller. */
  onToolsChanged(listener: () => void): () => void;
  /** Whether the server can announce changes now; called on each change. */
  onPush(listener: (push: boolean, reason?: string) => void): () => void;
  /** Resolves with the failure when the connection ends without `close`; never rejects, stays pending after `close`. */
  readonly lost: Promise<Failure>;
  /** Idempotent. Resolves when nothing of the connection is left: no process of its group, no socket. */
  close(): Promise<void>;
}

/** Who signs the requests to one server: asked anew for each, since tokens end and are renewed. */
export interface Credentials {
  /** Value of the Authorization header; null: there is none. Rejects with a `Fault` when one is due and cannot be had. */
  authorization(): Promise<string | null>;
  /**
   * The server answered 401 or 403 to a request that carried `used`. Resolves with whether it is worth sending once more;
   * rejects with a `Fault` when that cannot be found out at the moment.
   */
  refused(refusal: {
    readonly status: number;
    readonly challenge: string | null;
    readonly used: string | null;
  }): Promise<boolean>;
  /** What must not be shown; the very same list until it changes. */
  secrets(): readonly string[];
  /** The command that helps when a login is wanted. */
  readonly advice: string;
}

/** Name of the variable that marks a child; its value is `<data directory>:<run>`. */
export const RUN_VARIABLE = 'WATCHKEEPER_RUN';

export interface OpenOptions<Entry = ResolvedEntry> {
  readonly entry: Entry;
  readonly verdict: Verdict | null;
  /** Ends the attempt (time limit or stop); everything that was started is closed before the rejection. */
  readonly signal: AbortSignal;
  /** Marks every child, so that orphans of an earlier run can be found: `WATCHKEEPER_RUN=<value>`. */
  readonly runId: string;
  /** The process runs; nothing is written to it until this resolves. */
  readonly onProcess: (process: { pid: number; startedAt: number }) => Promise<void>;
  /** Gives the means to read the last lines of stderr, redacted, while the attempt runs; not called without a process. */
  readonly onStderr?: (tail: () => string) => void;
  /** Version of the daemon, for `clientInfo`. */
  readonly version: string;
  /** Of a server people log in to; HTTP only. */
  readonly credentials?: Credentials | undefined;
  /**
   * Client capabilities to declare: at initialize in the legacy era, with each request in the modern one unless it brings
   * its own. None by default: declare only what `onServerRequest` can answer. Roots above all only when meant: servers
   * drop the folders of their own arguments once a client declares them.
   */
  readonly capabilities?: Readonly<Record<string, unknown>>;
  /** A warning worth one line of the daemon's log; rate-limited by the connection. */
  readonly onWarning: (message: string) => void;
  /** Gives the tap of a channel that is about to be opened, for whoever wants to hear what goes over it. */
  readonly tap?: (entry: ResolvedEntry, transport: WireTransport) => Tap;
}

/** Opens a connection up to the end of the handshake. Rejects with a ConnectionError whose phase says how far it came. */
export type OpenConnection<Entry = ResolvedEntry> = (options: OpenOptions<Entry>) => Promise<Connection>;
