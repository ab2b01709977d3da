/** Facts as they stand in a log, with what a test does not care about filled in. */
import { blankLimits } from '../../src/actors/server/server.state.ts';
import type { AllowlistFact, GrantOrigin } from '../../src/events/allowlist.events.ts';
import type { CallFact, CallRequest } from '../../src/events/call.events.ts';
import type { DaemonFact } from '../../src/events/daemon.events.ts';
import type { ServerFact } from '../../src/events/server.events.ts';
import type { Failure, ToolDefinition } from '../../src/events/shapes.ts';

type ServerData<Type extends ServerFact['type']> = Extract<ServerFact, { type: Type }>['data'];
type CallData<Type extends CallFact['type']> = Extract<CallFact, { type: Type }>['data'];

export const failureOf = (more: Partial<Failure> = {}): Failure => ({
  class: 'exit',
  phase: 'watch',
  message: 'watch: the process ended (signal SIGKILL)',
  ...more,
});

export const toolOf = (name: string, more: Record<string, unknown> = {}): ToolDefinition => ({
  name,
  inputSchema: { type: 'object' },
  ...more,
});

export const server = {
  configured: (more: Partial<ServerData<'ServerConfigured'>> = {}): ServerFact => ({
    type: 'ServerConfigured',
    data: {
      revision: 'revision-1',
      identity: 'identity-1',
      transport: 'stdio',
      wanted: 'on',
      lazy: false,
      limits: blankLimits,
      problem: null,
      ...more,
    },
  }),
  enabled: { type: 'ServerEnabled', data: {} } satisfies ServerFact,
  disabled: { type: 'ServerDisabled', data: {} } satisfies ServerFact,
  removed: { type: 'ServerRemoved', data: {} } satisfies ServerFact,
  connecting: (connection = 1): ServerFact => ({ type: 'ConnectStarted', data: { connection, attempt: 1 } }),
  reconnecting: (connection = 2, attempt = 2): ServerFact => ({
    type: 'ReconnectStarted',
    data: { connection, attempt },
  }),
  process: (pid: number, connection = 1): ServerFact => ({
    type: 'ProcessStarted',
    data: { connection, pid, startedAt: 1_000 },
  }),
  connected: (more: Partial<ServerData<'Connected'>> = {}): ServerFact => ({
    type: 'Connected',
    data: {
      connection: 1,
      transport: 'stdio',
      era: 'legacy',
      eraFrom: 'probed',
      protocolVersion: '2025-06-18',
      serverInfo: { name: 'little', version: '1.0.0' },
      capabilities: { tools: { listChanged: true } },
      instructions: null,
      session: false,
      tookMs: 12,
      ...more,
    },
  }),
  listed: (tools: readonly ToolDefinition[] | null, more: Partial<ServerData<'ToolsListed'>> = {}): ServerFact => ({
    type: 'ToolsListed',
    data: {
      connection: 1,
      signature: JSON.stringify(tools),
      count: tools?.length ?? 0,
      ...(tools ? { tools: [...tools] } : {}),
      tookMs: 3,
      ...more,
    },
  }),
  listFailed: (more: Partial<Failure> = {}): ServerFact => ({
    type: 'ListFailed',
    data: { connection: 1, failure: failureOf({ class: 'timeout', phase: 'list', message: 'list: no answer', ...more }) },
  }),
  lost: (more: Partial<Failure> = {}): ServerFact => ({
    type: 'SessionLost',
    data: { connection: 1, revision: 'revision-1', failure: failureOf(more) },
  }),
  connectFailed: (delayMs: number, more: Partial<Failure> = {}): ServerFact => ({
    type: 'ConnectFailed',
    data: {
      connection: 1,
      attempt: 1,
      delayMs,
      revision: 'revision-1',
      failure: failureOf({ phase: 'initialize', message: 'initialize: the process ended (exit code 1)', ...more }),
    },
  }),
  delayed: (delayMs: number, attempt = 2): ServerFact => ({ type: 'ReconnectDelayed', data: { attempt, delayMs } }),
  backoffElapsed: { type: 'BackoffElapsed', data: {} } satisfies ServerFact,
  loginRequired: (): ServerFact => ({
    type: 'LoginRequired',
    data: {
      connection: 1,
      revision: 'revision-1',
      failure: failureOf({ class: 'auth', phase: 'connect', message: 'connect: HTTP 401', httpStatus: 401 }),
    },
  }),
  failed: (more: Partial<Failure> = {}): ServerFact => ({
    type: 'ServerFailed',
    data: {
      connection: 0,
      revision: 'revision-1',
      failure: failureOf({ class: 'config', phase: 'config', message: 'command: neither command nor url', ...more }),
    },
  }),
  push: (push: boolean): ServerFact => ({ type: 'PushChanged', data: { connection: 1, push } }),
  settledDown: { type: 'SettledDown', data: { connection: 1 } } satisfies ServerFact,
  stopRequested: (reason: ServerData<'StopRequested'>['reason']): ServerFact => ({
    type: 'StopRequested',
    data: { reason },
  }),
  stopped: (reason: ServerData<'ServerStopped'>['reason'], endedAt?: number): ServerFact => ({
    type: 'ServerStopped',
    data: { reason, ...(endedAt === undefined ? {} : { endedAt }) },
  }),
};

