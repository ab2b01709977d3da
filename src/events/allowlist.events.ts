import { z } from 'zod';
import { type FactOf, fact } from './define.ts';

const stream = 'allowlist' as const;
const entry = z.string();

/** What a grant is bound to: the server's identity and, for a single tool, the hash of its definition. */
const binding = z.object({ identity: z.string(), definition: z.string().nullable() });
export type Binding = z.infer<typeof binding>;

export const origin = z.enum(['file', 'api', 'approval', 'server-removed']);
export type GrantOrigin = z.infer<typeof origin>;

export const allowlistFacts = {
  GrantAdded: fact({
    stream,
    schema: 1,
    about: 'An entry grants a tool, or `prefix*` a whole server.',
    data: z.object({ entry, origin, by: z.string() }),
  }),
  GrantRemoved: fact({
    stream,
    schema: 1,
    about: 'An entry no longer grants anything.',
    data: z.object({ entry, origin, by: z.string() }),
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
    data: z.object({ entry, before: binding, after: binding, changed: z.enum(['server', 'tool']) }),
  }),
};

export type AllowlistFact = FactOf<typeof allowlistFacts>;
