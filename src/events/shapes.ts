/** Shapes that several facts share. */
import { z } from 'zod';

/** What can go wrong with a server: a closed set, decided once where the failure is seen. */
export const failureClass = z.enum([
  'config',
  'spawn',
  'exit',
  'handshake',
  'protocol',
  'transport',
  'timeout',
  'http-status',
  'auth',
  'overload',
  'session',
]);
export type FailureClass = z.infer<typeof failureClass>;

/** Where in the life of a connection a failure was seen. */
export const phase = z.enum(['config', 'spawn', 'connect', 'initialize', 'list', 'watch', 'call']);
export type Phase = z.infer<typeof phase>;

export const era = z.enum(['legacy', 'modern']);
export type Era = z.infer<typeof era>;

/** What goes over a wire, and the server the daemon is itself. */
export const transport = z.enum(['stdio', 'streamable-http', 'sse', 'builtin']);
export type Transport = z.infer<typeof transport>;
export type WireTransport = Exclude<Transport, 'builtin'>;

/** A classified failure. `message` and `stderrTail` are redacted. */
export const failure = z.object({
  class: failureClass.describe('What went wrong, as one of a closed set.'),
  phase: phase.describe('Where in the life of the connection it was seen.'),
  message: z.string().describe('For a person; names the phase; redacted.'),
  exitCode: z.number().int().nullable().optional().describe('Exit code of the process.'),
  signal: z.string().nullable().optional().describe('Signal that ended the process.'),
  httpStatus: z.number().int().nullable().optional().describe('Status of the HTTP answer.'),
  stderrTail: z.string().optional().describe('Last lines the process wrote to stderr, at most 4 KiB, redacted.'),
  retryAfterMs: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .describe('The server asked for a pause of at least this long (Retry-After), in milliseconds.'),
});
export type Failure = z.infer<typeof failure>;

/** A tool as its server described it; unknown members are kept. */
export const toolDefinition = z.looseObject({ name: z.string() });
export type ToolDefinition = z.infer<typeof toolDefinition>;

/** Limits of one server, in milliseconds unless said otherwise; every timer stays below 2^31. */
export const limits = z.object({
  connectTimeoutMs: z.number().int().positive().describe('From the start of an attempt to the end of the handshake.'),
  listTimeoutMs: z.number().int().positive().describe('For one reading of the tool list.'),
  callTimeoutMs: z.number().int().positive().describe('For a call, anew with each progress.'),
  callMaxMs: z.number().int().positive().describe('For a call in all.'),
  pollIntervalMs: z.number().int().positive().describe('The list is read again no later than this.'),
  idleStopMs: z.number().int().positive().nullable().describe('Stop after this long without a call; null: never.'),
  stableMs: z
    .number()
    .int()
    .positive()
    .describe('How long a connection must hold before earlier failures are forgotten.'),
  maxConcurrency: z.number().int().positive().nullable().describe('Calls at once; null: as many as come.'),
});
export type Limits = z.infer<typeof limits>;

export const serverInfo = z.looseObject({ name: z.string(), version: z.string().optional() });
export type ServerInfo = z.infer<typeof serverInfo>;
