/**
 * Turns what is heard on one channel into lines fit to be kept: masked, with labels for session ids, cut where too large.
 * It remembers what a later file needs in order to be read alone: what was agreed and the last lists.
 */
import type { WireTransport } from '../events/shapes.ts';
import type { HttpStatus, Tap, Traffic } from '../mcp/tap.ts';
import type { Agreed, Line, RecordedMessage, Sight } from './line.ts';
import { maskText, maskValue } from './mask.ts';
import { WholeLines } from './whole-lines.ts';

/** A session id shorter than this would be found in every other text. */
const SHORTEST_ID = 8;
/** What is kept of a text that is no protocol. */
const LONGEST_TEXT = 16_384;
/** Requests of ours whose answers may become known lists, at most. */
const MOST_ASKED = 1_000;

export interface ScribeOptions {
  readonly life: string;
  readonly transport: WireTransport;
  readonly redact: (text: string) => string;
  /** Bytes of JSON of one message. */
  readonly maxMessageBytes: number;
}

export class Scribe {
  readonly life: string;
  readonly #options: ScribeOptions;
  readonly #stderr = new WholeLines();
  readonly #sessions = new Map<string, string>();
  /** Lists asked for and not answered yet, by id. */
  readonly #asked = new Map<unknown, { method: string; params: RecordedMessage['params'] }>();
  readonly #lists = new Map<string, Extract<Sight, { is: 'known' }>>();
  #agreed: Agreed | null = null;
  #last = 0;

  constructor(options: ScribeOptions) {
    this.#options = options;
    this.life = options.life;
  }

  /** The lines for what was heard at `at` (ms since the epoch): usually one, none while a line of stderr is incomplete. */
  write(traffic: Traffic, at: number): readonly Line[] {
    return this.#sights(traffic).map((sight) => this.#line(sight, at));
  }

  /** The lines that make a new file readable alone; `joined`: the channel was open before the recording began. */
  begin(at: number, more: { joined?: true; again?: true } = {}): readonly Line[] {
    const { transport } = this.#options;
    const sights: Sight[] = [{ is: 'opened', transport, ...more }];
    if (this.#agreed !== null) sights.push({ is: 'agreed', ...this.#agreed });
    sights.push(...this.#lists.values());
    return sights.map((sight) => this.#line(sight, at));
  }

  /** What was agreed before anybody listened. */
  remember(agreement: NonNullable<Tap['agreement']>): void {
    this.#agreed = this.#masked({
      era: agreement.era,
      protocolVersion: agreement.protocolVersion,
      serverInfo: agreement.serverInfo,
      capabilities: agreement.capabilities,
      instructions: agreement.instructions,
      session: agreement.session,
    }) as Agreed;
  }

  rememberList(method: string, result: unknown): void {
    this.#lists.set(method, { is: 'known', method, result: this.#masked(result) });
  }

  #line(sight: Sight, at: number): Line {
    this.#last = Math.max(this.#last, Math.round(at));
    return { at: this.#last, life: this.life, ...sight };
  }

  #sights(traffic: Traffic): readonly Sight[] {
    switch (traffic.is) {
      case 'in':
      case 'out': {
        const message = this.#message(traffic.message);
        if (traffic.is === 'out') this.#noteAsked(message);
        else this.#noteAnswer(message);
        return [{ is: traffic.is, message, ...(traffic.x === undefined ? {} : { x: traffic.x }) }];
      }
      case 'stderr': {
        const text = this.#stderr.push(traffic.chunk, this.#redact);
        return text === '' ? [] : [{ is: 'stderr', text }];
      }
      case 'stdout':
        return [{ is: 'stdout', text: this.#text(traffic.text), ...(traffic.partial ? { partial: true } : {}) }];
      case 'exit': {
        const { exitCode, signal } = traffic;
        return [...this.#lastWords(), { is: 'exit', exitCode, signal }];
      }
      case 'closed':
        return [...this.#lastWords(), { is: 'closed' }];
      case 'status':
        return [this.#status(traffic)];
      case 'body':
        return [{ is: 'body', x: traffic.x, text: this.#text(traffic.text) }];
      case 'agreed':
        this.remember(traffic.agreement);
        return this.#agreed === null ? [] : [{ is: 'agreed', ...this.#agreed }];
      default:
        return [traffic];
    }
  }

  #lastWords(): readonly Sight[] {
    const text = this.#stderr.rest(this.#redact);
    return text === '' ? [] : [{ is: 'stderr', text }];
  }

  #message(message: RecordedMessage): RecordedMessage {
    const { id, method, params, result, error } = message;
    // Once as it came: what is too large is not worth the search for secrets.
    const bytes = sizeOf(message);
    if (bytes > this.#options.maxMessageBytes) {
      const name = params?.name;
      return {
        ...(id === undefined ? {} : { id }),
        ...(method === undefined ? {} : { method }),
        ...(typeof name === 'string' ? { params: this.#masked({ name }) as Record<string, unknown> } : {}),
        cut: bytes,
      };
    }
    return this.#masked({
      ...(id === undefined ? {} : { id }),
      ...(method === undefined ? {} : { method }),
      ...(params === undefined ? {} : { params }),
      ...(result === undefined ? {} : { result }),
      ...(error === undefined ? {} : { error }),
    }) as RecordedMessage;
  }

  #status({ session, text, challenge, ...rest }: HttpStatus): Sight {
    return {
      ...rest,
      ...(session === undefined ? {} : { session: this.#labelOf(session) }),
      ...(text === undefined ? {} : { text: this.#text(text) }),
      ...(challenge === undefined ? {} : { challenge: this.#redact(challenge) }),
    };
  }

  #noteAsked({ id, method, params, cut }: RecordedMessage): void {
    if (cut !== undefined || method === undefined || id === undefined || !method.endsWith('/list')) return;
    if (this.#asked.size < MOST_ASKED) this.#asked.set(id, { method, params: withoutMeta(params) });
  }

  #noteAnswer({ id, method, result, cut }: RecordedMessage): void {
    const asked = method === undefined ? this.#asked.get(id) : undefined;
    if (asked === undefined) return;
    this.#asked.delete(id);
    if (result === undefined || cut !== undefined) return;
    const { params } = asked;
    this.#lists.set(`${asked.method} ${JSON.stringify(params?.cursor)}`, {
      is: 'known',
      method: asked.method,
      ...(params === undefined ? {} : { params }),
      result,
    });
    if (params?.cursor === undefined) this.#lists.delete(asked.method);
  }

  #labelOf(session: string): string {
    const label = this.#sessions.get(session) ?? `session-${this.#sessions.size + 1}`;
    this.#sessions.set(session, label);
    return label;
  }

  #text = (text: string): string => {
    const masked = maskText(text, this.#redact);
    return masked.length > LONGEST_TEXT ? `${masked.slice(0, LONGEST_TEXT)}…` : masked;
  };

  readonly #redact = (text: string): string => {
    let masked = this.#options.redact(text);
    for (const [id, label] of this.#sessions) {
      if (id.length >= SHORTEST_ID && masked.includes(id)) masked = masked.replaceAll(id, label);
    }
    return masked;
  };

  #masked(value: unknown): unknown {
    return maskValue(value, this.#redact);
  }
}

function withoutMeta(params: RecordedMessage['params']): RecordedMessage['params'] {
  if (params === undefined) return undefined;
  const { _meta, ...rest } = params;
  return rest;
}

/** Bytes of its JSON; endless for a value that has none, so that it is not kept. */
function sizeOf(message: RecordedMessage): number {
  try {
    return Buffer.byteLength(JSON.stringify(message));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
