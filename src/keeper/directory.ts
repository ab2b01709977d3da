/**
 * The tools of all servers under the names a model sees: the registry as it stands, kept in memory because every call asks it.
 * Filled from the registry's rows at start and from committed facts after that.
 */
import { serverOf } from '../events/envelope.ts';
import type { EventLog } from '../events/log.ts';
import type { ToolDefinition } from '../events/shapes.ts';
import { hash8, sha256Hex } from '../hash.ts';
import {
  bareLengths,
  effectivePrefix,
  findTool,
  hubNames,
  lengthCounts,
  type MountMode,
  type NameLengths,
  nameLengths,
  prefixWidth,
  serverNames,
} from '../mcp/endpoint.naming.ts';
import { toolFilter } from '../mcp/globs.ts';
import { type Names, registeredNames, type ServerTools, type ToolRef } from '../mcp/naming.ts';
import { type AcceptedTool, listSignature, readTools } from '../mcp/tools.ts';
import type { RegistryRow } from '../projections/registry.projection.ts';

export interface ListedTool {
  readonly name: string;
  readonly server: string;
  readonly tool: AcceptedTool;
}

/** Of the entry: which tools are shown, and behind which prefix. */
export interface Visibility {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly toolPrefix: string | undefined;
  readonly disabled: boolean;
}

export interface DirectoryOptions {
  readonly maxLength: number;
  readonly mountMode: MountMode;
  /** Names of the configured servers, sorted. */
  readonly servers: () => readonly string[];
  readonly visibility: (server: string) => Visibility | undefined;
}

/** What a list as received becomes before it goes into the log. */
export function readList(received: readonly ToolDefinition[]): {
  signature: string;
  tools: readonly ToolDefinition[];
  warnings: readonly string[];
} {
  const { tools, warnings } = readTools(received, sha256Hex);
  return { signature: listSignature(received, sha256Hex), tools: tools.map(({ definition }) => definition), warnings };
}

export class Directory {
  readonly #options: DirectoryOptions;
  readonly #lists = new Map<string, ReadonlyMap<string, AcceptedTool>>();
  /** What was wrong with each list though it was taken. */
  readonly #flaws = new Map<string, readonly string[]>();
  /** Names of each server's tools that its entry shows; put together anew when its list or its entry changed. */
  readonly #shownOf = new Map<string, readonly string[]>();
  readonly #listeners = new Set<() => void>();
  #names: Names | null = null;
  #endpoints = new Map<string | undefined, Names>();
  #routed: NameLengths | null = null;

  constructor(options: DirectoryOptions, rows: readonly RegistryRow[], log: EventLog) {
    this.#options = options;
    for (const { server, tools, warnings } of rows) this.#put(server, tools, warnings);
    log.committed$.subscribe((facts) => {
      let changed = false;
      for (const { type, stream, data } of facts) {
        if (type === 'ServerRemoved') this.#drop(serverOf(stream));
        else if (type === 'ToolsListed' && 'tools' in data && data.tools)
          this.#put(serverOf(stream), data.tools, data.warnings ?? []);
        else if (type === 'ServerConfigured') this.#shownOf.delete(serverOf(stream));
        else continue;
        changed = true;
      }
      if (changed) this.#changed();
    });
  }

  /** Entries changed: who is hidden and who is not has to be looked at again. */
  refresh(): void {
    this.#shownOf.clear();
    this.#changed();
  }

  #changed(): void {
    this.#names = null;
    this.#endpoints.clear();
    this.#routed = null;
    for (const listener of [...this.#listeners]) listener();
  }

  /** Called whenever names or tools may have changed. Returns what takes the listener away again. */
  onChanged(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #put(server: string, definitions: readonly ToolDefinition[], warnings: readonly string[]): void {
    this.#flaws.set(server, warnings);
    this.#shownOf.delete(server);
    const { tools } = readTools(definitions, sha256Hex);
    this.#lists.set(server, new Map(tools.map((tool) => [tool.name, tool])));
  }

  #drop(server: string): void {
    this.#lists.delete(server);
    this.#flaws.delete(server);
    this.#shownOf.delete(server);
  }

  /** Registered names of everything that is shown. */
  get names(): Names {
    this.#names ??= registeredNames(this.#shown(), { maxLength: this.#options.maxLength, hash8 });
    return this.#names;
  }

