/** What changed under people's feet, in the shapes of the contract. */
import type { Database } from 'better-sqlite3';
import type { z } from 'zod';
import type { Grant } from '../actors/allowlist/allowlist.state.ts';
import type { AllowlistFact } from '../events/allowlist.events.ts';
import type { Recorded } from '../events/envelope.ts';
import type { EventLog } from '../events/log.ts';
import type { ToolDefinition } from '../events/shapes.ts';
import { sha256Hex } from '../hash.ts';
import type { suspensions, toolChanges } from '../http/contract.trust.ts';
import { definitionHash } from '../mcp/tools.ts';
import { catalogAt, readCatalog } from '../projections/catalog.projection.ts';
import { catalogHistory } from '../replay/catalog.history.ts';
import { definitionChanges } from '../replay/definition.changes.ts';
import { toolDiff } from '../replay/tool.diff.ts';
import { iso } from './answers.ts';

export interface TrustParts {
  readonly log: Pick<EventLog, 'read'>;
  readonly db: Database;
  readonly nameOf: (server: string, tool: string) => string;
  /** A registered name in its server's own spelling. */
  readonly toolCalled: (name: string) => string | undefined;
}

const MEMBERS = ['description', 'inputSchema', 'outputSchema', 'annotations'];

/** `from` is a position. */
export function toolChangesOf(
  { log, db, nameOf }: TrustParts,
  { server, from }: { readonly server: string | undefined; readonly from: number },
): z.infer<typeof toolChanges> {
  const grants = log.read({ stream: 'allowlist' }) as Recorded<AllowlistFact>[];
  const known = new Set(catalogAt(db, from).map((row) => row.server));
  const history = catalogHistory(readCatalog(db, server), grants, nameOf, { from, to: undefined });
  return { from, changes: definitionChanges(history, known) } as z.infer<typeof toolChanges>;
}

/** Each suspended grant with the fact that suspended it. */
export function suspensionsOf(
  { log, db, toolCalled }: TrustParts,
  grants: readonly Grant[],
): z.infer<typeof suspensions> {
  const facts = log.read({ stream: 'allowlist', type: 'GrantSuspended', newestFirst: true });
  const suspended = grants.filter(({ state }) => state === 'suspended');
  const found = suspended.flatMap(({ entry, server, tool }) => {
    const fact = facts.find(({ data }) => 'entry' in data && data.entry === entry);
    if (fact?.type !== 'GrantSuspended') return [];
    const { before, after, changed } = (fact as Recorded<Extract<AllowlistFact, { type: 'GrantSuspended' }>>).data;
    const own = changed === 'tool' ? toolCalled(tool) : undefined;
    const [old, now] =
      own === undefined ? [] : [before, after].map(({ definition }) => definitionIn(db, server, own, definition));
    const words = old && now ? toolDiff(old, now, MEMBERS) : [];
    return [{ entry, position: fact.position, at: iso(fact.at), changed, before, after, words }];
  });
  return { suspended: found } as z.infer<typeof suspensions>;
}

function definitionIn(db: Database, server: string, tool: string, hash: string | null): ToolDefinition | undefined {
  return readCatalog(db, server)
    .toReversed()
    .flatMap(({ tools }) => tools.filter(({ name }) => name === tool))
    .find((definition) => definitionHash(definition, sha256Hex) === hash);
}
