/** What somebody who types a name may have meant. Pure. */
import { distance } from '../config/nearest.ts';

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
