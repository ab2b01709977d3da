import type { CancelSignal } from '../../mcp/cancel.ts';

/** Lets at most so many calls of one server run at once; the others wait in order. */
export class Turnstile {
  readonly #inside = new Map<string, number>();
  readonly #queues = new Map<string, (() => void)[]>();

  /** Resolves with the way out once there is room; rejects with the signal's reason. `limit` null: always room. */
  async enter(server: string, limit: number | null, signal: CancelSignal): Promise<() => void> {
    if (limit === null) return () => {};
    signal.throwIfAborted();
    if ((this.#inside.get(server) ?? 0) >= limit) await this.#queue(server, signal);
    else this.#inside.set(server, (this.#inside.get(server) ?? 0) + 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#leave(server);
    };
  }

  #queue(server: string, signal: CancelSignal): Promise<void> {
    const queue = this.#queues.get(server) ?? [];
    this.#queues.set(server, queue);
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        queue.splice(queue.indexOf(enter), 1);
        reject(signal.reason);
      };
      queue.push(enter);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** The place goes to the one who waits longest. */
  #leave(server: string): void {
    const next = this.#queues.get(server)?.shift();
    if (next) next();
    else this.#inside.set(server, Math.max(0, (this.#inside.get(server) ?? 0) - 1));
  }
}
