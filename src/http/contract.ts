/**
 * What is sent and answered over HTTP. Routes check requests with these shapes, the OpenAPI description is generated
 * from them and the client takes its types from them. Names in here are public: adding is fine, renaming is not.
 */
import { z } from 'zod';
import { finding, outcome, permissionMode } from '../events/call.events.ts';
import { era, failureClass, serverInfo, transport } from '../events/shapes.ts';

/** ISO 8601, UTC, with milliseconds. */
const time = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
  .meta({ format: 'date-time' });
const count = z.number().int().nonnegative();
const position = z.number().int().positive();
const name = z.string().min(1);
/** Any JSON object whose members are not ours to judge. */
const members = z.record(z.string(), z.unknown());
/** Longest delay a timer can take without firing at once. */
const milliseconds = z
  .number()
  .int()
  .positive()
  .max(2 ** 31 - 1);

// States and failures

export const serverState = z.enum([
  'disabled',
  'idle',
  'connecting',
  'listing',
  'ready',
  'session-lost',
  'reconnecting',
  'backing-off',
  'auth-required',
  'failed',
  'stopping',
  'stopped',
]);
export type ServerState = z.infer<typeof serverState>;

/** The last failure of a server; null after a success. The message names the phase, or field and variable. */
export const serverError = z.object({ class: failureClass, message: z.string(), at: time });

/** Every answer that is not a success, as `application/problem+json`. */
export const problem = z.looseObject({
  type: z.string().describe('Address of a page about this kind of problem, relative to the daemon.'),
  code: z.string().describe('The last part of `type`.'),
  title: z.string(),
  status: z.number().int(),
  detail: z.string(),
  error: z.string().describe('The same text as `detail`.'),
  call: z.string().optional().describe('Id of the call the problem is about.'),
  outcome: outcome.optional().describe('How that call ended.'),
});

export const done = z.object({ ok: z.literal(true) });

// GET /health

const named = z.object({ count, longest: count.describe('Characters of the longest name.') });
const counts = z.record(z.string(), count);

export const health = z.object({
  status: z.enum(['ok', 'degraded']),
  version: z.string(),
  ready: z.boolean().describe('The port answers and the configuration has been read; no server is waited for.'),
  mount_mode: z.enum(['per-server', 'routed']).optional(),
  routed_path: z.literal('/mcp').optional(),
  routed: named.optional(),
  servers: z
    .array(
      z.object({
        name,
        state: serverState,
        tool_prefix: z.string(),
        tools: named.extend({ stale: z.boolean() }).optional(),
      }),
    )
    .optional(),
  lengths: z
    .object({
      servers: z.record(z.string(), counts).describe('On each `/mcp/<server>`, without the prefix.'),
      routed: counts.describe('On `/mcp`.'),
      if_routed: named.describe('Of `/mcp`, as it would be with `mount_mode: "routed"`.'),
    })
    .optional()
    .describe('How many names have so many characters.'),
  credentials: z
    .object({
      store: z.enum(['keychain', 'file']),
      where: z.string(),
      why: z.string().nullable().describe('Why not the keychain; null when there is nothing to say.'),
    })
    .optional()
    .describe('Where tokens of logins are kept; absent until a login was needed.'),
});

// /v1/mcp: the configured servers

export const config = z.object({
  servers: z.record(z.string(), members).describe('Entries as written; literal secrets are shown as `***`.'),
  oauth: z.record(z.string(), z.boolean()).describe('HTTP entries: whether a token is stored.'),
  redirect_uri: z.string().optional().describe('Where logins come back to, unless a client was given another address.'),
  problem: z
    .object({ message: z.string(), line: z.number().int().nullable(), column: z.number().int().nullable() })
    .optional()
    .describe('Only while the file cannot be parsed; the servers that ran before keep running.'),
});

const entry = { command: 'npx', args: ['-y', '@modelcontextprotocol/server-memory'] };

export const addBody = z
  .strictObject({
    name,
    server: members.describe('An entry as it stands in `mcp.json`; a value `***` keeps the stored one.'),
  })
  .meta({ examples: [{ name: 'memory', server: entry }] });
