/** One tool call: sent as it is, answered as it comes, with two limits. */
import { CallError, type CallOptions, type RawResult } from './connection.ts';
import { type Observation, rpcErrorIn } from './failure.ts';
import type { Link } from './link.ts';
import { isObject, type RpcError } from './message.ts';
import type { Answer } from './wire.ts';

/** Resolves with the result as received. Rejects with a `CallError` and nothing else. */
export async function callTool(
  link: Link,
  name: string,
  args: Readonly<Record<string, unknown>>,
  options: CallOptions,
  headers: Readonly<Record<string, string>>,
): Promise<RawResult> {
  if (options.signal.aborted)
    throw new CallError('cancelled', 'the call was cancelled before it was sent', { sent: false });
  if (link.failure !== null)
    throw new CallError('not-sent', `the server is not connected: ${link.failure.message}`, {
      sent: false,
      failure: link.failure,
    });
  if (link.closed) throw new CallError('not-sent', 'the connection is closed', { sent: false });

  const end = await raceAnswer(link, name, args, options, headers);
  if (end.kind === 'cancelled') {
    throw new CallError(
      'cancelled',
      end.sent ? 'the call was cancelled after it had been sent' : 'the call was cancelled before it was sent',
      { sent: end.sent },
    );
  }
  if (end.kind === 'timeout') {
    const words =
      end.limit === 'callMaxMs'
        ? `not finished within ${options.maxMs} ms in all (callMaxMs)`
        : `no answer and no progress for ${options.idleMs} ms (callTimeoutMs)`;
    throw new CallError('timeout', words, { sent: end.sent, limit: end.limit });
  }
  return resultOf(link, end);
}

/** Statuses that come with a JSON-RPC error as the answer to the request itself; the others speak of the exchange. */
const ANSWERED_IN_BODY = new Set([400, 404, 405, 406, 409, 413, 415, 422, 500, 501]);

type End =
  | Answer
  | { readonly kind: 'cancelled'; readonly sent: boolean }
  | { readonly kind: 'timeout'; readonly sent: boolean; readonly limit: 'callTimeoutMs' | 'callMaxMs' };

/** Whatever comes first: the answer, the caller's signal, a limit. */
function raceAnswer(
  link: Link,
  name: string,
  args: Readonly<Record<string, unknown>>,
  { signal, idleMs, maxMs, onProgress }: CallOptions,
  headers: Readonly<Record<string, string>>,
): Promise<End> {
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
    // Always with a progress token: without one a server has no way to say that it is still at work.
    const asked = link.wire.ask(
      'tools/call',
      { name, arguments: args },
      {
        headers,
        onProgress: (progress) => {
          if (over) return;
          idle.refresh();
          onProgress?.(progress);
        },
      },
    );
    const giveUp = (reason: string, end: (sent: boolean) => End) => {
      if (finish()) void asked.cancel(reason).then((sent) => resolve(end(sent)));
    };
    const abort = () => giveUp('the caller no longer wants the answer', (sent) => ({ kind: 'cancelled', sent }));
    const idle = setTimeout(
      () => giveUp('no answer within the time limit', (sent) => ({ kind: 'timeout', sent, limit: 'callTimeoutMs' })),
      idleMs,
    );
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

function resultOf(link: Link, answer: Answer): RawResult {
  link.noteLoss('call', answer);
  const refusal = link.sessionRefusal(answer);
  if (refusal !== null) {
    const failure = link.fail('call', refusal);
    throw new CallError('session-refused', failure.message, { sent: true, failure });
  }
  switch (answer.kind) {
    case 'result':
      if (isObject(answer.result)) return answer.result;
      throw lost(link, {
        seen: 'unparsable',
        detail: 'the server answered tools/call with something that is not a result',
      });
    case 'error':
      throw rejected(link, answer.error);
    case 'fault': {
      const { observation, sent } = answer;
      const error =
        observation.seen === 'status' && ANSWERED_IN_BODY.has(observation.status) ? rpcErrorIn(observation.text) : null;
      if (error !== null) throw rejected(link, error);
      if (!sent) {
        const failure = link.failure ?? link.fail('call', observation);
        throw new CallError('not-sent', `the call was not sent: ${failure.message}`, { sent: false, failure });
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

function rejected(link: Link, { code, message, data }: RpcError): CallError {
  const failure = link.fail('call', { seen: 'rpc-error', code, message: String(message) });
  return new CallError('rejected', link.redact(String(message)), {
    sent: true,
    failure,
    code,
    ...(data === undefined ? {} : { data }),
  });
}

function lost(link: Link, observation: Observation): CallError {
  const failure = link.fail('call', observation);
  return new CallError('lost', `the answer was lost: ${failure.message}`, { sent: true, failure });
}
