/** Work of one turn of the loop, in ms: calls and timers that come meanwhile wait no longer. */
const TURN_MS = 5;

/** Runs an analysis to its end and lets everything else have its turn in between. Rejects with what it throws. */
export async function inTurns<T>(steps: Generator<void, T>): Promise<T> {
  for (;;) {
    const until = performance.now() + TURN_MS;
    do {
      const { done, value } = steps.next();
      if (done) return value;
    } while (performance.now() < until);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
