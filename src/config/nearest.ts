/** The name someone probably meant. Pure. */

/** Number of single-letter edits between two texts. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The known name nearest to a mistyped one; undefined when none is near. Letter case does not count. */
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
