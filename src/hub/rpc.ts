/** JSON-RPC as the hub speaks it with its clients. Pure. */
import { type Id, isObject, type Message } from '../mcp/message.ts';

export type Members = Readonly<Record<string, unknown>>;

export const codes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** What the legacy era says of a request that does not fit its session. */
  badSession: -32000,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;

export interface RpcErrorBody {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Ends a request with an error of the protocol. `message` is fit for a person and names no secret. */
export class RpcFailure extends Error {
  override readonly name = 'RpcFailure';
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
  }

  get body(): RpcErrorBody {
    return errorBody(this.code, this.message, this.data);
  }
}

export function errorBody(code: number, message: string, data?: unknown): RpcErrorBody {
  return data === undefined ? { code, message } : { code, message, data };
}

export const answerWith = (id: Id, result: unknown): Message => ({ jsonrpc: '2.0', id, result });
export const failWith = (id: Id, error: RpcErrorBody): Message => ({ jsonrpc: '2.0', id, error });

export type RequestId = string | number;

/** A request, as far as MCP allows one: an id that is text or a number. */
export function isRequest(message: Message): message is Message & { id: RequestId; method: string } {
  return typeof message.method === 'string' && (typeof message.id === 'string' || typeof message.id === 'number');
}

export const isNotification = (message: Message): message is Message & { method: string } =>
  typeof message.method === 'string' && message.id === undefined;

/** The `_meta` of params or of a result. */
export function metaOf(members: Members | undefined): Members | undefined {
  const meta = members?._meta;
  return isObject(meta) ? meta : undefined;
}

/** Throws unless the member is a text that is not empty. */
export function textIn(params: Members, key: string): string {
  const value = params[key];
  if (typeof value !== 'string' || value === '')
    throw new RpcFailure(codes.invalidParams, `Invalid params: "${key}" must be a text.`);
  return value;
}
