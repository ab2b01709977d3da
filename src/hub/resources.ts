/** `resources/*`, with URIs that several servers have told apart on `/mcp`. */
import { isObject } from '../mcp/message.ts';
import type { Asked, Method } from './asked.ts';
import { pageOf } from './cursor.ts';
import type { Lists } from './lists.ts';
import { plain } from './prompts.ts';
import type { Relay } from './relay.ts';
import type { ResourceFinder } from './resource.finder.ts';
import { codes, type Members, RpcFailure, textIn } from './rpc.ts';
import type { Session } from './session.ts';
import { PAGE } from './tools.ts';
import type { Watches } from './watches.ts';

export interface ResourcesOptions {
  readonly lists: Lists;
  readonly relay: Relay;
  readonly finder: ResourceFinder;
  readonly watches: Watches;
}

/** Both eras. */
export function resourceMethods({ lists, relay, finder }: ResourcesOptions): Readonly<Record<string, Method>> {
  const list =
    (kind: 'resources' | 'resourceTemplates'): Method =>
    async ({ server, sees, params }) => {
      const { shown, cache } = await lists.resources(kind, server);
      const seen = shown.filter((one) => sees(one.server));
      const { entries, nextCursor } = pageOf(seen, ({ key }) => key, params.cursor, PAGE);
      return { [kind]: entries.map(({ entry }) => entry), ...(nextCursor ? { nextCursor } : {}), ...cache };
    };
  return {
    'resources/list': list('resources'),
    'resources/templates/list': list('resourceTemplates'),
    'resources/read': async (asked) => {
      const given = textIn(asked.params, 'uri');
      const { server, uri } = await finder.find(given, asked.server, asked.sees);
      const result = await relay.run(asked, server, { ...plain(asked.params), uri });
      return withUris(hinted(result), (of) => (of === uri ? given : lists.outward(server, of, asked.server)));
    },
  };
}

/** The legacy era only. */
export function subscriptionMethods({ finder, watches }: ResourcesOptions): Readonly<Record<string, Method>> {
  return {
    'resources/subscribe': async (asked) => {
      const { session, given, server, uri } = await meant(asked, finder);
      const tell = (params: Members): void =>
        session.tell('notifications/resources/updated', { ...params, uri: given });
      const refusal = await watches.add(server, uri, session, tell);
      if (refusal === null) return {};
      const { error } = refusal;
      throw error === null
        ? new RpcFailure(codes.invalidParams, `Server "${server}" does not watch this resource.`, { uri: given })
        : new RpcFailure(error.code, error.message, error.data);
    },
    'resources/unsubscribe': async (asked) => {
      const { session, server, uri } = await meant(asked, finder);
      watches.remove(server, uri, session);
      return {};
    },
  };
}

async function meant(
  asked: Asked,
  finder: ResourceFinder,
): Promise<{ session: Session; given: string; server: string; uri: string }> {
  const { session } = asked;
  if (session === null) throw new RpcFailure(codes.methodNotFound, `Method not found: ${asked.method}`);
  const given = textIn(asked.params, 'uri');
  return { session, given, ...(await finder.find(given, asked.server, asked.sees)) };
}

/** A server of the legacy era says nothing of how long its answer may be kept. */
const hinted = (result: Members): Members =>
  Array.isArray(result.contents) ? { ttlMs: 0, cacheScope: 'private', ...result } : result;

function withUris(result: Members, outward: (uri: string) => string): Members {
  if (!Array.isArray(result.contents)) return result;
  const contents = result.contents.map((content: unknown) =>
    isObject(content) && typeof content.uri === 'string' ? { ...content, uri: outward(content.uri) } : content,
  );
  return { ...result, contents };
}