  /** Sorted by name; of one server, or of all. */
  list(server?: string): ListedTool[] {
    return [...this.names.toolOf]
      .filter(([, ref]) => server === undefined || ref.server === server)
      .map(([name, ref]) => ({ name, ref, tool: this.#lists.get(ref.server)?.get(ref.tool) }))
      .flatMap(({ name, ref, tool }) => (tool ? [{ name, server: ref.server, tool }] : []))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** What is wrong with a server's list, and which of its tools had to be given another name. */
  warningsOf(server: string): string[] {
    const renamed = this.names.warnings.filter(({ server: of, kind }) => of === server && kind === 'collision');
    return [...(this.#flaws.get(server) ?? []), ...renamed.map(({ message }) => message)];
  }

  find(name: string): ListedTool | undefined {
    const ref = this.names.toolOf.get(name);
    const tool = ref && this.#lists.get(ref.server)?.get(ref.tool);
    return ref && tool ? { name, server: ref.server, tool } : undefined;
  }

  /** Registered name of a tool in its server's own spelling. */
  nameOf({ server, tool }: ToolRef): string | undefined {
    return this.names.nameOf.get(server)?.get(tool);
  }

  /** null for a tool that is not listed, or that its entry hides. */
  definitionOf(server: string, tool: string): string | null {
    if (this.nameOf({ server, tool }) === undefined) return null;
    return this.#lists.get(server)?.get(tool)?.hash ?? null;
  }

  /** A list of this server has been read at some time. */
  known(server: string): boolean {
    return this.#lists.has(server);
  }

  prefixOf(server: string): string {
    return effectivePrefix(this.#options.visibility(server)?.toolPrefix);
  }

  /** Names of tools on `/mcp/<server>`, or on `/mcp`. */
  endpointNames(server?: string): Names {
    const known = this.#endpoints.get(server);
    if (known) return known;
    const rules = { maxLength: this.#options.maxLength, hash8 };
    const names =
      server === undefined
        ? this.hubNames(this.#shown())
        : serverNames({ server, tools: this.#toolsShown(server), prefix: this.#prefix(server) }, rules);
    this.#endpoints.set(server, names);
    return names;
  }

  /** Names on `/mcp` of whatever servers list, by the rules for tools. */
  hubNames(lists: readonly ServerTools[]): Names {
    const mounted = lists.map((list) => ({ ...list, prefix: this.#prefix(list.server) }));
    return hubNames(mounted, this.#options.mountMode, { maxLength: this.#options.maxLength, hash8 });
  }

  /** The tool a client of an endpoint means: in the endpoint's own form or the registered one. */
  findOn(name: string, server?: string): ListedTool | undefined {
    const ref = findTool(name, this.endpointNames(server), this.names, server);
    return ref && this.listed(ref);
  }

  listed(ref: ToolRef): ListedTool | undefined {
    const name = this.nameOf(ref);
    const tool = this.#lists.get(ref.server)?.get(ref.tool);
    return name !== undefined && tool ? { name, server: ref.server, tool } : undefined;
  }

  /** Names on `/mcp/<server>`, without the prefix. */
  lengthsOf(server: string): NameLengths {
    return bareLengths(this.endpointNames(server), this.#prefix(server));
  }

  /** Names on `/mcp`. */
  hubLengths(): NameLengths {
    return nameLengths(this.endpointNames());
  }

  /** How many names have so many characters: on each server's own endpoint without the prefix, and on `/mcp`. */
  lengthCounts(): {
    readonly servers: Record<string, Readonly<Record<string, number>>>;
    readonly routed: Readonly<Record<string, number>>;
  } {
    const known = this.#options.servers().filter((server) => this.#lists.has(server));
    return {
      servers: Object.fromEntries(
        known.map((server) => [server, lengthCounts(this.endpointNames(server), prefixWidth(this.#prefix(server)))]),
      ),
      routed: lengthCounts(this.endpointNames()),
    };
  }

  /** Names on `/mcp` as they would be if it were mounted as one. */
  routedLengths(): NameLengths {
    this.#routed ??= nameLengths(
      hubNames(
        this.#shown().map((list) => ({ ...list, prefix: undefined })),
        'routed',
        { maxLength: this.#options.maxLength, hash8 },
      ),
    );
    return this.#routed;
  }

  #prefix(server: string): string | undefined {
    return this.#options.visibility(server)?.toolPrefix;
  }

  #shown(): { server: string; tools: readonly string[] }[] {
    return this.#options
      .servers()
      .filter((server) => this.#lists.has(server))
      .map((server) => ({ server, tools: this.#toolsShown(server) }));
  }

  #toolsShown(server: string): readonly string[] {
    const known = this.#shownOf.get(server);
    if (known) return known;
    const visibility = this.#options.visibility(server);
    const shows = visibility && !visibility.disabled && toolFilter(visibility.include, visibility.exclude);
    const shown = shows ? [...(this.#lists.get(server)?.keys() ?? [])].filter(shows) : [];
    this.#shownOf.set(server, shown);
    return shown;
  }
}
