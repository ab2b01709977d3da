/** How a call ended, as an exit code and as text. Pure. */
import type { Call, CallResult } from '../api/client.ts';
import type { View } from './command.ts';
import { contentText } from './content.text.ts';
import { type ExitCode, exitCode } from './failure.ts';
import { oneLine } from './paint.ts';
import type { Outcome } from './shapes.ts';

/** Nobody wanted it to run: refused. It ran and failed, or nobody knows: failed. */
export function exitOf(outcome: Outcome | null): ExitCode {
  if (outcome === null || outcome === 'succeeded') return exitCode.done;
  return outcome === 'refused' || outcome === 'denied' || outcome === 'expired' ? exitCode.refused : exitCode.failed;
}

/** The answer of a settled call in the shape of `POST /v1/mcp/call`; null when its result is no longer kept. */
export function resultOf(call: Call): CallResult | null {
  if (call.outcome !== 'succeeded' && call.outcome !== 'tool-error') return null;
  const result: Readonly<Record<string, unknown>> | undefined = call.result;
  if (!result) return null;
  const content = Array.isArray(result.content) ? result.content : [];
  return { ...result, content, call: call.id, outcome: call.outcome };
}

/** One sentence about a call that has no result to show. */
export function outcomeSentence({ name, outcome, reason, state }: Call): string {
  const because = reason === null ? '' : ` ${oneLine(reason)}`;
  if (state === 'approved') return `${name} is approved and runs once, when the same call comes again.`;
  if (outcome === null) return `${name} is ${state}.`;
  const words: Readonly<Record<Outcome, string>> = {
    succeeded: 'ran; its result is no longer kept.',
    'tool-error': 'ran and reported an error; its result is no longer kept.',
    refused: 'was refused.',
    denied: 'was denied.',
    expired: 'was not approved in time.',
    failed: 'did not run.',
    cancelled: 'was cancelled before it ran.',
    unknown: 'was sent and not answered: it may have run.',
    abandoned: 'was given up when the daemon ended.',
  };
  return `${name} ${words[outcome]}${because}`;
}

/** What people see of a result: bytes as they are in a pipe, nothing that steers a terminal on one. */
export const resultText = (result: CallResult, view: View): string => contentText(result, view.width === undefined);
