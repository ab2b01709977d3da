/** Everything to be warned about before or after entries are written to a client's file. Pure. */
import type { ClientDescriptor } from './descriptor.ts';
import type { HubFacts } from './facts.ts';
import { type CheckedEntry, checkIdentifiers, type TooLong, type WrongCharacters } from './identifier.ts';

export interface FlatNames {
  readonly kind: 'flat-namespace';
  readonly client: string;
  readonly entries: readonly string[];
  /** false: the daemon did not tell its prefixes. */
  readonly known: boolean;
  readonly message: string;
}

export interface TooManyTools {
  readonly kind: 'too-many-tools';
  readonly client: string;
  readonly tools: number;
  readonly cap: number;
  readonly message: string;
}

export type ClientWarning = TooLong | WrongCharacters | FlatNames | TooManyTools;

export interface CheckInput {
  readonly client: ClientDescriptor;
  readonly entries: readonly CheckedEntry[];
  readonly name: string | null;
  /** null: the daemon did not answer. */
  readonly facts: HubFacts | null;
  /** Commands of the client found on this machine; undefined: not looked for. */
  readonly commands?: ReadonlySet<string> | undefined;
}

/** Sorted as found: identifiers by entry, then what concerns the client as a whole. */
export function checkClient({ client, entries, name, facts, commands }: CheckInput): ClientWarning[] {
  return [
    ...checkIdentifiers({ client: client.name, rule: client.identifier, entries, name }, facts),
    ...checkFlat(client, entries, facts, commands),
    ...checkCap(client, entries, facts),
  ];
}

/** Silence would need evidence: without facts the warning stays. */
function checkFlat(
  { name, flat }: ClientDescriptor,
  entries: readonly CheckedEntry[],
  facts: HubFacts | null,
  commands: ReadonlySet<string> | undefined,
): FlatNames[] {
  if (flat === null) return [];
  const absent = commands !== undefined && !commands.has(flat.command);
  if (absent && flat.otherwise.some((command) => commands.has(command))) return [];
  const prefixOf = (server: string): string | undefined =>
    facts?.servers?.find((one) => one.name === server)?.tool_prefix;
  const bare = entries.filter(({ server }) => server !== null && (prefixOf(server) ?? '') === '');
  if (bare.length < 2) return [];
  const known = bare.every(({ server }) => server !== null && prefixOf(server) !== undefined);
  const names = bare.map(({ entry }) => entry).sort();
  const why = known ? '' : ' (the daemon did not tell their prefixes)';
  return [
    {
      kind: 'flat-namespace',
      client: name,
      entries: names,
      known,
      message: `${name}: ${flat.where} shows tools by their own names, so those of ${names.map((entry) => JSON.stringify(entry)).join(', ')} can hide each other${why}. Use a tool_prefix for each of these servers, or mount_mode: "routed".`,
    },
  ];
}

function checkCap(
  { name, toolsCap }: ClientDescriptor,
  entries: readonly CheckedEntry[],
  facts: HubFacts | null,
): TooManyTools[] {
  if (toolsCap === null || facts === null) return [];
  const countOf = (server: string | null): number =>
    (server === null ? facts.routed : facts.servers?.find((one) => one.name === server)?.tools)?.count ?? 0;
  const tools = entries.reduce((sum, { server }) => sum + countOf(server), 0);
  if (tools <= toolsCap) return [];
  const message = `${name}: takes at most ${toolsCap} tools, these entries bring ${tools}. List fewer with include or exclude in mcp.json, or disable servers.`;
  return [{ kind: 'too-many-tools', client: name, tools, cap: toolsCap, message }];
}
