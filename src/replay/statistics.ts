/** What the analyses of the log count with. Pure. */

export interface Percentiles {
  readonly count: number;
  /** Milliseconds; null when there is nothing to count. */
  readonly p50: number | null;
  readonly p90: number | null;
  readonly p99: number | null;
}

/** Durations counted by their length: below 100 ms to a tenth, above to the millisecond, so that millions take little room. */
export class Tally {
  readonly #counts = new Map<number, number>();
  #total = 0;

  add(ms: number): void {
    const length = ms < 100 ? Math.round(ms * 10) / 10 : Math.round(ms);
    this.#counts.set(length, (this.#counts.get(length) ?? 0) + 1);
    this.#total += 1;
  }

  /** By the nearest rank: always a duration that was measured. */
  percentiles(): Percentiles {
    const lengths = [...this.#counts.keys()].sort((a, b) => a - b);
    const at = (share: number): number | null => {
      let left = Math.max(1, Math.ceil(share * this.#total));
      for (const length of lengths) {
        left -= this.#counts.get(length) ?? 0;
        if (left <= 0) return length;
      }
      return null;
    };
    return { count: this.#total, p50: at(0.5), p90: at(0.9), p99: at(0.99) };
  }
}

/**
 * An upper bound of the chance to see `support` or more of `of` independent cases when each has the chance `each`
 * (Chernoff); 1 where nothing can be said.
 */
export function chanceOf(support: number, of: number, each: number): number {
  if (of === 0 || each >= 1 || support / of <= each) return 1;
  if (each <= 0) return 0;
  const share = support / of;
  const rest = share === 1 ? 0 : (1 - share) * Math.log((1 - share) / (1 - each));
  return Math.exp(-of * (share * Math.log(share / each) + rest));
}

/** The most numbers that lie close together: indexes of the first and behind the last. `sorted` ascends. */
export function densest(sorted: readonly number[], reach: (least: number) => number): { from: number; to: number } {
  let best = { from: 0, to: 0 };
  let to = 0;
  for (let from = 0; from < sorted.length; from += 1) {
    const end = (sorted[from] ?? 0) + reach(sorted[from] ?? 0);
    while (to < sorted.length && (sorted[to] ?? 0) <= end) to += 1;
    if (to - from > best.to - best.from) best = { from, to };
  }
  return best;
}

/** A stretch of time, ms since the epoch. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Overlapping and touching stretches as one. `spans` ascend by `from`. */
export function united(spans: readonly Span[]): Span[] {
  const whole: { from: number; to: number }[] = [];
  for (const { from, to } of spans) {
    const last = whole.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else whole.push({ from, to });
  }
  return whole;
}

/** How much of some stretches others cover, in ms. Both ascend and overlap in themselves nowhere. */
export function overlap(some: readonly Span[], others: readonly Span[]): number {
  let sum = 0;
  const first = some[0]?.from ?? 0;
  let at = firstWhere(others, ({ to }) => to > first);
  for (const { from, to } of some) {
    while (at < others.length && (others[at]?.to ?? 0) <= from) at += 1;
    for (let next = at; next < others.length; next += 1) {
      const other = others[next];
      if (!other || other.from >= to) break;
      sum += Math.min(to, other.to) - Math.max(from, other.from);
    }
  }
  return sum;
}

export const lengthOf = (spans: readonly Span[]): number => spans.reduce((sum, { from, to }) => sum + to - from, 0);

/** Index of the first element for which `reached` holds; it holds for all that follow. */
export function firstWhere<T>(list: readonly T[], reached: (item: T) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (reached(list[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
