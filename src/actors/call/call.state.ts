/** What a call's head remembers, and how each fact changes it. The only place where it changes. */
import type { CallFact, CallFinding, CallRequest, Outcome } from '../../events/call.events.ts';
import type { Heard } from '../head.ts';

/** Times are ms since the epoch. */
export interface CallContext {
  readonly request: CallRequest | null;
  /** Whether somebody waits for a held call: `gone` once the caller gave up. */
  readonly caller: 'waiting' | 'detached' | 'gone';
  readonly heldAt: number | null;
  readonly expiresAt: number | null;
  readonly approvedBy: string | null;
  readonly connection: number | null;
  readonly startedAt: number | null;
  readonly outcome: Outcome | null;
  /** Why it ended so, in words. */
  readonly reason: string | null;
  /** What a person found out about it later. */
  readonly closed: CallFinding | null;
}

export const blankCall: CallContext = {
  request: null,
  caller: 'waiting',
  heldAt: null,
  expiresAt: null,
  approvedBy: null,
  connection: null,
  startedAt: null,
  outcome: null,
  reason: null,
  closed: null,
};

export function requestOf(data: CallRequest): CallRequest {
  const { server, tool, name, mode, client, door, argsHash, argsBytes, identity, definition } = data;
  return { server, tool, name, mode, client, door, argsHash, argsBytes, identity, definition };
}

export function evolveCall(context: CallContext, fact: Heard<CallFact>): CallContext {
  switch (fact.type) {
    case 'CallHeld': {
      const { expiresAt, caller } = fact.data;
      return { ...context, request: requestOf(fact.data), caller, heldAt: fact.at, expiresAt };
    }
    case 'CallerLeft':
      return { ...context, caller: 'gone' };
    case 'CallerReturned':
      return { ...context, caller: 'waiting' };
    case 'CallApproved':
      return { ...context, approvedBy: fact.data.by };
    case 'CallStarted':
      // Written out, here and at the end: every call passes through these two (ADR 27).
      return {
        request: requestOf(fact.data),
        caller: context.caller,
        heldAt: context.heldAt,
        expiresAt: null,
        approvedBy: context.approvedBy,
        connection: fact.data.connection,
        startedAt: fact.at,
        outcome: context.outcome,
        reason: context.reason,
        closed: context.closed,
      };
    case 'CallResent':
      return { ...context, connection: fact.data.connection };
    case 'CallSettled':
      return {
        request: fact.data.request ?? context.request,
        caller: context.caller,
        heldAt: context.heldAt,
        expiresAt: null,
        approvedBy: context.approvedBy,
        connection: context.connection,
        startedAt: context.startedAt,
        outcome: fact.data.outcome,
        reason: fact.data.reason ?? null,
        closed: context.closed,
      };
    case 'CallClosed':
      return { ...context, closed: fact.data.finding };
  }
}
