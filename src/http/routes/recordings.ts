import { fixtureAnswer, fixtureBody, recordAnswer, recordBody, recordings } from '../contract.recordings.ts';
import type { Keeper } from '../keeper.ts';
import { readTime } from '../moment.ts';
import { Problem } from '../problem.ts';
import { none } from '../query.ts';
import { type App, answers } from './route.ts';

export function recordingRoutes(app: App, keeper: Keeper): void {
  app.get(
    '/v1/mcp/record',
    {
      schema: {
        tags: ['Servers'],
        summary: 'Which servers are recorded, and what was recorded',
        querystring: none,
        response: answers(recordings, 'invalid-request'),
      },
    },
    () => keeper.recordings(),
  );

  app.post(
    '/v1/mcp/record',
    {
      schema: {
        tags: ['Servers'],
        summary: 'Record what goes between the daemon and a server, or stop it',
        description: 'Takes effect at once, on an open connection too, and is remembered over restarts.',
        body: recordBody,
        response: answers(
          recordAnswer,
          'invalid-request',
          'unknown-server',
          'server-built-in',
          'recording-unavailable',
          'log-unavailable',
        ),
      },
    },
    async (request) => {
      const { name, on, delete: andDelete = false } = request.body;
      if (on && andDelete)
        throw new Problem('invalid-request', '`delete` goes with `on: false` only; send them one after the other.');
      return { ok: true, ...(await keeper.record(name, on, andDelete)) };
    },
  );

  app.post(
    '/v1/mcp/fixture',
    {
      schema: {
        tags: ['Servers'],
        summary: 'One portable file of what was recorded',
        body: fixtureBody,
        response: answers(fixtureAnswer, 'invalid-request', 'unknown-server', 'not-recorded'),
      },
    },
    async (request) => {
      const { name, from, to } = request.body;
      const [begin, end] = [timeOf('from', from), timeOf('to', to)];
      if (begin !== undefined && end !== undefined && begin > end)
        throw new Problem('invalid-request', '`from` is after `to`; exchange them.');
      return keeper.fixture(name, begin, end);
    },
  );
}

function timeOf(member: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = readTime(text);
  if (time === null)
    throw new Problem('invalid-request', `\`${member}\` is no time; send ISO 8601 such as 2026-01-31T12:00:00.000Z.`);
  return time;
}
