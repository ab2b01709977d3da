import { z } from 'zod';
import { type FactOf, fact } from './define.ts';

const stream = 'allowlist' as const;
const entry = z.string().describe('The line: `mcp__<server>__<tool>` or `mcp__<server>__*`.');
const by = z.string().describe('`file`, `daemon`, or the client that asked for it.');

/** What a grant is bound to: the server's identity and, for a single tool, the hash of its definition. */
const binding = z.object({
  identity: z.string().describe("Hash of the server's command and arguments, or of its URL."),
  definition: z.string().nullable().describe("Hash of the tool's definition; null for a grant of a whole server."),
});
export type Binding = z.infer<typeof binding>;

export const origin = z.enum(['file', 'api', 'approval', 'server-removed']).describe('What led to it.');
export type GrantOrigin = z.infer<typeof origin>;

export const allowlistFacts = {
  GrantAdded: fact({
    stream,
    schema: 1,
    about: 'An entry grants a tool, or `prefix*` a whole server.',
    data: z.object({ entry, origin, by }),
  }),
  GrantRemoved: fact({
    stream,
    schema: 1,
    about: 'An entry no longer grants anything.',
    data: z.object({ entry, origin, by }),
  }),
  GrantBound: fact({
    stream,
    schema: 1,
    about: 'A grant is tied to this server and this definition of the tool.',
    data: z.object({ entry, binding }),
  }),
  GrantSuspended: fact({
    stream,
    schema: 1,
    about: 'What a grant was tied to changed; it grants nothing until someone renews it.',
    data: z.object({
      entry,
      before: binding.describe('What it is tied to.'),
      after: binding.describe('What is there now.'),
      changed: z.enum(['server', 'tool']).describe('Which of the two changed.'),
    }),
  }),
};

export type AllowlistFact = FactOf<typeof allowlistFacts>;
