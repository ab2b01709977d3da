/** Near names for what was mistyped. Pure. */

/** Edits between two words; a swap of neighbours counts as one. */
function distance(one: string, other: string): number {
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

/** Up to three of `names` that `word` may have meant, nearest first: few typing errors away, or beginning with it. */
export function nearest(word: string, names: readonly string[]): string[] {
  const wanted = word.toLowerCase();
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  return [...new Set(names)]
    .map((name) => {
      const known = name.toLowerCase();
      const begins =
        wanted.length >= 2 && (known.startsWith(wanted) || (known.length >= 3 && wanted.startsWith(known)));
      return { name, far: begins ? 0.5 : distance(wanted, known) };
    })
    .filter(({ far }) => far <= limit)
    .sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1))
    .slice(0, 3)
    .map(({ name }) => name);
}

/** ` Did you mean "a" or "b"?`, or nothing when no name is near. */
export function didYouMean(word: string, names: readonly string[]): string {
  const near = nearest(word, names).map((name) => `"${name}"`);
  return near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
}
