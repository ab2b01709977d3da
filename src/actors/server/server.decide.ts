/** The rules of a server: from what it knows and what it is told to the facts that follow. Pure. */
import type { ServerFact } from '../../events/server.events.ts';
import type { Failure } from '../../events/shapes.ts';
import type { Head, Stamp } from '../head.ts';
import { type Refusal, refuse } from '../refusal.ts';
import { type Backoff, backoffMs } from './backoff.ts';
import { problemText } from './problem.text.ts';
import type { Configuration, ServerCommand } from './server.commands.ts';
import type { ServerContext, StopReason } from './server.state.ts';

type ServerHead = Head<ServerContext>;
type Facts = readonly ServerFact[];

const CONNECTING = new Set(['connecting', 'reconnecting']);
const LINKED = new Set(['connecting', 'reconnecting', 'listing', 'ready']);
const AT_REST = new Set(['stopped', 'disabled']);

/** `backoff` is the usual one wherever a server really runs. */
export function decideServer(
  head: ServerHead,
  command: ServerCommand,
  stamp: Stamp,
  backoff?: Backoff,
): Facts | Refusal {
  const { state, context } = head;
  // The world reports with a delay: what an older connection has to say no longer matters.
  if ('connection' in command && command.connection !== context.connection) return [];

  switch (command.type) {
    case 'ConfigureServer':
      return configure(head, command.configuration);
    case 'RemoveServer':
      return context.wanted === 'gone' ? [] : [{ type: 'ServerRemoved', data: {} }, ...end(head, 'removed')];
    case 'StartServer':
      return state === 'idle' ? start(context) : [];
    case 'ReconnectServer':
      return reconnect(head);
    case 'StopServer':
      if (state === 'disabled' || context.stopReason === 'daemon-stopping') return [];
      return state === 'stopping' ? [stopRequested('daemon-stopping')] : end(head, 'daemon-stopping');
    case 'CloseOpenEnds':
      return AT_REST.has(state) ? [] : [stopped('daemon-ended', command.lastAlive)];

    case 'ReportProcess':
      return CONNECTING.has(state)
        ? [
            {
              type: 'ProcessStarted',
              data: { connection: command.connection, pid: command.pid, startedAt: command.startedAt },
            },
          ]
        : [];
    case 'ReportConnected':
      return CONNECTING.has(state)
        ? [
            {
              type: 'Connected',
              data: { connection: command.connection, ...command.agreement, tookMs: command.tookMs },
            },
          ]
        : [];
    case 'ReportTools':
      return listed(head, command);
    case 'ReportListFailed':
      if (state !== 'ready') return [];
      // One row for a trouble that stays the same, not one a poll.
      return context.error?.message === command.failure.message
        ? []
        : [{ type: 'ListFailed', data: { connection: command.connection, failure: command.failure } }];
    case 'ReportFailure':
      if (state === 'ready') return lost(context, command.failure, stamp, backoff);
      return LINKED.has(state) ? failed(context, command.failure, stamp, backoff) : [];
    case 'ReportTimeout':
      return timedOut(head, command, stamp, backoff);
    case 'ReportPush':
      if (state !== 'ready' && state !== 'listing') return [];
      // A server is taken to announce its changes until it is known that it does not.
      return command.push === (context.push ?? true)
        ? []
        : [
            {
              type: 'PushChanged',
              data: {
                connection: command.connection,
                push: command.push,
                ...(command.reason ? { reason: command.reason } : {}),
              },
            },
          ];
    case 'ReportBackoffElapsed':
      return state === 'backing-off' ? [{ type: 'BackoffElapsed', data: {} }, again(context)] : [];
    case 'ReportStable':
      return state === 'ready' && context.failures > 0
        ? [{ type: 'SettledDown', data: { connection: command.connection } }]
        : [];
    case 'ReportUnused':
      return state === 'ready' ? [stopRequested('idle')] : [];
    case 'ReportStopped':
      return state === 'stopping' ? rest(context) : [];
  }
}

function configure(head: ServerHead, configuration: Configuration): Facts {
  const { state, context } = head;
  const { wanted, problem } = configuration;
  const changed =
    configuration.revision !== context.revision ||
    wanted !== context.wanted ||
    problem?.message !== context.problem?.message;
  const configured: Facts = changed ? [{ type: 'ServerConfigured', data: configuration }] : [];
  const begin = opening(configuration);

  if (state === 'stopping') return configured;
  if (state === 'stopped') return [...configured, ...begin];
  if (state === 'disabled') return wanted === 'on' ? [...configured, ...begin] : configured;
  if (!changed) return [];
  if (wanted === 'off') return [...configured, ...end(head, 'disabled', begin)];
  if (state === 'idle') return [...configured, ...begin.slice(1)];
  return [...configured, ...end(head, 'config-changed', begin)];
}

/** What follows rest: disabled, ready to be started, or failed before anything is tried. */
function opening(
  { wanted, problem, revision }: Pick<Configuration, 'wanted' | 'problem' | 'revision'>,
  connection = 0,
): Facts {
  if (wanted === 'off') return [{ type: 'ServerDisabled', data: {} }];
  if (!problem) return [{ type: 'ServerEnabled', data: {} }];
  const failure: Failure = { class: 'config', phase: 'config', message: problemText(problem) };
  return [
    { type: 'ServerEnabled', data: {} },
    { type: 'ServerFailed', data: { connection, revision, failure } },
  ];
}

