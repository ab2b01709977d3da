/** One upstream connection behind one small interface, whatever the transport and the protocol era. */
import type { ResolvedEntry } from '../config/entry.ts';
import type { Era, Failure, ServerInfo, ToolDefinition, Transport } from '../events/shapes.ts';

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

export interface ToolList {
  /** As received, unknown members included, pages joined, in the server's order. */
  readonly tools: readonly ToolDefinition[];
  readonly warnings: readonly string[];
}

export interface CallOptions {
  /** Ends when the caller or the daemon no longer wants the answer; the server is told. */
  readonly signal: AbortSignal;
  /** Time without answer or progress, in milliseconds. */
  readonly idleMs: number;
  /** Time in all, in milliseconds. */
  readonly maxMs: number;
  readonly onProgress?: (progress: { progress: number; total?: number; message?: string }) => void;
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
  /** Called once per announcement; bursts are merged by the caller. */
  onToolsChanged(listener: () => void): () => void;
  /** Whether the server can announce changes now; called on each change. */
  onPush(listener: (push: boolean, reason?: string) => void): () => void;
  /** Resolves with the failure when the connection ends without `close`; never rejects, stays pending after `close`. */
  readonly lost: Promise<Failure>;
  /** Idempotent. Resolves when nothing of the connection is left: no process of its group, no socket. */
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly entry: ResolvedEntry;
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
  /** A warning worth one line of the daemon's log; rate-limited by the connection. */
  readonly onWarning: (message: string) => void;
}

/** Opens a connection up to the end of the handshake. Rejects with a ConnectionError whose phase says how far it came. */
export type OpenConnection = (options: OpenOptions) => Promise<Connection>;
