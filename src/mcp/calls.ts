/** One tool call: a request whose error is a refusal of the call. */
import { CallError, type CallOptions, type RawResult } from './connection.ts';
import type { Link } from './link.ts';
import { relay } from './relay.ts';

/** Resolves with the result as received. Rejects with a `CallError` and nothing else. */
export async function callTool(
  link: Link,
  name: string,
  args: Readonly<Record<string, unknown>>,
  options: CallOptions,
  headers: Readonly<Record<string, string>> | undefined,
): Promise<RawResult> {
  const params = options.more === undefined ? { name, arguments: args } : { ...options.more, name, arguments: args };
  const sending = { method: 'tools/call', params, words: 'the call', headers };
  const answer = await relay(link, sending, options);
  if (answer.kind === 'result') return answer.result;
  const { code, message, data } = answer.error;
  const failure = link.fail('call', { seen: 'rpc-error', code, message });
  throw new CallError('rejected', message, { sent: true, failure, code, ...(data === undefined ? {} : { data }) });
}
