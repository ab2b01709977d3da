/** JSON-RPC messages as they come: looked at only as far as routing needs. */

export type Id = string | number | null;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface Message {
  readonly jsonrpc: '2.0';
  readonly id?: Id;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: RpcError;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a parsed value is a JSON-RPC request, notification or response. Everything inside stays unlooked at. */
export function isMessage(value: unknown): value is Message {
  if (!isObject(value) || value.jsonrpc !== '2.0') return false;
  if (typeof value.method === 'string') return true;
  return 'id' in value && ('result' in value || isObject(value.error));
}

/** The messages in a parsed body: one, or a batch (revision 2025-03-26). Null when it is something else. */
export function messagesIn(value: unknown): readonly Message[] | null {
  const all = Array.isArray(value) ? value : [value];
  return all.length > 0 && all.every(isMessage) ? all : null;
}
