/** The client's side of one request, whatever its era: what it can do, and ways to speak to it meanwhile. */
import type { CancelSignal } from '../mcp/cancel.ts';
import type { RelayError } from '../mcp/connection.ts';
import type { LogLevel } from './log.levels.ts';
import type { Members } from './rpc.ts';

export type ClientReply = { readonly result: unknown } | { readonly error: RelayError };

export interface Peer {
  readonly era: 'legacy' | 'modern';
  /** Tells two clients apart; requests of one session share it, a modern request has its own. */
  readonly party: object;
  readonly capabilities: Members;
  /** The least log level wanted with this request; null: none was asked for. */
  readonly logLevel: LogLevel | null;
  /** Under which progress of this request is reported; undefined: the client wants none. */
  readonly progressToken: string | number | undefined;
  /** Ends when the client cancels the request or, in the modern era, closes its stream. */
  readonly signal: CancelSignal;
  /** Goes out before the answer. `lossy`: may be left out for a slow reader. */
  notify(method: string, params: Members, lossy?: boolean): void;
  /** Asks the client in the middle of a request; null in the modern era, where the answer itself asks. */
  readonly ask: ((method: string, params: Members | undefined, signal: CancelSignal) => Promise<ClientReply>) | null;
}

/**
 * Whether a client can be asked for this at all. An elicitation without a mode is a form, and a client that declares no
 * kind of it can do forms (2025-11-25).
 */
export function canBeAsked({ capabilities }: Pick<Peer, 'capabilities'>, method: string, params?: Members): boolean {
  const declared = (name: string): unknown => capabilities[name];
  switch (method) {
    case 'sampling/createMessage':
      return isSet(declared('sampling'));
    case 'roots/list':
      return isSet(declared('roots'));
    case 'elicitation/create': {
      const elicitation = declared('elicitation');
      if (!isSet(elicitation)) return false;
      if (params?.mode === 'url') return isSet(elicitation.url);
      return isSet(elicitation.form) || !isSet(elicitation.url);
    }
    default:
      return false;
  }
}

const isSet = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
