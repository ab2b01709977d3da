/** One request over plain `node:http`, which loads faster than anything built on it. */
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { type Endpoint, endpointsOf } from './endpoint.ts';
import { ApiError, DaemonUnreachable, type ProblemAnswer } from './errors.ts';

export interface Ask {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With the query. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends over the first way that lets itself be connected and returns the successful answer, its body unread.
 * Throws ApiError, DaemonUnreachable, or the signal's reason.
 */
export async function send(dataDir: string, ask: Ask): Promise<IncomingMessage> {
  let failure: unknown;
  for (const endpoint of endpointsOf(dataDir)) {
    try {
      return await answerOf(await open(endpoint, ask));
    } catch (error) {
      if (error instanceof ApiError) throw error;
      ask.signal?.throwIfAborted();
      failure = error;
      if (!neverConnected(error)) break;
    }
  }
  throw new DaemonUnreachable(
    failure === undefined || neverConnected(failure)
      ? `The daemon for ${dataDir} does not answer; start it with "watchkeeper up".`
      : `The daemon for ${dataDir} broke off before it answered; look at its log, then see "watchkeeper status".`,
    { cause: failure },
  );
}

/** Reads a body as text. Throws DaemonUnreachable if it breaks off. */
export const readText = async (message: IncomingMessage): Promise<string> =>
  (await readBytes(message)).toString('utf8');

/** Reads a body as it is. Throws DaemonUnreachable if it breaks off. */
export async function readBytes(message: IncomingMessage): Promise<Buffer> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  } catch (cause) {
    throw new DaemonUnreachable('The daemon broke off in the middle of its answer.', { cause });
  }
}

function open(endpoint: Endpoint, ask: Ask): Promise<IncomingMessage> {
  const text = ask.body === undefined ? undefined : JSON.stringify(ask.body);
  const headers = {
    ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    ...ask.headers,
  };
  const { method, path, signal } = ask;
  return new Promise((resolve, reject) => {
    request({ ...target(endpoint, headers), agent: false, method, path, ...(signal ? { signal } : {}) }, resolve)
      .on('error', reject)
      .end(text);
  });
}

function target(endpoint: Endpoint, headers: Readonly<Record<string, string | number>>): RequestOptions {
  if ('socketPath' in endpoint) return { socketPath: endpoint.socketPath, headers };
  const authorization = `Bearer ${endpoint.token}`;
  return { host: endpoint.host, port: endpoint.port, headers: { ...headers, authorization } };
}

async function answerOf(message: IncomingMessage): Promise<IncomingMessage> {
  const status = message.statusCode ?? 0;
  if (status >= 200 && status < 300) return message;
  throw new ApiError(asProblem(await readText(message), status));
}

function asProblem(text: string, status: number): ProblemAnswer {
  try {
    const body = JSON.parse(text) as Partial<ProblemAnswer>;
    if (typeof body.detail === 'string' && typeof body.code === 'string') return body as ProblemAnswer;
  } catch {
    // Not the daemon's own words: told below.
  }
  const detail = `Something that is not the daemon answered with status ${status}.`;
  return { type: 'about:blank', code: 'unexpected-answer', title: 'Unexpected answer', status, detail, error: detail };
}

const neverConnected = (error: unknown): boolean =>
  error instanceof Error &&
  ['ENOENT', 'ECONNREFUSED', 'EACCES', 'ENOTSOCK'].includes((error as NodeJS.ErrnoException).code ?? '');
