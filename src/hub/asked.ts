/** One request of a client, with everything its answer may depend on. */
import type { PermissionMode } from '../events/call.events.ts';
import type { Peer } from './peer.ts';
import type { Members, RequestId } from './rpc.ts';
import type { Session } from './session.ts';

export interface Asked {
  readonly id: RequestId;
  readonly method: string;
  readonly params: Members;
  /** Server of `/mcp/<server>`; undefined on `/mcp`. */
  readonly server: string | undefined;
  readonly peer: Peer;
  /** null in the modern era. */
  readonly session: Session | null;
  /** Whose token it is. */
  readonly client: string;
  /** Whether this client may see a server. */
  readonly sees: (server: string) => boolean;
  readonly mode: PermissionMode;
  /** A header of the request, by its name in lower case; null where headers do not count (local socket). */
  readonly header: ((name: string) => string | undefined) | null;
}

export type Method = (asked: Asked) => Members | Promise<Members>;
