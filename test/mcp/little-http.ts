/** A server whose every answer a test writes itself, for what the fake does not do. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd } from '../support/cleanup.ts';

export interface Seen {
  readonly http: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly message: any;
}

/** `answer` gets each request with its parsed body. Resolves with the URL of `/mcp`. */
export async function littleHttp(
  answer: (seen: Seen, response: ServerResponse) => void,
): Promise<{ url: string; origin: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const entry = {
      http: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      message: body === '' ? undefined : JSON.parse(body),
    };
    seen.push(entry);
    answer(entry, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `${origin}/mcp`, origin, seen };
}

export function json(
  response: ServerResponse,
  body: unknown,
  headers: Record<string, string> = {},
  status = 200,
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** Answers the legacy handshake and gives everything else to `rest`. Without one, it is answered "method not found". */
export function legacy(
  rest: (seen: Seen, response: ServerResponse) => boolean,
  session?: string,
): (seen: Seen, response: ServerResponse) => void {
  return (seen, response) => {
    const { http, message } = seen;
    if (rest(seen, response)) return;
    if (http !== 'POST') response.writeHead(405).end();
    else if (message.method === 'initialize') {
      const result = {
        protocolVersion: message.params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'little', version: '1' },
      };
      json(
        response,
        { jsonrpc: '2.0', id: message.id, result },
        session === undefined ? {} : { 'mcp-session-id': session },
      );
    } else if (message.id === undefined) response.writeHead(202).end();
    else json(response, { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'Method not found' } });
  };
}
