import { history } from '../contract.ts';
import type { Keeper } from '../keeper.ts';
import { Problem } from '../problem.ts';
import { historyQuery } from '../query.ts';
import { type App, answers, serverOf } from './route.ts';

export function historyRoutes(app: App, keeper: Keeper): void {
  app.get(
    '/v1/mcp/history',
    {
      schema: {
        tags: ['Log'],
        summary: 'In which state each server was, and when',
        description: 'Time in which no daemon watched is shown as `unobserved`.',
        querystring: historyQuery,
        response: answers(history, 'invalid-request', 'unknown-server'),
      },
    },
    (request, reply) => {
      const { from, to } = request.query;
      if (from !== undefined && to !== undefined && from > to)
        throw new Problem('invalid-request', '`from` is after `to`; exchange them.');
      reply.send(keeper.history({ name: serverOf(request.query), from, to }));
    },
  );
}
