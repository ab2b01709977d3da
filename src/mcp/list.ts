/** Lists of a server: every page, as received. */
import type { ToolDefinition } from '../events/shapes.ts';
import { type CacheHint, ConnectionError, type ListKind, type RawList, type ToolList } from './connection.ts';
import { rpcErrorIn, snippet } from './failure.ts';
import type { Link } from './link.ts';
import { isObject } from './message.ts';
import { paramHeaders } from './param-headers.ts';
import type { Answer } from './wire.ts';

/** No server has this many pages on purpose. */
const MAX_PAGES = 64;
const METHOD_NOT_FOUND = -32601;

type Item = Readonly<Record<string, unknown>>;

interface Kind {
  readonly method: string;
  /** The member of the result that holds the list. */
  readonly member: string;
  /** The member of an entry that tells it from the others. */
  readonly key: string;
  /** The capability that declares it. */
  readonly capability: string;
  readonly word: string;
}

const tools: Kind = { method: 'tools/list', member: 'tools', key: 'name', capability: 'tools', word: 'tool' };

const kinds: Readonly<Record<ListKind, Kind>> = {
  prompts: { method: 'prompts/list', member: 'prompts', key: 'name', capability: 'prompts', word: 'prompt' },
  resources: { method: 'resources/list', member: 'resources', key: 'uri', capability: 'resources', word: 'resource' },
  resourceTemplates: {
    method: 'resources/templates/list',
    member: 'resourceTemplates',
    key: 'uriTemplate',
    capability: 'resources',
    word: 'resource template',
  },
};

/**
 * All pages joined. A page that fails fails the whole list, so that the list known before stays. A cursor that comes
 * back, or the 65th page, ends the reading: what was read is taken, with a warning. Rejects with a `ConnectionError`.
 */
export async function listTools(link: Link, signal: AbortSignal): Promise<ToolList> {
  const headersMatter = link.agreement.era === 'modern' && link.agreement.transport === 'streamable-http';
  const { items, ...list } = await readPages(link, tools, signal, headersMatter ? unusable : () => null);
  return { tools: items as readonly Item[] as readonly ToolDefinition[], ...list };
}

/** The same for another list. Rejects with a `ConnectionError`. */
export function listAll(link: Link, kind: ListKind, signal: AbortSignal): Promise<RawList> {
  return readPages(link, kinds[kind], signal, () => null);
}

async function readPages(
  link: Link,
  kind: Kind,
  signal: AbortSignal,
  refusal: (item: Item) => string | null,
): Promise<RawList> {
  const { method, member } = kind;
  if (link.failure !== null) throw new ConnectionError(link.failure);
  if (link.closed) throw new ConnectionError(link.fail('list', { seen: 'daemon', detail: 'the connection is closed' }));
  if (!isObject(link.agreement.capabilities[kind.capability])) return { items: [], warnings: [] };
  const gathered = new Gathered(kind, refusal);
  const cursors = new Set<string>();
  let cursor: string | null = null;
  for (let pages = 1; ; pages += 1) {
    const answer = await page(link, method, cursor, signal);
    if (pages === 1 && isUnknownMethod(answer)) {
      // Servers with resources and no templates are common, and nothing is wrong with them.
      return { items: [], warnings: kind === tools ? ['the server declares tools but does not know tools/list'] : [] };
    }
    if (answer.kind === 'error') {
      throw new ConnectionError(
        link.fail('list', { seen: 'rpc-error', code: answer.error.code, message: String(answer.error.message) }),
      );
    }
    if (answer.kind === 'fault') throw new ConnectionError(link.failure ?? link.fail('list', answer.observation));
    const { result } = answer;
    const items = isObject(result) ? result[member] : undefined;
    if (!isObject(result) || !Array.isArray(items)) {
      throw new ConnectionError(
        link.fail('list', { seen: 'unparsable', detail: `the server answered ${method} without a list of ${member}` }),
      );
    }
    gathered.add(items);
    gathered.keep(result);
    const next = result.nextCursor;
    if (next === undefined || next === null || next === '') break;
    if (typeof next !== 'string') {
      gathered.warn('the cursor of the next page is not text; the list ends there');
      break;
    }
    if (cursors.has(next)) {
      gathered.warn(`the pages go round in a circle; the list ends after ${pages}`);
      break;
    }
    if (pages === MAX_PAGES) {
      gathered.warn(`the list has more than ${MAX_PAGES} pages; the rest is left out`);
      break;
    }
    cursors.add(next);
    cursor = next;
  }
  return gathered.list(link.redact);
}