export const nameBody = z.strictObject({ name }).meta({ examples: [{ name: 'memory' }] });
export const testBody = z
  .strictObject({
    server: members,
    name: name.optional().describe('A server that is configured: values given as `***` are those stored in its entry.'),
  })
  .meta({ examples: [{ server: entry }] });

export const testResult = z.object({
  ok: z.boolean(),
  tools: z.array(z.looseObject({ name, description: z.string().optional() })).optional(),
  error: serverError.optional(),
  stderr: z.string().optional(),
});

// GET /v1/mcp/status, POST /v1/mcp/reconnect

export const serverStatus = z.object({
  name,
  transport: transport.nullable(),
  state: serverState,
  connected: z.boolean(),
  since: time,
  error: serverError.nullable(),
  attempt: count,
  nextAttemptAt: time.nullable(),
  pid: z.number().int().nullable(),
  era: era.nullable(),
  protocolVersion: z.string().nullable(),
  serverInfo: serverInfo.nullable(),
  tools: count,
  lastSeen: time.nullable(),
  push: z
    .boolean()
    .nullable()
    .describe(
      'Whether changes are announced at the moment: false, the lists are polled; null, nothing says otherwise.',
    ),
  warnings: z
    .array(z.string())
    .optional()
    .describe('What is wrong with the tool list though it is used, and tools that had to be given another name.'),
  recording: z.literal(true).optional().describe('What goes over its connection is being recorded.'),
});
export const status = z.object({ servers: z.array(serverStatus).describe('Sorted by name.') });

export const reconnectBody = z
  .strictObject({
    name: name.optional(),
    timeout_ms: milliseconds
      .optional()
      .describe(
        'How long each is waited for, then told as it is; without it as long as its `connectTimeoutMs` and `listTimeoutMs` and 10 s.',
      ),
  })
  .meta({ examples: [{ name: 'memory' }] });
export const reconnect = z.object({
  ok: z.boolean(),
  servers: z.array(z.object({ name, ok: z.boolean(), state: serverState, error: serverError.nullable() })),
});

// GET /v1/mcp/tools, /v1/mcp/instructions

export const tool = z.object({
  name: z.string().describe('The registered name, `mcp__<server>__<tool>`.'),
  description: z.string(),
  parameters: members.describe('The full input schema.'),
  server: z.string(),
  tool: z.string().describe("The tool's own name."),
  title: z.string().nullable(),
  annotations: members.nullable(),
  outputSchema: members.nullable(),
  allowed: z.boolean().describe('A grant covers it now.'),
  stale: z.boolean().describe('The list is the last known one; the server is not connected.'),
  hash: z.string().describe('Of the definition: name, description, schemas, annotations.'),
});
export const tools = z.object({ tools: z.array(tool).describe('Sorted by name.') });

export const instructions = z.object({
  servers: z.record(z.string(), z.string()),
  prompt: z.string().describe("One block for an agent's system prompt, labelled as text of third parties."),
});

// GET /v1/mcp/history

export const interval = z.object({
  server: z.string(),
  state: z.enum([...serverState.options, 'unobserved']),
  from: time,
  to: time.nullable(),
  cause: z.string().nullable().describe('The fact that began it, with class and message where there are any.'),
  position: position.nullable().describe('Where that fact stands in the log.'),
});
export const history = z.object({ intervals: z.array(interval).describe('Ascending, without gaps or overlaps.') });

// /v1/allowlist

export const allowlistBody = z
  .strictObject({ tool: z.strictObject({ prefix: z.string(), entries: z.array(z.string()) }) })
  .meta({ examples: [{ tool: { prefix: 'mcp__memory__', entries: ['mcp__memory__read_graph'] } }] });
export const allowlist = z.object({
  tool: z.object({ entries: z.array(z.string()), suspended: z.array(z.string()) }),
});
export const allowlistReplaced = z.object({ ok: z.literal(true), tool: z.object({ entries: z.array(z.string()) }) });

