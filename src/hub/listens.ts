/** `subscriptions/listen` of the modern era: one long answer that carries the changes its client asked for. */
import type { CancelSignal } from '../mcp/cancel.ts';
import type { Message } from '../mcp/message.ts';
import { isObject } from '../mcp/message.ts';
import type { Changes, Listener, ListName } from './changes.ts';
import type { ResourceFinder } from './resource.finder.ts';
import { keys } from './revisions.ts';
import { codes, type Members, metaOf, type RequestId, RpcFailure } from './rpc.ts';
import type { Watches } from './watches.ts';

/** How many may be open at once. */
const MOST = 1_024;
/** How long servers may take to say which resources they watch, in ms; the client is told without them then. */
const ACK_MS = 2_000;

export interface ListenAsked {
  readonly id: RequestId;
  readonly params: Members;
  readonly server: string | undefined;
  readonly sees: (server: string) => boolean;
  /** Ends when the client closes the stream. */
  readonly signal: CancelSignal;
  say(message: Message): void;
}

export interface ListensOptions {
  readonly finder: ResourceFinder;
  readonly watches: Watches;
  /** Made after this one: each needs the other. */
  readonly changes: () => Changes;
}

interface Open extends Listener {
  end(): void;
}

const FLAGS: Readonly<Record<ListName, string>> = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
};

export class Listens {
  readonly #open = new Set<Open>();
  readonly #options: ListensOptions;

  constructor(options: ListensOptions) {
    this.#options = options;
  }

  [Symbol.iterator](): IterableIterator<Listener> {
    return this.#open.values();
  }

  /** Resolves with the result once the subscription ends in good order; a client that goes away needs none. */
  async listen({ id, params, server, sees, signal, say }: ListenAsked): Promise<Members> {
    const { notifications: wanted } = params;
    if (!isObject(wanted))
      throw new RpcFailure(codes.invalidParams, 'Invalid params: "notifications" must be an object.');
    if (this.#open.size >= MOST) throw new RpcFailure(codes.internal, `${MOST} subscriptions are open; end one first.`);
    const tell = (method: string, more: Members = {}): void =>
      say({ jsonrpc: '2.0', method, params: { ...more, _meta: { ...metaOf(more), [keys.subscriptionId]: id } } });

    let end: () => void = () => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    const told: (() => void)[] = [];
    let acknowledged = false;
    const later = (what: () => void): void => {
      if (acknowledged) what();
      else told.push(what);
    };
    const open: Open = {
      server,
      end,
      changed: (list) => {
        if (wanted[FLAGS[list]] === true) later(() => tell(`notifications/${list}/list_changed`));
      },
    };
    this.#open.add(open);
    this.#options.changes().watch(server);
    try {
      const uris = Array.isArray(wanted.resourceSubscriptions) ? wanted.resourceSubscriptions : [];
      const watched = await this.#watch(uris, { server, sees }, open, (more) =>
        later(() => tell('notifications/resources/updated', more)),
      );
      const flags = Object.values(FLAGS).filter((flag) => wanted[flag] === true);
      const honoured = {
        ...Object.fromEntries(flags.map((flag) => [flag, true])),
        ...(watched.length > 0 ? { resourceSubscriptions: watched } : {}),
      };
      if (signal.aborted) return {};
      tell('notifications/subscriptions/acknowledged', { notifications: honoured });
      acknowledged = true;
      for (const what of told) what();
      if (Object.keys(honoured).length > 0) await over;
    } finally {
      this.#open.delete(open);
      this.#options.watches.removeAll(open);
    }
    return { _meta: { [keys.subscriptionId]: id } };
  }

  /** Ends all in good order. */
  close(): void {
    for (const { end } of this.#open) end();
  }

  async #watch(
    uris: readonly unknown[],
    { server, sees }: Pick<ListenAsked, 'server' | 'sees'>,
    party: object,
    tell: (params: Members) => void,
  ): Promise<readonly string[]> {
    const { finder, watches } = this.#options;
    const watched: string[] = [];
    const all = uris.map(async (given) => {
      if (typeof given !== 'string') return;
      const found = await finder.find(given, server, sees).catch(() => null);
      if (found === null) return;
      const refusal = await watches.add(found.server, found.uri, party, (params) => tell({ ...params, uri: given }));
      if (refusal === null) watched.push(given);
    });
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise((resolve) => {
      timer = setTimeout(resolve, ACK_MS);
    });
    if (all.length > 0) await Promise.race([Promise.all(all), patience]);
    clearTimeout(timer);
    return [...watched];
  }
}
