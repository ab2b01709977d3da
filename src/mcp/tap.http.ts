/** What an HTTP exchange tells whoever listens. */
import type { Answer } from './exchange.ts';
import { mediaType } from './exchange.ts';
import { Fault } from './failure.ts';
import type { HttpStatus, Tap, Traffic } from './tap.ts';

/** The exchange itself, unchanged; an ear is told how it ended, before whoever awaits it. */
export function overheard(tap: Tap, x: number, exchange: Promise<Answer>): Promise<Answer> {
  const { ear } = tap;
  if (ear !== undefined) {
    exchange.then(
      (answer) => ear(goodStatus(x, answer)),
      (error: unknown) => ear(badStatus(x, error)),
    );
  }
  return exchange;
}

function goodStatus(x: number, answer: Answer): HttpStatus {
  const session = answer.headers['mcp-session-id'];
  const type = mediaType(answer);
  return {
    is: 'status',
    x,
    status: answer.status,
    ...(type === '' ? {} : { type }),
    ...(typeof session === 'string' && session !== '' ? { session } : {}),
  };
}

function badStatus(x: number, error: unknown): Traffic {
  const observation = error instanceof Fault ? error.observation : null;
  if (observation?.seen !== 'status')
    return { is: 'broken', x, code: observation?.seen === 'network' ? observation.code : 'UNKNOWN' };
  const { status, text, challenge, retryAfterMs, location } = observation;
  return {
    is: 'status',
    x,
    status,
    text,
    ...(challenge === null ? {} : { challenge }),
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
    ...(location === null ? {} : { location }),
  };
}

/** The code a stream broke off with; null when it did not. */
export function codeOfFault(fault: Fault | null): string | null {
  if (fault === null) return null;
  return fault.observation.seen === 'network' ? fault.observation.code : 'UNREADABLE';
}
