/**
 * Cancelling what costs next to nothing when nobody cancels. Every call on its way has three who may end it, and an
 * AbortSignal of the platform takes longer to make than the rest of what they do.
 */

/** What users of a signal need; an `AbortSignal` is one. */
export interface CancelSignal {
  readonly aborted: boolean;
  /** As given to `abort`. */
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * The reason of a caller that says it no longer wants what it asked for. One that merely goes away, or gives up waiting,
 * has said nothing about it.
 */
export class NotWanted extends Error {
  override readonly name = 'NotWanted';
}

/** Like an `AbortController` that is its own signal; listeners are called once, in order. */
export class Cancel implements CancelSignal {
  aborted = false;
  reason: unknown = undefined;
  #listeners: (() => void)[] | null = null;
  #native: AbortController | null = null;

  get signal(): CancelSignal {
    return this;
  }

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    this.#listeners = null;
    for (const listener of listeners ?? []) listener();
    this.#native?.abort(reason);
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.aborted) return;
    this.#listeners ??= [];
    if (!this.#listeners.includes(listener)) this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners?.indexOf(listener) ?? -1;
    if (at >= 0) this.#listeners?.splice(at, 1);
  }

  /** For what the platform offers. */
  get native(): AbortSignal {
    this.#native ??= new AbortController();
    if (this.aborted) this.#native.abort(this.reason);
    return this.#native.signal;
  }
}

/** The same signal as the platform knows it. */
export function nativeSignal(signal: CancelSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  if (signal instanceof Cancel) return signal.native;
  const controller = new AbortController();
  if (signal.aborted) controller.abort(signal.reason);
  else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
  return controller.signal;
}

/** Ends with the first of several. */
export const anyOf = (...signals: readonly CancelSignal[]): AbortSignal => AbortSignal.any(signals.map(nativeSignal));
