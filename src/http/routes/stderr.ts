import { stderr } from '../contract.stderr.ts';
import type { Keeper } from '../keeper.ts';
import { Problem } from '../problem.ts';
import { stderrQuery } from '../query.ts';
import { type App, answers, serverOf } from './route.ts';

export function stderrRoutes(app: App, keeper: Keeper): void {
  app.get(
    '/v1/mcp/stderr',
    {
      schema: {
        tags: ['Servers'],
        summary: 'What the process of a server wrote to stderr last',
        description: 'Of the process that runs now. What one wrote before it failed is kept in the log: `why` has it.',
        querystring: stderrQuery,
        response: answers(stderr, 'invalid-request', 'unknown-server'),
      },
    },
    (request, reply) => {
      const name = serverOf(request.query);
      if (name === undefined) throw new Problem('invalid-request', '`name` is missing: which server is asked about?');
      reply.send(keeper.stderr(name));
    },
  );
}
