/** Turns `key=value` words into the arguments of a tool. Pure. */

type Json = Readonly<Record<string, unknown>>;

export type ToolArguments = { readonly arguments: Record<string, unknown> } | { readonly wrong: string };

const kindOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
};

const isObject = (value: unknown): value is Json => kindOf(value) === 'object';

/** The JSON types a property's schema allows; null when it does not say. */
function allowedKinds(property: unknown): ReadonlySet<string> | null {
  if (!isObject(property)) return null;
  const { type, anyOf, oneOf, enum: choices } = property;
  if (typeof type === 'string') return new Set([type]);
  if (Array.isArray(type)) return new Set(type.map(String));
  if (Array.isArray(choices)) return new Set(choices.map(kindOf));
  const branches = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : null;
  if (!branches) return null;
  const kinds = branches.map(allowedKinds);
  return kinds.some((kind) => kind === null) ? null : new Set(kinds.flatMap((kind) => [...(kind ?? [])]));
}

function parsed(text: string): { readonly value: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    // A long id would lose digits as a number.
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) return null;
    return { value };
  } catch {
    return null;
  }
}

function valueFrom(text: string, property: unknown): unknown {
  const json = parsed(text);
  if (!json) return text;
  const kinds = allowedKinds(property);
  if (!kinds) return json.value;
  const kind = kindOf(json.value);
  const fits = kind !== 'string' && (kinds.has(kind) || (kind === 'number' && kinds.has('integer')));
  return fits || !kinds.has('string') ? json.value : text;
}

/**
 * Reads `key=value` words. A value is JSON when it parses and the tool's input schema does not want text there,
 * else it is text: `zip=01234` and `id=5` stay text for a string property.
 */
export function readPairs(words: readonly string[], inputSchema: unknown): ToolArguments {
  const properties = isObject(inputSchema) && isObject(inputSchema.properties) ? inputSchema.properties : {};
  const pairs = new Map<string, unknown>();
  for (const word of words) {
    const split = word.indexOf('=');
    if (split < 1) return { wrong: `"${word}" is not of the form key=value.` };
    const key = word.slice(0, split);
    if (pairs.has(key)) return { wrong: `"${key}" is given twice; a list is written as ${key}='["a","b"]'.` };
    pairs.set(key, valueFrom(word.slice(split + 1), Object.hasOwn(properties, key) ? properties[key] : undefined));
  }
  return { arguments: Object.fromEntries(pairs) };
}

/** Reads the text of `--json-args`, which must be one JSON object. */
export function readJsonArguments(text: string): ToolArguments {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return { arguments: { ...value } };
    return { wrong: `--json-args wants a JSON object, not ${kindOf(value)}.` };
  } catch (error) {
    return { wrong: `--json-args is not valid JSON: ${error instanceof Error ? error.message : String(error)}.` };
  }
}
