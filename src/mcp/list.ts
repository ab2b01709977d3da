/** The tool list: every page, as received. */
import type { ToolDefinition } from '../events/shapes.ts';
import { ConnectionError, type ToolList } from './connection.ts';
import { snippet } from './failure.ts';
import type { Link } from './link.ts';
import { isObject } from './message.ts';
import { paramHeaders } from './param-headers.ts';
import type { Answer } from './wire.ts';

/** No server has this many pages on purpose. */
const MAX_PAGES = 64;
const METHOD_NOT_FOUND = -32601;

/**
 * All pages joined. A page that fails fails the whole list, so that the list known before stays. A cursor that comes
 * back, or the 65th page, ends the reading: what was read is taken, with a warning. Rejects with a `ConnectionError`.
 */
export async function listTools(link: Link, signal: AbortSignal): Promise<ToolList> {
  if (link.failure !== null) throw new ConnectionError(link.failure);
  if (link.closed) throw new ConnectionError(link.fail('list', { seen: 'daemon', detail: 'the connection is closed' }));
  if (!isObject(link.agreement.capabilities.tools)) return { tools: [], warnings: [] };
  const gathered = new Gathered(link.agreement.era === 'modern' && link.agreement.transport === 'streamable-http');
  const cursors = new Set<string>();
  let cursor: string | null = null;
  for (let pages = 1; ; pages += 1) {
    const answer = await page(link, cursor, signal);
    if (answer.kind === 'error' && answer.error.code === METHOD_NOT_FOUND && pages === 1) {
      return { tools: [], warnings: ['the server declares tools but does not know tools/list'] };
    }
    if (answer.kind === 'error') {
      throw new ConnectionError(
        link.fail('list', { seen: 'rpc-error', code: answer.error.code, message: String(answer.error.message) }),
      );
    }
    if (answer.kind === 'fault') throw new ConnectionError(link.failure ?? link.fail('list', answer.observation));
    const { result } = answer;
    if (!isObject(result) || !Array.isArray(result.tools)) {
      throw new ConnectionError(
        link.fail('list', { seen: 'unparsable', detail: 'the server answered tools/list without a list of tools' }),
      );
    }
    gathered.add(result.tools);
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

async function page(link: Link, cursor: string | null, signal: AbortSignal): Promise<Answer> {
  const overdue = () => new ConnectionError(link.fail('list', { seen: 'time-limit' }));
  if (signal.aborted) throw overdue();
  const asked = link.wire.ask('tools/list', cursor === null ? {} : { cursor });
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

class Gathered {
  readonly #tools = new Map<string, ToolDefinition>();
  readonly #warnings: string[] = [];
  #nameless = 0;

  constructor(readonly checkHeaders: boolean) {}

  warn(message: string): void {
    this.#warnings.push(message);
  }

  add(tools: readonly unknown[]): void {
    for (const tool of tools) {
      if (!isObject(tool) || typeof tool.name !== 'string') {
        this.#nameless += 1;
        continue;
      }
      const name = tool.name;
      const marks = this.checkHeaders ? paramHeaders(tool.inputSchema) : null;
      if (this.#tools.has(name)) this.warn(`tool ${snippet(name, 80)} is listed twice; the first is kept`);
      else if (marks !== null && 'invalid' in marks)
        this.warn(`tool ${snippet(name, 80)} is left out: ${snippet(marks.invalid)}`);
      else this.#tools.set(name, tool as ToolDefinition);
    }
  }

  list(redact: (text: string) => string): ToolList {
    if (this.#nameless > 0)
      this.warn(`${this.#nameless} entr${this.#nameless === 1 ? 'y' : 'ies'} without a name left out`);
    return { tools: [...this.#tools.values()], warnings: [...new Set(this.#warnings)].map(redact) };
  }
}
