import { setImmediate as turn } from 'node:timers/promises';
import { unhurried } from '../replay/unhurried.ts';

/** Work of one turn of the loop, in ms: calls and timers that come meanwhile wait no longer. */
const TURN_MS = 5;

/** Runs an analysis to its end and lets everything else have its turn in between. Rejects with what it throws. */
export function inTurns<T>(steps: Generator<unknown, T>): Promise<T> {
  let until = performance.now() + TURN_MS;
  const breathe = async (): Promise<void> => {
    await turn();
    until = performance.now() + TURN_MS;
  };
  return unhurried(steps, () => (performance.now() < until ? undefined : breathe()));
}
