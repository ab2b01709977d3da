import { z } from 'zod';
import { type FactOf, fact } from './define.ts';

const stream = 'call' as const;

const connection = z.number().int().describe("Number of the server's connection it is sent on.");

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

/** What a person found out about a call whose end nobody saw. */
export const finding = z.enum(['ran', 'not-run', 'cannot-tell']);
export type CallFinding = z.infer<typeof finding>;

/** What a call is: never its arguments or results, only their sizes and hashes. */
const request = z.object({
  server: z.string().describe('Name of the server.'),
  tool: z.string().describe("The tool in its server's own spelling."),
  name: z.string().describe('The registered name, `mcp__<server>__<tool>`.'),
  mode: permissionMode.describe('The permission mode the call was asked for in.'),
  client: z
    .string()
    .describe("Who asked: `main` for the daemon's own token, `socket` for the local socket, else the client's name."),
  door: z.string().describe('The way the call came in, such as `http` or `socket`.'),
  argsHash: z.string().describe('Hash of the arguments as JSON with sorted keys.'),
  argsBytes: z.number().int().nonnegative().describe('Size of the arguments as JSON, in bytes.'),
  identity: z.string().describe("Hash of the server's command and arguments, or of its URL, at that time."),
  definition: z.string().describe("Hash of the tool's definition at that time."),
});
export type CallRequest = z.infer<typeof request>;

export const callFacts = {
  CallHeld: fact({
    stream,
    schema: 1,
    about: 'No grant covers the call; it waits for a person until `expiresAt` (ms since the epoch).',
    data: request.extend({
      expiresAt: z.number().describe('How long it can be approved (ms since the epoch).'),
      caller: z
        .enum(['waiting', 'detached'])
        .describe('Whether somebody waits for the answer; `detached`: the caller asked not to wait.'),
      unusual: z.array(z.string()).describe('What is worth a look before approving, in words.'),
    }),
  }),
  CallerLeft: fact({ stream, schema: 1, about: 'The caller no longer waits for the held call.', data: z.object({}) }),
  CallerReturned: fact({ stream, schema: 1, about: 'The same call came again while it was held.', data: z.object({}) }),
  CallApproved: fact({
    stream,
    schema: 1,
    about: 'A person approved the call.',
    data: z.object({
      by: z.string().describe('The client that approved it.'),
      remember: z.enum(['once', 'tool', 'server']).describe('What runs without asking from now on.'),
    }),
  }),
  CallStarted: fact({
    stream,
    schema: 1,
    about: 'The call may run from now on; committed before the first byte leaves.',
    data: request.extend({
      verdict: z.enum(['granted', 'allow-all', 'approved']).describe('Why it may run: a grant, the mode, or a person.'),
      connection,
    }),
  }),
  CallResent: fact({
    stream,
    schema: 1,
    about: 'The server provably did not take the call; it is sent again on a new connection.',
    data: z.object({ connection, reason: z.string().describe('What showed that the server had not taken it.') }),
  }),
  CallSettled: fact({
    stream,
    schema: 1,
    about: 'The call ended.',
    data: z.object({
      outcome: outcome.describe('How it ended.'),
      request: request.optional().describe('Only when nothing else was recorded of the call before.'),
      reason: z.string().optional().describe('Why, in words for a person; redacted.'),
      by: z.string().optional().describe('The client that denied or cancelled it.'),
      resultBytes: z.number().int().nonnegative().optional().describe('Size of the result, in bytes.'),
      resultHash: z.string().optional().describe('Hash of the result.'),
      truncated: z.boolean().optional().describe('Whether the result was cut to 1 MiB.'),
      tookMs: z.number().optional().describe('From start to end, in milliseconds.'),
    }),
  }),
  CallClosed: fact({
    stream,
    schema: 1,
    about: 'A person looked into a call whose outcome was unknown, and closed it.',
    data: z.object({
      by: z.string().describe('The client the person used.'),
      finding: finding.describe('What the person found out.'),
      note: z.string().optional().describe('What the person wrote about it.'),
    }),
  }),
};

export type CallFact = FactOf<typeof callFacts>;
export type CallFactType = CallFact['type'];
