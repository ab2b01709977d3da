/**
 * HTTP exchanges with one server, on node:http(s). Node's fetch cuts answers that pause for 300 s, cannot say whether a
 * request left, and costs several times the processor time.
 */
import { setMaxListeners } from 'node:events';
import { Agent as HttpAgent, type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { Credentials } from './connection.ts';
import { Fault, type Refusal, retryAfter } from './failure.ts';
import { LineTooLong } from './lines.ts';
import { bareUrl } from './redact.ts';

/** Below the 5 s after which common servers close an idle connection, so that no request is sent into a closing one. */
const IDLE_SOCKET_MS = 3_000;
/** A dead peer is noticed by TCP even when nothing is due from it. */
const TCP_KEEPALIVE_MS = 30_000;
const MAX_REDIRECTS = 5;
/** How much of a refusal's body is read, and how long. */
const REFUSAL_BYTES = 16_384;
const REFUSAL_MS = 1_000;

export type Headers = Readonly<Record<string, string>>;

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: IncomingMessage;
}

export class Exchanger {
  /** Whether a connection to the server was ever made. */
  reached = false;
  /** The URL as it may be shown. */
  readonly target: string;

  #closed = false;
  readonly #url: URL;
  readonly #configured: Headers;
  readonly #credentials: Credentials | undefined;
  readonly #plain = new HttpAgent({ keepAlive: true, timeout: IDLE_SOCKET_MS });
  readonly #secure = new HttpsAgent({ keepAlive: true, timeout: IDLE_SOCKET_MS });

  /** Throws a `Fault` when the URL cannot be used. `headers`: as configured; those the protocol owns are left out. */
  constructor(url: string, headers: Headers, credentials?: Credentials) {
    this.target = bareUrl(url);
    this.#credentials = credentials;
    try {
      this.#url = new URL(url);
    } catch {
      throw new Fault({ seen: 'network', code: 'ERR_INVALID_URL', target: this.target }, false);
    }
    if (this.#url.protocol !== 'http:' && this.#url.protocol !== 'https:') {
      throw new Fault({ seen: 'network', code: 'ERR_INVALID_PROTOCOL', target: this.target }, false);
    }
    this.#configured = withoutProtocolHeaders({ ...basicAuthorization(this.#url), ...headers });
    this.#url.username = '';
    this.#url.password = '';
  }

