import { setTimeout as pause } from 'node:timers/promises';

export interface UntilOptions {
  /** 10,000 by default. A bound against hanging, not a promise about speed. */
  limitMs?: number;
  everyMs?: number;
  /** What is waited for, for the error text. */
  what?: string;
}

/**
 * Asks `fn` again and again until it gives something truthy, and resolves with that. An exception counts as "not yet";
 * the last one is the cause of the error thrown at the limit.
 */
export async function until<Value>(
  fn: () => Value | Promise<Value>,
  { limitMs = 10_000, everyMs = 15, what = 'the condition' }: UntilOptions = {},
): Promise<NonNullable<Exclude<Value, false>>> {
  const limit = performance.now() + limitMs;
  let cause: unknown;
  for (;;) {
    try {
      const value = await fn();
      if (value) return value as NonNullable<Exclude<Value, false>>;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > limit) throw new Error(`Waited ${limitMs} ms in vain for ${what}.`, { cause });
    await pause(everyMs);
  }
}
