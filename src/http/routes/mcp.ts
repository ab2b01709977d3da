/** `/mcp` and `/mcp/<server>`: behind the same guard as every route, and answered without the framework. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../keeper.ts';
import { type App, callerOf } from './route.ts';

export interface Mcp {
  /** Answers a request; the caller has been let in. */
  handle(request: IncomingMessage, response: ServerResponse, server: string | undefined, caller: Caller): void;
}

/** A call passes here thousands of times a second: its body is read and its answer written by the endpoint itself. */
export function mcpRoutes(app: App, mcp: Mcp): void {
  for (const url of ['/mcp', '/mcp/:server']) {
    app.route({
      method: ['DELETE', 'GET', 'POST'],
      url,
      exposeHeadRoute: false,
      schema: { hide: true },
      onRequest: async (request, reply) => {
        const { server } = request.params as { server?: string };
        reply.hijack();
        mcp.handle(request.raw, reply.raw, server, callerOf(request));
      },
      handler: () => {},
    });
  }
}
