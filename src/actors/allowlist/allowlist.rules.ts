import { type AllowlistFact, allowlistFacts } from '../../events/allowlist.events.ts';
import type { Rules } from '../head.ts';
import type { AllowlistCommand } from './allowlist.commands.ts';
import { decideAllowlist } from './allowlist.decide.ts';
import { type AllowlistContext, blankAllowlist, evolveAllowlist } from './allowlist.state.ts';

/** The allowlist has one state and no body: nothing of it waits for anything. */
export const allowlistRules: Rules<AllowlistContext, AllowlistFact, AllowlistCommand> = {
  initial: { state: '', context: blankAllowlist },
  next: (_state, type) => (Object.hasOwn(allowlistFacts, type) ? null : undefined),
  evolve: evolveAllowlist,
  decide: decideAllowlist,
};
