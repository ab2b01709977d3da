/**
 * Names a model sees (contract: tool names). Routing goes through the maps made here and never by taking a name apart.
 */

/** The first 8 lower-case hex digits of the SHA-256 of a text. */
export type Hash8 = (text: string) => string;

export interface NamingRules {
  /** Characters of the longest name; 0: no limit. */
  readonly maxLength: number;
  readonly hash8: Hash8;
}

export interface ServerTools {
  readonly server: string;
  /** Names as the server spells them, in any order. */
  readonly tools: readonly string[];
}

export interface ToolRef {
  readonly server: string;
  /** In the server's own spelling. */
  readonly tool: string;
}

export interface NameWarning extends ToolRef {
  readonly kind: 'empty' | 'duplicate' | 'collision';
  readonly message: string;
}

export interface Names {
  /** Server, then the tool's own spelling, to the name given. */
  readonly nameOf: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** The way back, in the order in which names were given. */
  readonly toolOf: ReadonlyMap<string, ToolRef>;
  /** For the status page; never about a name that was only cleaned or shortened. */
  readonly warnings: readonly NameWarning[];
}

/** A tool's registered name before cleaning; suffixes are computed from it, so that they outlive every other name. */
export function spelledName({ server, tool }: ToolRef): string {
  return `mcp__${server}__${tool}`;
}

/** Every character outside `[A-Za-z0-9_-]` becomes one `_`. */
export function cleanName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/gu, '_');
}

/**
 * The registered names `mcp__<server>__<tool>` of all servers at once. Give every configured server whose list is
 * known: names follow from the set alone, not from who connected first.
 */
export function registeredNames(servers: readonly ServerTools[], rules: NamingRules): Names {
  return giveNames(servers, spelledName, rules);
}

/**
 * Gives each tool the name it wants, cleaned, or, when that is too long or already given, one with a suffix.
 * Order decides who keeps a name: servers by name, then tools by name, both by code unit.
 */
export function giveNames(
  servers: readonly ServerTools[],
  wanted: (ref: ToolRef) => string,
  rules: NamingRules,
): Names {
  const nameOf = new Map<string, Map<string, string>>();
  const toolOf = new Map<string, ToolRef>();
  const warnings: NameWarning[] = [];
  for (const ref of inOrder(servers, warnings)) {
    const plain = cleanName(wanted(ref));
    const name = firstFree(plain, spelledName(ref), toolOf, rules);
    const holder = toolOf.get(plain);
    if (holder) warnings.push(collision(ref, name, holder));
    toolOf.set(name, ref);
    const ofServer = nameOf.get(ref.server) ?? new Map<string, string>();
    nameOf.set(ref.server, ofServer.set(ref.tool, name));
  }
  return { nameOf, toolOf, warnings };
}

function firstFree(
  plain: string,
  spelled: string,
  taken: ReadonlyMap<string, ToolRef>,
  { maxLength, hash8 }: NamingRules,
): string {
  const limit = maxLength > 0 ? maxLength : Number.POSITIVE_INFINITY;
  if (plain.length <= limit && !taken.has(plain)) return plain;
  // A second round happens only if a server named a tool like our own suffixed name; it stays deterministic.
  for (let round = 1; ; round++) {
    const suffix = `_${hash8(round === 1 ? spelled : `${spelled}#${round}`)}`;
    const name = plain.slice(0, Math.max(0, limit - suffix.length)) + suffix;
    if (!taken.has(name)) return name;
  }
}

/** Every tool once, in the order in which names are given; empty names and repetitions become warnings. */
export function inOrder(servers: readonly ServerTools[], warnings: NameWarning[] = []): ToolRef[] {
  const toolsOf = new Map<string, Set<string>>();
  for (const { server, tools } of servers) {
    const known = toolsOf.get(server) ?? new Set<string>();
    toolsOf.set(server, known);
    const repeated = new Set<string>();
    for (const tool of tools) {
      if (known.has(tool)) repeated.add(tool);
      known.add(tool);
    }
    known.delete('');
    if (tools.includes('')) warnings.push(emptyName(server));
    for (const tool of repeated) if (tool !== '') warnings.push(duplicate({ server, tool }));
  }
  return [...toolsOf.keys()]
    .sort()
    .flatMap((server) => [...(toolsOf.get(server) ?? [])].sort().map((tool) => ({ server, tool })));
}

const quoted = (tool: string): string => JSON.stringify(tool.length > 80 ? `${tool.slice(0, 80)}…` : tool);

const emptyName = (server: string): NameWarning => ({
  kind: 'empty',
  server,
  tool: '',
  message: `Server "${server}" lists a tool without a name; it cannot be called and is left out.`,
});

const duplicate = ({ server, tool }: ToolRef): NameWarning => ({
  kind: 'duplicate',
  server,
  tool,
  message: `Server "${server}" lists the tool ${quoted(tool)} more than once; it is registered once.`,
});

const collision = ({ server, tool }: ToolRef, name: string, holder: ToolRef): NameWarning => ({
  kind: 'collision',
  server,
  tool,
  message:
    `Tool ${quoted(tool)} of server "${server}" would have the name of ${quoted(holder.tool)} of server ` +
    `"${holder.server}"; it is listed as ${name}.`,
});