/** In the modern era the error comes with HTTP 404. */
function isUnknownMethod(answer: Answer): boolean {
  if (answer.kind === 'error') return answer.error.code === METHOD_NOT_FOUND;
  return (
    answer.kind === 'fault' &&
    answer.observation.seen === 'status' &&
    rpcErrorIn(answer.observation.text)?.code === METHOD_NOT_FOUND
  );
}

async function page(link: Link, method: string, cursor: string | null, signal: AbortSignal): Promise<Answer> {
  const overdue = () => new ConnectionError(link.fail('list', { seen: 'time-limit' }));
  if (signal.aborted) throw overdue();
  const asked = link.wire.ask(method, cursor === null ? {} : { cursor });
  let stop: () => void = () => {};
  const aborted = new Promise<'aborted'>((resolve) => {
    stop = () => resolve('aborted');
    signal.addEventListener('abort', stop, { once: true });
  });
  const answer = await Promise.race([asked.answer, aborted]);
  signal.removeEventListener('abort', stop);
  if (answer === 'aborted') {
    void asked.cancel('the time for the list is over');
    throw overdue();
  }
  link.noteLoss('list', answer);
  const refusal = link.sessionRefusal(answer);
  if (refusal !== null) throw new ConnectionError(link.fail('list', refusal));
  return answer;
}

/** Why a tool cannot be called as its server wants it. */
function unusable({ inputSchema }: Item): string | null {
  const marks = paramHeaders(inputSchema);
  return 'invalid' in marks ? marks.invalid : null;
}

class Gathered {
  readonly #kind: Kind;
  readonly #refusal: (item: Item) => string | null;
  readonly #items = new Map<string, Item>();
  readonly #warnings: string[] = [];
  #nameless = 0;
  readonly #hints: (CacheHint | null)[] = [];

  constructor(kind: Kind, refusal: (item: Item) => string | null) {
    this.#kind = kind;
    this.#refusal = refusal;
  }

  warn(message: string): void {
    this.#warnings.push(message);
  }

  add(items: readonly unknown[]): void {
    const { key, word } = this.#kind;
    for (const item of items) {
      const name = isObject(item) ? item[key] : undefined;
      if (!isObject(item) || typeof name !== 'string') {
        this.#nameless += 1;
        continue;
      }
      const refusal = this.#refusal(item);
      if (this.#items.has(name)) this.warn(`${word} ${snippet(name, 80)} is listed twice; the first is kept`);
      else if (refusal !== null) this.warn(`${word} ${snippet(name, 80)} is left out: ${snippet(refusal)}`);
      else this.#items.set(name, item);
    }
  }

  /** The hint of one page. */
  keep({ ttlMs, cacheScope }: Item): void {
    const given = typeof ttlMs === 'number' && ttlMs >= 0;
    this.#hints.push(given ? { ttlMs, cacheScope: cacheScope === 'public' ? 'public' : 'private' } : null);
  }

  list(redact: (text: string) => string): RawList {
    if (this.#nameless > 0)
      this.warn(
        `${this.#nameless} entr${this.#nameless === 1 ? 'y' : 'ies'} without a ${keyWord(this.#kind.key)} left out`,
      );
    const warnings = [...new Set(this.#warnings)].map(redact);
    const items = [...this.#items.values()];
    const cache = weakest(this.#hints);
    return cache === null ? { items, warnings } : { items, warnings, cache };
  }
}

/** A page without a hint among pages with one may not be kept at all. */
function weakest(hints: readonly (CacheHint | null)[]): CacheHint | null {
  if (hints.every((hint) => hint === null)) return null;
  return {
    ttlMs: Math.min(...hints.map((hint) => hint?.ttlMs ?? 0)),
    cacheScope: hints.every((hint) => hint?.cacheScope === 'public') ? 'public' : 'private',
  };
}

const keyWord = (key: string): string => (key === 'name' ? 'name' : key === 'uri' ? 'URI' : 'URI template');
