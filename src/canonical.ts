/**
 * JSON text of a value with the keys of every object sorted by code unit: equal values give equal text, however they
 * were written. Expects JSON values; members that are `undefined` are left out, as `JSON.stringify` does.
 * Walks without recursion, because a server decides how deep its JSON is.
 */
export function canonicalJson(value: unknown): string {
  // What most tools are asked with is written so already.
  if (isPlainAndSorted(value)) return JSON.stringify(value);
  let text = '';
  const open: Container[] = [];

  const write = (item: unknown): void => {
    if (typeof item !== 'object' || item === null) {
      text += JSON.stringify(item) ?? 'null';
      return;
    }
    const container = contain(item);
    text += container.keys ? '{' : '[';
    open.push(container);
  };

  write(value);
  for (let container = open.at(-1); container; container = open.at(-1)) {
    const { keys, values, next } = container;
    if (next === values.length) {
      text += keys ? '}' : ']';
      open.pop();
      continue;
    }
    if (next > 0) text += ',';
    if (keys) text += `${JSON.stringify(keys[next])}:`;
    container.next = next + 1;
    write(values[next]);
  }
  return text;
}

/** An object of scalars, with its keys in order. */
function isPlainAndSorted(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  let last: string | undefined;
  for (const [key, member] of Object.entries(value)) {
    if (typeof member === 'object' && member !== null) return false;
    if (last !== undefined && key < last) return false;
    last = key;
  }
  return true;
}

interface Container {
  readonly keys: readonly string[] | null;
  readonly values: readonly unknown[];
  next: number;
}

function contain(item: object): Container {
  if (Array.isArray(item)) return { keys: null, values: item, next: 0 };
  const members = item as Readonly<Record<string, unknown>>;
  const keys = Object.keys(members)
    .filter((key) => members[key] !== undefined)
    .sort();
  return { keys, values: keys.map((key) => members[key]), next: 0 };
}

/** Deeper JSON breaks writers and readers on the way (the built-in one ends between 4,000 and 6,000 levels). */
export const MAX_DEPTH = 256;

/**
 * Whether containers stand inside containers more than `MAX_DEPTH` deep: what comes from outside is not taken then, since
 * nothing could write it again.
 */
export const isTooDeep = (value: unknown): boolean => reaches(value, MAX_DEPTH);

/** Goes no further down than it is told, so that it may call itself. */
function reaches(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (reaches(item, levels - 1)) return true;
    return false;
  }
  for (const key in value) if (reaches((value as Readonly<Record<string, unknown>>)[key], levels - 1)) return true;
  return false;
}
