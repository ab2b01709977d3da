import { z } from 'zod';
import { closeBody, ledgerVerified } from '../contract.ledger.ts';
import { call } from '../contract.ts';
import type { Keeper } from '../keeper.ts';
import { ledgerQuery } from '../query.ts';
import { type App, answers, callerOf } from './route.ts';

export function ledgerRoutes(app: App, keeper: Keeper): void {
  app.get(
    '/v1/ledger/verify',
    {
      schema: {
        tags: ['Log'],
        summary: 'Whether a fact is missing or was changed',
        description:
          'Follows the chain of hashes through the whole log, and compares the ledger with the facts it is made from.',
        querystring: ledgerQuery,
        response: answers(ledgerVerified, 'invalid-request'),
      },
    },
    (request) => keeper.verifyLedger(request.query.expect),
  );

  app.post(
    '/v1/mcp/calls/:id/close',
    {
      schema: {
        tags: ['Calls'],
        summary: 'Say what came of a call whose outcome is unknown',
        params: z.strictObject({ id: z.string().min(1).describe('Id of the call.') }),
        body: closeBody,
        response: answers(call, 'invalid-request', 'unknown-call', 'call-not-open', 'log-unavailable'),
      },
    },
    async (request) => {
      const { finding, note } = request.body;
      return keeper.closeCall(request.params.id, { finding, note }, callerOf(request));
    },
  );
}
