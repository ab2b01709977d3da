/**
 * Looks at a JSON schema a server sent: enough to say which tool will trouble a strict reader, and why. Nothing is
 * compiled and nothing is fetched; the walk does not recurse.
 */

export type Members = Readonly<Record<string, unknown>>;

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What is wrong with a schema, in words; empty when nothing was found. */
export function schemaProblems(schema: Members): string[] {
  const walk = new Walk(schema);
  walk.run();
  return [...walk.problems];
}

const TYPES = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);

/** Keywords whose value is one schema, a list of them, or schemas by name. Values of all others are data. */
const ONE = new Set([
  'additionalItems',
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const LIST = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const BY_NAME = new Set(['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties']);

/** Keywords that apply to the very same value: a circle of these has no end, one through `properties` is only recursion. */
const SAME_VALUE = new Set(['allOf', 'anyOf', 'dependentSchemas', 'else', 'if', 'not', 'oneOf', 'then']);

interface Visit {
  readonly node: Members;
  /** The schema that `#` means here: the whole, or the nearest one around with an `$id`. */
  readonly root: Members;
}

class Walk {
  readonly problems = new Set<string>();
  readonly #queue: Visit[] = [];
  readonly #seen = new Set<Members>();
  readonly #resources = new Map<string, Members>();
  readonly #anchors = new Map<Members, Map<string, Members>>();
  readonly #references: { readonly from: Members; readonly root: Members; readonly ref: string }[] = [];
  readonly #sameValue = new Map<Members, Members[]>();

  constructor(schema: Members) {
    this.#visit(schema, schema);
  }

  run(): void {
    this.#drain();
    // Following a reference may lead to a schema that stands under an unknown keyword and brings references of its own.
    for (let done = 0; done < this.#references.length; done++) {
      const reference = this.#references[done];
      if (reference) this.#follow(reference);
      this.#drain();
    }
    if (hasCircle(this.#sameValue)) this.problems.add('a $ref leads back to itself');
  }

  #drain(): void {
    for (let visit = this.#queue.pop(); visit; visit = this.#queue.pop()) this.#look(visit);
  }

  #visit(node: Members, root: Members): void {
    if (this.#seen.has(node)) return;
    this.#seen.add(node);
    this.#queue.push({ node, root });
  }

  #look({ node, root: around }: Visit): void {
    const root = typeof node.$id === 'string' && !node.$id.startsWith('#') ? node : around;
    if (root === node && typeof node.$id === 'string') this.#resources.set(withoutFragment(node.$id), node);
    for (const anchor of [node.$anchor, node.$dynamicAnchor]) {
      if (typeof anchor === 'string') this.#anchorsOf(root).set(anchor, node);
    }
    if (typeof node.$id === 'string' && node.$id.startsWith('#')) this.#anchorsOf(root).set(node.$id.slice(1), node);
    if (typeof node.$ref === 'string') this.#references.push({ from: node, root, ref: node.$ref });
    for (const problem of keywordProblems(node)) this.problems.add(problem);
    for (const [keyword, value] of Object.entries(node)) {
      for (const child of this.#children(keyword, value)) {
        this.#visit(child, root);
        if (SAME_VALUE.has(keyword)) this.#applies(node, child);
      }
    }
  }

  #children(keyword: string, value: unknown): Members[] {
    const schemas: readonly unknown[] =
      LIST.has(keyword) || (keyword === 'items' && Array.isArray(value))
        ? list(value)
        : BY_NAME.has(keyword)
          ? Object.values(isMembers(value) ? value : {})
          : ONE.has(keyword)
            ? [value]
            : [];
    if (schemas.some((schema) => typeof schema !== 'boolean' && !isMembers(schema))) {
      this.problems.add(`"${keyword}" holds something that is no schema`);
    }
    return schemas.filter(isMembers);
  }

  #applies(from: Members, to: Members): void {
    const known = this.#sameValue.get(from);
    if (known) known.push(to);
    else this.#sameValue.set(from, [to]);
  }

  #anchorsOf(root: Members): Map<string, Members> {
    const anchors = this.#anchors.get(root) ?? new Map<string, Members>();
    this.#anchors.set(root, anchors);
    return anchors;
  }

  #follow({ from, root, ref }: { readonly from: Members; readonly root: Members; readonly ref: string }): void {
    const document = withoutFragment(ref);
    const fragment = ref.slice(document.length + 1);
    const base = document === '' ? root : this.#resources.get(document);
    if (!base) {
      this.problems.add(`$ref ${shown(ref)} points to another document, which is not fetched`);
      return;
    }
    const target =
      fragment === '' || fragment.startsWith('/') ? atPointer(base, fragment) : this.#anchorsOf(base).get(fragment);
    if (isMembers(target)) {
      this.#visit(target, base);
      this.#applies(from, target);
    } else if (typeof target !== 'boolean') {
      this.problems.add(`$ref ${shown(ref)} points to nothing`);
    }
  }
}

function* keywordProblems(node: Members): Generator<string> {
  const { type, required, pattern, enum: values } = node;
  if (type !== undefined && !(Array.isArray(type) ? type : [type]).every((one) => TYPES.has(one))) {
    yield `"type" is ${shown(JSON.stringify(type))}, which JSON Schema does not know`;
  }
  if (required !== undefined && !isNames(required)) yield '"required" is not a list of names';
  if (values !== undefined && !Array.isArray(values)) yield '"enum" is not a list';
  if (pattern !== undefined && !isPattern(pattern)) yield '"pattern" is not a regular expression';
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    if (node[keyword] !== undefined && list(node[keyword]).length === 0) yield `"${keyword}" is not a list of schemas`;
  }
  for (const keyword of BY_NAME) {
    if (node[keyword] !== undefined && !isMembers(node[keyword])) yield `"${keyword}" is not an object`;
  }
}

export function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}

function isPattern(pattern: unknown): boolean {
  if (typeof pattern !== 'string') return false;
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
}

/** RFC 6901, as the fragment of a URI. Undefined where it leads nowhere. */
function atPointer(root: Members, pointer: string): unknown {
  let at: unknown = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Members)[key];
  }
  return at;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function hasCircle(edges: ReadonlyMap<Members, readonly Members[]>): boolean {
  const finished = new Set<Members>();
  for (const start of edges.keys()) {
    const path = [{ node: start, next: 0 }];
    const onPath = new Set([start]);
    for (let step = path.at(-1); step; step = path.at(-1)) {
      const to = finished.has(step.node) ? undefined : edges.get(step.node)?.[step.next];
      step.next += 1;
      if (to === undefined) {
        finished.add(step.node);
        onPath.delete(step.node);
        path.pop();
      } else if (onPath.has(to)) {
        return true;
      } else if (!finished.has(to)) {
        onPath.add(to);
        path.push({ node: to, next: 0 });
      }
    }
  }
  return false;
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const withoutFragment = (uri: string): string => uri.split('#', 1)[0] ?? '';

const shown = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);
