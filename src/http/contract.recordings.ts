/** Recordings of servers, and the fixtures made of them: the part of the contract that concerns them. */
import { z } from 'zod';

const name = z.string().min(1);
const time = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
  .meta({ format: 'date-time' });
const count = z.number().int().nonnegative();

export const recording = z.object({
  server: z.string(),
  on: z.boolean().describe('It is being recorded.'),
  since: time.nullable().describe('When it was last switched on or off.'),
  error: z.string().nullable().describe('Why it ended by itself, if it did.'),
  files: count,
  bytes: count.describe('Of all files.'),
});
export const recordings = z.object({ recordings: z.array(recording).describe('Sorted by name.') });

export const recordBody = z
  .strictObject({
    name,
    on: z.boolean(),
    delete: z.boolean().optional().describe('Only with `on: false`: delete what was recorded.'),
  })
  .meta({ examples: [{ name: 'memory', on: true }] });
export const recordAnswer = recording.extend({ ok: z.literal(true) });

export const fixtureBody = z
  .strictObject({
    name,
    from: z.string().optional().describe('Nothing before this time (ISO 8601).'),
    to: z.string().optional().describe('Nothing after this time (ISO 8601).'),
  })
  .meta({ examples: [{ name: 'memory' }] });

/** The file itself; docs/fixtures.md has its whole shape. */
export const fixtureAnswer = z
  .object({
    fixture: z.literal(1).describe('Number of the format.'),
    server: z.string(),
    made: z.object({ by: z.string(), at: z.string() }),
    recorded: z.object({ from: time, to: time }),
    lives: z.array(z.looseObject({ transport: z.enum(['stdio', 'streamable-http', 'sse']), startedAt: time })),
    notes: z.array(z.string()),
  })
  .describe('A fixture, to be served again with `watchkeeper fixture serve`.');
