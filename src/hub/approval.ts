/**
 * Asks the person in the client that made a held call, by elicitation. Only for clients for which a person has set so:
 * whoever answers there decides, and a client could answer by itself. Once is all that can be given here.
 */
import type { CallDesk, HeldCall } from '../actors/call/call.actor.ts';
import { isObject } from '../mcp/message.ts';
import { visibleJson } from '../visible.ts';
import type { Flight } from './flight.ts';
import type { Members } from './rpc.ts';

/** Longer arguments are cut in the question; whole they are shown by `watchkeeper approvals`. */
const SHOWN = 2_000;

export interface AskedInClient {
  readonly calls: Pick<CallDesk, 'approve' | 'deny'>;
  readonly flight: Flight;
  readonly client: string;
  readonly args: Members;
  readonly held: HeldCall;
}

/** Resolves when the question is answered or no longer stands. Never rejects. */
export async function askInClient(
  { calls, flight, client, args, held }: AskedInClient,
  signal: AbortSignal,
): Promise<void> {
  const reply = await flight.ask('elicitation/create', question(held, args), signal);
  // Nobody could answer, or wanted to: it stays held for whoever decides elsewhere.
  if (signal.aborted || 'error' in reply) return;
  const said = decisionIn(reply.result);
  const by = `${client} (asked in the client)`;
  if (said === null) return;
  // Somebody else may have been faster: then this comes to nothing, and what they decided counts.
  if (said.run) await calls.approve(held.id, by, 'once');
  else await calls.deny(held.id, by, said.reason);
}

function question({ id, name }: HeldCall, args: Members): Members {
  const text = visibleJson(args, 2);
  const shown = text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}\n… (${text.length} characters in all)`;
  return {
    message: `${name} wants to run and no grant covers it (call ${id}). Its arguments:\n${shown}`,
    requestedSchema: {
      type: 'object',
      properties: {
        run: { type: 'boolean', title: 'Let it run this once', default: false },
        reason: { type: 'string', title: 'If not: what the model is told', maxLength: 1000 },
      },
      required: ['run'],
    },
  };
}

/** null: nothing was decided. */
function decisionIn(result: unknown): { readonly run: boolean; readonly reason: string | undefined } | null {
  if (!isObject(result)) return null;
  const content = isObject(result.content) ? result.content : {};
  const reason =
    typeof content.reason === 'string' && content.reason !== '' ? content.reason.slice(0, 1000) : undefined;
  if (result.action === 'accept') return { run: content.run === true, reason };
  return result.action === 'decline' ? { run: false, reason } : null;
}
