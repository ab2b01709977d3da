/** The rules of the allowlist (contract: confirmation). Pure. */
import type { AllowlistFact, Binding, GrantOrigin } from '../../events/allowlist.events.ts';
import type { Head } from '../head.ts';
import { type Refusal, refuse } from '../refusal.ts';
import type { AllowlistCommand, SeenServer, SeenTool } from './allowlist.commands.ts';
import { type AllowlistContext, type Grant, grantsOf } from './allowlist.state.ts';
import { parseEntry, serverOfPrefix } from './entry.ts';

type Facts = readonly AllowlistFact[];
type Command<Type extends AllowlistCommand['type']> = Extract<AllowlistCommand, { type: Type }>;

/** Refusals: `allowlist-prefix-invalid`, `allowlist-entry-invalid`. Facts come sorted by entry, removals first. */
export function decideAllowlist(
  { context }: Pick<Head<AllowlistContext>, 'context'>,
  command: AllowlistCommand,
): Facts | Refusal {
  switch (command.type) {
    case 'SyncFile':
      return syncFile(context, command);
    case 'ReplacePrefix':
      return replacePrefix(context, command);
    case 'Remember':
      return remember(context, command);
    case 'BindSeen':
      return bindSeen(context, command);
    case 'RemoveServer':
      return grantsOf(context)
        .filter(({ server }) => server === command.server)
        .map(({ entry }) => removed(entry, 'server-removed', command.by));
  }
}

function syncFile(context: AllowlistContext, { entries, by }: Command<'SyncFile'>): Facts {
  const wanted = new Set(entries.filter((entry) => parseEntry(entry)));
  return replaced(grantsOf(context), wanted, 'file', by);
}

function replacePrefix(context: AllowlistContext, { prefix, entries, by }: Command<'ReplacePrefix'>): Facts | Refusal {
  const server = serverOfPrefix(prefix);
  if (server === null) {
    return refuse(
      'allowlist-prefix-invalid',
      `"${prefix}" is not the prefix of a server. Send "mcp__<server>__" with the server's name and nothing after it.`,
    );
  }
  const stranger = entries.find((entry) => !entry.startsWith(prefix) || !parseEntry(entry));
  if (stranger !== undefined) {
    return refuse(
      'allowlist-entry-invalid',
      `"${stranger}" is not an entry of "${prefix}". Send names from the tool list, or "${prefix}*" for the whole server; nothing was changed.`,
    );
  }
  const whole = `${prefix}*`;
  const wanted = new Set(entries.includes(whole) ? [whole] : entries);
  // Giving a suspended grant again renews it: it goes and comes back unbound, and is bound to what is listed then.
  const present = grantsOf(context).filter((grant) => grant.server === server);
  return replaced(present, wanted, 'api', by, ({ state }) => state === 'suspended');
}

function replaced(
  present: readonly Grant[],
  wanted: ReadonlySet<string>,
  origin: GrantOrigin,
  by: string,
  renews: (grant: Grant) => boolean = () => false,
): Facts {
  const kept = new Set(present.filter((grant) => wanted.has(grant.entry) && !renews(grant)).map(({ entry }) => entry));
  return [
    ...present.filter(({ entry }) => !kept.has(entry)).map(({ entry }) => removed(entry, origin, by)),
    ...[...wanted]
      .filter((entry) => !kept.has(entry))
      .sort()
      .map((entry) => added(entry, origin, by)),
  ];
}

function remember(context: AllowlistContext, { entry, by, binding }: Command<'Remember'>): Facts | Refusal {
  const parsed = parseEntry(entry);
  const complete = binding.identity !== '' && (parsed?.tool === '*' || !!binding.definition);
  if (!parsed || !complete) {
    return refuse(
      'allowlist-entry-invalid',
      `"${entry}" names no tool or server that is known now; approve the call once.`,
    );
  }
  const grant = context.grants[entry];
  const wanted = parsed.tool === '*' ? wholeServer(binding.identity) : binding;
  if (grant?.state === 'bound' && sameBinding(grant.binding, wanted)) return [];
  return [...(grant ? [] : [added(entry, 'approval', by)]), bound(entry, wanted)];
}

function bindSeen(context: AllowlistContext, { tools, servers = [] }: Command<'BindSeen'>): Facts {
  const toolOf = new Map(tools.map((tool) => [tool.name, tool]));
  const identityOf = new Map([...tools, ...servers].map((seen) => [seen.server, seen.identity]));
  return grantsOf(context).flatMap((grant) => {
    const now = seenBinding(grant, toolOf, identityOf);
    if (!now) return [];
    if (grant.state === 'unbound') return [bound(grant.entry, now)];
    if (grant.state === 'suspended' || !grant.binding || sameBinding(grant.binding, now)) return [];
    const changed = grant.binding.identity === now.identity ? 'tool' : 'server';
    return [{ type: 'GrantSuspended', data: { entry: grant.entry, before: grant.binding, after: now, changed } }];
  });
}

function seenBinding(
  grant: Grant,
  toolOf: ReadonlyMap<string, SeenTool>,
  identityOf: ReadonlyMap<SeenServer['server'], string>,
): Binding | null {
  if (grant.tool === '*') {
    const identity = identityOf.get(grant.server);
    return identity ? wholeServer(identity) : null;
  }
  const tool = toolOf.get(grant.tool);
  if (tool?.server !== grant.server || !tool.identity || !tool.definition) return null;
  return { identity: tool.identity, definition: tool.definition };
}

const wholeServer = (identity: string): Binding => ({ identity, definition: null });

const sameBinding = (a: Binding | null, b: Binding): boolean =>
  a !== null && a.identity === b.identity && a.definition === b.definition;

const added = (entry: string, origin: GrantOrigin, by: string): AllowlistFact => ({
  type: 'GrantAdded',
  data: { entry, origin, by },
});

const removed = (entry: string, origin: GrantOrigin, by: string): AllowlistFact => ({
  type: 'GrantRemoved',
  data: { entry, origin, by },
});

const bound = (entry: string, binding: Binding): AllowlistFact => ({ type: 'GrantBound', data: { entry, binding } });
