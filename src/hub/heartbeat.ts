/** One timer for everything that has to show a sign of life now and then. */
export interface Beating {
  beat(): void;
}

export class Heartbeat {
  readonly #everyMs: number;
  readonly #all = new Set<Beating>();
  #timer: NodeJS.Timeout | null = null;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** `beat` is called with every tick until `remove`; the first tick may come sooner than a whole interval. */
  add(one: Beating): void {
    this.#all.add(one);
    this.#timer ??= setInterval(() => this.#tick(), this.#everyMs).unref();
  }

  remove(one: Beating): void {
    this.#all.delete(one);
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    this.#all.clear();
  }

  #tick(): void {
    if (this.#all.size === 0) this.stop();
    for (const one of [...this.#all]) one.beat();
  }
}
