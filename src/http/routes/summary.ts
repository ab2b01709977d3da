import { summary } from '../contract.summary.ts';
import type { Keeper } from '../keeper.ts';
import { Problem } from '../problem.ts';
import { historyQuery } from '../query.ts';
import { type App, answers, serverOf } from './route.ts';

export function summaryRoutes(app: App, keeper: Keeper): void {
  app.get(
    '/v1/mcp/history/summary',
    {
      schema: {
        tags: ['Log'],
        summary: 'How well each server did',
        description:
          'Availability, losses, latency, failures by their fingerprints, and what losses have in common. Without `from`: since the first fact.',
        querystring: historyQuery,
        response: answers(summary, 'invalid-request', 'unknown-server'),
      },
    },
    (request) => {
      const { from, to } = request.query;
      if (from !== undefined && to !== undefined && from > to)
        throw new Problem('invalid-request', '`from` is after `to`; exchange them.');
      return keeper.summary({ name: serverOf(request.query), from, to });
    },
  );
}
