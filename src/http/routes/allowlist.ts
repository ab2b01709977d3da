import { suspensions } from '../contract.trust.ts';
import { allowlist, allowlistBody, allowlistReplaced } from '../contract.ts';
import type { Keeper } from '../keeper.ts';
import { allowlistQuery, none } from '../query.ts';
import { type App, answers, callerOf } from './route.ts';

export function allowlistRoutes(app: App, keeper: Keeper): void {
  app.get(
    '/v1/allowlist',
    {
      schema: {
        tags: ['Permission'],
        summary: 'Tools that run without asking',
        description: 'A suspended grant allows nothing until it is renewed, because its server or tool changed.',
        querystring: allowlistQuery,
        response: answers(allowlist, 'invalid-request', 'prefix-invalid'),
      },
    },
    (request, reply) => {
      reply.send(keeper.allowlist(request.query.prefix));
    },
  );

  app.get(
    '/v1/allowlist/suspended',
    {
      schema: {
        tags: ['Permission'],
        summary: 'Grants that count no more, with what changed',
        querystring: none,
        response: answers(suspensions, 'invalid-request'),
      },
    },
    (_request, reply) => {
      reply.send(keeper.suspensions());
    },
  );

  app.post(
    '/v1/allowlist',
    {
      schema: {
        tags: ['Permission'],
        summary: 'Replace the grants of one server',
        description: 'All entries are taken or none. Lines of other servers stay as they are.',
        body: allowlistBody,
        response: answers(
          allowlistReplaced,
          'invalid-request',
          'prefix-invalid',
          'config-locked',
          'config-unreadable',
          'log-unavailable',
        ),
      },
    },
    async (request) => {
      const { prefix, entries } = request.body.tool;
      return keeper.replaceGrants(prefix, entries, callerOf(request));
    },
  );
}
