import { toolsHistory } from '../contract.catalog.ts';
import { instructions, tools } from '../contract.ts';
import type { Keeper } from '../keeper.ts';
import { none, toolsHistoryQuery, toolsQuery } from '../query.ts';
import { type App, answers, serverOf } from './route.ts';

export function toolRoutes(app: App, keeper: Keeper): void {
  app.get(
    '/v1/mcp/tools',
    {
      schema: {
        tags: ['Tools'],
        summary: 'The registered tools, or those of another moment',
        querystring: toolsQuery,
        response: answers(tools, 'invalid-request', 'unknown-server'),
      },
    },
    (request, reply) => {
      reply.send(keeper.tools({ server: serverOf(request.query), at: request.query.at }));
    },
  );

  app.get(
    '/v1/mcp/tools/history',
    {
      schema: {
        tags: ['Tools'],
        summary: 'Tools that were added, removed or changed, and since when each is what it is',
        querystring: toolsHistoryQuery,
        response: answers(toolsHistory, 'invalid-request', 'unknown-server'),
      },
    },
    (request, reply) => {
      const { from, to } = request.query;
      reply.send(keeper.toolsHistory({ server: serverOf(request.query), from, to }));
    },
  );

  app.get(
    '/v1/mcp/instructions',
    {
      schema: {
        tags: ['Tools'],
        summary: 'What servers tell the model about themselves',
        querystring: none,
        response: answers(instructions, 'invalid-request'),
      },
    },
    (_request, reply) => {
      reply.send(keeper.instructions());
    },
  );
}
