/** A model under test: what it was told, and what it looks like. */
import type { Call, ServerStatus, Tool } from '../../src/api/client.ts';
import type { LogEvent } from '../../src/api/follow.ts';
import type { Input, KeyName } from '../../src/tui/keys.ts';
import { textOfLine, widthOfLine } from '../../src/tui/line.ts';
import { begin, type Command, type Message, type Model } from '../../src/tui/model.ts';
import { update } from '../../src/tui/update.ts';
import { view } from '../../src/tui/view.ts';

/** 2026-03-01T12:00:00Z. */
export const noon = Date.UTC(2026, 2, 1, 12);
export const iso = (offsetMs: number): string => new Date(noon + offsetMs).toISOString();

export const statusOf = (name: string, more: Partial<ServerStatus> = {}): ServerStatus => ({
  name,
  transport: 'stdio',
  state: 'ready',
  connected: true,
  since: iso(-60_000),
  error: null,
  attempt: 0,
  nextAttemptAt: null,
  pid: 7,
  era: 'legacy',
  protocolVersion: '2025-11-25',
  serverInfo: null,
  tools: 2,
  lastSeen: null,
  push: null,
  ...more,
});

export const toolOf = (server: string, tool: string): Tool => ({
  name: `mcp__${server}__${tool}`,
  description: `Does ${tool}.\nAnd more.`,
  parameters: {},
  server,
  tool,
  title: null,
  annotations: null,
  outputSchema: null,
  allowed: false,
  stale: false,
  hash: 'h',
});

export const callOf = (id: string, more: Partial<Call> = {}): Call => ({
  id,
  server: 'notes',
  tool: 'erase',
  name: 'mcp__notes__erase',
  state: 'held',
  outcome: null,
  mode: 'ask',
  client: 'claude',
  door: 'http',
  requestedAt: iso(0),
  startedAt: null,
  settledAt: null,
  expiresAt: iso(600_000),
  argsHash: 'h',
  argsBytes: 10,
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
  arguments: { path: '/tmp/a', lines: 'one\ntwo' },
  ...more,
});

export const factOf = (position: number, type: string, to: string, more: Record<string, unknown> = {}): LogEvent => ({
  position,
  stream: 'server-notes',
  version: position,
  type,
  schema: 1,
  at: iso(position * 1000),
  cause: null,
  data: { to, ...more },
});

export interface Played {
  readonly model: Model;
  readonly commands: readonly Command[];
}

/** Tells it one thing after another; the commands are those of the last one. */
export const play = (model: Model, ...messages: readonly Message[]): Played =>
  messages.reduce<Played>((played, message) => update(played.model, message), { model, commands: [] });

export const key = (name: KeyName, at = noon): Message => ({ kind: 'input', input: { name }, at });
/** Letters, one key each. */
export const letters = (text: string, at = noon): Message[] =>
  [...text].map((letter) => ({ kind: 'input', input: { text: letter }, at }));
export const input = (given: Input, at = noon): Message => ({ kind: 'input', input: given, at });

export const blank = (size: { columns?: number; rows?: number } = {}): Model =>
  begin({ columns: 80, rows: 24, ...size, now: noon, bell: true });

/** A model that knows these servers. */
export const withServers = (...servers: readonly ServerStatus[]): Model =>
  play(blank(), { kind: 'servers', answer: { servers: [...servers] } }).model;

export const screenOf = (model: Model): string => view(model).map(textOfLine).join('\n');
export const widest = (model: Model): number => Math.max(...view(model).map(widthOfLine));
