/**
 * connect → list → watch → lost session → reconnect: the life of one server on one screen.
 * The body of an actor; it hears facts after their commit and owns effects and timers, nothing else (ADR 2).
 */
import { assign, fromCallback, setup } from 'xstate';
import type { ServerFact, ServerFactType } from '../../events/server.events.ts';
import { arrowsOf } from '../arrows.ts';
import type { Heard } from '../head.ts';
import type { ServerReport } from './server.commands.ts';
import { blankServer, evolveServer, type ServerContext } from './server.state.ts';

/** What an effect is started with: the connection it belongs to. */
export interface OfConnection {
  readonly connection: number;
}

const effect = fromCallback<{ type: never }, OfConnection>(() => {});

const hears = arrowsOf<ServerFactType>();

/** A timer moves nothing: it reports that it is due, marked with the connection it was set for. */
const due = (report: (connection: number) => ServerReport) => ({
  actions: { type: 'issue' as const, params: ({ context }: { context: ServerContext }) => report(context.connection) },
});
const connectDue = due((connection) => ({ type: 'ReportTimeout', of: 'connect', connection }));
const listDue = due((connection) => ({ type: 'ReportTimeout', of: 'list', connection }));
const stableDue = due((connection) => ({ type: 'ReportStable', connection }));
const backoffDue = due((connection) => ({ type: 'ReportBackoffElapsed', connection }));

const ofThis = ({ context }: { context: ServerContext }): OfConnection => ({ connection: context.connection });
const ends = { StopRequested: 'stopping', ServerStopped: 'stopped' } as const;

export const serverMachine = setup({
  types: { context: {} as ServerContext, events: {} as Heard<ServerFact> },
  actors: { connection: effect, list: effect, watch: effect, close: effect },
  actions: {
    record: assign(({ context, event }) => evolveServer(context, event)),
    issue: (_, _report: ServerReport) => {},
  },
  delays: {
    connectLimit: ({ context }) => context.limits.connectTimeoutMs,
    listLimit: ({ context }) => context.limits.listTimeoutMs,
    stable: ({ context }) => context.limits.stableMs,
    backoff: ({ context }) => context.delayMs,
  },
}).createMachine({
  id: 'server',
  context: blankServer,
  initial: 'stopped',
  on: hears({ ServerConfigured: null, ServerRemoved: null }),
  states: {
    stopped: { on: hears({ ServerEnabled: 'idle', ServerDisabled: 'disabled' }) },
    disabled: { on: hears({ ServerEnabled: 'idle', ServerStopped: 'stopped' }) },
    idle: { on: hears({ ConnectStarted: 'linked.connecting', ServerFailed: 'failed', ServerStopped: 'stopped' }) },

    // One connection lives exactly as long as this box is entered.
    linked: {
      invoke: { src: 'connection', input: ofThis },
      on: hears({
        SessionLost: 'session-lost',
        ConnectFailed: 'backing-off',
        LoginRequired: 'auth-required',
        ServerFailed: 'failed',
        ...ends,
      }),
      initial: 'connecting',
      states: {
        connecting: { after: { connectLimit: connectDue }, on: hears({ ProcessStarted: null, Connected: 'listing' }) },
        reconnecting: {
          after: { connectLimit: connectDue },
          on: hears({ ProcessStarted: null, Connected: 'listing' }),
        },
        listing: {
          after: { listLimit: listDue },
          invoke: { src: 'list', input: ofThis },
          on: hears({ PushChanged: null, ToolsListed: 'ready' }),
        },
        ready: {
          after: { stable: stableDue },
          invoke: { src: 'watch', input: ofThis },
          on: hears({ ToolsListed: null, ListFailed: null, PushChanged: null, SettledDown: null }),
        },
      },
    },

    'session-lost': {
      on: hears({ ReconnectStarted: 'linked.reconnecting', ReconnectDelayed: 'backing-off', ...ends }),
    },
    'backing-off': {
      after: { backoff: backoffDue },
      on: hears({
        BackoffElapsed: null,
        ReconnectStarted: 'linked.reconnecting',
        ConnectStarted: 'linked.connecting',
        ...ends,
      }),
    },
    'auth-required': { on: hears({ ConnectStarted: 'linked.connecting', ...ends }) },
    failed: { on: hears({ ConnectStarted: 'linked.connecting', ...ends }) },
    stopping: { invoke: { src: 'close', input: ofThis }, on: hears({ StopRequested: null, ServerStopped: 'stopped' }) },
  },
});
