/** Answers of the API with usual values, for tests that look at a few members. */
import type { Call, ServerStatus, Tool } from '../../src/api/client.ts';
import { now } from './fake.daemon.ts';

const ago = (milliseconds: number): string => new Date(now - milliseconds).toISOString();

export const serverStatus = (name: string, more: Partial<ServerStatus> = {}): ServerStatus => ({
  name,
  transport: 'stdio',
  state: 'ready',
  connected: true,
  since: ago(200_000),
  error: null,
  attempt: 0,
  nextAttemptAt: null,
  pid: 4711,
  era: 'legacy',
  protocolVersion: '2025-11-25',
  serverInfo: { name: `${name}-server`, version: '1.0.0' },
  tools: 9,
  lastSeen: ago(1000),
  push: null,
  ...more,
});

export const failing = (name: string): ServerStatus =>
  serverStatus(name, {
    state: 'backing-off',
    connected: false,
    since: ago(12_000),
    error: { class: 'exit', message: 'initialize: the process ended\nwith exit code 1', at: ago(12_000) },
    attempt: 3,
    nextAttemptAt: new Date(now + 4500).toISOString(),
    pid: null,
    era: null,
    protocolVersion: null,
    serverInfo: null,
    tools: 0,
    lastSeen: null,
    push: null,
  });

export const tool = (server: string, name: string, more: Partial<Tool> = {}): Tool => ({
  name: `mcp__${server}__${name}`,
  description: `What ${name} does.`,
  parameters: { type: 'object' },
  server,
  tool: name,
  title: null,
  annotations: null,
  outputSchema: null,
  allowed: false,
  stale: false,
  hash: 'h',
  ...more,
});

export const call = (id: string, more: Partial<Call> = {}): Call => ({
  id,
  server: 'memory',
  tool: 'read_graph',
  name: 'mcp__memory__read_graph',
  state: 'held',
  outcome: null,
  mode: 'ask',
  client: 'main',
  door: 'http',
  requestedAt: ago(5000),
  startedAt: null,
  settledAt: null,
  expiresAt: new Date(now + 595_000).toISOString(),
  argsHash: 'h',
  argsBytes: 2,
  resultBytes: null,
  truncated: null,
  reason: null,
  decidedBy: null,
  identity: 'i',
  definition: 'd',
  verdict: null,
  resultHash: null,
  tookMs: null,
  closed: null,
  ...more,
});
