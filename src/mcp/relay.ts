/** One request: sent as it is, answered as it comes, with two limits. */
import { CallError, type RelayAnswer, type RequestOptions } from './connection.ts';
import { type Observation, rpcErrorIn } from './failure.ts';
import type { Link } from './link.ts';
import { isObject, type RpcError } from './message.ts';
import type { Answer } from './wire.ts';

/** The request as it is sent, apart from its id. */
export interface Sending {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** What it is called in the words of an error. */
  readonly words: string;
}

/** Resolves with the server's answer, error or not. Rejects with a `CallError` without a code, and nothing else. */
export async function relay(link: Link, sending: Sending, options: RequestOptions): Promise<RelayAnswer> {
  const { words } = sending;
  if (options.signal.aborted)
    throw new CallError('cancelled', `${words} was cancelled before it was sent`, { sent: false });
  if (link.failure !== null)
    throw new CallError('not-sent', `the server is not connected: ${link.failure.message}`, {
      sent: false,
      failure: link.failure,
    });
  if (link.closed) throw new CallError('not-sent', 'the connection is closed', { sent: false });

  const end = await raceAnswer(link, sending, options);
  if (end.kind === 'cancelled') {
    const when = end.sent ? 'after it had been sent' : 'before it was sent';
    throw new CallError('cancelled', `${words} was cancelled ${when}`, { sent: end.sent });
  }
  if (end.kind === 'timeout') {
    const limit =
      end.limit === 'callMaxMs'
        ? `not finished within ${options.maxMs} ms in all (callMaxMs)`
        : `no answer and no progress for ${options.idleMs} ms (callTimeoutMs)`;
    throw new CallError('timeout', limit, { sent: end.sent, limit: end.limit });
  }
  return read(link, sending, end);
}

const INTERNAL_ERROR = -32603;

/** Statuses that come with a JSON-RPC error as the answer to the request itself; the others speak of the exchange. */
const ANSWERED_IN_BODY = new Set([400, 404, 405, 406, 409, 413, 415, 422, 500, 501]);

type End =
  | Answer
  | { readonly kind: 'cancelled'; readonly sent: boolean }
  | { readonly kind: 'timeout'; readonly sent: boolean; readonly limit: 'callTimeoutMs' | 'callMaxMs' };

/** Whatever comes first: the answer, the caller's signal, a limit. */
function raceAnswer(
  link: Link,
  { method, params: whole, headers }: Sending,
  { signal, idleMs, maxMs, onProgress, onSent, meta: given, capabilities }: RequestOptions,
): Promise<End> {
  const { params, meta } = split(whole, given);
  return new Promise((resolve) => {
    let over = false;
    const finish = (): boolean => {
      if (over) return false;
      over = true;
      clearTimeout(total);
      clearTimeout(idle);
      signal.removeEventListener('abort', abort);
      return true;
    };
    const alive = () => {
      if (!over) idle.refresh();
    };
    // Always with a progress token: without one a server has no way to say that it is still at work.
    const asked = link.wire.ask(method, params, {
      headers,
      meta,
      capabilities,
      onSent,
      onActivity: alive,
      onProgress: (progress) => {
        if (over) return;
        idle.refresh();
        onProgress?.(progress);
      },
    });
    const giveUp = (reason: string, end: (sent: boolean) => End) => {
      if (finish()) void asked.cancel(reason).then((sent) => resolve(end(sent)));
    };
    const abort = () => giveUp('the caller no longer wants the answer', (sent) => ({ kind: 'cancelled', sent }));
    const idle = setTimeout(() => {
      // The server cannot go on before we have answered it.
      if (asked.awaited()) alive();
      else giveUp('no answer within the time limit', (sent) => ({ kind: 'timeout', sent, limit: 'callTimeoutMs' }));
    }, idleMs);
    const total = setTimeout(
      () =>
        giveUp('not finished within the total time limit', (sent) => ({ kind: 'timeout', sent, limit: 'callMaxMs' })),
      maxMs,
    );
    signal.addEventListener('abort', abort, { once: true });
    void asked.answer.then((answer) => {
      if (finish()) resolve(answer);
    });
  });
}

/** What a caller left in `params._meta` is the caller's `_meta`, and treated as such. */
function split(
  params: Sending['params'],
  meta: RequestOptions['meta'],
): { params: Sending['params']; meta: RequestOptions['meta'] } {
  if (params === undefined || !('_meta' in params)) return { params, meta };
  const { _meta, ...rest } = params;
  return { params: rest, meta: meta ?? (isObject(_meta) ? _meta : undefined) };
}

function read(link: Link, { method, words }: Sending, answer: Answer): RelayAnswer {
  link.noteLoss('call', answer);
  const refusal = link.sessionRefusal(answer);
  if (refusal !== null) {
    const failure = link.fail('call', refusal);
    throw new CallError('session-refused', failure.message, { sent: true, failure });
  }
  switch (answer.kind) {
    case 'result':
      if (isObject(answer.result)) return { kind: 'result', result: answer.result };
      throw lost(link, {
        seen: 'unparsable',
        detail: `the server answered ${method} with something that is not a result`,
      });
    case 'error':
      return refused(link, answer.error);
    case 'fault': {
      const { observation, sent } = answer;
      const error =
        observation.seen === 'status' && ANSWERED_IN_BODY.has(observation.status) ? rpcErrorIn(observation.text) : null;
      if (error !== null) return refused(link, error);
      if (!sent) {
        const failure = link.failure ?? link.fail('call', observation);
        throw new CallError('not-sent', `${words} was not sent: ${failure.message}`, { sent: false, failure });
      }
      // 4xx: the server read the request and would not run it. Beyond that nobody knows how far it came.
      if (observation.seen === 'status' && observation.status < 500) {
        const failure = link.fail('call', observation);
        throw new CallError('rejected', failure.message, { sent: true, failure });
      }
      throw lost(link, observation);
    }
  }
}

function refused(link: Link, { code, message, data }: RpcError): RelayAnswer {
  const known = { code: Number.isInteger(code) ? code : INTERNAL_ERROR, message: link.redact(String(message)) };
  return { kind: 'error', error: data === undefined ? known : { ...known, data } };
}

function lost(link: Link, observation: Observation): CallError {
  const failure = link.fail('call', observation);
  return new CallError('lost', `the answer was lost: ${failure.message}`, { sent: true, failure });
}
