/** What each endpoint lists. Nothing here waits for a server longer than a moment: the list known last is shown. */

import type { Directory } from '../keeper/directory.ts';
import type { CacheHint, ListKind, RawList } from '../mcp/connection.ts';
import { isObject } from '../mcp/message.ts';
import { markUri, sharedUris } from './resource.names.ts';
import { type Members, metaOf } from './rpc.ts';
import { untasked } from './tasks.ts';
import type { Upstreams } from './upstreams.ts';

/** Marks what comes from a server that is not connected now. */
export const STALE = 'watchkeeper/stale';

/** An entry as an endpoint shows it. */
export interface Shown {
  readonly key: string;
  readonly server: string;
  readonly entry: Members;
}

export interface Listed {
  readonly shown: readonly Shown[];
  /** The weakest hint of all servers in it. */
  readonly cache: CacheHint;
}

export interface ListsOptions {
  readonly directory: Directory;
  readonly upstreams: Upstreams;
  /** Names of the servers that are shown, sorted. */
  readonly servers: () => readonly string[];
  readonly isReady: (server: string) => boolean;
}

/** How the entries of a list are told apart. */
const KEY: Readonly<Record<ListKind, string>> = { prompts: 'name', resources: 'uri', resourceTemplates: 'uriTemplate' };
const NO_HINT: CacheHint = { ttlMs: 0, cacheScope: 'private' };

export class Lists {
  readonly #options: ListsOptions;
  readonly #tools = new Map<string | undefined, { readonly names: unknown; readonly shown: readonly Shown[] }>();
  #shared: ReadonlySet<string> | null = null;

  constructor(options: ListsOptions) {
    this.#options = options;
  }

  /** Something a server lists is no longer what it was. */
  changed(): void {
    this.#tools.clear();
    this.#shared = null;
  }

  /** Servers of an endpoint. */
  serversOf(server: string | undefined): readonly string[] {
    const all = this.#options.servers();
    return server === undefined ? all : all.filter((name) => name === server);
  }

