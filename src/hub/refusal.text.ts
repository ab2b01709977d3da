/** What a model reads instead of a result, and what a person can do about it. Pure. */
import type { CallEnd } from '../actors/call/call.actor.ts';

type Ended = Extract<CallEnd, { kind: 'ended' }>;
type Held = Extract<CallEnd, { kind: 'held' }>;

export function heldText({ id, name, expiresAt }: Held): string {
  return [
    `${name} has not run: it waits until ${new Date(expiresAt).toISOString()} for a person to allow it.`,
    `The person can allow it with: watchkeeper approve ${id} (or refuse it with: watchkeeper deny ${id}).`,
    'Tell the person so. Once it is allowed, make the same call again with the same arguments; it then runs once.',
  ].join('\n');
}

/** For a notification of progress, while the caller still waits. */
export const waitingText = ({ id, name }: { readonly id: string; readonly name: string }): string =>
  `${name} waits for a person to allow it: watchkeeper approve ${id}`;

export function endedText(
  { id, outcome, reason, because }: Ended,
  { name, server }: { name: string; server: string },
): string {
  const first = reason === '' ? SAYS[outcome] : sentence(reason);
  if (because === 'barred') return `${first}\nIt did not run. Do not hurry: wait, and call less often.`;
  return [first, ...advice(outcome, id, name, server)].join('\n');
}

const SAYS: Readonly<Record<Ended['outcome'], string>> = {
  refused: 'A rule refused the call; it did not run.',
  denied: 'A person refused the call; it did not run.',
  expired: 'Nobody decided about the call in time; it did not run.',
  failed: 'The call did not run.',
  cancelled: 'The call was cancelled before it ran.',
  unknown: 'The answer was lost; the call may have run.',
  abandoned: 'The daemon stopped while the call waited for a person; it did not run.',
};

function advice(outcome: Ended['outcome'], id: string, name: string, server: string): string[] {
  switch (outcome) {
    case 'refused':
      return [`A person can grant ${name} with: watchkeeper allow ${server}`];
    case 'denied':
      return ['Do not repeat the call as it is; ask the person what they want instead.'];
    case 'expired':
      return ['Ask the person, then make the call again; they can allow it with: watchkeeper approvals'];
    case 'failed':
      return [
        `It did not run and may be repeated. A person can see what ails the server with: watchkeeper status ${server}`,
      ];
    case 'unknown':
      return [`Find out whether it took effect before you repeat it.${id === '' ? '' : ` Call ${id} in the ledger.`}`];
    case 'cancelled':
    case 'abandoned':
      return ['It may be repeated.'];
  }
}

const sentence = (text: string): string => {
  const first = `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  return /[.!?]$/.test(first) ? first : `${first}.`;
};
