/** Log messages of servers: to whom they go, and how much servers are asked for. */
import type { ServerNotification } from '../mcp/connection.ts';
import { isObject } from '../mcp/message.ts';
import { mostTalkative, reaches } from './log.levels.ts';
import type { Relay } from './relay.ts';
import type { Session } from './session.ts';
import type { Upstream } from './upstream.ts';

export class Logging {
  readonly #sessions: Iterable<Session>;
  readonly #relay: Pick<Relay, 'limitsOf'>;

  readonly #sees: (client: string, server: string) => boolean;

  constructor(
    sessions: Iterable<Session>,
    relay: Pick<Relay, 'limitsOf'>,
    sees: (client: string, server: string) => boolean,
  ) {
    this.#sessions = sessions;
    this.#relay = relay;
    this.#sees = sees;
  }

  /** Asks a legacy server for what the most curious session wants. Modern ones are told with each request. */
  apply({ name, connection }: Upstream): void {
    if (connection === null || connection.agreement.era === 'modern') return;
    if (!isObject(connection.agreement.capabilities.logging)) return;
    const level = mostTalkative([...this.#of(name)].map(({ logLevel }) => logLevel));
    if (level === null) return;
    const signal = AbortSignal.timeout(this.#relay.limitsOf(name).idleMs);
    const { idleMs, maxMs } = this.#relay.limitsOf(name);
    void connection.request('logging/setLevel', { level }, { signal, idleMs, maxMs }).catch(() => {});
  }

  /**
   * One message goes to the client whose request it belongs to; where that cannot be told, to every client that has a
   * request with this server, and to sessions that asked for messages.
   */
  spread(upstream: Upstream, { method, params = {}, related }: ServerNotification): void {
    const flight = upstream.flightOf(related);
    const flights = flight === null ? upstream.flights.values() : [flight];
    const told = new Set<object>();
    for (const { peer } of flights) {
      if (peer === null || told.has(peer.party)) continue;
      told.add(peer.party);
      const wanted = peer.logLevel ?? (peer.era === 'legacy' ? 'debug' : null);
      if (wanted !== null && reaches(params.level, wanted)) peer.notify(method, params, true);
    }
    if (flight !== null) return;
    for (const session of this.#of(upstream.name)) {
      if (told.has(session) || session.logLevel === null) continue;
      if (reaches(params.level, session.logLevel)) session.tell(method, params);
    }
  }

  *#of(server: string): Iterable<Session> {
    for (const session of this.#sessions) {
      const here = session.server === undefined || session.server === server;
      if (here && this.#sees(session.client, server)) yield session;
    }
  }
}
