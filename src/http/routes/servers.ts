import type { z } from 'zod';
import {
  addBody,
  config,
  done,
  nameBody,
  reconnect,
  reconnectBody,
  status,
  testBody,
  testResult,
} from '../contract.ts';
import type { Keeper } from '../keeper.ts';
import { none, statusQuery } from '../query.ts';
import { type App, answers, callerOf, isOwn } from './route.ts';

type Status = z.infer<typeof status>;

const editing = ['invalid-request', 'config-invalid', 'config-locked', 'config-unreadable', 'log-unavailable'] as const;

export function serverRoutes(app: App, keeper: Keeper): void {
  app.get(
    '/v1/mcp',
    {
      schema: {
        tags: ['Servers'],
        summary: 'The configured servers',
        description: 'Entries as written: placeholders are not expanded, literal secrets are shown as `***`.',
        querystring: none,
        response: answers(config, 'invalid-request'),
      },
    },
    async () => {
      const problem = keeper.configProblem();
      const config = await keeper.config();
      return problem === null ? config : { ...config, problem };
    },
  );

  app.post(
    '/v1/mcp',
    {
      schema: {
        tags: ['Servers'],
        summary: 'Add a server, or replace its entry',
        description: 'Answers once the entry is valid, saved and handed over; the server connects afterwards.',
        body: addBody,
        response: answers(done, ...editing, 'entry-invalid'),
      },
    },
    async (request) => {
      await keeper.addServer(request.body.name, request.body.server);
      return { ok: true };
    },
  );

  app.post(
    '/v1/mcp/remove',
    {
      schema: {
        tags: ['Servers'],
        summary: 'Remove a server',
        description: 'Stops it and removes its entry, its tools, its credentials and its grants.',
        body: nameBody,
        response: answers(done, ...editing, 'unknown-server', 'server-built-in'),
      },
    },
    async (request) => {
      await keeper.removeServer(request.body.name);
      return { ok: true };
    },
  );

  for (const disabled of [false, true]) {
    app.post(
      disabled ? '/v1/mcp/disable' : '/v1/mcp/enable',
      {
        schema: {
          tags: ['Servers'],
          summary: disabled ? 'Stop a server and keep its entry' : 'Let a disabled server run again',
          body: nameBody,
          response: answers(done, ...editing, 'unknown-server', 'server-built-in'),
        },
      },
      async (request) => {
        await keeper.setDisabled(request.body.name, disabled);
        return { ok: true };
      },
    );
  }

  app.post(
    '/v1/mcp/test',
    {
      schema: {
        tags: ['Servers'],
        summary: 'Try an entry without saving it',
        description:
          'The server is started, asked for its tools and stopped. `name` lets `***` stand for stored values.',
        body: testBody,
        response: answers(testResult, 'invalid-request', 'entry-invalid', 'unknown-server'),
      },
    },
    async (request) => keeper.testServer(request.body.server, request.body.name),
  );

  app.get(
    '/v1/mcp/status',
    {
      schema: {
        tags: ['Servers'],
        summary: 'How every server is, or was',
        querystring: statusQuery,
        response: answers(status, 'invalid-request'),
      },
    },
    (request, reply) => {
      const { at } = request.query;
      // The present state is kept as text, so that asking often costs next to nothing.
      const { client } = callerOf(request);
      if (at === undefined && isOwn(client)) reply.type('application/json').send(keeper.statusText());
      else {
        const { servers } = at === undefined ? (JSON.parse(keeper.statusText()) as Status) : keeper.statusAt(at);
        reply.send({ servers: servers.filter(({ name }) => keeper.sees(client, name)) });
      }
    },
  );

  app.post(
    '/v1/mcp/reconnect',
    {
      schema: {
        tags: ['Servers'],
        summary: 'Close, connect and list again: one server, or all',
        description: 'Answers when each has settled. Without a body or a name: all servers.',
        body: reconnectBody.nullish(),
        response: answers(reconnect, 'invalid-request', 'unknown-server', 'server-disabled', 'log-unavailable'),
      },
    },
    async (request) => keeper.reconnect(request.body?.name, request.body?.timeout_ms),
  );
}
