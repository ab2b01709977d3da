/** What a client of the bridge says, as far as the bridge has to understand it. Pure. */

export type Members = Readonly<Record<string, unknown>>;

export interface Message {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Members;
}

/** What the daemon says. */
export interface Said extends Message {
  readonly jsonrpc?: string;
  readonly result?: unknown;
  readonly error?: unknown;
  /** Of a problem that came instead of a message of the protocol. */
  readonly detail?: unknown;
}

export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';
const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

export const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null;

export const metaOf = (params: Members | undefined): Members => (isObject(params?._meta) ? params._meta : {});

/** A request that carries its own revision needs no session. */
export function isModern({ params }: Message): boolean {
  const meta = metaOf(params);
  return typeof meta[PROTOCOL_VERSION] === 'string' && CLIENT_CAPABILITIES in meta;
}

export const isRequest = ({ id, method }: Message): boolean => method !== undefined && id !== undefined && id !== null;

/** What the headers of a modern request repeat; `name` is undefined where the method has none. */
export function headersOf({ method = '', params }: Message): { version: string; method: string; name?: string } {
  const member = NAMED[method];
  const name = member === undefined ? undefined : params?.[member];
  const version = String(metaOf(params)[PROTOCOL_VERSION]);
  return typeof name === 'string' ? { version, method, name } : { version, method };
}

/** One message of the daemon; null for what is none. */
export function parsed(data: string): Said | null {
  if (data === '') return null;
  try {
    const value: unknown = JSON.parse(data);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

export const asLine = (message: object): string => JSON.stringify({ jsonrpc: '2.0', ...message });
