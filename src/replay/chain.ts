/** Follows the audit chain through the log and says where it breaks. Pure; hashing is given from outside. */
import { CHAIN_START, type ChainedRow, chainText } from '../events/chain.ts';

export type Row = ChainedRow & { readonly chain: string | null };

/**
 * `edited`: the hash does not fit, so the fact, its hash or the one before was changed. `gap`: facts are missing before
 * this one. `unchained`: a fact without a hash where one has to be. `cut`: facts at the end are missing. `ledger`: the
 * ledger shows something else than the facts say.
 */
export interface Finding {
  readonly position: number;
  readonly kind: 'edited' | 'gap' | 'unchained' | 'cut' | 'ledger';
  readonly message: string;
}

export class ChainCheck {
  readonly #hash: (text: string) => string;
  /** A hash noted earlier, looked for on the way. */
  readonly #expected: string | undefined;
  #last = 0;
  #before: string | null = null;
  #seen = false;
  facts = 0;
  /** Facts of before there was a chain. */
  unchained = 0;
  /** Where the chain begins; null while nothing is chained. */
  from: number | null = null;
  tip: { readonly position: number; readonly hash: string; readonly at: number } | null = null;
  expectedAt: number | null = null;

  constructor(hash: (text: string) => string, expected?: string) {
    this.#hash = hash;
    this.#expected = expected;
  }

  /** Rows in the order of their positions. */
  *take(row: Row): Generator<Finding> {
    const { position, chain } = row;
    const missing = this.#last + 1;
    const afterGap = position !== missing;
    if (afterGap) yield gap(missing, position);
    this.#last = position;
    this.facts += 1;
    if (chain === null) {
      if (this.#seen) yield { position, kind: 'unchained', message: `Fact ${position} (${row.type}) has no hash.` };
      else this.unchained += 1;
      this.#before = null;
      return;
    }
    this.from ??= position;
    // After a gap, or a fact that lost its hash, there is nothing to go on from; that was said already.
    const before = afterGap ? null : this.#seen ? this.#before : CHAIN_START;
    if (before !== null && this.#hash(chainText(before, row)) !== chain) yield edited(row);
    this.#seen = true;
    this.#before = chain;
    this.tip = { position, hash: chain, at: row.at };
    if (chain === this.#expected) this.expectedAt = position;
  }
}

function gap(from: number, next: number): Finding {
  const missing = next - from === 1 ? `Fact ${from} is` : `Facts ${from} to ${next - 1} are`;
  return { position: next, kind: 'gap', message: `${missing} missing before ${next}.` };
}

const edited = ({ position, type, stream }: Row): Finding => ({
  position,
  kind: 'edited',
  message: `Fact ${position} (${type} of ${stream}) is not what was written, or the hash before it is not.`,
});
