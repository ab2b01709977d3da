/** Speaks JSON-RPC with an HTTP server by plain `fetch`, without any client library. */

export interface RawReply {
  readonly status: number;
  readonly session: string | null;
  readonly headers: Headers;
  readonly text: string;
  /** The messages of the body, be it JSON or an event stream. */
  readonly messages: readonly any[];
}

const accept = 'application/json, text/event-stream';

export function eventsOf(text: string): string[] {
  return [...text.matchAll(/^data: (.*)$/gm)].map((match) => match[1] ?? '');
}

async function replyOf(response: Response): Promise<RawReply> {
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  const bodies = type.startsWith('text/event-stream')
    ? eventsOf(text)
    : type.startsWith('application/json')
      ? [text]
      : [];
  return {
    status: response.status,
    session: response.headers.get('mcp-session-id'),
    headers: response.headers,
    text,
    messages: bodies.filter((body) => body !== '').map((body) => JSON.parse(body)),
  };
}

export async function rpc(
  url: string,
  message: { id?: string | number; method: string; params?: Record<string, unknown> },
  headers: Record<string, string> = {},
): Promise<RawReply> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { accept, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });
  return replyOf(response);
}

/** A legacy session: its id, and requests that carry it. */
export async function openSession(url: string) {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1.0.0' } };
  const opened = await rpc(url, { id: 0, method: 'initialize', params });
  const headers: Record<string, string> = opened.session === null ? {} : { 'mcp-session-id': opened.session };
  let lastId = 0;
  return {
    opened,
    headers,
    request(method: string, requestParams?: Record<string, unknown>): Promise<RawReply> {
      lastId += 1;
      return rpc(
        url,
        { id: lastId, method, ...(requestParams === undefined ? {} : { params: requestParams }) },
        headers,
      );
    },
  };
}

/** The headers a modern request repeats from its body. */
export function modernHeaders(method: string, name?: string): Record<string, string> {
  return {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(name === undefined ? {} : { 'mcp-name': name }),
  };
}

/** Opens an event stream and collects its data lines until `close`. */
export async function openEventStream(url: string, init: RequestInit = {}) {
  const stop = new AbortController();
  const response = await fetch(url, {
    ...init,
    headers: { accept: 'text/event-stream', ...init.headers },
    signal: stop.signal,
  });
  const events: string[] = [];
  let ended = false;
  const reading = (async () => {
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const whole = text.lastIndexOf('\n') + 1;
      events.push(...eventsOf(text.slice(0, whole)));
      text = text.slice(whole);
    }
  })()
    .catch(() => {})
    .finally(() => {
      ended = true;
    });
  return {
    status: response.status,
    events,
    ended: () => ended,
    async close() {
      stop.abort();
      await reading;
    },
  };
}
