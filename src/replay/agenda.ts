/** What is still to come under a virtual clock: the earliest first, of the same moment the lowest rank, then the one put in first. */

export interface Due<What> {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly rank: number;
  readonly what: What;
}

export interface Agenda<What> {
  put(at: number, rank: number, what: What): void;
  /** null: nothing is left. */
  next(): Due<What> | null;
}

/** A binary heap. */
export function agenda<What>(): Agenda<What> {
  const heap: (Due<What> & { readonly turn: number })[] = [];
  let turns = 0;
  const before = (one: number, other: number): boolean => {
    const [a, b] = [heap[one], heap[other]];
    if (a === undefined || b === undefined) return false;
    if (a.at !== b.at) return a.at < b.at;
    return a.rank === b.rank ? a.turn < b.turn : a.rank < b.rank;
  };
  const swap = (one: number, other: number): void => {
    const [a, b] = [heap[one], heap[other]];
    if (a === undefined || b === undefined) return;
    heap[one] = b;
    heap[other] = a;
  };
  return {
    put(at, rank, what) {
      turns += 1;
      heap.push({ at, rank, what, turn: turns });
      for (let index = heap.length - 1; index > 0; ) {
        const parent = (index - 1) >> 1;
        if (!before(index, parent)) return;
        swap(index, parent);
        index = parent;
      }
    },
    next() {
      const [first] = heap;
      if (first === undefined) return null;
      const last = heap.pop();
      if (heap.length > 0 && last !== undefined) heap[0] = last;
      for (let index = 0; ; ) {
        const [left, right] = [2 * index + 1, 2 * index + 2];
        const child = before(right, left) ? right : left;
        if (!before(child, index)) return first;
        swap(child, index);
        index = child;
      }
    },
  };
}
