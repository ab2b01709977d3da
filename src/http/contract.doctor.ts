/** Answer of `GET /v1/mcp/doctor`. Names in here are public: adding is fine, renaming is not. */
import { z } from 'zod';

const time = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
  .meta({ format: 'date-time' });
const confidence = z.enum(['high', 'medium', 'low']);

export const check = z.object({
  name: z.string(),
  ok: z.boolean(),
  detail: z.string().describe('What was found, in words.'),
  next: z.string().nullable().describe('What to do; null when there is nothing to do.'),
});

export const serverVerdict = z.object({
  name: z.string(),
  ok: z.boolean().describe('Nothing has to be done: the verdict is good and every check passed.'),
  state: z.string(),
  kind: z.string().describe('The verdict as one word, such as `command-missing`.'),
  verdict: z.string(),
  confidence,
  why: z.array(z.string()).describe('What it is based on, and what makes it as sure as it is.'),
  evidence: z.array(
    z.object({
      position: z.number().int().positive().nullable().describe('Where it stands in the log; null: it is in no row.'),
      at: time.nullable(),
      text: z.string(),
    }),
  ),
  advice: z.array(
    z.object({
      text: z.string(),
      command: z.string().optional().describe('A whole command line.'),
      setting: z.string().optional().describe('A member of the entry in `mcp.json`.'),
    }),
  ),
  also: z
    .array(z.object({ kind: z.string(), verdict: z.string(), confidence, ok: z.boolean() }))
    .describe('What else fits.'),
  checks: z.array(check).describe('Made without starting the server; what does not apply is left out.'),
});

export const doctor = z.object({
  ok: z.boolean(),
  servers: z.array(serverVerdict).describe('Sorted by name.'),
  daemon: z
    .object({ ok: z.boolean(), running: z.boolean(), version: z.string().nullable(), checks: z.array(check) })
    .optional()
    .describe('Left out when one server was asked for.'),
});
