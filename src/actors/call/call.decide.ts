/** The rules of a call: who may run, who waits, what an approval is good for. Pure. */
import type { CallFact, CallRequest } from '../../events/call.events.ts';
import type { Head, Stamp } from '../head.ts';
import { type Refusal, refuse } from '../refusal.ts';
import type { CallCommand, CallWorld, Settlement } from './call.commands.ts';
import type { CallContext } from './call.state.ts';
import { askGate, questionOf } from './gate.ts';

type CallHead = Head<CallContext>;
type Facts = readonly CallFact[];

export function decideCall(head: CallHead, command: CallCommand, stamp: Stamp, world: CallWorld): Facts | Refusal {
  const { state, context } = head;
  const waiting = state === 'held' || state === 'approved';
  switch (command.type) {
    case 'RequestCall':
      return state === 'requested' ? request(command, stamp, world) : [];
    case 'ApproveCall': {
      if (state !== 'held') return notHeld(state);
      const approved: CallFact = { type: 'CallApproved', data: { by: command.by, remember: command.remember } };
      const stale = outdated(context, world);
      if (stale) return [approved, stale];
      // Nobody waits any more: the approval is kept for the one who comes again with the same call.
      if (command.inTurn || context.caller === 'gone' || world.server?.state !== 'ready') return [approved];
      return [approved, ...started(context, world)];
    }
    case 'StartApproved': {
      if (state !== 'approved') return [];
      const stale = outdated(context, world);
      if (stale) return [stale];
      if (world.server?.state !== 'ready')
        return [settled({ outcome: 'failed', reason: notConnected(context.request, world) })];
      return started(context, world);
    }
    case 'DenyCall':
      if (!waiting) return notHeld(state);
      return [settled({ outcome: 'denied', by: command.by, ...(command.reason ? { reason: command.reason } : {}) })];
    case 'CancelCall':
      if (state === 'settled') return notHeld(state);
      // What already runs is cancelled at the server; its end is reported by the one who waits for it.
      return waiting
        ? [settled({ outcome: 'cancelled', by: command.by, reason: 'Cancelled before it was sent.' })]
        : [];
    case 'CloseCall': {
      if (context.outcome !== 'unknown') return notOpen(`it is ${context.outcome ?? state}`);
      if (context.closed !== null) return notOpen('it was closed already');
      const { by, finding, note } = command;
      return [{ type: 'CallClosed', data: { by, finding, ...(note ? { note } : {}) } }];
    }

    case 'ReportCallerLeft':
      return waiting && context.caller === 'waiting' ? [{ type: 'CallerLeft', data: {} }] : [];
    case 'ReportCallerReturned':
      return waiting && context.caller !== 'waiting' ? [{ type: 'CallerReturned', data: {} }] : [];
    case 'ReportHoldElapsed':
      if (!waiting) return [];
      return [
        settled({
          outcome: 'expired',
          reason:
            state === 'held' ? 'Nobody approved it in time.' : 'Approved, but it was not asked for again in time.',
        }),
      ];
    case 'ReportResent':
      return state === 'running'
        ? [{ type: 'CallResent', data: { connection: command.connection, reason: command.reason } }]
        : [];
    case 'ReportSettled':
      return state === 'running' || waiting
        ? [settled(command.settlement, context.startedAt === null ? undefined : stamp.at - context.startedAt)]
        : [];
    case 'CloseOpenEnd':
      if (waiting)
        return [settled({ outcome: 'abandoned', reason: 'The daemon ended while the call waited for a person.' })];
      return state === 'running'
        ? [settled({ outcome: 'unknown', reason: 'The daemon ended while the call ran: it may have run.' })]
        : [];
  }
}

function request(command: Extract<CallCommand, { type: 'RequestCall' }>, stamp: Stamp, world: CallWorld): Facts {
  // Server and tool may have changed while the caller was let in: the gate judges what is there now.
  const { server, tool, name, mode, client, door, argsHash, argsBytes } = command.request;
  const identity = world.server?.identity ?? '';
  const definition = world.definition ?? '';
  const asked: CallRequest = { server, tool, name, mode, client, door, argsHash, argsBytes, identity, definition };
  const ended = (outcome: 'refused' | 'failed', reason: string): Facts => [
    { type: 'CallSettled', data: { outcome, request: asked, reason } },
  ];
  if (command.barred) return ended('refused', command.barred);
  const verdict = askGate(questionOf(asked, world.grants));
  switch (verdict.kind) {
    case 'refuse':
      return ended('refused', verdict.reason);
    case 'hold':
      return [
        {
          type: 'CallHeld',
          data: {
            ...asked,
            expiresAt: stamp.at + command.holdMs,
            caller: command.wait ? 'waiting' : 'detached',
            unusual: [...verdict.unusual, ...(command.remarks ?? [])],
          },
        },
      ];
    case 'run':
      if (world.server?.state !== 'ready') return ended('failed', notConnected(asked, world));
      return [starts(asked, verdict.because, world.server.connection)];
  }
}

/** An approval is good for this server and this definition of the tool, and for nothing else. */
function outdated({ request: asked }: CallContext, world: CallWorld): CallFact | null {
  if (asked === null) return null;
  if (world.server !== null && world.server.identity !== asked.identity) {
    return settled({
      outcome: 'refused',
      reason: `The entry of server "${asked.server}" changed after the call was asked for.`,
    });
  }
  if (world.definition === null && world.server?.state === 'ready') {
    return settled({ outcome: 'refused', reason: `Server "${asked.server}" no longer offers ${asked.name}.` });
  }
  if (world.definition !== null && world.definition !== asked.definition) {
    return settled({
      outcome: 'refused',
      reason: `The definition of ${asked.name} changed after the call was asked for.`,
    });
  }
  return null;
}

function started({ request: asked }: CallContext, { server }: CallWorld): Facts {
  if (asked === null || server === null) return [];
  return [starts(asked, 'approved', server.connection)];
}

function notConnected(asked: CallRequest | null, { server }: CallWorld): string {
  return `Server "${asked?.server ?? ''}" is not connected (${server?.state ?? 'not known'}); nothing was sent.`;
}

type Started = Extract<CallFact, { type: 'CallStarted' }>;

/** Written out, as is whatever every call passes through (ADR 27). */
function starts(asked: CallRequest, verdict: Started['data']['verdict'], connection: number): Started {
  const { server, tool, name, mode, client, door, argsHash, argsBytes, identity, definition } = asked;
  return {
    type: 'CallStarted',
    data: {
      server,
      tool,
      name,
      mode,
      client,
      door,
      argsHash,
      argsBytes,
      identity,
      definition,
      verdict,
      connection,
    },
  };
}

const settled = (settlement: Settlement, tookMs?: number): CallFact => ({
  type: 'CallSettled',
  data: tookMs === undefined ? settlement : { ...settlement, tookMs },
});

const notHeld = (state: string): Refusal =>
  refuse(
    'call-not-held',
    `The call is ${state}, so there is nothing to decide. See the ones that wait: watchkeeper approvals`,
  );

const notOpen = (why: string): Refusal =>
  refuse(
    'call-not-open',
    `Only a call whose outcome is unknown can be closed, and this one is not open: ${why}. See them: watchkeeper ledger --open`,
  );
