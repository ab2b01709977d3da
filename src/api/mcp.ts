/** The MCP endpoint of the daemon as one HTTP exchange at a time, whatever its status. */
import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { type Endpoint, endpointsOf } from './endpoint.ts';
import { DaemonUnreachable } from './errors.ts';

export interface McpAsk {
  readonly method: 'POST' | 'GET' | 'DELETE';
  /** `/mcp` or `/mcp/<server>`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Over a connection of its own: if that cannot be opened, surely nothing was sent. */
  readonly once?: boolean;
  readonly signal?: AbortSignal;
}

/** The connection broke before there was an answer: the daemon may have taken the request. */
export class AnswerLost extends Error {
  override readonly name = 'AnswerLost';
}

/**
 * Opens exchanges, over connections that are kept unless the ask wants its own. Rejects with DaemonUnreachable when nothing
 * was sent, with AnswerLost when something may have been, or with the signal's reason.
 */
export function mcpExchange(dataDir: string): (ask: McpAsk) => Promise<IncomingMessage> {
  const agent = new Agent({ keepAlive: true });
  return async (ask) => {
    let failure: unknown;
    for (const endpoint of endpointsOf(dataDir)) {
      try {
        return await open(endpoint, agent, ask);
      } catch (error) {
        ask.signal?.throwIfAborted();
        if (error instanceof AnswerLost) throw error;
        failure = error;
      }
    }
    throw new DaemonUnreachable(`The daemon for ${dataDir} does not answer; start it with "watchkeeper up".`, {
      cause: failure,
    });
  };
}

function open(endpoint: Endpoint, agent: Agent, ask: McpAsk): Promise<IncomingMessage> {
  const { method, path, body, once = false, signal } = ask;
  const headers = {
    ...ask.headers,
    accept: 'application/json, text/event-stream',
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  };
  const target: RequestOptions =
    'socketPath' in endpoint
      ? { socketPath: endpoint.socketPath, headers }
      : {
          host: endpoint.host,
          port: endpoint.port,
          headers: { ...headers, authorization: `Bearer ${endpoint.token}` },
        };
  return new Promise((resolve, reject) => {
    let connected = false;
    request({ ...target, agent: once ? false : agent, method, path, ...(signal ? { signal } : {}) }, resolve)
      .on('socket', (socket) => {
        if (!socket.connecting) connected = true;
        else
          socket.once('connect', () => {
            connected = true;
          });
      })
      .on('error', (cause) => {
        const lost = 'The connection to the daemon broke before it answered';
        reject(connected ? new AnswerLost(lost, { cause }) : cause);
      })
      .end(body);
  });
}

/** What an answer carries: one message as JSON, or a stream of them. `id`: where to go on after a break. */
export async function* messagesOf(
  answer: IncomingMessage,
): AsyncGenerator<{ readonly data: string; readonly id?: string }> {
  answer.setEncoding('utf8');
  const isStream = (answer.headers['content-type'] ?? '').startsWith('text/event-stream');
  let rest = '';
  for await (const chunk of answer as AsyncIterable<string>) {
    rest += chunk;
    if (!isStream) continue;
    const events = rest.split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) yield read(event);
  }
  if (!isStream && rest !== '') yield { data: rest };
}

/** One event as the daemon writes it: a field a line. */
function read(event: string): { readonly data: string; readonly id?: string } {
  let data = '';
  let id: string | undefined;
  for (const line of event.split('\n')) {
    if (line.startsWith('data: ')) data = line.slice('data: '.length);
    else if (line.startsWith('id: ')) id = line.slice('id: '.length);
  }
  return id === undefined ? { data } : { data, id };
}

/** A value as `Mcp-Name` may carry it: as it is, or as base64 in the wrapper the specification names. */
export const headerText = (text: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text)
    ? text
    : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
