/**
 * Where one channel can be listened to: everything that goes over it, as it happens. Without an ear it costs one look at
 * an undefined member; an ear must neither throw nor wait.
 */
import type { Agreement } from './connection.ts';
import type { Message } from './message.ts';

/** `x` numbers the HTTP exchanges of a channel. Texts and session ids are as received: whoever keeps them masks them. */
export type Traffic =
  | { readonly is: 'process'; readonly pid: number }
  /** To the server, from the server. */
  | { readonly is: 'out'; readonly message: Message; readonly x?: number }
  | { readonly is: 'in'; readonly message: Message; readonly x?: number }
  /** A line on stdout that is no protocol. `partial`: the process ended in the middle of it. */
  | { readonly is: 'stdout'; readonly text: string; readonly partial?: boolean }
  | { readonly is: 'stderr'; readonly chunk: Buffer }
  | { readonly is: 'pipe'; readonly pipe: 'stdin' | 'stdout' }
  /** Told once its pipes are read to the end; `agoMs`: how long ago the process ended. */
  | { readonly is: 'exit'; readonly exitCode: number | null; readonly signal: string | null; readonly agoMs: number }
  /** The stream on which a server speaks unasked is being opened. */
  | { readonly is: 'push'; readonly x: number }
  | HttpStatus
  /** There was no HTTP answer. `code`: of the network layer; `ABORT_ERR`: we gave up. */
  | { readonly is: 'broken'; readonly x: number; readonly code: string }
  /** A stream ended without what was due on it; `code`: null for a clean end. */
  | { readonly is: 'ended'; readonly x: number; readonly code: string | null }
  /** A body, or an event, that is no JSON-RPC. */
  | { readonly is: 'body'; readonly x: number; readonly text: string }
  | { readonly is: 'agreed'; readonly agreement: Agreement }
  /** We close the channel; whatever follows is our doing. */
  | { readonly is: 'closed' };

export interface HttpStatus {
  readonly is: 'status';
  readonly x: number;
  readonly status: number;
  /** Media type of a good answer. */
  readonly type?: string;
  readonly session?: string;
  /** Beginning of a body that is not a good answer. */
  readonly text?: string;
  readonly challenge?: string;
  readonly retryAfterMs?: number;
  readonly location?: string;
}

export class Tap {
  /** Hears everything from the moment it is set. */
  ear: ((traffic: Traffic) => void) | undefined;
  agreement: Agreement | null = null;
  /** Told once, when the channel is closed. */
  onClosed: () => void = () => {};
  #exchanges = 0;

  /** Number of the next HTTP exchange, from 1. */
  exchange(): number {
    this.#exchanges += 1;
    return this.#exchanges;
  }

  agreed(agreement: Agreement): void {
    this.agreement = agreement;
    this.ear?.({ is: 'agreed', agreement });
  }

  close(): void {
    this.ear?.({ is: 'closed' });
    this.ear = undefined;
    this.onClosed();
  }
}