/** Ends what runs, if anything does; `then` follows at once where nothing has to be waited for. */
function end({ state }: ServerHead, reason: StopReason, then: Facts = []): Facts {
  if (state === 'stopped') return then;
  if (state === 'stopping') return reason === 'removed' ? [] : [stopRequested(reason)];
  return LINKED.has(state) ? [stopRequested(reason)] : [stopped(reason), ...then];
}

/** Everything is closed: what is wanted decides what comes next. */
function rest(context: ServerContext): Facts {
  const reason = context.wanted === 'gone' ? 'removed' : (context.stopReason ?? 'config-changed');
  const closed = stopped(reason);
  if (context.wanted === 'gone' || context.stopReason === 'daemon-stopping') return [closed];
  const begin = opening(
    { wanted: context.wanted, problem: context.problem, revision: context.revision },
    context.connection,
  );
  if (reason === 'reconnect' && context.wanted === 'on' && !context.problem)
    return [closed, ...begin, ...start(context)];
  return [closed, ...begin];
}

function reconnect(head: ServerHead): Facts | Refusal {
  const { state, context } = head;
  switch (state) {
    case 'disabled':
      return refuse('server-disabled', 'The server is disabled. Enable it first: watchkeeper enable <server>');
    case 'stopped':
      return context.wanted === 'gone' ? refuse('unknown-server', 'The server has been removed.') : [];
    case 'idle':
      return start(context);
    case 'backing-off':
    case 'auth-required':
      return start(context);
    case 'failed':
      // An entry with an error fails again at once, so that the answer says why.
      return context.problem ? [] : start(context);
    case 'stopping':
      return context.stopReason === 'daemon-stopping' || context.wanted !== 'on' ? [] : [stopRequested('reconnect')];
    default:
      return [stopRequested('reconnect')];
  }
}

const start = (context: ServerContext): Facts => [
  { type: 'ConnectStarted', data: { connection: context.connection + 1, attempt: 1 } },
];

const again = (context: ServerContext, failures = context.failures): ServerFact => ({
  type: 'ReconnectStarted',
  data: { connection: context.connection + 1, attempt: failures + 1 },
});

const stopRequested = (reason: StopReason): ServerFact => ({ type: 'StopRequested', data: { reason } });

const stopped = (reason: StopReason | 'daemon-ended', endedAt?: number): ServerFact => ({
  type: 'ServerStopped',
  data: { reason, ...(endedAt === undefined ? {} : { endedAt }) },
});

function listed({ state, context }: ServerHead, report: Extract<ServerCommand, { type: 'ReportTools' }>): Facts {
  if (state !== 'listing' && state !== 'ready') return [];
  const same = report.signature === context.signature;
  // A poll that found nothing new is no event, unless it ends a trouble that was shown.
  if (state === 'ready' && same && context.error === null) return [];
  const { connection, signature, tools, warnings, tookMs } = report;
  return [
    {
      type: 'ToolsListed',
      data: {
        connection,
        signature,
        count: tools.length,
        ...(same ? {} : { tools: [...tools], ...(warnings.length > 0 ? { warnings: [...warnings] } : {}) }),
        tookMs,
      },
    },
  ];
}

/** A connection that was ready ended: renewed at once, or after a pause if it has not held for long. */
function lost(context: ServerContext, failure: Failure, stamp: Stamp, backoff?: Backoff): Facts {
  const { connection, revision } = context;
  if (failure.class === 'auth') return [{ type: 'LoginRequired', data: { connection, revision, failure } }];
  const failures = context.failures + 1;
  const delayMs = pause(failures - 1, failure, stamp, backoff, context);
  return [
    { type: 'SessionLost', data: { connection, revision, failure } },
    delayMs === 0 ? again(context, failures) : { type: 'ReconnectDelayed', data: { attempt: failures + 1, delayMs } },
  ];
}

/** An attempt failed: a person, a change of the entry, or time has to help. */
function failed(context: ServerContext, failure: Failure, stamp: Stamp, backoff?: Backoff): Facts {
  const { connection, revision, attempt } = context;
  switch (failure.class) {
    case 'auth':
      return [{ type: 'LoginRequired', data: { connection, revision, failure } }];
    case 'config':
    case 'spawn':
      return [{ type: 'ServerFailed', data: { connection, revision, failure } }];
    default: {
      const delayMs = pause(context.failures + 1, failure, stamp, backoff);
      return [{ type: 'ConnectFailed', data: { connection, attempt, delayMs, revision, failure } }];
    }
  }
}

function pause(failures: number, failure: Failure, stamp: Stamp, backoff?: Backoff, context?: ServerContext): number {
  const upMs = context?.readySince ? stamp.at - context.readySince : 0;
  return Math.max(backoffMs(failures, stamp.random, upMs, backoff), failure.retryAfterMs ?? 0);
}

function timedOut(
  { state, context }: ServerHead,
  report: Extract<ServerCommand, { type: 'ReportTimeout' }>,
  stamp: Stamp,
  backoff?: Backoff,
): Facts {
  const tail = report.stderrTail ? { stderrTail: report.stderrTail } : {};
  if (report.of === 'connect' && CONNECTING.has(state)) {
    const message = `initialize: no answer within ${context.limits.connectTimeoutMs} ms (connectTimeoutMs)`;
    return failed(context, { class: 'timeout', phase: 'initialize', message, ...tail }, stamp, backoff);
  }
  if (report.of === 'list' && state === 'listing') {
    const message = `list: no answer within ${context.limits.listTimeoutMs} ms (listTimeoutMs)`;
    return failed(context, { class: 'timeout', phase: 'list', message, ...tail }, stamp, backoff);
  }
  return [];
}
