import { randomBytes } from 'node:crypto';

const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz';

/** `length` letters that are easy to read and type. */
export const randomLetters = (length: number): string =>
  [...randomBytes(length)].map((byte) => LETTERS[byte % LETTERS.length]).join('');

/** Id of a command: the `cause` of the facts it leads to. */
export const commandId = (): string => `c-${randomLetters(10)}`;

/** Id of a call: begins with the time, so that the ledger grows at its end. */
export const callId = (): string => `${Date.now().toString(36)}${randomLetters(5)}`;