/** From nothing to `connecting`. */
export const begun = (pid = 100): ServerFact[] => [
  server.configured(),
  server.enabled,
  server.connecting(),
  server.process(pid),
];

/** From nothing to `ready` with these tools. */
export const becomeReady = (tools: readonly ToolDefinition[] = [toolOf('get')]): ServerFact[] => [
  ...begun(),
  server.connected(),
  server.listed(tools),
];

export const requestOf = (more: Partial<CallRequest> = {}): CallRequest => ({
  server: 'a',
  tool: 'get',
  name: 'mcp__a__get',
  mode: 'ask',
  client: 'main',
  door: 'http',
  argsHash: 'hash',
  argsBytes: 2,
  identity: 'identity-1',
  definition: 'definition-1',
  ...more,
});

export const call = {
  held: (expiresAt: number, more: Partial<CallData<'CallHeld'>> = {}): CallFact => ({
    type: 'CallHeld',
    data: { ...requestOf(), expiresAt, caller: 'waiting', unusual: [], ...more },
  }),
  callerLeft: { type: 'CallerLeft', data: {} } satisfies CallFact,
  callerReturned: { type: 'CallerReturned', data: {} } satisfies CallFact,
  approved: (by = 'main', remember: CallData<'CallApproved'>['remember'] = 'once'): CallFact => ({
    type: 'CallApproved',
    data: { by, remember },
  }),
  started: (
    verdict: CallData<'CallStarted'>['verdict'] = 'granted',
    more: Partial<CallData<'CallStarted'>> = {},
  ): CallFact => ({ type: 'CallStarted', data: { ...requestOf(), verdict, connection: 1, ...more } }),
  resent: (connection = 2): CallFact => ({
    type: 'CallResent',
    data: { connection, reason: 'the server refused the session' },
  }),
  settled: (outcome: CallData<'CallSettled'>['outcome'], more: Partial<CallData<'CallSettled'>> = {}): CallFact => ({
    type: 'CallSettled',
    data: { outcome, ...more },
  }),
};

export const grant = {
  added: (entry: string, origin: GrantOrigin = 'file', by = 'file'): AllowlistFact => ({
    type: 'GrantAdded',
    data: { entry, origin, by },
  }),
  removed: (entry: string, origin: GrantOrigin = 'file', by = 'file'): AllowlistFact => ({
    type: 'GrantRemoved',
    data: { entry, origin, by },
  }),
  bound: (entry: string, identity: string, definition: string | null): AllowlistFact => ({
    type: 'GrantBound',
    data: { entry, binding: { identity, definition } },
  }),
  suspended: (entry: string, before: [string, string | null], after: [string, string | null]): AllowlistFact => ({
    type: 'GrantSuspended',
    data: {
      entry,
      before: { identity: before[0], definition: before[1] },
      after: { identity: after[0], definition: after[1] },
      changed: before[0] === after[0] ? 'tool' : 'server',
    },
  }),
};

/** A start of the daemon; `lastAlive` null: the first one ever. */
export const daemonStarted = (lastAlive: number | null): DaemonFact => ({
  type: 'DaemonStarted',
  data: { run: 'run', version: '0.1.0', pid: 1, lastAlive },
});
