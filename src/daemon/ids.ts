import { randomBytes } from 'node:crypto';

const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz';

/** Random bytes are drawn many at a time: asking for a few costs as much as asking for thousands. */
const DRAWN = 4_096;
let drawn = Buffer.alloc(0);
let used = 0;

/** `length` letters that are easy to read and type. */
export function randomLetters(length: number): string {
  if (used + length > drawn.length) {
    drawn = randomBytes(Math.max(DRAWN, length));
    used = 0;
  }
  let letters = '';
  for (const end = used + length; used < end; used += 1) letters += LETTERS[(drawn[used] ?? 0) % LETTERS.length];
  return letters;
}

/** Id of a command: the `cause` of the facts it leads to. */
export const commandId = (): string => `c-${randomLetters(10)}`;

/** Id of a call: begins with the time, so that the ledger grows at its end. */
export const callId = (): string => `${Date.now().toString(36)}${randomLetters(5)}`;
