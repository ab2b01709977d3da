/** When each client last used the daemon: shown, and not worth a fact. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomic } from '../config/files.ts';
import { isObject } from '../config/raw.ts';

/** How long a use may wait to be written down, in ms. */
const SAVE_MS = 5_000;

export class ClientUse {
  readonly #file: string;
  readonly #at = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(dataDir: string) {
    this.#file = join(dataDir, 'clients.used.json');
    try {
      const known: unknown = JSON.parse(readFileSync(this.#file, 'utf8'));
      for (const [id, at] of Object.entries(isObject(known) ? known : {}))
        if (typeof at === 'number') this.#at.set(id, at);
    } catch {
      // Nothing is known yet.
    }
  }

  /** Milliseconds since the epoch. */
  note(id: string, now: number): void {
    this.#at.set(id, now);
    this.#timer ??= setTimeout(() => void this.save(), SAVE_MS).unref();
  }

  at(id: string): number | undefined {
    return this.#at.get(id);
  }

  /** Never rejects: a time that is lost does no harm. */
  async save(): Promise<void> {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await writeAtomic(this.#file, `${JSON.stringify(Object.fromEntries(this.#at))}\n`).catch(() => undefined);
  }
}
