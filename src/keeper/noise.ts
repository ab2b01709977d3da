/** What servers wrote to stdout that is not protocol: no facts, but a reason to look at. The newest few of each. */
const KEPT = 5;
const TELLS = /stdout that is not protocol/;

export interface Heard {
  readonly at: number;
  readonly text: string;
}

export class Noises {
  readonly #heard = new Map<string, Heard[]>();

  /** A warning about a server; others than about its stdout are none of ours. `at` in ms since the epoch. */
  note(server: string, text: string, at: number): void {
    if (!TELLS.test(text)) return;
    this.#heard.set(server, [...(this.#heard.get(server) ?? []), { at, text }].slice(-KEPT));
  }

  of(server: string): readonly Heard[] {
    return this.#heard.get(server) ?? [];
  }
}
