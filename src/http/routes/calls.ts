import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { approveBody, call, callBody, callHeld, callResult, calls, denyBody } from '../contract.ts';
import type { Caller, Keeper } from '../keeper.ts';
import { chooseMode } from '../mode.ts';
import { Problem } from '../problem.ts';
import { callsQuery, none } from '../query.ts';
import { type App, answer, answers, callerOf, isOwn, serverOf } from './route.ts';

const usualLimit = 100;
const idParams = z.strictObject({ id: z.string().min(1).describe('Id of the call.') });
const deciding = ['invalid-request', 'unknown-call', 'call-not-held', 'log-unavailable'] as const;

export function callRoutes(app: App, keeper: Keeper): void {
  app.post(
    '/v1/mcp/call',
    {
      schema: {
        tags: ['Calls'],
        summary: 'Call a tool',
        description:
          'Waits for the result, and for a person if no grant covers the tool. ' +
          'The header `Watchkeeper-Permission-Mode` may stand in for `permission_mode`.',
        body: callBody,
        response: {
          ...answers(
            callResult,
            ...(['invalid-request', 'mode-above-ceiling', 'call-refused', 'call-denied', 'call-expired'] as const),
            ...(['unknown-tool', 'call-cancelled', 'call-rejected', 'server-lost'] as const),
            ...(['log-unavailable', 'server-not-connected', 'shutting-down', 'call-timeout'] as const),
          ),
          ...answer(202, 'Still held for a person; the same call comes through once it is approved', callHeld),
        },
      },
    },
    async (request, reply) => {
      const { body } = request;
      const caller = callerOf(request);
      const called = await keeper.call({
        tool: body.tool,
        arguments: body.arguments ?? {},
        mode: chooseMode({ ...body, header: oneHeader(request.headers['watchkeeper-permission-mode']) }, caller),
        timeoutMs: body.timeout_ms,
        wait: body.wait ?? true,
        caller,
        signal: untilLeft(reply.raw),
      });
      return reply.code(called.kind === 'held' ? 202 : 200).send(called.body);
    },
  );

  app.get(
    '/v1/mcp/calls',
    {
      schema: {
        tags: ['Calls'],
        summary: 'The calls, latest first',
        querystring: callsQuery,
        response: answers(calls, 'invalid-request', 'unknown-call', 'unknown-server'),
      },
    },
    (request, reply) => {
      const { limit = usualLimit, name: _, ...query } = request.query;
      reply.send(keeper.calls({ ...query, server: serverOf(request.query), limit }));
    },
  );

  app.get(
    '/v1/mcp/calls/:id',
    {
      schema: {
        tags: ['Calls'],
        summary: 'One call, with its result while it is kept',
        params: idParams,
        querystring: none,
        response: answers(call, 'invalid-request', 'unknown-call'),
      },
    },
    (request, reply) => {
      reply.send(ownCall(keeper.callById(request.params.id), callerOf(request)));
    },
  );

  app.post(
    '/v1/mcp/calls/:id/approve',
    {
      schema: {
        tags: ['Calls'],
        summary: 'Let a held call run',
        description: '`remember`: for this call only (`once`), or as a grant of the `tool` or its whole `server`.',
        params: idParams,
        body: approveBody.nullish(),
        response: answers(call, ...deciding, 'config-locked', 'config-unreadable'),
      },
    },
    async (request) => keeper.approve(request.params.id, request.body?.remember ?? 'once', callerOf(request)),
  );

  app.post(
    '/v1/mcp/calls/:id/deny',
    {
      schema: {
        tags: ['Calls'],
        summary: 'Do not let a held call run',
        params: idParams,
        body: denyBody.nullish(),
        response: answers(call, ...deciding),
      },
    },
    async (request) => keeper.deny(request.params.id, request.body?.reason, callerOf(request)),
  );

  app.post(
    '/v1/mcp/calls/:id/cancel',
    {
      schema: {
        tags: ['Calls'],
        summary: 'End a call that is held or running',
        description:
          'A call that has left may have run all the same; its outcome is then `unknown`. A client cancels its own calls only.',
        params: idParams,
        body: z.strictObject({}).nullish(),
        response: answers(call, ...deciding),
      },
    },
    async (request) => {
      const { id } = request.params;
      const caller = callerOf(request);
      if (!isOwn(caller.client)) ownCall(keeper.callById(id), caller);
      return keeper.cancel(id, caller);
    },
  );
}

/** A client sees its own calls and no others. */
function ownCall<Row extends { readonly id: string; readonly client: string }>(row: Row, { client }: Caller): Row {
  if (isOwn(client) || row.client === client) return row;
  throw new Problem('unknown-call', `There is no call "${row.id}" of ${client}.`);
}

function oneHeader(value: string | string[] | undefined): string | undefined {
  if (!Array.isArray(value)) return value;
  throw new Problem('invalid-request', 'The header Watchkeeper-Permission-Mode must be sent once.');
}

/** Ends when the connection closes before the answer was sent. */
function untilLeft(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  response.once('close', () => {
    if (!response.writableEnded) left.abort(new Error('The caller went away.'));
  });
  return left.signal;
}
