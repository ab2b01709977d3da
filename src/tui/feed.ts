/** The facts as they come, over any number of restarts of the daemon. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../api/client.ts';
import { isUnreachable } from '../api/errors.ts';
import { lastPosition } from '../cli/log.reader.ts';
import type { Event } from './state.ts';

const probeMs = 300;

export interface Heard {
  readonly event: (event: Event) => void;
  readonly lost: () => void;
  /** The daemon answers again. What it did meanwhile follows as facts, but may be much: better to look anew. */
  readonly back: () => void;
}

/** Goes on until the signal ends it. Each connection begins where the one before ended, so that no fact is missed. */
export async function followFeed(api: Client, on: Heard, signal: AbortSignal): Promise<void> {
  let last: number | null = null;
  let up = true;
  while (!signal.aborted) {
    try {
      const newest = await lastPosition((query) => api.events(query));
      // A log that begins anew has lower positions.
      last = last === null ? newest : Math.min(last, newest);
      if (!up) on.back();
      up = true;
      for await (const followed of api.followEvents({ after: last, signal })) {
        if (followed.kind === 'lost') break;
        if (followed.kind === 'gap') {
          on.back();
          continue;
        }
        last = followed.event.position;
        on.event(followed.event);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isUnreachable(error)) throw error;
    }
    if (signal.aborted) return;
    if (up) on.lost();
    up = false;
    await pause(probeMs, undefined, { signal }).catch(() => undefined);
  }
}
