/** Answer of `GET /v1/mcp/history/summary`. Names in here are public: adding is fine, renaming is not. */
import { z } from 'zod';
import { failureClass, phase } from '../events/shapes.ts';

const time = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
  .meta({ format: 'date-time' });
const count = z.number().int().nonnegative();
const position = z.number().int().positive();
const ms = z.number().nonnegative();

const seen = z.object({ at: time, position });

const percentiles = z.object({
  count: count.describe('How many were measured.'),
  p50: ms.nullable(),
  p90: ms.nullable(),
  p99: ms.nullable(),
});

export const failureSeen = z.object({
  fingerprint: z.string().describe('Names failures of the same phase, class, code and normalised message.'),
  phase,
  class: failureClass,
  code: z.string().nullable().describe('`exit 1`, `SIGKILL`, `HTTP 404`.'),
  message: z.string().describe('Numbers, ids, paths, times and the like are replaced by what they are.'),
  example: z.string().describe('The newest message as it was.'),
  count,
  first: seen,
  last: seen,
  positions: z.array(position).describe('The newest ones, ascending.'),
});

export const hint = z.object({
  kind: z.enum([
    'after-connecting',
    'after-idle',
    'after-calls',
    'around-call',
    'rhythm',
    'after-list-change',
    'after-entry-change',
    'after-daemon-start',
    'since-entry-change',
    'since-server-version',
    'since-daemon-version',
  ]),
  text: z.string().describe('In words. It says what happens together, not why.'),
  support: count.describe('Losses that fit.'),
  of: count.describe('Losses the question could be asked of.'),
  chance: z.number().describe('Upper bound of the chance to see this by accident.'),
  positions: z.array(position).describe('The losses that fit: at most the 20 newest, ascending.'),
  related: z.array(position).describe('The facts they are linked to: at most the 20 newest, ascending.'),
  fingerprint: z.string().nullable().describe('The failure it is about; null: all losses.'),
  ms: ms.optional().describe('The length it is about: of a life, an idle time, a period.'),
  tool: z.string().optional(),
  calls: count.optional(),
});

export const serverSummary = z.object({
  name: z.string(),
  from: time,
  to: time,
  state: z.string().describe('At `to`.'),
  facts: count,
  time: z
    .object({
      readyMs: ms,
      downMs: ms.describe('Meant to run, and not ready.'),
      restingMs: ms.describe('Off or asleep: not meant to run.'),
      unobservedMs: ms.describe('No daemon watched.'),
    })
    .describe('Together the whole time from `from` to `to`.'),
  availability: z
    .number()
    .nullable()
    .describe('Ready share, 0 to 1, of the time it was watched and meant to run; null when there was none.'),
  losses: count.describe('Connections that were ready and ended unasked.'),
  starts: count,
  failedAttempts: count,
  listFailures: count,
  mtbfMs: ms.nullable().describe('Ready time for each loss; null without a loss.'),
  mttrMs: ms.nullable().describe('Mean watched time from a failure until ready again; null when that never was.'),
  repairs: count.describe('How many such times there were.'),
  failingSince: time.nullable().describe('Since when it has been down through a failure.'),
  flapScore: z
    .number()
    .describe('0, never lost, to 100: by losses an hour of watched time; 1 an hour is 50, 9 are 90.'),
  latency: z.object({ connect: percentiles, list: percentiles, call: percentiles }).describe('In milliseconds.'),
  failures: z.array(failureSeen).describe('Most frequent first, at most 50.'),
  hints: z.array(hint).describe('What losses have in common, where chance does not explain it; the surest first.'),
});

export const summary = z.object({ servers: z.array(serverSummary).describe('Sorted by name.') });
