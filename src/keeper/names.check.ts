/** Whether tools keep names that clients take. Pure. */
import type { Check } from '../replay/verdict.ts';

/** What most clients put in front of a name when the entry is called `watchkeeper`. */
const IN_FRONT = 'mcp__watchkeeper__';
/** Longer names are dropped or refused by most models. */
const LONGEST = 64;

/** `listed`: the names of one server's tools on `/mcp`; null when there are none yet. */
export function namesCheck(server: string, listed: readonly string[]): Check | null {
  if (listed.length === 0) return null;
  const whole = (name: string): number => IN_FRONT.length + [...name].length;
  const long = listed.filter((name) => whole(name) > LONGEST);
  const longest = listed.reduce((most, name) => Math.max(most, whole(name)), 0);
  if (long.length === 0) {
    const detail = `the longest of ${listed.length} names has ${longest} of ${LONGEST} characters, with ${IN_FRONT} in front`;
    return { name: 'tool-names', ok: true, detail, next: null };
  }
  return {
    name: 'tool-names',
    ok: false,
    detail: `${long.length} of ${listed.length} names have more than ${LONGEST} characters with ${IN_FRONT} in front, such as ${long[0]}; clients may drop them`,
    next: `Let clients use /mcp/${server}, write a short "tool_prefix", or leave tools out with "exclude"`,
  };
}
