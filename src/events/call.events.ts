import { z } from 'zod';
import { type FactOf, fact } from './define.ts';

const stream = 'call' as const;

/** How a call can end. */
export const outcome = z.enum([
  'succeeded',
  'tool-error',
  'refused',
  'denied',
  'expired',
  'failed',
  'cancelled',
  'unknown',
  'abandoned',
]);
export type Outcome = z.infer<typeof outcome>;

export const permissionMode = z.enum(['deny', 'ask', 'allow-all']);
export type PermissionMode = z.infer<typeof permissionMode>;

/** What a call is: never its arguments or results, only their sizes and hashes. */
const request = z.object({
  server: z.string(),
  tool: z.string(),
  /** The registered name, `mcp__<server>__<tool>`. */
  name: z.string(),
  mode: permissionMode,
  /** Who asked: `main` for the daemon's own token, `socket` for the local socket, else the client's name. */
  client: z.string(),
  door: z.string(),
  argsHash: z.string(),
  argsBytes: z.number().int().nonnegative(),
  /** Identity of the server and hash of the tool's definition when the call was asked for. */
  identity: z.string(),
  definition: z.string(),
});
export type CallRequest = z.infer<typeof request>;

export const callFacts = {
  CallHeld: fact({
    stream,
    schema: 1,
    about: 'No grant covers the call; it waits for a person until `expiresAt` (ms since the epoch).',
    data: request.extend({
      expiresAt: z.number(),
      /** Whether somebody waits for the answer: `waiting`, or `detached` when the caller asked not to wait. */
      caller: z.enum(['waiting', 'detached']),
      /** What is worth a look before approving. */
      unusual: z.array(z.string()),
    }),
  }),
  CallerLeft: fact({ stream, schema: 1, about: 'The caller no longer waits for the held call.', data: z.object({}) }),
  CallerReturned: fact({ stream, schema: 1, about: 'The same call came again while it was held.', data: z.object({}) }),
  CallApproved: fact({
    stream,
    schema: 1,
    about: 'A person approved the call.',
    data: z.object({ by: z.string(), remember: z.enum(['once', 'tool', 'server']) }),
  }),
  CallStarted: fact({
    stream,
    schema: 1,
    about: 'The call may run from now on; committed before the first byte leaves.',
    data: request.extend({ verdict: z.enum(['granted', 'allow-all', 'approved']), connection: z.number().int() }),
  }),
  CallResent: fact({
    stream,
    schema: 1,
    about: 'The server provably did not take the call; it is sent again on a new connection.',
    data: z.object({ connection: z.number().int(), reason: z.string() }),
  }),
  CallSettled: fact({
    stream,
    schema: 1,
    about: 'The call ended.',
    data: z.object({
      outcome,
      /** Only when nothing else was recorded of the call before. */
      request: request.optional(),
      /** In words, for a person; redacted. */
      reason: z.string().optional(),
      by: z.string().optional(),
      resultBytes: z.number().int().nonnegative().optional(),
      resultHash: z.string().optional(),
      truncated: z.boolean().optional(),
      /** From start to end, in milliseconds. */
      tookMs: z.number().optional(),
    }),
  }),
};

export type CallFact = FactOf<typeof callFacts>;
export type CallFactType = CallFact['type'];
