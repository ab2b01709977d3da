/** What a stretch of a server's life comes to, in figures. */
import type { ServerFact } from '../events/server.events.ts';
import { availabilityOf, endedBy, standingOf } from './standing.ts';

/** A fact as far as figures need it; `data.to` is the state it led to. */
export interface Turn {
  readonly at: number;
  readonly type: ServerFact['type'];
  readonly to: string;
  /** Only with the end that a dead daemon left: since when nobody watched (ms since the epoch). */
  readonly endedAt?: number | undefined;
}

export interface Figures {
  /** Share of the time the server was to run in which it was ready, 0 to 1; null: it was never to run. */
  readonly availability: number | null;
  /** Milliseconds in `ready`. */
  readonly upMs: number;
  /** Milliseconds in which it was to run and was not ready: connecting, listing, waiting for an attempt or a person. */
  readonly downMs: number;
  readonly longestDownMs: number;
  /** Attempts to connect that began, and those that failed. */
  readonly attempts: number;
  readonly failed: number;
  /** Connections that were ready and ended without being asked to. */
  readonly losses: number;
}

export interface Counter {
  add(turn: Turn): void;
  figures(): Figures;
}

/** Counts from `from` to `until` (ms since the epoch); facts have to come in the order of time. */
export function counter(from: number, until: number, state = 'stopped'): Counter {
  let now = state;
  let since = Number.NEGATIVE_INFINITY;
  let up = 0;
  let down = 0;
  let downNow = 0;
  let longest = 0;
  let attempts = 0;
  let failed = 0;
  let losses = 0;

  const pass = (to: number): void => {
    const length = Math.max(0, Math.min(to, until) - Math.max(since, from));
    const standing = standingOf(now);
    if (standing === 'ready') {
      up += length;
      if (length > 0) downNow = 0;
    } else if (standing === 'down') {
      down += length;
      downNow += length;
      longest = Math.max(longest, downNow);
    } else downNow = 0;
    since = Math.max(since, to);
  };

  return {
    add({ at, type, to, endedAt }) {
      if (endedAt !== undefined && endedAt < at) {
        pass(endedAt);
        now = 'unobserved';
      }
      pass(at);
      if (at >= from && at <= until) {
        if (type === 'ConnectStarted' || type === 'ReconnectStarted') attempts += 1;
        const ended = endedBy(type, now);
        if (ended === 'connection') losses += 1;
        else if (ended === 'attempt') failed += 1;
      }
      now = to;
    },
    figures() {
      pass(until);
      return {
        availability: availabilityOf(up, down),
        upMs: up,
        downMs: down,
        longestDownMs: longest,
        attempts,
        failed,
        losses,
      };
    },
  };
}
