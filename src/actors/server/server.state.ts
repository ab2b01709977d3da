/** What a server's head remembers, and how each fact changes it. The only place where it changes. */
import type { ServerFact } from '../../events/server.events.ts';
import type { Era, Failure, Limits, Transport } from '../../events/shapes.ts';
import type { Heard } from '../head.ts';

export type StopReason = Extract<ServerFact, { type: 'StopRequested' }>['data']['reason'];

/** Plain data: it is stored in `heads` and compared with a rebuild. Times are ms since the epoch. */
export interface ServerContext {
  readonly revision: string;
  readonly identity: string;
  readonly transport: Transport | null;
  readonly wanted: 'on' | 'off' | 'gone';
  readonly lazy: boolean;
  readonly limits: Limits;
  readonly problem: { readonly field: string; readonly message: string } | null;
  /** Number of the newest connection. */
  readonly connection: number;
  /** Failures and losses since the server last settled down. */
  readonly failures: number;
  /** The attempt that runs or ran last; the first of a start is 1. */
  readonly attempt: number;
  readonly delayMs: number;
  /** Since when the present connection is ready. */
  readonly readySince: number | null;
  readonly signature: string | null;
  readonly count: number;
  readonly push: boolean | null;
  readonly error: { readonly class: Failure['class']; readonly message: string; readonly at: number } | null;
  /** Why it is being closed; "idle" stays until it is used again. */
  readonly stopReason: StopReason | null;
  /** What was learnt of the server's protocol: spares the probe at the next start. */
  readonly verdict: { readonly era: Era; readonly transport: Transport; readonly at: number } | null;
}

export const blankLimits: Limits = {
  connectTimeoutMs: 30_000,
  listTimeoutMs: 30_000,
  callTimeoutMs: 60_000,
  callMaxMs: 600_000,
  pollIntervalMs: 60_000,
  idleStopMs: null,
  stableMs: 30_000,
  maxConcurrency: null,
};

export const blankServer: ServerContext = {
  revision: '',
  identity: '',
  transport: null,
  wanted: 'on',
  lazy: false,
  limits: blankLimits,
  problem: null,
  connection: 0,
  failures: 0,
  attempt: 0,
  delayMs: 0,
  readySince: null,
  signature: null,
  count: 0,
  push: null,
  error: null,
  stopReason: null,
  verdict: null,
};

/** Dated by when the server was asked, not by when it was last taken at its word. */
function verdictOf(
  { verdict }: ServerContext,
  { data, at }: Heard<Extract<ServerFact, { type: 'Connected' }>>,
): ServerContext['verdict'] {
  const asked = data.eraFrom === 'remembered' && verdict !== null ? verdict.at : at;
  return { era: data.era, transport: data.transport, at: asked };
}

const seen = ({ data, at }: { data: { failure: Failure }; at: number }) => ({
  class: data.failure.class,
  message: data.failure.message,
  at,
});

export function evolveServer(context: ServerContext, fact: Heard<ServerFact>): ServerContext {
  switch (fact.type) {
    case 'ServerConfigured': {
      const { revision, identity, transport, wanted, lazy, limits, problem } = fact.data;
      const verdict = identity === context.identity ? context.verdict : null;
      return {
        ...context,
        revision,
        identity,
        transport,
        wanted,
        lazy,
        limits,
        problem,
        verdict,
        failures: 0,
        error: null,
        // A server that sleeps starts anew when its entry changes, like any other.
        stopReason: context.stopReason === 'idle' ? null : context.stopReason,
      };
    }
    case 'ServerRemoved':
      // Views forget it as well: should it come back, all it offers is new.
      return { ...context, wanted: 'gone', signature: null, count: 0, verdict: null };
    case 'ConnectStarted':
      return {
        ...context,
        connection: fact.data.connection,
        attempt: fact.data.attempt,
        failures: 0,
        delayMs: 0,
        push: null,
        stopReason: null,
      };
    case 'ReconnectStarted':
      return { ...context, connection: fact.data.connection, attempt: fact.data.attempt, delayMs: 0, push: null };
    case 'Connected':
      return { ...context, verdict: verdictOf(context, fact), transport: fact.data.transport };
    case 'ConnectFailed':
      return {
        ...context,
        failures: context.failures + 1,
        delayMs: fact.data.delayMs,
        error: seen(fact),
        readySince: null,
      };
    case 'ReconnectDelayed':
      return { ...context, delayMs: fact.data.delayMs };
    case 'LoginRequired':
    case 'ServerFailed':
      return { ...context, error: seen(fact), readySince: null };
    case 'SessionLost':
      return { ...context, failures: context.failures + 1, error: seen(fact), readySince: null };
    case 'ToolsListed':
      return {
        ...context,
        signature: fact.data.signature,
        count: fact.data.count,
        error: null,
        readySince: context.readySince ?? fact.at,
      };
    case 'ListFailed':
      return { ...context, error: seen(fact) };
    case 'PushChanged':
      return { ...context, push: fact.data.push };
    case 'SettledDown':
      return { ...context, failures: 0 };
    case 'StopRequested':
      return { ...context, stopReason: fact.data.reason, readySince: null };
    case 'ServerStopped': {
      // Only a server that went to sleep remembers why: it waits for its next use.
      const stopReason = fact.data.reason === 'idle' ? 'idle' : null;
      return { ...context, readySince: null, error: null, attempt: 0, failures: 0, delayMs: 0, stopReason };
    }
    case 'ServerEnabled':
    case 'ServerDisabled':
    case 'ProcessStarted':
    case 'BackoffElapsed':
      return context;
  }
}
