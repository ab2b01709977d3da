import { z } from 'zod';
import type { Keeper } from '../keeper.ts';
import { Problem } from '../problem.ts';
import { historyQuery } from '../query.ts';
import { type App, refusals, serverOf } from './route.ts';

export function bundleRoutes(app: App, keeper: Keeper): void {
  app.get(
    '/v1/mcp/bundle',
    {
      schema: {
        tags: ['Log'],
        summary: 'One archive about a server, to be attached to a report',
        description:
          'Facts, timeline, configuration with masked values, changes of its tools, stderr and versions, as `.tar.gz`. ' +
          'Without `from` it begins a day before `to`, or earlier if little happened.',
        querystring: historyQuery,
        response: {
          200: {
            description: 'A gzipped tar archive',
            content: { 'application/gzip': { schema: z.string().meta({ format: 'binary' }) } },
          },
          ...refusals('invalid-request', 'unknown-server'),
        },
      },
    },
    async (request, reply) => {
      const { from, to } = request.query;
      const name = serverOf(request.query);
      if (name === undefined) throw new Problem('invalid-request', '`name` is missing: which server is it about?');
      if (from !== undefined && to !== undefined && from > to)
        throw new Problem('invalid-request', '`from` is after `to`; exchange them.');
      const { fileName, bytes } = await keeper.bundle({ name, from, to });
      return reply
        .type('application/gzip')
        .header('content-disposition', `attachment; filename="${fileName}"`)
        .serializer((payload: unknown) => payload as string)
        .send(bytes as unknown as string);
    },
  );
}
