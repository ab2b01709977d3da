/** What changed under people's feet: definitions of tools, and what grants were given for. */
import { z } from 'zod';
import { interval } from './contract.ts';

const place = { position: z.number().int().positive(), at: interval.shape.from };

/** One place of a definition that differs; pieces in order make the text. */
const line = z.object({
  path: z.string().describe('`description`, `inputSchema.query.type`.'),
  pieces: z.array(z.object({ kind: z.enum(['same', 'added', 'removed']), text: z.string() })),
});

export const toolChanges = z.object({
  from: z.number().int().nonnegative().describe('Log position; only what came later.'),
  changes: z
    .array(
      z.object({
        ...place,
        server: z.string(),
        tool: z.string().describe("The tool's own name."),
        name: z.string().describe('The registered name.'),
        change: z.enum(['added', 'changed']),
        words: z.array(line).describe('What is different; empty for a tool that is new.'),
        grant: z
          .object({ entry: z.string(), suspended: z.boolean() })
          .nullable()
          .describe('The entry that granted the tool; one that was not suspended still counts.'),
      }),
    )
    .describe('Latest first.'),
});

const binding = z.object({ identity: z.string(), definition: z.string().nullable() });

export const suspensions = z.object({
  suspended: z
    .array(
      z.object({
        entry: z.string(),
        ...place,
        changed: z.enum(['server', 'tool']),
        before: binding.describe('What it was given for.'),
        after: binding.describe('What was there when it was suspended.'),
        words: z.array(line).describe('How the definition changed, where the tool did and both are known.'),
      }),
    )
    .describe('Sorted by entry.'),
});
