import type { EventLog } from '../events/log.ts';
import type { Moment } from '../http/keeper.ts';
import { Problem } from '../http/problem.ts';

/**
 * Where the log stood at a moment; 0 before the first fact. `now` in ms since the epoch. Throws a `Problem` for a moment
 * that has yet to come, since an answer would pass the present off as it.
 */
export function positionAt(
  log: Pick<EventLog, 'read' | 'lastPosition' | 'positionAt'>,
  at: Moment,
  now: number,
): number {
  const last = log.lastPosition();
  if ('position' in at ? at.position <= last : at.time <= now)
    return 'position' in at ? at.position : log.positionAt(at.time);
  const newest = log.read({ after: last - 1, limit: 1 })[0];
  const known = newest
    ? `the newest fact is at position ${last}, ${new Date(newest.at).toISOString()}`
    : 'the log holds nothing yet';
  throw new Problem('invalid-request', `\`at\` lies in the future: ${known}. Leave \`at\` out to see the present.`);
}

/** The end of a stretch of the past: no later than `now` (ms since the epoch). Throws a `Problem` if it would begin after that. */
export function upToNow(
  { from, to }: { readonly from: number | undefined; readonly to: number | undefined },
  now: number,
): number {
  if (from !== undefined && from > now)
    throw new Problem('invalid-request', `\`from\` lies in the future: it is ${new Date(now).toISOString()} now.`);
  return Math.min(to ?? now, now);
}
