import { z } from 'zod';
import { type FactOf, fact } from './define.ts';
import { era, failure, limits, serverInfo, toolDefinition, transport } from './shapes.ts';

const stream = 'server' as const;
const connection = z.number().int().nonnegative().describe('Number of the connection, from 1; 0: there was none yet.');
const attempt = z.number().int().nonnegative().describe('Which attempt since the server last settled down, from 1.');
const delayMs = z.number().int().nonnegative().describe('Pause before the next attempt, in milliseconds.');
const revision = z.string().describe('Hash of the entry as written, placeholders unexpanded.');
const tookMs = z.number().describe('How long it took, in milliseconds.');

/** What can happen to a server. `connection` numbers the connections of a server; a report of an older one is dropped. */
export const serverFacts = {
  ServerConfigured: fact({
    stream,
    schema: 1,
    about: 'The entry of the configuration file was read for the first time or changed.',
    data: z.object({
      revision,
      identity: z.string().describe('Hash of command and args, or of the URL, as written: what grants are bound to.'),
      transport: transport.nullable().describe('Null for an entry that cannot be used.'),
      wanted: z.enum(['on', 'off']).describe('`off`: the entry is disabled.'),
      lazy: z.boolean().describe('Started on first use only.'),
      limits: limits.describe('In milliseconds unless said otherwise.'),
      problem: z
        .object({ field: z.string(), message: z.string() })
        .nullable()
        .describe('Why the entry cannot be used; null when it can.'),
    }),
  }),
  ServerRemoved: fact({
    stream,
    schema: 1,
    about: 'The entry is no longer in the configuration file.',
    data: z.object({}),
  }),
  ServerEnabled: fact({ stream, schema: 1, about: 'The server may be started.', data: z.object({}) }),
  ServerDisabled: fact({ stream, schema: 1, about: 'The server is known and not run.', data: z.object({}) }),
  ConnectStarted: fact({
    stream,
    schema: 1,
    about: 'The first attempt of a start began.',
    data: z.object({ connection, attempt }),
  }),
  ReconnectStarted: fact({
    stream,
    schema: 1,
    about: 'An attempt after a loss or a failure began.',
    data: z.object({ connection, attempt }),
  }),
  ProcessStarted: fact({
    stream,
    schema: 1,
    about: 'The command runs; committed before the first byte goes to it, so that no orphan is ever unknown.',
    data: z.object({
      connection,
      pid: z.number().int().describe('Of the configured command.'),
      startedAt: z.number().describe('When it was started (ms since the epoch).'),
    }),
  }),
  Connected: fact({
    stream,
    schema: 1,
    about: 'The server and the daemon agreed on a protocol version.',
    data: z.object({
      connection,
      transport,
      era,
      eraFrom: z
        .enum(['probed', 'remembered', 'declared'])
        .describe('How the era became known: asked now, known from before, or written in the entry.'),
      protocolVersion: z.string().describe('The version both speak.'),
      serverInfo: serverInfo.nullable().describe('What the server calls itself.'),
      capabilities: z.record(z.string(), z.unknown()).describe('As the server declared them.'),
      instructions: z.string().nullable().describe('What the server wants its users to know.'),
      session: z.boolean().describe('A session id was issued (Streamable HTTP of the legacy era).'),
      tookMs: tookMs.describe('From the start of the attempt, in milliseconds.'),
    }),
  }),
  ConnectFailed: fact({
    stream,
    schema: 1,
    about: 'The attempt failed; the next one is due after `delayMs`.',
    data: z.object({ connection, attempt, delayMs, revision, failure }),
  }),
  LoginRequired: fact({
    stream,
    schema: 1,
    about: 'The server wants a login; nothing is tried until a person acts.',
    data: z.object({ connection, revision, failure }),
  }),
  ServerFailed: fact({
    stream,
    schema: 1,
    about: 'The entry cannot work as it is; nothing is tried until it changes or someone reconnects it.',
    data: z.object({ connection, revision, failure }),
  }),
  ToolsListed: fact({
    stream,
    schema: 1,
    about: 'The tool list was read. `tools` is there only if the list differs from the one known before.',
    data: z.object({
      connection,
      signature: z.string().describe('Hash of the list as received.'),
      count: z.number().int().nonnegative().describe('Number of tools.'),
      tools: z.array(toolDefinition).optional().describe('The whole list, if it differs from the one known before.'),
      warnings: z
        .array(z.string())
        .optional()
        .describe('What was wrong with the list though it was taken: dropped tools, a cursor that loops.'),
      tookMs,
    }),
  }),
  ListFailed: fact({
    stream,
    schema: 1,
    about: 'A later list failed; the list known before stays.',
    data: z.object({ connection, failure }),
  }),
  PushChanged: fact({
    stream,
    schema: 1,
    about: 'The stream on which the server announces changes opened or was lost; without it lists are polled.',
    data: z.object({
      connection,
      push: z.boolean().describe('Whether changes are announced.'),
      reason: z.string().optional().describe('Why not, in words.'),
    }),
  }),
  SessionLost: fact({
    stream,
    schema: 1,
    about: 'The connection or its session ended without being asked to.',
    data: z.object({ connection, revision, failure }),
  }),
  ReconnectDelayed: fact({
    stream,
    schema: 1,
    about: 'The connection was lost soon after an earlier failure; the next attempt is due after `delayMs`.',
    data: z.object({ attempt, delayMs }),
  }),
  BackoffElapsed: fact({ stream, schema: 1, about: 'The pause before the next attempt is over.', data: z.object({}) }),
  SettledDown: fact({
    stream,
    schema: 1,
    about: 'The connection held long enough; earlier failures no longer count.',
    data: z.object({ connection }),
  }),
  StopRequested: fact({
    stream,
    schema: 1,
    about: 'The connection is being closed on purpose.',
    data: z.object({
      reason: z.enum(['disabled', 'removed', 'config-changed', 'reconnect', 'idle', 'daemon-stopping']),
    }),
  }),
  ServerStopped: fact({
    stream,
    schema: 1,
    about: 'Nothing of the server runs any more.',
    data: z.object({
      reason: z.enum(['disabled', 'removed', 'config-changed', 'reconnect', 'idle', 'daemon-stopping', 'daemon-ended']),
      endedAt: z
        .number()
        .optional()
        .describe(
          'Only with `daemon-ended`: when the daemon that watched it was last known alive (ms since the epoch).',
        ),
    }),
  }),
};

export type ServerFact = FactOf<typeof serverFacts>;
export type ServerFactType = ServerFact['type'];
