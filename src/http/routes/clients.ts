import { clients } from '../contract.clients.ts';
import type { Keeper } from '../keeper.ts';
import { none } from '../query.ts';
import { type App, answers } from './route.ts';

export function clientRoutes(app: App, keeper: Keeper): void {
  app.get(
    '/v1/clients',
    {
      schema: {
        tags: ['Permission'],
        summary: 'AI clients that are connected, and what their tokens may do',
        description: 'Tokens themselves are stored as hashes and never shown.',
        querystring: none,
        response: answers(clients, 'invalid-request'),
      },
    },
    (_request, reply) => {
      reply.send(keeper.clients());
    },
  );
}
