import { why } from '../contract.why.ts';
import type { Keeper } from '../keeper.ts';
import { Problem } from '../problem.ts';
import { whyQuery } from '../query.ts';
import { type App, answers, serverOf } from './route.ts';

export function whyRoutes(app: App, keeper: Keeper): void {
  app.get(
    '/v1/mcp/why',
    {
      schema: {
        tags: ['Log'],
        summary: 'Why a server is, or was, as it is',
        description:
          'The chain of facts that led to its state, newest first, what changed shortly before, and what to do.',
        querystring: whyQuery,
        response: answers(why, 'invalid-request', 'unknown-server'),
      },
    },
    (request, reply) => {
      const name = serverOf(request.query);
      if (name === undefined) throw new Problem('invalid-request', '`name` is missing: which server is asked about?');
      reply.send(keeper.why({ name, at: request.query.at }));
    },
  );
}
