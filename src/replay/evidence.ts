/** Finding in what is known of the outside how something goes that begins at a given moment. */
import type { Attempt, Lasted, Outside } from './outside.ts';

/**
 * How an answer is assumed. `careful`: the outside is as it was last seen to be, and what had not answered when it was cut
 * never would have. `hopeful`: it already is as it was seen next, and what was cut would have answered a moment later.
 */
export type Temper = 'careful' | 'hopeful';

/** What was recorded, and whether it is the very thing that begins now or only one like it. */
export interface Found<Thing> {
  readonly thing: Thing | null;
  readonly same: boolean;
}

export interface Evidence {
  /** How an attempt goes that begins at `time`. */
  attempt(time: number): Found<Attempt>;
  closing(time: number): Found<Lasted>;
  waiting(time: number): Found<Lasted>;
  /** An attempt near `time` that was answered, for the answer itself. */
  connectedNear(time: number): Attempt | null;
  listedNear(time: number): Attempt | null;
}

export function evidenceOf(outside: Outside, temper: Temper): Evidence {
  const { attempts } = outside;
  // What we ended ourselves before it was answered shows nothing.
  const answered = attempts.filter(
    ({ connected, end }) => connected !== null || (end !== null && end.kind !== 'ended'),
  );
  const connected = attempts.filter((attempt) => attempt.connected !== null);
  const listed = attempts.filter((attempt) => attempt.listed !== null);
  /** Two things can begin within one millisecond; each is taken once. */
  const taken = new Set<object>();

  const exactly = <Thing extends object>(list: readonly Thing[], from: (thing: Thing) => number, time: number) => {
    for (let index = place(list, from, time - 1); index < list.length; index += 1) {
      const thing = list[index];
      if (thing === undefined || from(thing) !== time) return null;
      if (taken.has(thing)) continue;
      taken.add(thing);
      return thing;
    }
    return null;
  };
  const lasted = (list: readonly Lasted[], time: number): Found<Lasted> => {
    const from = (one: Lasted): number => one.from;
    const same = exactly(list, from, time);
    if (same) return { thing: same, same: true };
    return { thing: list[Math.max(0, place(list, from, time) - 1)] ?? null, same: false };
  };
  const near = (list: readonly Attempt[], time: number): Attempt | null => next(list, time) ?? last(list, time);

  return {
    attempt(time) {
      const same = exactly(attempts, startOf, time);
      if (same) return { thing: same, same: true };
      const [before, after] = [last(answered, time), next(answered, time)];
      if (before === null) return { thing: after, same: false };
      // Once a connection was lost, that it could be made before says nothing.
      const wasLost = before.end?.kind === 'lost' && before.end.at <= time;
      const isUp = before.listed !== null && !wasLost;
      const later = wasLost || (temper === 'hopeful' && !isUp);
      return { thing: later ? (after ?? before) : before, same: false };
    },
    closing: (time) => lasted(outside.closings, time),
    waiting: (time) => lasted(outside.waits, time),
    connectedNear: (time) => near(connected, time),
    listedNear: (time) => near(listed, time),
  };
}

const startOf = ({ startedAt }: Attempt): number => startedAt;

/** The newest that began at `time` or before. */
const last = (attempts: readonly Attempt[], time: number): Attempt | null =>
  attempts[place(attempts, startOf, time) - 1] ?? null;

/** The first that began after `time`. */
const next = (attempts: readonly Attempt[], time: number): Attempt | null =>
  attempts[place(attempts, startOf, time)] ?? null;

/** How many of an ascending list began at `time` or before. */
function place<Thing>(list: readonly Thing[], from: (thing: Thing) => number, time: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const thing = list[middle];
    if (thing !== undefined && from(thing) <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}
