/** What `GET /v1/mcp/tools/history` answers. */
import { z } from 'zod';
import { toolDefinition } from '../events/shapes.ts';
import { interval } from './contract.ts';

const place = z.object({ position: z.number().int().positive(), at: interval.shape.from });

const difference = z.object({
  server: z.string(),
  tool: z.string().describe("The tool's own name."),
  name: z.string().describe('The registered name.'),
  change: z.enum(['added', 'removed', 'changed']),
  parts: z.array(z.string()).describe('Members of the definition that differ; empty unless `changed`.'),
  before: toolDefinition.nullable(),
  after: toolDefinition.nullable(),
});

export const toolChange = place.extend({
  ...difference.shape,
  grant: z
    .object({
      entry: z.string(),
      suspended: z.boolean().describe('This change suspended it: the next call asks again.'),
    })
    .nullable()
    .describe('The entry of the allowlist that granted the tool until then.'),
});

export const toolsHistory = z.object({
  changes: z.array(toolChange).describe('Ascending; after `from` and up to `to` where they are given.'),
  difference: z
    .array(difference)
    .nullable()
    .describe('From `from` to `to`, or to now, in one step, sorted by name; null without `from`.'),
  tools: z
    .array(
      z.object({
        server: z.string(),
        tool: z.string(),
        name: z.string(),
        firstSeen: place,
        lastChanged: place.describe('When it became what it is, or was last.'),
        removed: place.nullable().describe('When it was taken away; null while it is offered.'),
      }),
    )
    .describe('Every tool there ever was up to `to`, sorted by name.'),
});
