/** What a connected client may see and how often it may call. The daemon's own token and the local socket may do everything. */
import type { ClientTokens } from '../clients/registry.ts';

const OWN: ReadonlySet<string> = new Set(['main', 'socket']);
const MINUTE = 60_000;

export interface ClientRulesOptions {
  readonly tokens: Pick<ClientTokens, 'limitsOf'>;
  /** Milliseconds; only differences count. */
  readonly now: () => number;
}

export class ClientRules {
  readonly #options: ClientRulesOptions;
  /** Calls a client may still make, and when that was reckoned. */
  readonly #left = new Map<string, { calls: number; at: number; of: number }>();

  constructor(options: ClientRulesOptions) {
    this.#options = options;
  }

  /** Which servers a client sees now; one that is no longer connected sees none. */
  readonly view = (client: string): ((server: string) => boolean) => {
    if (OWN.has(client)) return () => true;
    const limits = this.#options.tokens.limitsOf(client);
    if (limits === null) return () => false;
    const { servers } = limits;
    return servers ? (server) => servers.includes(server) : () => true;
  };

  readonly sees = (client: string, server: string): boolean => this.view(client)(server);

  /** Whether held calls are put to the person in the client that made them. */
  readonly asksInClient = (client: string): boolean =>
    !OWN.has(client) && this.#options.tokens.limitsOf(client)?.asksInClient === true;

  /**
   * Counts a call. A client that may make n calls a minute can make n at once, and gets one more every n-th of a minute.
   * Answers why this one is too many, or null.
   */
  readonly overRate = (client: string): string | null => {
    if (OWN.has(client)) return null;
    const most = this.#options.tokens.limitsOf(client)?.callsPerMinute ?? null;
    if (most === null) return null;
    const now = this.#options.now();
    const known = this.#left.get(client);
    const before = known?.of === most ? known : { calls: most, at: now };
    const calls = Math.min(most, before.calls + ((now - before.at) * most) / MINUTE);
    this.#left.set(client, { calls: calls < 1 ? calls : calls - 1, at: now, of: most });
    if (calls >= 1) return null;
    const seconds = Math.ceil(((1 - calls) * MINUTE) / most / 1000);
    return `The client "${client}" may make ${most} calls a minute and has made them; the next one is free in ${seconds} s.`;
  };
}
