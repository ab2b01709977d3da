/** What `GET /v1/mcp/why` answers. */
import { z } from 'zod';
import { failureClass, phase } from '../events/shapes.ts';
import { interval } from './contract.ts';

const time = interval.shape.from;
const position = z.number().int().positive();
const count = z.number().int().nonnegative();
/** A fact in the log. */
const place = { position, at: time };

const failure = z.object({
  class: failureClass,
  phase,
  message: z.string(),
  exitCode: z.number().int().nullable().optional(),
  signal: z.string().nullable().optional(),
  httpStatus: z.number().int().nullable().optional(),
  retryAfterMs: count.optional(),
});

const link = z.object({
  ...place,
  fact: z.string().describe('Type of the fact.'),
  to: z.string().nullable().describe('The state it led to; null for a fact of the daemon.'),
  text: z.string().describe('What it means, without times and positions.'),
  failure: failure.optional(),
  attempt: count.optional(),
  delayMs: count.optional().describe('Pause before the next attempt.'),
  times: count.optional().describe('The same failure so often in a row; this is the newest of them.'),
  first: z.object(place).optional().describe('The oldest of them.'),
});

export const why = z.object({
  server: z.string(),
  at: time.describe('The moment that was asked about.'),
  position: count.describe('Where the log stood then.'),
  state: interval.shape.state,
  since: time,
  summary: z.string().describe('How things stand, in one or two sentences.'),
  attempt: count.describe('Attempts since the server last settled down; 0 when none was made.'),
  nextAttemptAt: time.nullable(),
  failure: failure.extend(place).nullable().describe('The newest failure of the chain.'),
  stderr: z
    .object({ ...place, text: z.string() })
    .nullable()
    .describe('The last words of the process at the newest failure that has any.'),
  losses: z.object({
    today: count.describe("Lost connections since midnight, in the daemon's zone."),
    atLeast: z.boolean().describe('There may be more: not all of the day was read.'),
  }),
  chain: z.array(link).describe('The facts that led to the state, newest first.'),
  omitted: count.describe('Links in the middle of the chain that were left out.'),
  changes: z
    .array(
      z.object({
        kind: z.enum(['config', 'tools', 'version', 'daemon', 'unobserved', 'sleep', 'others']),
        ...place,
        text: z.string(),
      }),
    )
    .describe('What changed shortly before the trouble, or since; newest first.'),
  until: z
    .object({ ...place, state: z.string(), fact: z.string() })
    .nullable()
    .describe('Of an earlier moment: what ended the state.'),
  next: z
    .object({ text: z.string(), command: z.string() })
    .nullable()
    .describe('What to do; null when time alone helps or all is well.'),
});
