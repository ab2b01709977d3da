/** One timer for everything that has to show a sign of life now and then. */
import { Roster } from '../roster.ts';

export interface Beating {
  beat(): void;
}

export class Heartbeat {
  readonly #everyMs: number;
  readonly #all = new Roster<Beating>();
  #timer: NodeJS.Timeout | null = null;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** `beat` is called with every tick until `remove` of the number; the first tick may come sooner than a whole interval. */
  add(one: Beating): number {
    this.#timer ??= setInterval(() => this.#tick(), this.#everyMs).unref();
    return this.#all.add(one);
  }

  remove(number: number): void {
    this.#all.delete(number);
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    this.#all.clear();
  }

  #tick(): void {
    if (this.#all.size === 0) this.stop();
    for (const one of this.#all.values()) one.beat();
  }
}
