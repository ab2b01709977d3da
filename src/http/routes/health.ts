import { z } from 'zod';
import { isLoopbackName, readAuthority } from '../authority.ts';
import { health } from '../contract.ts';
import type { Keeper } from '../keeper.ts';
import { none } from '../query.ts';
import { type App, answer, knownCaller, openRefusals, refusals } from './route.ts';

export function healthRoutes(app: App, keeper: Keeper): void {
  app.get(
    '/health',
    {
      schema: {
        tags: ['Daemon'],
        summary: 'Whether the daemon answers, and what it keeps',
        description: 'From another machine without a token: `status`, `version` and `ready` only.',
        security: [],
        response: { ...answer(200, 'Done', health), ...openRefusals() },
      },
    },
    (request, reply) => {
      const near =
        knownCaller(request) !== null || (isLoopbackAddress(request.ip) && isLoopbackHost(request.headers.host));
      reply.send(keeper.health(near));
    },
  );

  app.get(
    '/metrics',
    {
      schema: {
        tags: ['Daemon'],
        summary: 'Numbers for Prometheus',
        querystring: none,
        response: {
          200: {
            description: 'The text format of Prometheus',
            content: { 'text/plain': { schema: z.string() } },
          },
          ...refusals('invalid-request'),
        },
      },
    },
    async (_request, reply) => {
      const text = await keeper.metrics();
      return reply.type('text/plain; version=0.0.4; charset=utf-8').send(text);
    },
  );
}

const isLoopbackAddress = (address: string | undefined): boolean =>
  address !== undefined && (address === '::1' || /^(::ffff:)?127\./.test(address));

/** A proxy on this machine connects from loopback, but under another name. */
const isLoopbackHost = (host: string | undefined): boolean =>
  host !== undefined && isLoopbackName(readAuthority(host, 'http:')?.name ?? '');
