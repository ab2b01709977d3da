/** `POST /v1/mcp/replay`: whether the log is explained, and how a server would have fared with other limits. */
import { z } from 'zod';

const time = z.string().meta({ format: 'date-time' });
const count = z.number().int().nonnegative();
const milliseconds = z.number().nonnegative().describe('Milliseconds.');
const limit = z
  .number()
  .int()
  .positive()
  .max(2 ** 31 - 1);
const moment = z.union([z.string().min(1), z.number().int().nonnegative()]);

const limits = {
  connectTimeoutMs: limit,
  listTimeoutMs: limit,
  pollIntervalMs: limit,
  stableMs: limit,
  backoffBaseMs: limit.describe('Pause after the first failure; it doubles with each further one.'),
  backoffMaxMs: limit.describe('No pause is longer.'),
};

export const replayBody = z
  .strictObject({
    name: z.string().min(1).optional().describe('A server; without it the whole log is verified.'),
    server: z.string().min(1).optional().describe('The same as `name`.'),
    from: moment.optional().describe('A time in ISO 8601 or a log position: figures begin here.'),
    to: moment.optional().describe('A time in ISO 8601 or a log position: nothing after it.'),
    fast: z.boolean().optional().describe('true: fold by the table of the machine instead of the machine itself.'),
    // A key that is not among them is refused by its name, so it has to come through.
    set: z.looseObject(limits).partial().optional().describe('Other limits, in milliseconds. {}: as they were.'),
  })
  .meta({ examples: [{ name: 'memory', set: { connectTimeoutMs: 5000 } }] });

export const divergence = z.object({
  position: count.describe('Where the log and its fold disagree first; 0 for a head without facts.'),
  recorded: z.string().nullable().describe('What the log says: for `state` the state.'),
  folded: z.string().nullable().describe('What the fold says.'),
  stream: z.string(),
  version: count,
  type: z.string(),
  kind: z.enum(['state', 'not-heard', 'version', 'order', 'shape', 'unreadable', 'stream', 'head', 'rules']),
  reason: z.string().describe('In one sentence.'),
});

const figures = z.object({
  availability: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe('Share of the time the server was to run in which it was ready; null: it was never to run.'),
  upMs: milliseconds,
  downMs: milliseconds,
  longestDownMs: milliseconds,
  attempts: count,
  failed: count.describe('Attempts that failed.'),
  losses: count,
});

const run = figures.extend({
  assumed: z
    .array(
      z.object({
        kind: z.enum(['attempt', 'connect', 'list', 'loss', 'poll', 'command', 'close']),
        rule: z.string().describe('What was assumed, in one sentence.'),
        count,
        examples: z.array(
          z.object({
            at: time,
            position: count.nullable().describe('Of the fact that stood for the answer.'),
          }),
        ),
      }),
    )
    .describe('Answers the outside was never asked for.'),
});

export const whatIf = z.object({
  from: time,
  until: time,
  set: z.object(limits).partial(),
  was: z.object(limits).describe('The limits at the end of the record.'),
  recorded: figures,
  changed: run.describe('The outside is taken to be as it was last seen.'),
  atBest: run.describe('The outside is taken to be as it was seen next.'),
});

export const replayed = z.object({
  ok: z.boolean().describe('false: see `divergence`.'),
  by: z.enum(['machine', 'table']),
  facts: count.describe('Facts that were folded.'),
  streams: count,
  heads: z.boolean().describe('Whether the stored heads were compared too.'),
  divergence: divergence.optional(),
  whatIf: whatIf.optional(),
  lacks: z.array(z.string()).optional().describe('Only of a bundle: what is not in it, and so was not looked at.'),
});
