/** Query parameters: text on the wire, checked and turned into what the daemon is asked with. */
import { z } from 'zod';
import { outcome } from '../events/call.events.ts';
import { callState } from './contract.ts';
import { readMoment, readTime } from './moment.ts';

const serverName = z.string().min(1);

const time = z.string().transform((text, context) => {
  const ms = readTime(text);
  if (ms !== null) return ms;
  context.addIssue('Invalid time: expected ISO 8601 such as 2026-01-31T12:00:00.000Z');
  return z.NEVER;
});

const moment = z.string().transform((text, context) => {
  const found = readMoment(text);
  if (found !== null) return found;
  context.addIssue('Invalid moment: expected a log position or a time in ISO 8601');
  return z.NEVER;
});

const integer = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,16}$/, 'Invalid input: expected a whole number')
    .meta({ type: 'integer', pattern: undefined, minimum: least, maximum: most })
    .transform(Number)
    .pipe(z.number().min(least).max(most));

const limit = integer(1, 1000).optional().describe('At most this many, 1 to 1000; 100 unless given.');
const at = moment.optional().describe('As it was at this time (ISO 8601) or log position.');
/** `name` and `server` mean the same; giving both is fine if they agree. */
const server = {
  server: serverName.optional().describe('Only this server.'),
  name: serverName.optional().describe('The same as `server`.'),
};

export const none = z.strictObject({});
export const statusQuery = z.strictObject({ at });
export const toolsQuery = z.strictObject({ ...server, at });
export const toolsHistoryQuery = z.strictObject({
  ...server,
  from: moment.optional().describe('Only what changed after this time (ISO 8601) or log position.'),
  to: moment.optional().describe('Only what changed up to this time (ISO 8601) or log position.'),
});
export const stderrQuery = z.strictObject(server);
export const whyQuery = z.strictObject({ ...server, at });
export const loginQuery = z.strictObject(server);
export const logoutQuery = z.strictObject({
  ...server,
  client: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .describe('true: a client that was given goes too.'),
});
export const historyQuery = z.strictObject({
  ...server,
  from: time.optional().describe('Nothing before this time (ISO 8601).'),
  to: time.optional().describe('Nothing after this time (ISO 8601).'),
});
export const allowlistQuery = z.strictObject({
  prefix: z.string().optional().describe('Only entries of this prefix, `mcp__<server>__`.'),
});
export const callsQuery = z.strictObject({
  ...server,
  state: callState.optional(),
  outcome: outcome.optional(),
  client: z.string().min(1).optional().describe('Only calls of this client.'),
  open: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .describe('true: only calls of which nobody knows whether they ran, and that nobody has closed.'),
  limit,
  before: z.string().min(1).optional().describe('Id of a call; only what was asked for before it.'),
});
export const ledgerQuery = z.strictObject({
  expect: z.string().min(1).max(100).optional().describe('A hash that was noted earlier: is it still there?'),
});
export const toolChangesQuery = z.strictObject({
  ...server,
  from: moment.optional().describe('Since this time (ISO 8601) or log position; seven days unless given.'),
});
export const eventsQuery = z.strictObject({
  after: integer(0, Number.MAX_SAFE_INTEGER).optional().describe('Log position; only later facts.'),
  stream: z.string().min(1).optional().describe('For example `server-github`.'),
  type: z.string().min(1).optional().describe('For example `SessionLost`.'),
  limit,
});
