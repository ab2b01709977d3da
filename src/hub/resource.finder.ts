/** Which server a URI belongs to. */
import type { Lists } from './lists.ts';
import { fitsTemplate, schemeOf, unmarkUri } from './resource.names.ts';
import { codes, RpcFailure } from './rpc.ts';

export interface Found {
  readonly server: string;
  /** As the server spells it. */
  readonly uri: string;
}

export class ResourceFinder {
  readonly #lists: Lists;
  readonly #newcomers: () => Promise<unknown>;

  /** `newcomers` gives servers that are on their way for the first time a moment to arrive; what they list is not known yet. */
  constructor(lists: Lists, newcomers: () => Promise<unknown>) {
    this.#lists = lists;
    this.#newcomers = newcomers;
  }

  /**
   * On `/mcp`: the server a marked URI names, else the first by name that lists it, has a template it fits, or alone has
   * URIs of its scheme. Throws -32602 when nobody is found. `/mcp/<server>` knows its own server only.
   */
  async find(uri: string, endpoint: string | undefined, sees: (server: string) => boolean): Promise<Found> {
    if (endpoint !== undefined) return { server: endpoint, uri };
    const servers = this.#lists.serversOf(undefined).filter(sees);
    const marked = unmarkUri(uri);
    if (marked !== null && servers.includes(marked.server)) return marked;
    const found = this.#known(servers, uri) ?? (await this.#afterListing(servers, uri));
    if (found !== undefined) return { server: found, uri };
    throw new RpcFailure(codes.invalidParams, 'Resource not found: no server lists it.', { uri });
  }

  async #afterListing(servers: readonly string[], uri: string): Promise<string | undefined> {
    await this.#newcomers();
    await Promise.all([
      this.#lists.resources('resources', undefined),
      this.#lists.resources('resourceTemplates', undefined),
    ]);
    return this.#known(servers, uri) ?? this.#byScheme(servers, uri);
  }

  #known(servers: readonly string[], uri: string): string | undefined {
    return (
      servers.find((server) => this.#lists.has(server, uri)) ??
      servers.find((server) => this.#lists.templatesOf(server).some((template) => fitsTemplate(template, uri)))
    );
  }

  /** A tool may link to what no list shows; a scheme that only one server uses says whose it is. */
  #byScheme(servers: readonly string[], uri: string): string | undefined {
    const scheme = schemeOf(uri);
    const users = servers.filter((server) => this.#lists.urisOf(server).some((known) => schemeOf(known) === scheme));
    return users.length === 1 ? users[0] : undefined;
  }
}
