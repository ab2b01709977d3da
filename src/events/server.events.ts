import { z } from 'zod';
import { type FactOf, fact } from './define.ts';
import { era, failure, limits, serverInfo, toolDefinition, transport } from './shapes.ts';

const stream = 'server' as const;
const connection = z.number().int().nonnegative();
const attempt = z.number().int().nonnegative();

/** What can happen to a server. `connection` numbers the connections of a server; a report of an older one is dropped. */
export const serverFacts = {
  ServerConfigured: fact({
    stream,
    schema: 1,
    about: 'The entry of the configuration file was read for the first time or changed.',
    data: z.object({
      /** Hash of the entry as written, placeholders unexpanded. */
      revision: z.string(),
      /** Hash of command and args, or of the URL, as written: what grants are bound to. */
      identity: z.string(),
      transport: transport.nullable(),
      wanted: z.enum(['on', 'off']),
      lazy: z.boolean(),
      limits,
      /** The entry cannot be used: field and reason. */
      problem: z.object({ field: z.string(), message: z.string() }).nullable(),
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
    data: z.object({ connection, pid: z.number().int(), startedAt: z.number() }),
  }),
  Connected: fact({
    stream,
    schema: 1,
    about: 'The server and the daemon agreed on a protocol version.',
    data: z.object({
      connection,
      transport,
      era,
      /** How the era became known: asked now, or taken from an earlier verdict of this server. */
      eraFrom: z.enum(['probed', 'remembered', 'declared']),
      protocolVersion: z.string(),
      serverInfo: serverInfo.nullable(),
      capabilities: z.record(z.string(), z.unknown()),
      instructions: z.string().nullable(),
      /** A session id was issued (streamable HTTP of the legacy era). */
      session: z.boolean(),
      /** Time from the start of the attempt, in milliseconds. */
      tookMs: z.number(),
    }),
  }),
  ConnectFailed: fact({
    stream,
    schema: 1,
    about: 'The attempt failed; the next one is due after `delayMs`.',
    data: z.object({ connection, attempt, delayMs: z.number().int().nonnegative(), revision: z.string(), failure }),
  }),
  LoginRequired: fact({
    stream,
    schema: 1,
    about: 'The server wants a login; nothing is tried until a person acts.',
    data: z.object({ connection, revision: z.string(), failure }),
  }),
  ServerFailed: fact({
    stream,
    schema: 1,
    about: 'The entry cannot work as it is; nothing is tried until it changes or someone reconnects it.',
    data: z.object({ connection, revision: z.string(), failure }),
  }),
  ToolsListed: fact({
    stream,
    schema: 1,
    about: 'The tool list was read. `tools` is there only if the list differs from the one known before.',
    data: z.object({
      connection,
      signature: z.string(),
      count: z.number().int().nonnegative(),
      tools: z.array(toolDefinition).optional(),
      /** What was wrong with the list though it was taken: dropped tools, a cursor that loops. */
      warnings: z.array(z.string()).optional(),
      tookMs: z.number(),
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
    data: z.object({ connection, push: z.boolean(), reason: z.string().optional() }),
  }),
  SessionLost: fact({
    stream,
    schema: 1,
    about: 'The connection or its session ended without being asked to.',
    data: z.object({ connection, revision: z.string(), failure }),
  }),
  ReconnectDelayed: fact({
    stream,
    schema: 1,
    about: 'The connection was lost soon after an earlier failure; the next attempt is due after `delayMs`.',
    data: z.object({ attempt, delayMs: z.number().int().nonnegative() }),
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
      /** Only with `daemon-ended`: when the daemon that watched it was last known alive (ms since the epoch). */
      endedAt: z.number().optional(),
    }),
  }),
};

export type ServerFact = FactOf<typeof serverFacts>;
export type ServerFactType = ServerFact['type'];