  tools(server: string | undefined): Listed {
    return { shown: this.#withStale(this.#toolsOf(server)), cache: NO_HINT };
  }

  async prompts(server: string | undefined): Promise<Listed> {
    const lists = await this.#read('prompts', server);
    const names = this.promptNames(server);
    return this.#listed(lists, (of, item) => {
      const name = names === null ? String(item.name) : names.nameOf.get(of)?.get(String(item.name));
      return name === undefined ? null : { key: name, server: of, entry: { ...item, name } };
    });
  }

  async resources(kind: 'resources' | 'resourceTemplates', server: string | undefined): Promise<Listed> {
    const lists = await this.#read(kind, server);
    const member = KEY[kind];
    return this.#listed(lists, (of, item) => {
      const uri = this.outward(of, String(item[member]), server);
      return { key: uri, server: of, entry: uri === item[member] ? item : { ...item, [member]: uri } };
    });
  }

  /** Names of prompts on `/mcp`; null on the endpoint of one server, which shows that server's own. */
  promptNames(server: string | undefined): ReturnType<Directory['hubNames']> | null {
    if (server !== undefined) return null;
    const lists = this.#options.servers().map((of) => ({ server: of, tools: this.#keys('prompts', of) }));
    return this.#options.directory.hubNames(lists);
  }

  /** The URI a client sees: marked on `/mcp` where several servers have it. */
  outward(of: string, uri: string, endpoint: string | undefined): string {
    return endpoint === undefined && this.shared.has(uri) ? markUri(uri, of) : uri;
  }

  /** URIs and templates that more than one server has. */
  get shared(): ReadonlySet<string> {
    this.#shared ??= sharedUris(this.#options.servers().map((server) => this.#urisOf(server)));
    return this.#shared;
  }

  /** Whether a server lists this URI, or a tool of it points there. */
  has(server: string, uri: string): boolean {
    return this.#keys('resources', server).includes(uri) || this.#urisOf(server).includes(uri);
  }

  templatesOf(server: string): readonly string[] {
    return this.#keys('resourceTemplates', server);
  }

  /** Everything a server's lists name by URI. */
  urisOf(server: string): readonly string[] {
    return this.#urisOf(server);
  }

  #urisOf(server: string): readonly string[] {
    const ofTools = this.#toolsOf(server).flatMap(({ entry }) => {
      const uri = uiOf(entry);
      return uri === null ? [] : [uri];
    });
    return [...this.#keys('resources', server), ...this.#keys('resourceTemplates', server), ...ofTools];
  }

  #keys(kind: ListKind, server: string): readonly string[] {
    return (this.#options.upstreams.of(server).lastList(kind)?.items ?? []).map((item) => String(item[KEY[kind]]));
  }

  #toolsOf(server: string | undefined): readonly Shown[] {
    const { directory } = this.#options;
    const names = directory.endpointNames(server);
    const kept = this.#tools.get(server);
    if (kept?.names === names) return kept.shown;
    const shown: Shown[] = [];
    for (const [name, ref] of names.toolOf) {
      const listed = directory.listed(ref);
      if (!listed) continue;
      const { definition, parameters, outputSchema } = listed.tool;
      const { outputSchema: _, ...rest } = untasked(definition);
      const entry = { ...rest, name, inputSchema: parameters, ...(outputSchema === null ? {} : { outputSchema }) };
      shown.push({ key: name, server: ref.server, entry: this.#withUi(ref.server, entry, server) });
    }
    shown.sort((a, b) => (a.key < b.key ? -1 : 1));
    this.#tools.set(server, { names, shown });
    return shown;
  }

  /** An app's page is found under the URI it has on this endpoint. */
  #withUi(of: string, entry: Members, endpoint: string | undefined): Members {
    if (endpoint !== undefined) return entry;
    const uri = uiOf(entry);
    const meta = metaOf(entry);
    if (uri === null || meta === undefined) return entry;
    const outward = this.outward(of, uri, endpoint);
    if (outward === uri) return entry;
    const ui = isObject(meta.ui) ? { ui: { ...meta.ui, resourceUri: outward } } : {};
    const flat = 'ui/resourceUri' in meta ? { 'ui/resourceUri': outward } : {};
    return { ...entry, _meta: { ...meta, ...ui, ...flat } };
  }

  async #read(kind: ListKind, server: string | undefined): Promise<readonly (readonly [string, RawList])[]> {
    const { upstreams } = this.#options;
    const lists = await Promise.all(
      this.serversOf(server).map(async (of) => [of, await upstreams.of(of).list(kind)] as const),
    );
    return lists.flatMap(([of, list]) => (list === null ? [] : [[of, list] as const]));
  }

  #listed(
    lists: readonly (readonly [string, RawList])[],
    show: (server: string, item: Members) => Shown | null,
  ): Listed {
    const shown = lists.flatMap(([of, { items }]) => items.flatMap((item) => show(of, item) ?? []));
    shown.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    return { shown: this.#withStale(shown), cache: weakest(lists.map(([, { cache }]) => cache)) };
  }

  #withStale(shown: readonly Shown[]): readonly Shown[] {
    const stale = new Set(this.#options.servers().filter((server) => !this.#options.isReady(server)));
    if (stale.size === 0) return shown;
    return shown.map((one) =>
      stale.has(one.server) ? { ...one, entry: { ...one.entry, _meta: { ...metaOf(one.entry), [STALE]: true } } } : one,
    );
  }
}

/** The page an app of a tool is shown with (MCP Apps), in either spelling. */
function uiOf(entry: Members): string | null {
  const meta = metaOf(entry);
  if (meta === undefined) return null;
  const uri = isObject(meta.ui) ? meta.ui.resourceUri : meta['ui/resourceUri'];
  return typeof uri === 'string' ? uri : null;
}

/** A merged list may be kept as long, and shown as widely, as the strictest of its parts allows; one without a hint allows nothing. */
export function weakest(hints: readonly (CacheHint | undefined)[]): CacheHint {
  const all = hints.map((hint) => hint ?? NO_HINT);
  if (all.length === 0) return NO_HINT;
  return {
    ttlMs: Math.min(...all.map(({ ttlMs }) => ttlMs)),
    cacheScope: all.some(({ cacheScope }) => cacheScope === 'private') ? 'private' : 'public',
  };
}
