/** Rows and facts in the shapes of the contract. Pure. */
import type { z } from 'zod';
import type { Grant } from '../actors/allowlist/allowlist.state.ts';
import type * as contract from '../http/contract.ts';
import type { CallRow } from '../projections/calls.projection.ts';
import type { Interval } from '../projections/history.projection.ts';
import type { StatusRow } from '../projections/status.projection.ts';
import type { ListedTool } from './directory.ts';

type Shape<Schema extends z.ZodType> = z.infer<Schema>;
type ServerState = Shape<typeof contract.serverState>;

/** ISO 8601, UTC, with milliseconds. */
export const iso = (time: number): string => new Date(time).toISOString();
const isoOrNull = (time: number | null): string | null => (time === null ? null : iso(time));

export const errorAnswer = (error: StatusRow['error']): Shape<typeof contract.serverError> | null =>
  error && { class: error.class, message: error.message, at: iso(error.at) };

export function statusAnswer(
  row: StatusRow,
  seenAt = 0,
  warnings: readonly string[] = [],
): Shape<typeof contract.serverStatus> {
  const lastSeen = Math.max(row.lastSeen ?? 0, seenAt);
  return {
    name: row.server,
    // An entry with an error has no transport, whatever it was before.
    transport: row.transport,
    state: row.state as ServerState,
    connected: row.state === 'ready',
    since: iso(row.since),
    error: errorAnswer(row.error),
    attempt: row.attempt,
    nextAttemptAt: isoOrNull(row.nextAttemptAt),
    pid: row.pid,
    era: row.era,
    protocolVersion: row.protocolVersion,
    serverInfo: row.serverInfo,
    tools: row.tools,
    lastSeen: lastSeen === 0 ? null : iso(lastSeen),
    push: row.push,
    ...(warnings.length > 0 ? { warnings } : {}),
  } as Shape<typeof contract.serverStatus>;
}

export interface Judged {
  readonly allowed: boolean;
  readonly stale: boolean;
}

export function toolAnswer(
  { name, server, tool }: ListedTool,
  { allowed, stale }: Judged,
): Shape<typeof contract.tool> {
  return {
    name,
    description: tool.description,
    parameters: { ...tool.parameters },
    server,
    tool: tool.name,
    title: tool.title,
    annotations: tool.annotations && { ...tool.annotations },
    outputSchema: tool.outputSchema && { ...tool.outputSchema },
    allowed,
    stale,
    hash: tool.hash,
  };
}

/** Whether a grant covers the tool as it is now: bound to this server and this definition. */
export function isAllowed(grants: readonly Grant[], { name, server, tool }: ListedTool, identity: string): boolean {
  return grants.some(
    (grant) =>
      grant.server === server &&
      grant.state === 'bound' &&
      grant.binding?.identity === identity &&
      (grant.tool === '*' || (grant.tool === name && grant.binding.definition === tool.hash)),
  );
}

export function callAnswer(
  row: CallRow,
  memory: {
    arguments?: Readonly<Record<string, unknown>>;
    result?: Readonly<Record<string, unknown>>;
    /** The server's entry, masked. */
    entry?: Readonly<Record<string, unknown>>;
    /** Of the tool, by its server. */
    description?: string;
  },
): Shape<typeof contract.call> {
  return {
    id: row.id,
    server: row.server,
    tool: row.tool,
    name: row.name,
    state: row.state,
    outcome: row.outcome,
    mode: row.mode as Shape<typeof contract.call>['mode'],
    client: row.client,
    door: row.door,
    requestedAt: iso(row.requestedAt),
    startedAt: isoOrNull(row.startedAt),
    settledAt: isoOrNull(row.settledAt),
    expiresAt: row.state === 'held' || row.state === 'approved' ? isoOrNull(row.expiresAt) : null,
    argsHash: row.argsHash,
    argsBytes: row.argsBytes,
    resultBytes: row.resultBytes,
    truncated: row.truncated,
    reason: row.reason,
    decidedBy: row.decidedBy,
    identity: row.identity,
    definition: row.definition,
    verdict: row.verdict as Shape<typeof contract.call>['verdict'],
    resultHash: row.resultHash,
    tookMs: row.tookMs,
    closed: row.closed && { ...row.closed, at: iso(row.closed.at) },
    ...(row.unusual.length > 0 ? { unusual: [...row.unusual] } : {}),
    ...(memory.description ? { description: memory.description } : {}),
    ...(memory.entry ? { server_entry: { ...memory.entry } } : {}),
    ...(memory.arguments ? { arguments: { ...memory.arguments } } : {}),
    ...(memory.result ? { result: { ...memory.result } } : {}),
  };
}

export const intervalAnswer = ({
  server,
  state,
  from,
  to,
  cause,
  position,
}: Interval): Shape<typeof contract.interval> => ({
  server,
  state: state as Shape<typeof contract.interval>['state'],
  from: iso(from),
  to: isoOrNull(to),
  cause,
  position,
});
