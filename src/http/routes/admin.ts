import { z } from 'zod';
import { done, rebuild } from '../contract.ts';
import type { Keeper } from '../keeper.ts';
import { type App, answers } from './route.ts';

const nothing = z.strictObject({}).nullish();

export function adminRoutes(app: App, keeper: Keeper): void {
  app.post(
    '/v1/rebuild',
    {
      schema: {
        tags: ['Daemon'],
        summary: 'Make every view anew from the log',
        body: nothing,
        response: answers(rebuild, 'invalid-request', 'log-unavailable'),
      },
    },
    async () => keeper.rebuild(),
  );

  app.post(
    '/v1/shutdown',
    {
      schema: {
        tags: ['Daemon'],
        summary: 'End the daemon in good order',
        description: 'Answers first; then every server is stopped and the daemon ends.',
        body: nothing,
        response: answers(done, 'invalid-request'),
      },
    },
    (_request, reply) => {
      reply.raw.once('close', () => keeper.shutdown());
      reply.header('connection', 'close').send({ ok: true });
    },
  );
}
