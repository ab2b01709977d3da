/** Changes of single resources: who wants to hear of which, and one wish of the hub's own to each server. */
import type { RelayError, WatchedResources } from '../mcp/connection.ts';
import type { Upstreams } from './upstreams.ts';

/** How long a server may take to say which resources it watches, in ms. */
const WATCH_MS = 10_000;

export class Watches {
  readonly #upstreams: Upstreams;
  /** Server, then its URI, then who wants to hear: each is told under its own spelling of the URI. */
  readonly #wanted = new Map<string, Map<string, Map<object, (params: Readonly<Record<string, unknown>>) => void>>>();
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(upstreams: Upstreams) {
    this.#upstreams = upstreams;
  }

  /** Resolves with the server's refusal, or null when it watches; a server that is away is asked when it is back. */
  async add(
    server: string,
    uri: string,
    party: object,
    tell: (params: Readonly<Record<string, unknown>>) => void,
  ): Promise<{ readonly error: RelayError | null } | null> {
    const ofServer = this.#wanted.get(server) ?? new Map();
    this.#wanted.set(server, ofServer);
    const isNew = !ofServer.has(uri);
    const parties = ofServer.get(uri) ?? new Map();
    ofServer.set(uri, parties.set(party, tell));
    if (!isNew) return null;
    const answer = await this.#say(server);
    const refused = answer?.refused.find((one) => one.uri === uri);
    if (refused === undefined) return null;
    this.remove(server, uri, party);
    return { error: refused.error };
  }

  remove(server: string, uri: string, party: object): void {
    const ofServer = this.#wanted.get(server);
    const parties = ofServer?.get(uri);
    if (!ofServer || !parties?.delete(party) || parties.size > 0) return;
    ofServer.delete(uri);
    if (ofServer.size === 0) this.#wanted.delete(server);
    void this.#say(server);
  }

  /** Everything one party wanted. */
  removeAll(party: object): void {
    for (const [server, uris] of [...this.#wanted]) for (const uri of [...uris.keys()]) this.remove(server, uri, party);
  }

  /** A new connection knows nothing of what was wanted. */
  joined(server: string): void {
    if (this.#wanted.has(server)) void this.#say(server);
  }

  updated(server: string, uri: unknown, params: Readonly<Record<string, unknown>>): void {
    if (typeof uri !== 'string') return;
    for (const tell of this.#wanted.get(server)?.get(uri)?.values() ?? []) tell(params);
  }

  /** The whole set each time, one wish after the other. */
  #say(server: string): Promise<WatchedResources | null> {
    const turn = (this.#turns.get(server) ?? Promise.resolve()).then(async () => {
      const { connection } = this.#upstreams.of(server);
      if (connection === null) return null;
      const uris = [...(this.#wanted.get(server)?.keys() ?? [])];
      return connection.watchResources(uris, AbortSignal.timeout(WATCH_MS)).catch(() => null);
    });
    this.#turns.set(server, turn);
    return turn;
  }
}