  /** Where a server-given path leads; null when it leaves the origin. */
  resolve(reference: string): URL | null {
    try {
      const url = new URL(reference, this.#url);
      return url.origin === this.#url.origin ? url : null;
    } catch {
      return null;
    }
  }

  /**
   * One exchange, up to the answer's headers. Redirects are followed within the origin when they keep the method. A
   * request that is refused for want of a login is sent once more if there is a better one. Any status but 2xx rejects
   * with a `Fault` that holds a `Refusal`.
   */
  async send(
    method: string,
    headers: Headers,
    body: string | null,
    signal?: AbortSignal,
    url: URL = this.#url,
  ): Promise<Answer> {
    const all = { ...this.#configured, ...headers };
    const credentials = this.#credentials;
    let used = credentials ? await orAborted(credentials.authorization(), this.target, signal) : null;
    let refusals = 0;
    let at = url;
    for (let followed = 0; ; followed += 1) {
      const signed = used === null ? all : { ...all, authorization: used };
      const answer = await this.#once(method, at, signed, body, signal);
      if (answer.status >= 200 && answer.status < 300) return answer;
      if (credentials && (answer.status === 401 || answer.status === 403) && refusals++ === 0) {
        const challenge = answer.headers['www-authenticate'] ?? null;
        const refusal = { status: answer.status, challenge, used };
        if (await orAborted(credentials.refused(refusal), this.target, signal)) {
          answer.body.resume();
          used = await orAborted(credentials.authorization(), this.target, signal);
          continue;
        }
      }
      const next = followed < MAX_REDIRECTS ? redirectWithin(at, method, answer) : null;
      if (next === null) throw new Fault(await this.#refusal(answer, at), true);
      answer.body.resume();
      at = next;
    }
  }

  /** Breaks off everything under way. */
  close(): void {
    this.#closed = true;
    this.#plain.destroy();
    this.#secure.destroy();
  }

  #once(
    method: string,
    url: URL,
    headers: Headers,
    body: string | null,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    const secure = url.protocol === 'https:';
    const payload = body === null ? null : Buffer.from(body, 'utf8');
    return new Promise((resolve, reject) => {
      let left = false;
      const failed = (code: string) => reject(new Fault({ seen: 'network', code, target: this.target }, left));
      if (signal?.aborted || this.#closed) return failed('ABORT_ERR');
      let request: ReturnType<typeof requestHttp>;
      try {
        request = (secure ? requestHttps : requestHttp)(url, {
          method,
          agent: secure ? this.#secure : this.#plain,
          headers: {
            ...headers,
            'accept-encoding': 'identity',
            ...(payload === null ? {} : { 'content-length': payload.length }),
          },
        });
      } catch (error) {
        return failed(codeOf(error));
      }
      // No error is given to `destroy`: between the end of an answer and the return of its socket nobody listens for one.
      const abort = () => {
        failed('ABORT_ERR');
        request.destroy();
      };
      if (signal !== undefined) {
        setMaxListeners(0, signal); // as many listeners as requests at once, and that is no leak
        signal.addEventListener('abort', abort, { once: true });
        request.once('close', () => signal.removeEventListener('abort', abort));
      }
      request.once('socket', (socket) => {
        const connected = () => {
          left = true;
          this.reached = true;
          socket.setKeepAlive(true, TCP_KEEPALIVE_MS);
        };
        if (request.reusedSocket || (!socket.connecting && !secure)) connected();
        else socket.once(secure ? 'secureConnect' : 'connect', connected);
      });
      request.once('error', (error) => failed(codeOf(error)));
      request.once('response', (answer) => {
        // Errors of the body are seen by whoever reads it.
        answer.on('error', () => {});
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: answer });
      });
      request.on('error', () => {});
      request.end(payload ?? undefined);
    });
  }

  async #refusal({ status, headers, body }: Answer, url: URL): Promise<Refusal> {
    const location = headers.location;
    return {
      seen: 'status',
      status,
      target: this.target,
      challenge: headers['www-authenticate'] ?? null,
      retryAfterMs: retryAfter(headers['retry-after'], Date.now()),
      location:
        location === undefined
          ? null
          : bareUrl(URL.canParse(location, url.href) ? new URL(location, url).href : location),
      text: await beginning(body),
      ...(this.#credentials ? { advice: this.#credentials.advice } : {}),
    };
  }
}

/** Waits for a login no longer than the request is wanted. Nothing has been taken by the server up to here. */
async function orAborted<T>(work: Promise<T>, target: string, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  const aborted = () => new Fault({ seen: 'network', code: 'ABORT_ERR', target }, false);
  if (signal.aborted) {
    work.catch(() => {});
    throw aborted();
  }
  let stop: () => void = () => {};
  const end = new Promise<never>((_, reject) => {
    stop = () => reject(aborted());
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** The whole body as text. Throws a `Fault` when it breaks off, is too large or the signal ends it. */
export async function readAll({ body }: Answer, limit: number, target: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) throw new LineTooLong(limit);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof LineTooLong)
      throw new Fault(
        { seen: 'unparsable', detail: `${target}: the answer is larger than ${Math.round(limit / 1_048_576)} MiB` },
        true,
      );
    throw new Fault({ seen: 'network', code: codeOf(error), target }, true);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Media type without parameters, in lower case. */
export const mediaType = ({ headers }: Answer): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

/** Reads at most the first 16 KiB within a second, whatever the server does with the rest. */
function beginning(body: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const done = () => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks).subarray(0, REFUSAL_BYTES).toString('utf8'));
      if (!body.readableEnded) body.destroy();
    };
    const timer = setTimeout(done, REFUSAL_MS);
    body.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= REFUSAL_BYTES) done();
    });
    body.once('end', done);
    body.once('close', done);
  });
}

export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : 'UNKNOWN';
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Where a redirect leads if it stays with the same server and keeps the method; configured headers go nowhere else. */
function redirectWithin(from: URL, method: string, { status, headers }: Answer): URL | null {
  if (!REDIRECTS.has(status) || headers.location === undefined || !URL.canParse(headers.location, from.href))
    return null;
  const to = new URL(headers.location, from);
  const keepsMethod = method === 'GET' || status === 307 || status === 308;
  const upgraded =
    from.protocol === 'http:' &&
    to.protocol === 'https:' &&
    from.hostname === to.hostname &&
    from.port === '' &&
    to.port === '';
  return keepsMethod && to.username === '' && to.password === '' && (to.origin === from.origin || upgraded) ? to : null;
}

/** Headers that belong to the protocol or to the exchange itself; a configured value would break them. */
const PROTOCOL_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'transfer-encoding',
]);

/** Names in lower case, so that a header the protocol sets replaces and never repeats one. */
function withoutProtocolHeaders(headers: Headers): Headers {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(entries.filter(([name]) => !PROTOCOL_HEADERS.has(name) && !name.startsWith('mcp-param-')));
}

function basicAuthorization({ username, password }: URL): Headers {
  if (username === '' && password === '') return {};
  const plain = `${decoded(username)}:${decoded(password)}`;
  return { authorization: `Basic ${Buffer.from(plain, 'utf8').toString('base64')}` };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
