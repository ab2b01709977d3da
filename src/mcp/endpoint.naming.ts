/** Names the MCP endpoint lists (contract: endpoints, `tool_prefix`, `mount_mode`, lengths in `/health`). */
import {
  cleanName,
  giveNames,
  inOrder,
  type Names,
  type NamingRules,
  type ServerTools,
  type ToolRef,
} from './naming.ts';

export type MountMode = 'per-server' | 'routed';

export interface MountedServer extends ServerTools {
  /** `tool_prefix` of the entry; undefined when the key is not set. */
  readonly prefix: string | undefined;
}

export interface NameLengths {
  readonly count: number;
  /** In characters; 0 without tools. */
  readonly longest: number;
}

/** Names on `/mcp`, where all servers meet. In `routed` mode prefixes do not count and only shared names are told apart. */
export function hubNames(servers: readonly MountedServer[], mode: MountMode, rules: NamingRules): Names {
  if (mode === 'routed') {
    const shared = sharedNames(servers);
    return giveNames(servers, (ref) => (shared.has(cleanName(ref.tool)) ? behind(ref.server, ref) : ref.tool), rules);
  }
  const prefixOf = new Map(servers.map(({ server, prefix }) => [server, prefix ?? server]));
  return giveNames(servers, (ref) => behind(prefixOf.get(ref.server) ?? ref.server, ref), rules);
}

/** Names on `/mcp/<server>`: behind the prefix if there is one, else exactly as the server spells them. */
export function serverNames(server: MountedServer, rules: NamingRules): Names {
  const { prefix } = server;
  if (prefix) return giveNames([server], (ref) => behind(prefix, ref), rules);
  const refs = inOrder([server]);
  return {
    nameOf: new Map([[server.server, new Map(refs.map(({ tool }) => [tool, tool]))]]),
    toolOf: new Map(refs.map((ref) => [ref.tool, ref])),
    warnings: [],
  };
}

/**
 * The tool a name stands for on an endpoint: its own form first, then the registered form.
 * `only` is the server of `/mcp/<server>`, which knows no other server's tools.
 */
export function findTool(name: string, listed: Names, registered: Names, only?: string): ToolRef | undefined {
  const ref = listed.toolOf.get(name) ?? registered.toolOf.get(name);
  return ref && (only === undefined || ref.server === only) ? ref : undefined;
}

/** The prefix `/mcp/<server>` really uses, `""` when none. */
export function effectivePrefix(prefix: string | undefined): string {
  return prefix ?? '';
}

/** Of the whole names on an endpoint. */
export function nameLengths(names: Names): NameLengths {
  let longest = 0;
  for (const name of names.toolOf.keys()) longest = Math.max(longest, characters(name));
  return { count: names.toolOf.size, longest };
}

/** How many names have so many characters; `around`: characters of each that do not count. */
export function lengthCounts(names: Names, around = 0): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of names.toolOf.keys()) {
    const length = characters(name) - around;
    counts[length] = (counts[length] ?? 0) + 1;
  }
  return counts;
}

/** Characters in front of each name on `/mcp/<server>`. */
export const prefixWidth = (prefix: string | undefined): number => (prefix ? prefix.length + SEPARATOR.length : 0);

/** Of the names on `/mcp/<server>` without prefix and separator: clients add those again in their own arithmetic. */
export function bareLengths(names: Names, prefix: string | undefined): NameLengths {
  const { count, longest } = nameLengths(names);
  return { count, longest: prefix && count > 0 ? longest - prefix.length - SEPARATOR.length : longest };
}

const SEPARATOR = '__';

const behind = (prefix: string, { tool }: ToolRef): string => (prefix === '' ? tool : `${prefix}${SEPARATOR}${tool}`);

const characters = (name: string): number => [...name].length;

/** Cleaned names that tools of more than one server have. */
function sharedNames(servers: readonly ServerTools[]): ReadonlySet<string> {
  const ownerOf = new Map<string, string>();
  const shared = new Set<string>();
  for (const { server, tool } of inOrder(servers)) {
    const name = cleanName(tool);
    const owner = ownerOf.get(name);
    if (owner === undefined) ownerOf.set(name, server);
    else if (owner !== server) shared.add(name);
  }
  return shared;
}
