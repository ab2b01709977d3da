/** The name someone probably meant. Pure. */

/** How many single letters two words are apart; two neighbours that changed places count as one. */
export function distance(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1];
      let best = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]) {
        best = Math.min(best, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return last[other.length] ?? 0;
}

/**
 * The known name nearest to a mistyped one; undefined when none is near. Letter case does not count. Only spelling does: a
 * key of another program often begins like one of ours and means something else.
 */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  if (name.length > 64) return undefined;
  const allowed = Math.max(1, Math.floor(name.length / 4));
  let best: { name: string; far: number } | undefined;
  for (const candidate of known) {
    const far = distance(name.toLowerCase(), candidate.toLowerCase());
    if (far <= allowed && (best === undefined || far < best.far)) best = { name: candidate, far };
  }
  return best?.name;
}