// POST /v1/mcp/call and the ledger

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Arguments are handed on untouched, so they are looked at and not copied. */
const callArguments = z
  .custom<Readonly<Record<string, unknown>>>(isObject, 'Invalid input: expected object')
  .meta({ type: 'object', additionalProperties: {} });

export const callBody = z
  .strictObject({
    tool: name.describe('A registered name, `mcp__<server>__<tool>`.'),
    arguments: callArguments.optional(),
    permission_mode: permissionMode.optional(),
    allow_all: z.boolean().optional().describe('true is short for `permission_mode: "allow-all"`.'),
    timeout_ms: milliseconds.optional(),
    wait: z.boolean().optional().describe('false: do not wait for a person when the call is held.'),
  })
  .meta({ examples: [{ tool: 'mcp__memory__search_nodes', arguments: { query: 'tea' } }] });

/** A result as the server sent it (capped), with the id of the call and its outcome beside. */
export const callResult = z.looseObject({
  content: z.array(z.looseObject({ type: z.string() })),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
  _meta: members.optional(),
  call: z.string(),
  outcome: z.enum(['succeeded', 'tool-error']),
});

export const callHeld = z.object({
  call: z.string(),
  state: z.literal('held'),
  expiresAt: time,
  detail: z.string().optional().describe('In words, with the command that approves the call.'),
});

export const callState = z.enum(['requested', 'held', 'approved', 'running', 'settled']);

/** A row of the ledger. Arguments and results are never stored: they are shown while the daemon still has them in memory. */
export const call = z.object({
  id: z.string(),
  server: z.string(),
  tool: z.string(),
  name: z.string(),
  state: callState,
  outcome: outcome.nullable(),
  mode: permissionMode,
  client: z.string(),
  door: z.string(),
  requestedAt: time,
  startedAt: time.nullable(),
  settledAt: time.nullable(),
  expiresAt: time.nullable(),
  argsHash: z.string(),
  argsBytes: count,
  resultBytes: count.nullable(),
  truncated: z.boolean().nullable(),
  reason: z.string().nullable(),
  decidedBy: z.string().nullable().describe('Who approved, denied or cancelled it.'),
  arguments: members.optional().describe('Only while held.'),
  description: z.string().optional().describe("Only while held: the server's own word on the tool."),
  unusual: z.array(z.string()).optional().describe('What is worth a look before approving.'),
  identity: z
    .string()
    .describe("Hash of the server's command and arguments, or of its URL, when the call was asked for."),
  definition: z.string().describe("Hash of the tool's definition then."),
  server_entry: members.optional().describe('Only while held: the entry as `GET /v1/mcp` shows it.'),
  verdict: z.enum(['granted', 'allow-all', 'approved']).nullable().describe('Why it might run; null: it did not.'),
  resultHash: z.string().nullable(),
  tookMs: z.number().nullable(),
  closed: z
    .object({ finding, note: z.string().nullable(), by: z.string(), at: time })
    .nullable()
    .describe('What a person found out about a call whose outcome was unknown.'),
  result: z.looseObject({}).optional().describe('For ten minutes after it settled.'),
});

export const calls = z.object({
  calls: z.array(call).describe('Latest first.'),
  next: z.string().nullable().describe('Value of `before` for the next page; null at the end.'),
});

export const approveBody = z
  .strictObject({ remember: z.enum(['once', 'tool', 'server']).optional() })
  .meta({ examples: [{ remember: 'once' }] });
export const denyBody = z
  .strictObject({ reason: z.string().max(1000).optional() })
  .meta({ examples: [{ reason: 'Not on this branch.' }] });

// GET /v1/events, POST /v1/rebuild

export const event = z.object({
  position,
  stream: z.string(),
  version: position,
  type: z.string(),
  schema: position,
  at: time,
  cause: z.string().nullable(),
  data: members,
});
export const events = z.object({
  events: z.array(event).describe('Ascending.'),
  next: position.nullable().describe('Value of `after` for the next page; null at the end.'),
});

export const rebuild = z.object({ ok: z.literal(true), facts: count, tookMs: z.number().nonnegative() });
