/**
 * Does work that yields now and then to its end. `breathe` is awaited at each yield: it may let others have the event loop,
 * or answer at once.
 */
export async function unhurried<T>(
  work: Generator<unknown, T>,
  breathe: () => Promise<unknown> | undefined,
): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    await breathe();
  }
}

/** The same without a pause. */
export function atOnce<T>(work: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
