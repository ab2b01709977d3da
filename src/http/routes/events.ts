import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { event, events } from '../contract.ts';
import { feedEvents } from '../event.feed.ts';
import type { Keeper } from '../keeper.ts';
import { Problem } from '../problem.ts';
import { eventsQuery } from '../query.ts';
import { type EventStream, openEventStream, type StreamLimits } from '../sse.ts';
import { type App, refusals } from './route.ts';

const usualLimit = 100;

/** `onFailure` hears of a stream that had to be ended because the log could not be read. */
export function eventRoutes(app: App, keeper: Keeper, limits: StreamLimits, onFailure: (error: unknown) => void): void {
  const open = new Set<EventStream>();
  app.addHook('preClose', async () => {
    for (const stream of open) stream.end();
  });

  app.get(
    '/v1/events',
    {
      schema: {
        tags: ['Log'],
        summary: 'What happened: a page of the log, or the log as it grows',
        description:
          'With `Accept: text/event-stream` each frame is one event and its id the position. It begins after ' +
          '`Last-Event-ID` or `after`, else with what comes from now on. A frame named `gap` with `{from, to}` says ' +
          'that the log no longer has these positions.',
        querystring: eventsQuery,
        headers: z.looseObject({ 'last-event-id': z.string().optional().describe('Position; goes before `after`.') }),
        response: {
          200: {
            description: 'Ascending',
            content: { 'application/json': { schema: events }, 'text/event-stream': { schema: event } },
          },
          ...refusals('invalid-request', 'log-unavailable'),
        },
      },
    },
    (request, reply) => {
      const { after, stream, type, limit } = request.query;
      if (!wantsStream(request)) {
        reply.send(keeper.events({ after: after ?? 0, stream, type, limit: limit ?? usualLimit }));
        return;
      }
      const start = lastEventId(request) ?? after;
      reply.hijack();
      const sent = openEventStream(reply.raw, limits);
      if (request.method === 'HEAD') {
        sent.end();
        return;
      }
      open.add(sent);
      sent.onClose(() => open.delete(sent));
      feedEvents(keeper, { after: start, stream, type }, sent).catch((error: unknown) => {
        onFailure(error);
        sent.end();
      });
    },
  );
}

const wantsStream = ({ headers }: FastifyRequest): boolean => /\btext\/event-stream\b/i.test(headers.accept ?? '');

function lastEventId({ headers }: FastifyRequest): number | undefined {
  const id = headers['last-event-id'];
  if (id === undefined || id === '') return undefined;
  if (typeof id === 'string' && /^\d{1,15}$/.test(id)) return Number(id);
  throw new Problem('invalid-request', 'The header Last-Event-ID must be a log position.');
}
