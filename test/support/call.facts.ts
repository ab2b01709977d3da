/** Facts of a call as tests write them. */
import type { Grant } from '../../src/actors/allowlist/allowlist.state.ts';
import type { CallWorld } from '../../src/actors/call/call.commands.ts';
import type { CallFact, CallRequest } from '../../src/events/call.events.ts';

type DataOf<Type extends CallFact['type']> = Extract<CallFact, { type: Type }>['data'];

export const request = (over: Partial<CallRequest> = {}): CallRequest => ({
  server: 'a',
  tool: 'get',
  name: 'mcp__a__get',
  mode: 'ask',
  client: 'main',
  door: 'http',
  argsHash: 'h',
  argsBytes: 2,
  identity: 'i',
  definition: 'd',
  ...over,
});

export const held = (over: Partial<DataOf<'CallHeld'>> = {}): CallFact => ({
  type: 'CallHeld',
  data: { ...request(), expiresAt: 61_000, caller: 'waiting', unusual: [], ...over },
});
export const callerLeft: CallFact = { type: 'CallerLeft', data: {} };
export const callerReturned: CallFact = { type: 'CallerReturned', data: {} };
export const approved = (by = 'ann', remember: DataOf<'CallApproved'>['remember'] = 'once'): CallFact => ({
  type: 'CallApproved',
  data: { by, remember },
});
export const started = (over: Partial<DataOf<'CallStarted'>> = {}): CallFact => ({
  type: 'CallStarted',
  data: { ...request(), verdict: 'approved', connection: 3, ...over },
});
export const resent = (connection = 4, reason = 'gone'): CallFact => ({
  type: 'CallResent',
  data: { connection, reason },
});
export const settled = (over: Partial<DataOf<'CallSettled'>> = {}): CallFact => ({
  type: 'CallSettled',
  data: { outcome: 'succeeded', ...over },
});
export const closed = (over: Partial<DataOf<'CallClosed'>> = {}): CallFact => ({
  type: 'CallClosed',
  data: { by: 'ann', finding: 'not-run', ...over },
});

/** Covers `mcp__a__get` of identity `i` and definition `d`. */
export const grant: Grant = {
  entry: 'mcp__a__get',
  server: 'a',
  tool: 'mcp__a__get',
  state: 'bound',
  binding: { identity: 'i', definition: 'd' },
};

export const world = (over: Partial<CallWorld> = {}): CallWorld => ({
  grants: [],
  server: { state: 'ready', connection: 3, identity: 'i' },
  definition: 'd',
  ...over,
});
