/** One server as the hub sees it: its connection now, the lists it gave last, and the requests that are with it. */
import type {
  Connection,
  ListKind,
  RawList,
  ServerNotification,
  ServerReply,
  ServerRequest,
} from '../mcp/connection.ts';
import { isObject } from '../mcp/message.ts';
import { Roster } from '../roster.ts';
import type { Flight } from './flight.ts';
import { codes, type Members } from './rpc.ts';

/** A list of a server that announces no changes is read again when it is older than this and asked for, in ms. */
const FRESH_MS = 2_000;
/** How long a caller of a list waits for a server, in ms; after that it gets what was known before. */
const PATIENCE_MS = 300;
/** The same where nothing is known yet and the server is there. */
const FIRST_PATIENCE_MS = 1_500;

/** Questions of one request that come this close together may be asked at once, in ms. */
const TOGETHER_MS = 50;

export const KINDS: readonly ListKind[] = ['prompts', 'resources', 'resourceTemplates'];

interface Known {
  readonly list: RawList;
  readonly text: string;
  /** Of `performance.now()`. */
  readonly at: number;
}

export interface UpstreamOptions {
  readonly name: string;
  readonly listTimeoutMs: () => number;
  /** A list differs from the one known before. */
  readonly onChanged: (kind: ListKind) => void;
  readonly onNotification: (notification: ServerNotification) => void;
}

export class Upstream {
  readonly name: string;
  /** Requests the server has not answered yet. */
  readonly flights = new Roster<Flight>();
  connection: Connection | null = null;
  /** What the server declared last, also when it is away. */
  capabilities: Members | null = null;

  readonly #options: UpstreamOptions;
  readonly #known = new Map<ListKind, Known>();
  readonly #reading = new Map<ListKind, Promise<void>>();
  readonly #again = new Set<ListKind>();
  #leave: () => void = () => {};

  constructor(options: UpstreamOptions) {
    this.#options = options;
    this.name = options.name;
  }

  /** A new connection took the place of the one before. */
  join(connection: Connection): void {
    if (this.connection === connection) return;
    this.#leave();
    this.connection = connection;
    this.capabilities = connection.agreement.capabilities;
    const abort = new AbortController();
    const deafen = connection.onNotification((notification) => this.#heard(notification));
    connection.onServerRequest((request) => this.#asked(request));
    const leave = (): void => {
      if (abort.signal.aborted) return;
      abort.abort();
      deafen();
      if (this.connection === connection) this.connection = null;
    };
    this.#leave = leave;
    this.#reading.clear();
    void connection.lost.then(leave);
    for (const kind of KINDS) void this.#read(kind);
  }

  /** The connection was closed on purpose. */
  part(): void {
    this.#leave();
  }

  /** The list known last, read anew first where that is quick and might tell something new. Never rejects. */
  async list(kind: ListKind): Promise<RawList | null> {
    const known = this.#known.get(kind);
    const isTold = known !== undefined && (this.#announces(kind) || performance.now() - known.at < FRESH_MS);
    if (this.connection !== null && !isTold) {
      await atMost(known === undefined ? FIRST_PATIENCE_MS : PATIENCE_MS, this.#read(kind));
    }
    return this.#known.get(kind)?.list ?? null;
  }

  /** The list known last, without asking. */
  lastList(kind: ListKind): RawList | null {
    return this.#known.get(kind)?.list ?? null;
  }

  /** The request a message of the server belongs to; null when that cannot be told. */
  flightOf(related: number | null): Flight | null {
    if (related === null) return null;
    return this.flights.find(({ sent }) => sent.includes(related)) ?? null;
  }

  #announces(kind: ListKind): boolean {
    const declared = this.capabilities?.[kind === 'prompts' ? 'prompts' : 'resources'];
    return isObject(declared) && declared.listChanged === true;
  }

  /** One reading at a time; what is announced meanwhile leads to one more. */
  #read(kind: ListKind): Promise<void> {
    const under = this.#reading.get(kind);
    if (under !== undefined) return under;
    const { connection } = this;
    if (connection === null) return Promise.resolve();
    const reading = connection
      .listAll(kind, AbortSignal.timeout(this.#options.listTimeoutMs()))
      .then((list) => this.#take(kind, list, connection))
      // The list known before stays; what ails the server is told elsewhere.
      .catch(() => {})
      .then(() => {
        if (this.#reading.get(kind) !== reading) return;
        this.#reading.delete(kind);
        if (this.#again.delete(kind)) void this.#read(kind);
      });
    this.#reading.set(kind, reading);
    return reading;
  }

  #take(kind: ListKind, list: RawList, connection: Connection): void {
    if (this.connection !== connection) return;
    const text = JSON.stringify(list.items);
    const before = this.#known.get(kind);
    this.#known.set(kind, { list, text, at: performance.now() });
    // The first list is a change only if it says anything.
    if (text !== (before?.text ?? '[]')) this.#options.onChanged(kind);
  }

  #heard(notification: ServerNotification): void {
    const kinds = CHANGES[notification.method];
    if (kinds === undefined) this.#options.onNotification(notification);
    for (const kind of kinds ?? []) {
      if (this.#reading.has(kind)) this.#again.add(kind);
      else void this.#read(kind);
    }
  }

  /**
   * A request of a legacy server goes to the client whose request it belongs to. Where the server does not say which one
   * that is, it goes on only if there is no doubt: one client alone has requests with this server that could ask now.
   */
  async #asked({ method, params, related, signal }: ServerRequest): Promise<ServerReply> {
    const flight = this.flightOf(related) ?? this.#onlyFlight();
    if (flight !== null) return flight.ask(method, params, signal);
    if (method === 'roots/list' && this.flights.size === 0) return { result: { roots: [] } };
    const message =
      this.flights.size === 0
        ? `No client of the hub is in the middle of a request to this server; nobody can answer ${method}.`
        : `Several clients have requests with this server, and it does not say whose it means; ${method} cannot be passed on.`;
    return { error: { code: codes.internal, message } };
  }

  /** A request whose last question is not answered yet is taken to wait for that, and to ask nothing else meanwhile. */
  #onlyFlight(): Flight | null {
    const flights = this.flights.values().filter(({ asksSince }) => asksSince === null || asksSince < TOGETHER_MS);
    const parties = new Set(flights.map(({ peer }) => peer?.party ?? null));
    return parties.size === 1 ? (flights.at(-1) ?? null) : null;
  }
}

const CHANGES: Readonly<Record<string, readonly ListKind[]>> = {
  'notifications/prompts/list_changed': ['prompts'],
  'notifications/resources/list_changed': ['resources', 'resourceTemplates'],
};

/** Resolves with the promise or after `ms`. */
function atMost(ms: number, promise: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void promise.finally(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
