/** Advice that stands in an answer, for people. Pure. */
import type { View } from './command.ts';

/** Commands that advice of ours names, for the places that were given: `watchkeeper up` → `watchkeeper --data d up`. */
export const adviceFor = (text: string, { program = 'watchkeeper' }: View): string =>
  text.replace(/(?<![\w./-])watchkeeper (?=[a-z])/g, () => `${program} `);
