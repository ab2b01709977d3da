/** Text on stdout that is not protocol: said once, counted after that. */
import { snippet } from './failure.ts';

const SAMPLE_LENGTH = 120;
const QUIET_MS = 60_000;

export class Noise {
  #since = 0;
  #lastSaid = Number.NEGATIVE_INFINITY;

  constructor(
    readonly warn: (message: string) => void,
    readonly now: () => number = () => performance.now(),
  ) {}

  /** `text` must already be masked. */
  heard(text: () => string): void {
    this.#since += 1;
    const now = this.now();
    if (now - this.#lastSaid < QUIET_MS) return;
    const more = this.#since > 1 ? ` (${this.#since} lines since the last warning)` : '';
    this.#lastSaid = now;
    this.#since = 0;
    this.warn(
      `wrote a line to stdout that is not protocol, and it was skipped${more}: ${snippet(text(), SAMPLE_LENGTH)}`,
    );
  }
}
