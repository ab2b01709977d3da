/** Which limits can be asked about, and whether a wish for others makes sense. */

/**
 * In ms. The number of attempts is not among them: no server is given up for having failed often. Limits of calls are not
 * either: a call does not move its server.
 */
export const changeable = [
  'connectTimeoutMs',
  'listTimeoutMs',
  'pollIntervalMs',
  'stableMs',
  'backoffBaseMs',
  'backoffMaxMs',
] as const;
export type Changeable = (typeof changeable)[number];
export type Changes = Readonly<Partial<Record<Changeable, number>>>;

/** Longest delay a timer can take. */
const LONGEST_MS = 2 ** 31 - 1;

const isChangeable = (key: string): key is Changeable => (changeable as readonly string[]).includes(key);

/** What is wrong with a wish for other limits; null: nothing. Names the key, and what is known instead. */
export function wrongIn(set: Readonly<Record<string, unknown>>): string | null {
  for (const [key, value] of Object.entries(set)) {
    if (!isChangeable(key)) return `"${key}" cannot be changed. What can: ${changeable.join(', ')}.`;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > LONGEST_MS) {
      return `"${key}" has to be a whole number of milliseconds from 1 to ${LONGEST_MS}.`;
    }
  }
  return null;
}
