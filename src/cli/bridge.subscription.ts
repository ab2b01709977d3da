/**
 * One `subscriptions/listen` of a client, kept over breaks of the connection to the daemon: the client hears of one
 * acknowledgement and of no end, and after a break of whatever may have changed meanwhile. Pure.
 */
import { asLine, isObject, type Members, type Message, metaOf, type Said, SUBSCRIPTION_ID } from './bridge.messages.ts';

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const CHANGES: Readonly<Record<string, string>> = {
  toolsListChanged: 'notifications/tools/list_changed',
  promptsListChanged: 'notifications/prompts/list_changed',
  resourcesListChanged: 'notifications/resources/list_changed',
};

export class Subscription {
  readonly #id: Message['id'];
  /** What the daemon said it will tell of; null before it said anything. */
  #honoured: Members | null = null;
  #over = false;

  constructor(id: Message['id']) {
    this.#id = id;
  }

  /** Nothing more comes: the client has its answer. */
  get over(): boolean {
    return this.#over;
  }

  get acknowledged(): boolean {
    return this.#honoured !== null;
  }

  /** Lines for the client when the daemon says this. */
  heard(said: Said, data: string): readonly string[] {
    if (said.method === ACKNOWLEDGED) return this.#acknowledged(said, data);
    if (said.method !== undefined) return [data];
    if (said.id !== this.#id && said.id !== null) return [];
    // A daemon that stops ends the subscriptions that tell of anything; the next one takes them over.
    if (said.error === undefined && Object.keys(this.#honoured ?? {}).length > 0) return [];
    this.#over = true;
    return [said.id === null ? asLine({ ...said, id: this.#id }) : data];
  }

  #acknowledged({ params }: Said, data: string): readonly string[] {
    const before = this.#honoured;
    this.#honoured = isObject(params?.notifications) ? params.notifications : {};
    if (before === null) return [data];
    const own = { [SUBSCRIPTION_ID]: metaOf(params)[SUBSCRIPTION_ID] ?? this.#id };
    const lists = Object.entries(CHANGES).filter(([flag]) => this.#honoured?.[flag] === true);
    const uris = Array.isArray(this.#honoured.resourceSubscriptions) ? this.#honoured.resourceSubscriptions : [];
    return [
      ...lists.map(([, method]) => asLine({ method, params: { _meta: own } })),
      ...uris.map((uri) => asLine({ method: 'notifications/resources/updated', params: { uri, _meta: own } })),
    ];
  }
}
