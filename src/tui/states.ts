/** States, errors and times as they are shown. Pure. */
import type { ServerStatus } from '../api/client.ts';
import { duration } from '../cli/duration.ts';
import { errorWords } from '../cli/paint.ts';
import type { Tone } from './line.ts';

interface Look {
  readonly sign: string;
  readonly tone: Tone;
  /** What needs a person comes first. */
  readonly rank: number;
}

const looks: Readonly<Record<string, Look>> = {
  failed: { sign: '✗', tone: 'bad', rank: 0 },
  'auth-required': { sign: '!', tone: 'bad', rank: 1 },
  'backing-off': { sign: '↻', tone: 'warn', rank: 2 },
  'session-lost': { sign: '↻', tone: 'warn', rank: 3 },
  reconnecting: { sign: '↻', tone: 'warn', rank: 4 },
  connecting: { sign: '…', tone: 'busy', rank: 5 },
  listing: { sign: '…', tone: 'busy', rank: 6 },
  ready: { sign: '●', tone: 'good', rank: 7 },
  idle: { sign: '○', tone: 'quiet', rank: 8 },
  stopping: { sign: '○', tone: 'quiet', rank: 9 },
  stopped: { sign: '○', tone: 'quiet', rank: 10 },
  disabled: { sign: '–', tone: 'quiet', rank: 11 },
  unobserved: { sign: '?', tone: 'quiet', rank: 12 },
};

/** A state always has a sign and its word beside its colour. */
export const lookOf = (state: string): Look => looks[state] ?? { sign: '?', tone: 'plain', rank: 13 };

export const transportWord = ({ transport }: Pick<ServerStatus, 'transport'>): string =>
  transport === null ? '?' : transport === 'streamable-http' ? 'http' : transport;

export const errorOf = ({ error }: Pick<ServerStatus, 'error'>): string => (error ? errorWords(error) : '');

/** `now`, or `in 12 s`; empty when nothing is planned. */
export function nextWords({ nextAttemptAt }: Pick<ServerStatus, 'nextAttemptAt'>, now: number): string {
  if (nextAttemptAt === null) return '';
  const wait = Date.parse(nextAttemptAt) - now;
  return wait <= 0 ? 'now' : `in ${Math.ceil(wait / 1000) < 60 ? `${Math.ceil(wait / 1000)} s` : duration(wait)}`;
}

const two = (number: number): string => String(number).padStart(2, '0');

/** `14:30:05`, in the reader's own zone. */
export function clock(iso: string): string {
  const at = new Date(iso);
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** The same with the day in front when it is another one than that of `now`. */
export function dayClock(iso: string, now: number): string {
  const [at, today] = [new Date(iso), new Date(now)];
  const same = at.toDateString() === today.toDateString();
  return same ? clock(iso) : `${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock(iso)}`;
}
