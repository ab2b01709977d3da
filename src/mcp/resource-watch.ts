/** Single resources whose changes are wanted: subscribed to one by one (legacy), or named on a stream of their own (modern). */
import { CallError, type RelayError, type WatchedResources } from './connection.ts';
import type { Link } from './link.ts';
import type { Listen } from './listen.ts';
import { keepPush } from './push.ts';
import { relay } from './relay.ts';

const SUBSCRIBE_MS = 30_000;
const INTERNAL_ERROR = -32603;

export class ResourceWatch {
  readonly #link: Link;
  readonly #listen: Listen | null;
  /** Changes of this resource may have been missed. */
  readonly #missed: (uri: string) => void;
  #subscribed: ReadonlySet<string> = new Set();
  #stream: AbortController | null = null;
  #turn: Promise<unknown> = Promise.resolve();
  #wanted = 0;

  constructor(link: Link, listen: Listen | null, missed: (uri: string) => void) {
    this.#link = link;
    this.#listen = listen;
    this.#missed = missed;
  }

  /** One change after the other, in the order they were asked for. Never rejects. */
  set(uris: readonly string[], signal: AbortSignal): Promise<WatchedResources> {
    const wanted = [...new Set(uris)];
    this.#wanted = wanted.length;
    const done = this.#turn.then(() =>
      this.#listen === null ? this.#subscribe(wanted, signal) : this.#open(this.#listen, wanted, signal),
    );
    this.#turn = done;
    return done;
  }

  /** Nothing is watched any more: what the server says until it has heard of that concerns nobody. */
  get idle(): boolean {
    return this.#wanted === 0;
  }

  end(): void {
    this.#stream?.abort();
  }

  async #subscribe(wanted: readonly string[], signal: AbortSignal): Promise<WatchedResources> {
    const before = this.#subscribed;
    const gone = [...before].filter((uri) => !wanted.includes(uri));
    // A server that will not let go of one sends updates nobody asks for, and no harm comes of that.
    const leaving = gone.map((uri) => this.#ask('resources/unsubscribe', uri, signal));
    const results = wanted.map(async (uri) => ({
      uri,
      error: before.has(uri) ? null : await this.#ask('resources/subscribe', uri, signal),
    }));
    const answered = await Promise.all(results);
    await Promise.all(leaving);
    const watched = answered.filter(({ error }) => error === null).map(({ uri }) => uri);
    this.#subscribed = new Set(watched);
    return { watched, refused: answered.filter(({ error }) => error !== null) };
  }

  async #ask(method: string, uri: string, signal: AbortSignal): Promise<RelayError | null> {
    const sending = { method, params: { uri }, words: method };
    try {
      const answer = await relay(this.#link, sending, { signal, idleMs: SUBSCRIBE_MS, maxMs: SUBSCRIBE_MS });
      return answer.kind === 'error' ? answer.error : null;
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      return { code: INTERNAL_ERROR, message: error.message };
    }
  }

  /** The new stream is open before the old one ends, so that nothing is missed in between. */
  #open(listen: Listen, wanted: readonly string[], signal: AbortSignal): Promise<WatchedResources> {
    const old = this.#stream;
    if (wanted.length === 0 || this.#link.closed || this.#link.failure !== null) {
      old?.abort();
      this.#stream = null;
      return Promise.resolve({ watched: [], refused: wanted.map((uri) => ({ uri, error: null })) });
    }
    const stop = new AbortController();
    this.#stream = stop;
    return new Promise((resolve) => {
      const settle = (watched: readonly string[]) => {
        signal.removeEventListener('abort', none);
        old?.abort();
        const refused = wanted.filter((uri) => !watched.includes(uri)).map((uri) => ({ uri, error: null }));
        resolve({ watched: wanted.filter((uri) => watched.includes(uri)), refused });
      };
      const none = () => settle([]);
      signal.addEventListener('abort', none, { once: true });
      const open = listen({ resourceSubscriptions: wanted }, ({ resourceSubscriptions }) =>
        settle(resourceSubscriptions ?? []),
      );
      const report = (push: boolean) => {
        if (!push) none();
      };
      const missed = () => {
        for (const uri of wanted) this.#missed(uri);
      };
      void keepPush(open, report, missed, stop.signal).then(none);
    });
  }
}
