/** Plain MCP clients for the tests of the endpoint: what goes over the wire, and nothing more. */
import type { Daemon } from '../support/daemon.ts';

export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly headers: Headers;
  /** Every message of the answer, in order. */
  readonly messages: any[];
  /** The response. */
  readonly body: any;
}

const MODERN = '2026-07-28';
const NAMED: Record<string, string> = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' };

export function eventsIn(text: string): { id?: string; data: string }[] {
  return text
    .split('\n\n')
    .filter((block) => /^(?:data|id):/m.test(block))
    .map((block) => {
      const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1];
      const id = field('id');
      return { data: field('data') ?? '', ...(id === undefined ? {} : { id }) };
    });
}

async function read(response: Response): Promise<Reply> {
  const type = response.headers.get('content-type') ?? '';
  const text = await response.text();
  const parsed = type.startsWith('text/event-stream')
    ? eventsIn(text).flatMap(({ data }) => (data === '' ? [] : [JSON.parse(data)]))
    : type.includes('json')
      ? [JSON.parse(text)].flat()
      : [];
  const body = parsed.findLast((message) => message.method === undefined);
  return { status: response.status, type, headers: response.headers, messages: parsed, body };
}

/** Reads a stream message by message, for as long as it is open. */
export async function* streamed(response: Response): AsyncGenerator<any> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const { data } of eventsIn(`${blocks.join('\n\n')}\n\n`)) if (data !== '') yield JSON.parse(data);
  }
}

export interface SendOptions {
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

function post(daemon: Daemon, path: string, message: unknown, { headers = {}, signal }: SendOptions = {}) {
  return fetch(`${daemon.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${daemon.token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(message),
    ...(signal ? { signal } : {}),
  });
}

/** A client of revision 2026-07-28. */
export function modernClient(daemon: Daemon, path = '/mcp', capabilities: object = {}) {
  let last = 0;
  const open = (method: string, params: any = {}, options: SendOptions = {}) => {
    last += 1;
    const name = NAMED[method] === undefined ? undefined : params[NAMED[method]];
    const message = {
      jsonrpc: '2.0',
      id: last,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': MODERN,
          'io.modelcontextprotocol/clientCapabilities': capabilities,
          ...params._meta,
        },
      },
    };
    const headers = {
      'mcp-protocol-version': MODERN,
      'mcp-method': method,
      ...(name === undefined ? {} : { 'mcp-name': name }),
      ...options.headers,
    };
    return post(daemon, path, message, { ...options, headers });
  };
  return {
    open,
    ask: async (method: string, params?: any, options?: SendOptions) => read(await open(method, params, options)),
  };
}

export interface LegacyClient {
  readonly session: string;
  readonly greeting: any;
  open(message: any, options?: SendOptions): Promise<Response>;
  ask(method: string, params?: any, options?: SendOptions & { id?: number | string }): Promise<Reply>;
  notify(method: string, params?: any): Promise<Reply>;
  answer(id: unknown, result: unknown): Promise<Reply>;
  listen(lastEventId?: string): Promise<Response>;
  leave(): Promise<number>;
}

/** A client of revision 2025-11-25, its session opened. */
export async function legacyClient(
  daemon: Daemon,
  path = '/mcp',
  { capabilities = {}, revision = '2025-11-25' }: { capabilities?: object; revision?: string } = {},
): Promise<LegacyClient> {
  const params = { protocolVersion: revision, capabilities, clientInfo: { name: 'test', version: '1' } };
  const first = await read(await post(daemon, path, { jsonrpc: '2.0', id: 0, method: 'initialize', params }));
  const session = first.headers.get('mcp-session-id') ?? '';
  const own = { 'mcp-session-id': session, 'mcp-protocol-version': first.body?.result?.protocolVersion ?? revision };
  let last = 0;
  const open = (message: any, { headers, ...rest }: SendOptions = {}) =>
    post(daemon, path, { jsonrpc: '2.0', ...message }, { ...rest, headers: { ...own, ...headers } });
  const client: LegacyClient = {
    session,
    greeting: first.body?.result,
    open,
    async ask(method, more = {}, { id, ...options } = {}) {
      last += 1;
      return read(await open({ id: id ?? last, method, params: more }, options));
    },
    notify: async (method, more = {}) => read(await open({ method, params: more })),
    answer: async (id, result) => read(await open({ id, result })),
    listen: (lastEventId) =>
      fetch(`${daemon.url}${path}`, {
        headers: {
          authorization: `Bearer ${daemon.token}`,
          accept: 'text/event-stream',
          ...own,
          ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
        },
      }),
    leave: async () => {
      const headers = { authorization: `Bearer ${daemon.token}`, ...own };
      return (await fetch(`${daemon.url}${path}`, { method: 'DELETE', headers })).status;
    },
  };
  await client.notify('notifications/initialized');
  return client;
}

/** The next message for which the test holds, within `ms`. */
export async function nextOf(stream: AsyncGenerator<any>, holds: (message: any) => boolean, ms = 5_000): Promise<any> {
  const timer = setTimeout(() => void stream.return(undefined), ms);
  try {
    for (;;) {
      const { done, value } = await stream.next();
      if (done) throw new Error('The stream ended before the message came.');
      if (holds(value)) return value;
    }
  } finally {
    clearTimeout(timer);
  }
}
