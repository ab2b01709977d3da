/** `prompts/list`, `prompts/get`, `completion/complete`. */
import { isObject } from '../mcp/message.ts';
import type { Asked, Method } from './asked.ts';
import { pageOf } from './cursor.ts';
import type { Lists } from './lists.ts';
import type { Relay } from './relay.ts';
import type { ResourceFinder } from './resource.finder.ts';
import { codes, type Members, RpcFailure, textIn } from './rpc.ts';
import { PAGE } from './tools.ts';

export interface PromptsOptions {
  readonly lists: Lists;
  readonly relay: Relay;
  readonly finder: ResourceFinder;
}

export function promptMethods({ lists, relay, finder }: PromptsOptions): Readonly<Record<string, Method>> {
  const find = async (asked: Asked, name: string) => {
    const { server } = asked;
    if (server !== undefined) return { server, name };
    // The first list of a server that just came is waited for like the list itself.
    const ref = lists.promptNames(server)?.toolOf.get(name) ?? (await listed(lists, name));
    if (ref === undefined || !asked.sees(ref.server))
      throw new RpcFailure(codes.invalidParams, `Unknown prompt: ${name.slice(0, 200)}`);
    return { server: ref.server, name: ref.tool };
  };
  return {
    'prompts/list': async ({ server, sees, params }) => {
      const { shown, cache } = await lists.prompts(server);
      const seen = shown.filter((one) => sees(one.server));
      const { entries, nextCursor } = pageOf(seen, ({ key }) => key, params.cursor, PAGE);
      return { prompts: entries.map(({ entry }) => entry), ...(nextCursor ? { nextCursor } : {}), ...cache };
    },
    'prompts/get': async (asked) => {
      const { server, name } = await find(asked, textIn(asked.params, 'name'));
      return relay.run(asked, server, { ...plain(asked.params), name });
    },
    'completion/complete': async (asked) => {
      const { ref } = asked.params;
      if (!isObject(ref)) throw new RpcFailure(codes.invalidParams, 'Invalid params: "ref" must be an object.');
      if (ref.type === 'ref/prompt') {
        const { server, name } = await find(asked, textIn(ref, 'name'));
        return relay.run(asked, server, { ...plain(asked.params), ref: { ...ref, name } });
      }
      const { server, uri } = await finder.find(textIn(ref, 'uri'), asked.server, asked.sees);
      return relay.run(asked, server, { ...plain(asked.params), ref: { ...ref, uri } });
    },
  };
}

async function listed(lists: Lists, name: string) {
  await lists.prompts(undefined);
  return lists.promptNames(undefined)?.toolOf.get(name);
}

/** Params without what belongs to the client's own hop or to a round of the hub. */
export function plain(params: Members): Members {
  const { _meta, inputResponses, requestState, ...rest } = params;
  return rest;
}
