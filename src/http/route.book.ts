/** Which methods a path has, so that a wrong method is told from a wrong path. */
export function routeBook() {
  const methods = new Map<string, Set<string>>();
  return {
    add: (method: string | string[], pattern: string): void => {
      const known = methods.get(pattern) ?? new Set();
      for (const one of [method].flat()) known.add(one);
      methods.set(pattern, known);
    },
    /** Sorted; empty for a path that no route has. */
    methodsOf: (url: string): string[] => {
      const path = url.split('?', 1)[0] ?? '';
      const fitting = [...methods].filter(([pattern]) => fits(pattern, path)).flatMap(([, known]) => [...known]);
      return [...new Set(fitting)].toSorted();
    },
  };
}

function fits(pattern: string, path: string): boolean {
  const parts = pattern.split('/');
  const given = path.split('/');
  return parts.length === given.length && parts.every((part, at) => part === given[at] || isFilled(part, given[at]));
}

const isFilled = (part: string, given: string | undefined): boolean => part.startsWith(':') && given !== '';
