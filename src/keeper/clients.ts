/** AI clients as the daemon sees them: who may come in, and what is to be said about them now. */
import type { z } from 'zod';
import { type ClientWarning, checkClient } from '../clients/checks.ts';
import type { HubFacts } from '../clients/facts.ts';
import { clientCalled } from '../clients/known.ts';
import { plannedEntries } from '../clients/plan.ts';
import type { ClientTokens, Connected } from '../clients/registry.ts';
import type { ClientUse } from '../clients/use.ts';
import type { clients } from '../http/contract.clients.ts';

type Answer = z.infer<typeof clients>;

export interface ClientParts {
  readonly tokens: Pick<ClientTokens, 'all'>;
  readonly use: Pick<ClientUse, 'at'>;
}

/** `GET /v1/clients`. */
export function clientsAnswer({ tokens, use }: ClientParts, facts: HubFacts): Answer {
  const rows = Object.entries(tokens.all()).map(([id, connected]): Answer['clients'][number] => {
    const at = use.at(id);
    return {
      client: id,
      name: clientCalled(id)?.name ?? id,
      file: connected.file,
      connect_mode: connected.mode,
      entries: [...connected.entries],
      mode: connected.permission,
      ceiling: connected.permission,
      servers: connected.servers ? [...connected.servers] : null,
      callsPerMinute: connected.callsPerMinute ?? null,
      asksInClient: connected.asksInClient ?? false,
      token: connected.tokenIn,
      createdAt: connected.createdAt,
      lastUsedAt: at === undefined ? null : new Date(at).toISOString(),
      warnings: warningsOf(id, connected, facts).map((warning) => ({ ...warning })),
    };
  });
  return { clients: rows };
}

/** About the entries a client has now. Those it no longer should have are for `sync` to say. */
export function warningsOf(id: string, connected: Connected, facts: HubFacts): ClientWarning[] {
  const client = clientCalled(id);
  if (client === undefined) return [];
  const has = new Set(connected.entries);
  const entries = plannedEntries(connected, facts).filter(({ entry }) => has.has(entry));
  return checkClient({ client, entries, name: connected.name, facts });
}
