/** Requests that wait for input of a modern client, by the state the client is to bring back. */
import { randomBytes } from 'node:crypto';
import type { Flight } from './flight.ts';
import { codes, RpcFailure } from './rpc.ts';

/** Marks a state as one of ours; any other is the server's own and goes on to it. */
const MARK = 'wk1.';

export interface Parked {
  readonly flight: Flight;
  /** Whose request it is: token, endpoint, method and name. Nobody else may go on with it. */
  readonly owner: string;
}

export class ParkingLot {
  readonly #all = new Map<string, Parked & { readonly timer: NodeJS.Timeout }>();

  /** `keepMs`: how long the client has; `most`: with more than this waiting the oldest is given up. */
  constructor(
    readonly keepMs: number,
    readonly most: number,
  ) {}

  get size(): number {
    return this.#all.size;
  }

  /** The state for the client. */
  park(flight: Flight, owner: string): string {
    const state = `${MARK}${randomBytes(24).toString('base64url')}`;
    const timer = setTimeout(() => this.#giveUp(state), this.keepMs).unref();
    this.#all.set(state, { flight, owner, timer });
    const [oldest] = this.#all.keys();
    if (this.#all.size > this.most && oldest !== undefined) this.#giveUp(oldest);
    return state;
  }

  /** The request a state belongs to; null when the state is none of ours. Throws for one that is not, or no longer, valid. */
  take(state: unknown, owner: string): Flight | null {
    if (typeof state !== 'string' || !state.startsWith(MARK)) return null;
    const parked = this.#all.get(state);
    if (parked === undefined || parked.owner !== owner)
      throw new RpcFailure(
        codes.invalidParams,
        'Invalid params: the requestState is not, or no longer, known; call again.',
      );
    this.#all.delete(state);
    clearTimeout(parked.timer);
    return parked.flight;
  }

  close(): void {
    for (const state of [...this.#all.keys()]) this.#giveUp(state);
  }

  #giveUp(state: string): void {
    const parked = this.#all.get(state);
    if (parked === undefined) return;
    this.#all.delete(state);
    clearTimeout(parked.timer);
    parked.flight.cancel(new Error('The client did not come back with what it was asked for.'));
  }
}
