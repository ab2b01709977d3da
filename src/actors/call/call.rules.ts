import type { CallFact } from '../../events/call.events.ts';
import type { Rules } from '../head.ts';
import { nextBy, tableOf } from '../table.ts';
import type { CallCommand, CallWorld } from './call.commands.ts';
import { decideCall } from './call.decide.ts';
import { callMachine } from './call.machine.ts';
import { blankCall, type CallContext, evolveCall } from './call.state.ts';

export const callTable = tableOf(callMachine, blankCall);

export const callRules: Rules<CallContext, CallFact, CallCommand, CallWorld> = {
  initial: { state: 'requested', context: blankCall },
  next: nextBy(callTable),
  evolve: evolveCall,
  decide: decideCall,
};
