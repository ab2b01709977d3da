/** MCP clients that cost little, so that what they measure is the other side: plain requests, nothing validated. */
import { Agent, request as httpRequest } from 'node:http';

export interface McpClient {
  call(tool: string, args: object): Promise<{ content: { text: string }[] }>;
  list(): Promise<{ name: string }[]>;
  /** Opens the stream for what is said unasked; resolves when it is open. `onEvent` hears the data of each event. */
  listen(onEvent?: (data: string) => void): Promise<void>;
  close(): void;
}

interface Reply {
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

const VERSION = '2025-06-18';
const initialize = { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: 'bench', version: '1' } };

function resultOf({ result, error }: Reply): never {
  if (error) throw new Error(error.message);
  return result as never;
}

/** Data of the last event that has any. */
const lastEvent = (text: string): string =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data:') && line.length > 8)
    .at(-1)
    ?.slice(5) ?? 'null';

/** Over Streamable HTTP, with a session of its own. */
export async function httpClient(url: string, headers: Record<string, string> = {}): Promise<McpClient> {
  const { hostname, port, pathname } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  let session: Record<string, string> = {};
  let id = 0;
  const post = (message: object): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
      const request = httpRequest(
        {
          agent,
          host: hostname,
          port,
          path: pathname,
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            'content-length': body.length,
            ...headers,
            ...session,
          },
        },
        (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (part: string) => {
            text += part;
          });
          response.on('end', () => {
            const given = response.headers['mcp-session-id'];
            if (typeof given === 'string') session = { 'mcp-session-id': given, 'mcp-protocol-version': VERSION };
            const status = response.statusCode ?? 0;
            if (status >= 400) return reject(new Error(`HTTP ${status}: ${text.slice(0, 200)}`));
            if (text === '') return resolve({});
            const json = response.headers['content-type']?.startsWith('application/json') ? text : lastEvent(text);
            resolve(JSON.parse(json) as Reply);
          });
        },
      );
      request.on('error', reject);
      request.end(body);
    });
  const ask = async (method: string, params: object): Promise<never> => {
    id += 1;
    return resultOf(await post({ id, method, params }));
  };
  await ask('initialize', initialize);
  await post({ method: 'notifications/initialized' });
  return {
    call: (name, args) => ask('tools/call', { name, arguments: args }),
    list: async () => ((await ask('tools/list', {})) as { tools: { name: string }[] }).tools,
    listen: (onEvent) =>
      new Promise((resolve, reject) => {
        const get = { agent, host: hostname, port, path: pathname };
        const asked = { accept: 'text/event-stream', ...headers, ...session };
        httpRequest({ ...get, headers: asked }, (response) => {
          response.setEncoding('utf8');
          response.on('data', (text: string) => onEvent?.(lastEvent(text)));
          // The client that leaves breaks it.
          response.on('error', () => {});
          resolve();
        })
          .on('error', reject)
          .end();
      }),
    close: () => agent.destroy(),
  };
}

/** Over the older HTTP+SSE transport: answers come on one stream. */
export async function sseClient(url: string): Promise<McpClient> {
  const { hostname, port, pathname } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const waiting = new Map<number, (reply: Reply) => void>();
  let id = 0;
  let endpoint = '';
  const opened = deferred();
  const stream = httpRequest(
    { host: hostname, port, path: pathname, headers: { accept: 'text/event-stream' } },
    (response) => {
      let rest = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        rest += part.replaceAll('\r', '');
        for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
          const event = rest.slice(0, end);
          rest = rest.slice(end + 2);
          const data = lastEvent(`${event}\n`);
          if (/^event: ?endpoint/m.test(event)) {
            endpoint = data.trim();
            opened.resolve();
          } else if (data !== 'null') {
            const reply = JSON.parse(data) as Reply & { id?: number };
            waiting.get(reply.id ?? -1)?.(reply);
            waiting.delete(reply.id ?? -1);
          }
        }
      });
    },
  );
  stream.on('error', opened.reject);
  stream.end();
  await opened.promise;
  const send = (message: object): void => {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    const request = httpRequest(
      {
        agent,
        host: hostname,
        port,
        path: endpoint,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': body.length },
      },
      (response) => response.resume(),
    );
    request.on('error', () => {});
    request.end(body);
  };
  const ask = async (method: string, params: object): Promise<never> => {
    id += 1;
    const own = id;
    const reply = new Promise<Reply>((resolve) => waiting.set(own, resolve));
    send({ id: own, method, params });
    return resultOf(await reply);
  };
  await ask('initialize', initialize);
  send({ method: 'notifications/initialized' });
  return {
    call: (name, args) => ask('tools/call', { name, arguments: args }),
    list: async () => ((await ask('tools/list', {})) as { tools: { name: string }[] }).tools,
    listen: async () => {},
    close: () => {
      stream.destroy();
      agent.destroy();
    },
  };
}

function deferred() {
  let resolve: () => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
