/**
 * Keeping open the stream on which a server announces changes. It is optional: whatever becomes of it decides nothing
 * about the connection, and it is opened again ever more slowly.
 */

/** `never`: asking again is useless on this connection. */
export class NoPush extends Error {
  override readonly name = 'NoPush';
  constructor(
    message: string,
    readonly never: boolean,
  ) {
    super(message);
  }
}

/** Opens the stream. Resolves once it is open; rejects, with `NoPush` where that is known, when it is not to be had. */
export type OpenPush = (signal: AbortSignal) => Promise<{
  /** Resolves with the reason when the stream ends; never rejects. */
  readonly ended: Promise<string>;
  /** A pause the server asked for, in milliseconds; read after the end. */
  readonly retryMs?: () => number | undefined;
}>;

export interface PushTimes {
  readonly firstMs: number;
  readonly longestMs: number;
  /** A stream that lived this long is not held against the server. */
  readonly healthyMs: number;
  /** A stream must live this long before it is reported. */
  readonly settleMs: number;
}

/** Polling goes on meanwhile, so nothing is gained by asking more often. */
export const pushTimes: PushTimes = { firstMs: 1_000, longestMs: 60_000, healthyMs: 30_000, settleMs: 100 };

/**
 * Keeps the stream open until the signal ends it.
 * `report(push, reason)` is called on each change; `gap()` when the stream is back, since announcements may have been missed.
 */
export async function keepPush(
  open: OpenPush,
  report: (push: boolean, reason?: string) => void,
  gap: () => void,
  signal: AbortSignal,
  times: PushTimes = pushTimes,
): Promise<void> {
  let delay = times.firstMs;
  let missed = false;
  let shown: boolean | null = null;
  const show = (push: boolean, reason?: string) => {
    if (signal.aborted || shown === push) return;
    shown = push;
    report(push, reason);
  };
  while (!signal.aborted) {
    let reason: string;
    let pause: number | undefined;
    try {
      const stream = await open(signal);
      const since = performance.now();
      if (missed) gap();
      missed = true;
      const early = await Promise.race([stream.ended, waited(times.settleMs, signal)]);
      if (early === null) show(true);
      reason = early ?? (await stream.ended);
      pause = stream.retryMs?.();
      if (performance.now() - since >= times.healthyMs) {
        // Servers and proxies end old streams as a matter of course; the first attempt to open it again tells.
        delay = times.firstMs;
        await waited(pause ?? 0, signal);
        continue;
      }
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
      if (error instanceof NoPush && error.never) return show(false, reason);
    }
    missed = true;
    show(false, reason);
    await waited(Math.max(delay, Math.min(pause ?? 0, times.longestMs)), signal);
    delay = Math.min(delay * 2, times.longestMs);
  }
}

/** Resolves with null after `ms` or when the signal ends it. */
function waited(ms: number, signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve(null);
    };
    const timer = setTimeout(done, ms);
    timer.unref();
    signal.addEventListener('abort', done, { once: true });
  });
}
