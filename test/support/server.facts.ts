/** Facts of a server as tests write them: what matters is named, the rest is filled in. */
import type { Head, Heard } from '../../src/actors/head.ts';
import { step } from '../../src/actors/head.ts';
import type { Configuration } from '../../src/actors/server/server.commands.ts';
import { serverRules } from '../../src/actors/server/server.rules.ts';
import { blankLimits, type ServerContext, type StopReason } from '../../src/actors/server/server.state.ts';
import type { ServerFact } from '../../src/events/server.events.ts';
import type { Failure, ToolDefinition } from '../../src/events/shapes.ts';
import type { Agreement } from '../../src/mcp/connection.ts';

export const configuration = (over: Partial<Configuration> = {}): Configuration => ({
  revision: 'r1',
  identity: 'i1',
  transport: 'stdio',
  wanted: 'on',
  lazy: false,
  limits: blankLimits,
  problem: null,
  ...over,
});

export const agreement: Agreement = {
  transport: 'stdio',
  era: 'legacy',
  eraFrom: 'probed',
  protocolVersion: '2025-11-25',
  serverInfo: { name: 'one', version: '1' },
  capabilities: {},
  instructions: null,
  session: false,
};

export const died: Failure = { class: 'exit', phase: 'watch', message: 'watch: it exited with code 1', exitCode: 1 };
export const one: ToolDefinition = { name: 'get' };

const of = <Type extends ServerFact['type']>(
  type: Type,
  data: Extract<ServerFact, { type: Type }>['data'],
): ServerFact => ({ type, data }) as ServerFact;

export const configured = (over: Partial<Configuration> = {}): ServerFact =>
  of('ServerConfigured', configuration(over));
export const removed = of('ServerRemoved', {});
export const enabled = of('ServerEnabled', {});
export const disabled = of('ServerDisabled', {});
export const connecting = (connection = 1, attempt = 1): ServerFact => of('ConnectStarted', { connection, attempt });
export const reconnecting = (connection = 2, attempt = 2): ServerFact =>
  of('ReconnectStarted', { connection, attempt });
export const process = (connection = 1): ServerFact => of('ProcessStarted', { connection, pid: 42, startedAt: 7 });
export const connected = (connection = 1): ServerFact => of('Connected', { connection, ...agreement, tookMs: 5 });
export const connectFailed = (connection = 1, attempt = 1, delayMs = 375, failure = died): ServerFact =>
  of('ConnectFailed', { connection, attempt, delayMs, revision: 'r1', failure });
export const loginRequired = (connection = 1, failure: Failure = refused401): ServerFact =>
  of('LoginRequired', { connection, revision: 'r1', failure });
export const serverFailed = (connection = 1, failure: Failure = notFound): ServerFact =>
  of('ServerFailed', { connection, revision: 'r1', failure });
export const listed = (connection = 1, signature = 's1', tools: readonly ToolDefinition[] | null = [one]): ServerFact =>
  of('ToolsListed', {
    connection,
    signature,
    count: tools?.length ?? 1,
    ...(tools ? { tools: [...tools] } : {}),
    tookMs: 3,
  });
export const listFailed = (connection = 1, failure = listRefused): ServerFact =>
  of('ListFailed', { connection, failure });
export const pushChanged = (push: boolean, connection = 1): ServerFact => of('PushChanged', { connection, push });
export const lost = (connection = 1, failure = died): ServerFact =>
  of('SessionLost', { connection, revision: 'r1', failure });
export const delayed = (attempt: number, delayMs: number): ServerFact => of('ReconnectDelayed', { attempt, delayMs });
export const elapsed = of('BackoffElapsed', {});
export const settledDown = (connection = 1): ServerFact => of('SettledDown', { connection });
export const stopRequested = (reason: StopReason): ServerFact => of('StopRequested', { reason });
export const stopped = (reason: StopReason | 'daemon-ended', endedAt?: number): ServerFact =>
  of('ServerStopped', { reason, ...(endedAt === undefined ? {} : { endedAt }) });

export const refused401: Failure = {
  class: 'auth',
  phase: 'initialize',
  message: 'initialize: 401',
  httpStatus: 401,
};
export const notFound: Failure = { class: 'spawn', phase: 'spawn', message: 'spawn: "nope" is not there' };
export const listRefused: Failure = { class: 'protocol', phase: 'list', message: 'list: no' };

/** The shortest past that leads to each state a server can rest in, seen from outside. */
export const pasts = {
  stopped: [],
  disabled: [configured({ wanted: 'off' }), disabled],
  idle: [configured(), enabled],
  connecting: [configured(), enabled, connecting()],
  reconnecting: [configured(), enabled, connecting(), connectFailed(), elapsed, reconnecting()],
  listing: [configured(), enabled, connecting(), connected()],
  ready: [configured(), enabled, connecting(), connected(), listed()],
  'backing-off': [configured(), enabled, connecting(), connectFailed()],
  'auth-required': [configured(), enabled, connecting(), loginRequired()],
  failed: [configured(), enabled, connecting(), serverFailed()],
  stopping: [configured(), enabled, connecting(), connected(), listed(), stopRequested('reconnect')],
} as const satisfies Record<string, readonly ServerFact[]>;
export type Resting = keyof typeof pasts;

export const blankHead: Head<ServerContext> = { ...serverRules.initial, version: 0 };

/** The head after facts that were decided at `at`, or each at its own time. */
export function headAfter(facts: readonly (ServerFact | readonly [at: number, fact: ServerFact])[], at = 1_000) {
  return facts.reduce<Head<ServerContext>>((head, item) => {
    const [time, fact] = 'type' in item ? [at, item] : item;
    return step(serverRules, head, { ...fact, at: time } as Heard<ServerFact>);
  }, blankHead);
}
