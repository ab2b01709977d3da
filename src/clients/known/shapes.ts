/** Shapes that several clients share. */
import type { IdentifierRule, Place, Shape, System } from '../descriptor.ts';

export const bearer = { Authorization: 'Bearer {token}' };

export const urlAndHeaders: Shape = { url: '{url}', headers: bearer };
export const typedHttp: Shape = { type: 'http', url: '{url}', headers: bearer };
export const commandAndArgs: Shape = { command: '{command}', args: '{args}' };
export const typedStdio: Shape = { type: 'stdio', command: '{command}', args: '{args}' };

/** The same path below the home folder on every system. */
export const everywhere = (place: Place): Readonly<Record<System, Place>> => ({
  darwin: place,
  linux: place,
  win32: place,
});

/** Nothing is known of how it names tools, so nothing is ever said about it. */
export const unknownRule: IdentifierRule = {
  before: '',
  between: '',
  server: 'entry',
  serverMax: null,
  counts: 'whole',
  limit: null,
  allowed: null,
  cleans: false,
  effect: 'unknown',
};
