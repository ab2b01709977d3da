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
