/**
 * `include` and `exclude` of an entry, matched against a tool's own name, whole and case-sensitive.
 * `*` is any run of characters, also of `/` and `.`, `?` is one character, everything else stands for itself.
 */

export type NamePredicate = (tool: string) => boolean;

/** Whether a tool passes: any of `include` (none given: every tool) and none of `exclude`. */
export function toolFilter(include: readonly string[], exclude: readonly string[]): NamePredicate {
  const wanted = include.map(glob);
  const unwanted = exclude.map(glob);
  return (tool) => (wanted.length === 0 || wanted.some((fits) => fits(tool))) && !unwanted.some((fits) => fits(tool));
}

/** A predicate for one pattern. Takes at most pattern times name steps, so that no pattern can stall the daemon. */
export function glob(pattern: string): NamePredicate {
  const wanted = [...pattern];
  return (tool) => matches(wanted, [...tool]);
}

function matches(pattern: readonly string[], name: readonly string[]): boolean {
  let at = 0;
  let star = -1;
  let afterStar = 0;
  for (let read = 0; read < name.length; ) {
    if (pattern[at] === '*') {
      star = at;
      at += 1;
      afterStar = read;
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === name[read])) {
      at += 1;
      read += 1;
    } else if (star >= 0) {
      // Let the last star take one character more and try again from there.
      afterStar += 1;
      read = afterStar;
      at = star + 1;
    } else {
      return false;
    }
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}
