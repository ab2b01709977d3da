/** How states look: a sign, a word and a tone, so that none of the three is needed to tell them apart. Pure. */
import type { ServerStatus } from '../api/client.ts';
import type { Tone } from './line.ts';

export interface Look {
  readonly sign: string;
  readonly tone: Tone;
}

const looks: Readonly<Record<ServerStatus['state'] | 'unobserved', Look>> = {
  ready: { sign: '●', tone: 'good' },
  connecting: { sign: '◌', tone: 'busy' },
  listing: { sign: '◌', tone: 'busy' },
  reconnecting: { sign: '◐', tone: 'warn' },
  'session-lost': { sign: '◐', tone: 'warn' },
  'backing-off': { sign: '◔', tone: 'warn' },
  'auth-required': { sign: '?', tone: 'bad' },
  failed: { sign: '✕', tone: 'bad' },
  idle: { sign: '○', tone: 'quiet' },
  stopping: { sign: '○', tone: 'quiet' },
  stopped: { sign: '○', tone: 'quiet' },
  disabled: { sign: '–', tone: 'quiet' },
  unobserved: { sign: ' ', tone: 'quiet' },
};

export const lookOf = (state: string): Look =>
  Object.hasOwn(looks, state) ? looks[state as ServerStatus['state']] : { sign: ' ', tone: 'plain' };

/** Short where the column is narrow. */
export const transportWord = (transport: ServerStatus['transport'], short: boolean): string =>
  transport === 'streamable-http' && short ? 'http' : (transport ?? '');
