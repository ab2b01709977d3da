/** Where two pieces of plain data differ first: `context.failures`, with both values. */
export interface Difference {
  readonly path: string;
  readonly one: unknown;
  readonly other: unknown;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** null: they are the same. A member that is undefined is as good as none, as in JSON. */
export function firstDifference(one: unknown, other: unknown, path = ''): Difference | null {
  if (Object.is(one, other)) return null;
  const within = (key: string): string => (path === '' ? key : `${path}.${key}`);
  if (Array.isArray(one) && Array.isArray(other)) {
    if (one.length !== other.length) return { path: within('length'), one: one.length, other: other.length };
    for (let index = 0; index < one.length; index += 1) {
      const found = firstDifference(one[index], other[index], within(String(index)));
      if (found) return found;
    }
    return null;
  }
  if (!isObject(one) || !isObject(other)) return { path, one, other };
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const found = firstDifference(one[key], other[key], within(key));
    if (found) return found;
  }
  return null;
}
