/**
 * A tool call: requested → held? → approved? → running → settled. Only waiting for a person has a timer, so only a held call
 * has a body; for the others the table of this machine is enough.
 */
import { assign, setup } from 'xstate';
import type { CallFact, CallFactType } from '../../events/call.events.ts';
import { arrowsOf } from '../arrows.ts';
import type { Heard } from '../head.ts';
import type { CallReport } from './call.commands.ts';
import { blankCall, type CallContext, evolveCall } from './call.state.ts';

const hears = arrowsOf<CallFactType>();

const holdDue = { actions: { type: 'issue' as const, params: (): CallReport => ({ type: 'ReportHoldElapsed' }) } };

export const callMachine = setup({
  types: { context: {} as CallContext, events: {} as Heard<CallFact> },
  actions: {
    record: assign(({ context, event }) => evolveCall(context, event)),
    issue: (_, _report: CallReport) => {},
  },
  delays: { hold: ({ context }) => Math.max(0, (context.expiresAt ?? 0) - (context.heldAt ?? 0)) },
}).createMachine({
  id: 'call',
  context: blankCall,
  initial: 'requested',
  states: {
    requested: { on: hears({ CallHeld: 'waiting.held', CallStarted: 'running', CallSettled: 'settled' }) },
    // The time for a person to answer runs over both: an approval nobody comes back for expires as well.
    waiting: {
      after: { hold: holdDue },
      on: hears({ CallerLeft: null, CallerReturned: null, CallSettled: 'settled' }),
      initial: 'held',
      states: {
        held: { on: hears({ CallApproved: 'approved' }) },
        approved: { on: hears({ CallStarted: '#call.running' }) },
      },
    },
    running: { on: hears({ CallResent: null, CallSettled: 'settled' }) },
    // Only what nobody knows the end of is ever closed; `decide` sees to that.
    settled: { on: hears({ CallClosed: null }) },
  },
});
