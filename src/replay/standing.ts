/** What counts as there and what as away: one rule for the summary of a past, for verdicts, and for what might have been. Pure. */

/** `resting`: not meant to run, or unwatched. `down`: meant to, and not ready. */
export type Standing = 'ready' | 'down' | 'resting';

const DOWN: ReadonlySet<string> = new Set([
  'connecting',
  'listing',
  'session-lost',
  'reconnecting',
  'backing-off',
  'auth-required',
  'failed',
]);

export const standingOf = (state: string): Standing =>
  state === 'ready' ? 'ready' : DOWN.has(state) ? 'down' : 'resting';

/** Share of the time a server was to run in which it was ready, 0 to 1; null: it was never to run. Milliseconds in. */
export const availabilityOf = (readyMs: number, downMs: number): number | null =>
  readyMs + downMs > 0 ? readyMs / (readyMs + downMs) : null;

const FAILING: ReadonlySet<string> = new Set(['SessionLost', 'ConnectFailed', 'LoginRequired', 'ServerFailed']);

/** What a fact ends unasked: a connection that was `ready`, or an attempt to get there; null: neither. */
export function endedBy(type: string, state: string): 'connection' | 'attempt' | null {
  if (!FAILING.has(type)) return null;
  if (state === 'ready') return 'connection';
  // An entry that cannot be used fails without having been tried.
  return standingOf(state) === 'down' ? 'attempt' : null;
}
