import { doctor } from '../contract.doctor.ts';
import type { Keeper } from '../keeper.ts';
import { toolsHistoryQuery } from '../query.ts';
import { type App, answers, serverOf } from './route.ts';

export function doctorRoutes(app: App, keeper: Keeper): void {
  app.get(
    '/v1/mcp/doctor',
    {
      schema: {
        tags: ['Servers'],
        summary: 'What is wrong, and what would help',
        description:
          'A verdict on each server from the log of the last week and from checks that do not start it: command, files, variables, runtime, host, port, certificate. Without a name: all servers, and the daemon itself.',
        querystring: toolsHistoryQuery,
        response: answers(doctor, 'invalid-request', 'unknown-server'),
      },
    },
    (request) => keeper.doctor(serverOf(request.query)),
  );
}
