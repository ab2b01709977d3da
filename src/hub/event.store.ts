/** What a session sent on its streams lately, so that a client whose connection broke can ask for the rest. Bounded. */

export interface StoredEvent {
  readonly id: string;
  readonly text: string;
}

interface Entry extends StoredEvent {
  readonly stream: number;
  readonly seq: number;
}

export interface StoreLimits {
  readonly events: number;
  /** Characters in all. */
  readonly size: number;
}

export const usualStore: StoreLimits = { events: 256, size: 1024 * 1024 };

export class EventStore {
  readonly #limits: StoreLimits;
  #entries: Entry[] = [];
  #size = 0;
  #seq = 0;

  constructor(limits: StoreLimits = usualStore) {
    this.#limits = limits;
  }

  /** The id of an event that holds nothing and is not kept: where a stream begins. */
  mark(stream: number): string {
    this.#seq += 1;
    return `${stream}-${this.#seq}`;
  }

  /** Keeps an event and gives it its id. The oldest ones go when there are too many. */
  add(stream: number, text: string): string {
    this.#seq += 1;
    const id = `${stream}-${this.#seq}`;
    this.#entries.push({ stream, seq: this.#seq, id, text });
    this.#size += text.length;
    let gone = 0;
    while (
      this.#entries.length - gone > this.#limits.events ||
      (this.#size > this.#limits.size && this.#entries.length - gone > 1)
    ) {
      this.#size -= this.#entries[gone]?.text.length ?? 0;
      gone += 1;
    }
    if (gone > 0) this.#entries = this.#entries.slice(gone);
    return id;
  }

  /** The stream an event belongs to and what came on it afterwards; null for an id that was never given. */
  after(id: string): { readonly stream: number; readonly events: readonly StoredEvent[] } | null {
    const found = /^(\d{1,15})-(\d{1,15})$/.exec(id);
    if (found === null) return null;
    const stream = Number(found[1]);
    const seq = Number(found[2]);
    if (seq > this.#seq) return null;
    return { stream, events: this.#entries.filter((entry) => entry.stream === stream && entry.seq > seq) };
  }
}
