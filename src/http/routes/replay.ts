import { replayBody, replayed } from '../contract.replay.ts';
import type { Keeper, Moment } from '../keeper.ts';
import { readMoment } from '../moment.ts';
import { Problem } from '../problem.ts';
import { type App, answers, serverOf } from './route.ts';

export function replayRoutes(app: App, keeper: Keeper): void {
  app.post(
    '/v1/mcp/replay',
    {
      schema: {
        tags: ['Log'],
        summary: 'Hold the log against the machine, and ask how it would have gone with other limits',
        description:
          'Folds the facts anew and answers the first place where they lead elsewhere than the log says. With `set` it also ' +
          'runs the server once more under a virtual clock; answers that had to be assumed are listed.',
        body: replayBody,
        response: answers(replayed, 'invalid-request', 'unknown-server'),
      },
    },
    async ({ body }) => {
      const { fast = false, set } = body;
      const name = serverOf(body);
      const [from, to] = [momentIn('from', body.from), momentIn('to', body.to)];
      if (from && to && isAfter(from, to)) throw new Problem('invalid-request', '`from` is after `to`; exchange them.');
      return keeper.replay({ name, from, to, fast, set });
    },
  );
}

function momentIn(field: string, given: string | number | undefined): Moment | undefined {
  if (given === undefined) return undefined;
  const moment = readMoment(String(given));
  if (moment === null)
    throw new Problem('invalid-request', `In the body: ${field}: expected a log position or a time in ISO 8601.`);
  return moment;
}

/** Of a position and a time nobody knows here which is the later. */
function isAfter(one: Moment, other: Moment): boolean {
  if ('position' in one) return 'position' in other && one.position > other.position;
  return 'time' in other && one.time > other.time;
}
