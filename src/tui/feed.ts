/** Facts as they are committed, and whether the daemon is there at all. Goes on over restarts until the signal ends. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../api/client.ts';
import type { Message } from './model.ts';

const RETRY_MS = 300;

/** The daemon says of itself that it is ready; resolves when it does, or the signal ended. */
async function ready(api: Client, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { ready: up } = await api.health({ signal }).catch(() => ({ ready: false }));
    if (up) return;
    await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}

export async function followFeed(
  api: Client,
  hear: (message: Message) => void,
  now: () => number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await ready(api, signal);
      // The facts first, then what is read: nothing is missed between the two.
      const facts = api.followEvents({ signal });
      let next = facts.next();
      hear({ kind: 'link', up: true, at: now() });
      for (;;) {
        const { done, value } = await next;
        if (done || signal.aborted || value.kind === 'lost') break;
        if (value.kind === 'event') hear({ kind: 'fact', fact: value.event });
        next = facts.next();
      }
      void facts.return(undefined);
    } catch {
      // Whatever it was: the daemon is not there now.
    }
    if (signal.aborted) return;
    hear({ kind: 'link', up: false, at: now() });
    await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}
