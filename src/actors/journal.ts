/** A stream without states: what is told is what is written (`config`, `daemon`). */
import type { Fact } from '../events/catalogue.ts';
import type { Rules } from './head.ts';

export function journalRules<F extends Fact>(): Rules<null, F, F> {
  return {
    initial: { state: '', context: null },
    next: () => null,
    evolve: () => null,
    decide: (_head, fact) => [fact],
  };
}
