/** Follows the log over a connection that may break: each new one goes on where the last one ended. */
import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import type { event } from '../http/contract.ts';
import { DaemonUnreachable } from './errors.ts';
import { frameReader } from './event.stream.ts';

export type LogEvent = z.infer<typeof event>;

export type Followed =
  | { readonly kind: 'event'; readonly event: LogEvent }
  /** The log was pruned: these positions can no longer be read. */
  | { readonly kind: 'gap'; readonly from: number; readonly to: number }
  /** The connection broke; it is being opened again. */
  | { readonly kind: 'lost' };

/** The daemon sends a comment every 15 s; without one for this long the connection is dead. */
const silenceMs = 45_000;
const pausesMs = [200, 500, 1000, 2000, 5000] as const;

/**
 * Yields facts in order, without end until `signal`. The first connection must succeed (else ApiError or
 * DaemonUnreachable); later ones are tried until one does. `open` gets the position to go on after.
 */
export async function* followLog(
  open: (after: number | undefined) => Promise<IncomingMessage>,
  after: number | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Followed, void> {
  let last = after;
  let failures = 0;
  let message = await orEnd(open(last), signal);
  for (;;) {
    for await (const followed of read(message)) {
      failures = 0;
      if (followed.kind === 'event') last = followed.event.position;
      yield followed;
    }
    if (message === null || signal?.aborted) return;
    yield { kind: 'lost' };
    for (message = null; message === null; failures += 1) {
      const wait = pausesMs[Math.min(failures, pausesMs.length - 1)];
      await pause(wait, undefined, signal ? { signal } : {}).catch(() => undefined);
      if (signal?.aborted) return;
      message = await orEnd(unlessUnreachable(open(last)), signal);
    }
  }
}

async function* read(message: IncomingMessage | null): AsyncGenerator<Followed> {
  if (message === null) return;
  const frames = frameReader();
  message.setEncoding('utf8');
  message.setTimeout(silenceMs, () => message.destroy());
  try {
    for await (const text of message) for (const frame of frames(text as string)) yield* shown(frame.event, frame.data);
  } catch {
    // A broken connection ends the reading like a closed one.
  }
}

function* shown(name: string, data: string): Generator<Followed> {
  if (name === 'message') yield { kind: 'event', event: JSON.parse(data) as LogEvent };
  if (name === 'gap') yield { kind: 'gap', ...(JSON.parse(data) as { from: number; to: number }) };
}

/** null when the caller no longer wants to follow. */
async function orEnd<T>(opening: Promise<T>, signal: AbortSignal | undefined): Promise<T | null> {
  try {
    return await opening;
  } catch (error) {
    if (signal?.aborted) return null;
    throw error;
  }
}

async function unlessUnreachable(opening: Promise<IncomingMessage>): Promise<IncomingMessage | null> {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof DaemonUnreachable) return null;
    throw error;
  }
}
