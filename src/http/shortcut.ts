/**
 * The way of tool calls past the framework: the same guard, and nothing else in between. Whatever is not let in, or is
 * anything but a plain POST to the endpoint, goes the long way and is answered there, in the words of every route.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { admit, type Policy } from './guard.ts';
import type { Caller } from './keeper.ts';
import type { Mcp } from './routes/mcp.ts';
import { lookAt } from './seen.ts';

/** Answers the request, or says false and has touched nothing. */
export type Shortcut = (request: IncomingMessage, response: ServerResponse) => boolean;

declare module 'fastify' {
  interface FastifyInstance {
    shortcut: Shortcut;
  }
}

export function shortcutTo(mcp: Mcp | undefined, policy: Policy): Shortcut {
  return (request, response) => {
    if (mcp === undefined || request.method !== 'POST') return false;
    const server = serverIn(request.url ?? '');
    if (server === null) return false;
    const caller = admitted(request, policy);
    if (caller === null) return false;
    mcp.handle(request, response, server, caller);
    return true;
  };
}

/** Server of the endpoint that a target names; undefined for all of them, null for anything else. */
function serverIn(url: string): string | undefined | null {
  if (url === '/mcp') return undefined;
  return /^\/mcp\/([\w-]+)$/.exec(url)?.[1] ?? null;
}

function admitted(request: IncomingMessage, policy: Policy): Caller | null {
  try {
    return admit(lookAt(request), policy);
  } catch {
    return null;
  }
}
