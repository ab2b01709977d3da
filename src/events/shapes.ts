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

export const transport = z.enum(['stdio', 'streamable-http', 'sse']);
export type Transport = z.infer<typeof transport>;

/** A classified failure. `message` names the phase and is fit for a person; it and `stderrTail` are redacted. */
export const failure = z.object({
  class: failureClass,
  phase,
  message: z.string(),
  exitCode: z.number().int().nullable().optional(),
  signal: z.string().nullable().optional(),
  httpStatus: z.number().int().nullable().optional(),
  /** Last lines the process wrote to stderr, at most 4 KiB, redacted. */
  stderrTail: z.string().optional(),
  /** The server asked for a pause of at least this long (Retry-After), in milliseconds. */
  retryAfterMs: z.number().int().nonnegative().optional(),
});
export type Failure = z.infer<typeof failure>;

/** A tool as its server described it; unknown members are kept. */
export const toolDefinition = z.looseObject({ name: z.string() });
export type ToolDefinition = z.infer<typeof toolDefinition>;

/** Limits of one server, in milliseconds unless said otherwise; every timer stays below 2^31. */
export const limits = z.object({
  connectTimeoutMs: z.number().int().positive(),
  listTimeoutMs: z.number().int().positive(),
  callTimeoutMs: z.number().int().positive(),
  callMaxMs: z.number().int().positive(),
  pollIntervalMs: z.number().int().positive(),
  /** Stop after this long without a call; null: never. */
  idleStopMs: z.number().int().positive().nullable(),
  /** How long a connection must hold before earlier failures are forgotten. */
  stableMs: z.number().int().positive(),
  /** Calls at once; null: as many as come. */
  maxConcurrency: z.number().int().positive().nullable(),
});
export type Limits = z.infer<typeof limits>;

export const serverInfo = z.looseObject({ name: z.string(), version: z.string().optional() });
export type ServerInfo = z.infer<typeof serverInfo>;
