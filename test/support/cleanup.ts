/** What a test file leaves behind is ended here, last in first out, whether its tests passed or not. */

type Cleanup = () => void | Promise<void>;

const pending: Cleanup[] = [];

/** Runs `fn` when the test file is over. */
export function atEnd(fn: Cleanup): void {
  pending.push(fn);
}

/** test/support/setup.ts calls this after each test file; programs outside vitest call it themselves. */
export async function runCleanups(): Promise<void> {
  const failures: unknown[] = [];
  for (let fn = pending.pop(); fn !== undefined; fn = pending.pop()) {
    try {
      await fn();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'Something could not be cleaned up.');
}
