/** How a server fared, in a row of small bars. Pure. */
import type { Tone } from './line.ts';

/** A stretch of time in one state; times in ms since the epoch, `to` null: it goes on. */
export interface Stretch {
  readonly state: string;
  readonly from: number;
  readonly to: number | null;
}

export interface Bar {
  readonly text: string;
  readonly tone: Tone;
}

const steps = '▁▂▃▄▅▆▇█';
const resting = new Set(['disabled', 'stopped', 'stopping', 'idle']);

/** Milliseconds of `[from, to)` that a stretch covers. */
const overlap = (stretch: Stretch, from: number, to: number): number =>
  Math.max(0, Math.min(stretch.to ?? Number.POSITIVE_INFINITY, to) - Math.max(stretch.from, from));

/**
 * A bar for each `cells`th part of the time: its height is the share that was ready of the time meant to run. `·`: it was
 * not to run; a blank: nobody watched.
 */
export function sparkline(stretches: readonly Stretch[], from: number, to: number, cells: number): readonly Bar[] {
  const width = (to - from) / cells;
  return Array.from({ length: cells }, (_, index) => {
    const [begin, end] = [from + index * width, from + (index + 1) * width];
    let [ready, wanted, rest] = [0, 0, 0];
    for (const stretch of stretches) {
      const ms = overlap(stretch, begin, end);
      if (ms === 0 || stretch.state === 'unobserved') continue;
      if (resting.has(stretch.state)) rest += ms;
      else wanted += ms;
      if (stretch.state === 'ready') ready += ms;
    }
    if (wanted === 0) return { text: rest > 0 ? '·' : ' ', tone: 'quiet' };
    const share = ready / wanted;
    // Only what was ready throughout is a whole bar.
    const height = share >= 1 ? 7 : Math.min(6, Math.floor(share * 7));
    return { text: steps[height] ?? '▁', tone: share >= 0.99 ? 'good' : share >= 0.5 ? 'warn' : 'bad' };
  });
}
