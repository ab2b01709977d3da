/** Names a server may have, and better ones for those it may not have. Pure. */

const shape = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;

/** Longest name a server may have, in characters. */
export const maxNameLength = 40;

/** Orders texts by code unit, as everything here is sorted. */
export const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * What is wrong with a server name, as the end of a sentence that begins with the name; null when nothing is.
 * `__` and a trailing `_` are refused because `mcp__<server>__<tool>` must name exactly one server.
 */
export function nameFault(name: string): string | null {
  if (name === '') return 'is empty';
  if (name.length > maxNameLength) return `is longer than ${maxNameLength} characters`;
  if (!shape.test(name)) return 'may hold only letters, digits, `_` and `-`, and begins with a letter or digit';
  if (name.includes('__')) return 'must not hold `__`, which separates server and tool';
  if (name.endsWith('_')) return 'must not end with `_`';
  return null;
}

export const isServerName = (name: string): boolean => nameFault(name) === null;

/** The valid name nearest to `name` that `taken` does not hold. A valid name that is free comes back as it is. */
export function suggestName(name: string, taken: ReadonlySet<string> = new Set()): string {
  if (isServerName(name) && !taken.has(name)) return name;
  const cleaned = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/_{2,}/g, '_')
    .replace(/^[_-]+|[_-]+$/g, '');
  const base = cut(cleaned, maxNameLength) || 'server';
  if (!taken.has(base)) return base;
  for (let n = 2; ; n += 1) {
    const candidate = `${cut(base, maxNameLength - `-${n}`.length)}-${n}`;
    if (!taken.has(candidate)) return candidate;
  }
}

/** What `config fix` does: a valid and free name for each name that is not valid, in the order given. */
export function planRenames(names: readonly string[]): readonly { readonly from: string; readonly to: string }[] {
  const taken = new Set(names);
  return names
    .filter((name) => !isServerName(name))
    .map((from) => {
      const to = suggestName(from, taken);
      taken.add(to);
      return { from, to };
    });
}

const cut = (name: string, length: number): string => name.slice(0, length).replace(/[_-]+$/, '');
