import { toolsHistory } from '../contract.catalog.ts';
import { toolChanges } from '../contract.trust.ts';
import { instructions, tools } from '../contract.ts';
import type { Keeper } from '../keeper.ts';
import { none, toolChangesQuery, toolsHistoryQuery, toolsQuery } from '../query.ts';
import { type App, answers, callerOf, serverOf } from './route.ts';

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
      const { tools: all } = keeper.tools({ server: serverOf(request.query), at: request.query.at });
      const { client } = callerOf(request);
      reply.send({ tools: all.filter(({ server }) => keeper.sees(client, server)) });
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
    '/v1/mcp/tools/changes',
    {
      schema: {
        tags: ['Tools'],
        summary: 'Definitions that changed lately, over all servers, word by word',
        description:
          'Also tools that came to a server that was known before. The last seven days unless `from` is given.',
        querystring: toolChangesQuery,
        response: answers(toolChanges, 'invalid-request', 'unknown-server'),
      },
    },
    (request, reply) => {
      reply.send(keeper.toolChanges({ server: serverOf(request.query), from: request.query.from }));
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
    (request, reply) => {
      const { client } = callerOf(request);
      reply.send(keeper.instructions((server) => keeper.sees(client, server)));
    },
  );
}
