/** How long is waited between attempts, in ms: first so long, then twice that each time, never longer than `maxMs`. */
export interface Backoff {
  readonly baseMs: number;
  readonly maxMs: number;
}

export const usualBackoff: Backoff = { baseMs: 500, maxMs: 60_000 };

/**
 * Pause before the next attempt, in ms: doubles with each failure from 0.5 s to 60 s, of which a random half is taken off so
 * that many servers do not come back at once. Time the connection was up counts towards it: a server that held for a while
 * is tried at once, one that dies right after its handshake is not.
 */
export function backoffMs(failures: number, random: number, upMs = 0, backoff: Backoff = usualBackoff): number {
  if (failures <= 0) return 0;
  const full = Math.min(backoff.maxMs, backoff.baseMs * 2 ** Math.min(failures - 1, 20));
  return Math.max(0, Math.round(full * (1 - random / 2) - upMs));
}
