import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor, SimulatedClock, transition } from 'xstate';
import { bodyOf } from '../../../src/actors/body.ts';
import type { CallReport } from '../../../src/actors/call/call.commands.ts';
import { callMachine } from '../../../src/actors/call/call.machine.ts';
import { callRules, callTable } from '../../../src/actors/call/call.rules.ts';
import { blankCall } from '../../../src/actors/call/call.state.ts';
import { type Heard, step } from '../../../src/actors/head.ts';
import { leafOf, leafValue } from '../../../src/actors/table.ts';
import { type CallFact, type CallFactType, callFacts } from '../../../src/events/call.events.ts';
import * as fact from '../../support/call.facts.ts';
import { expectRulesOfMachineFiles } from '../../support/machine.rules.ts';

/** Where each fact leads from each state; null: remembered, no move. What is not named is not heard. */
const TABLE: Record<string, Partial<Record<CallFactType, string | null>>> = {
  requested: { CallHeld: 'held', CallStarted: 'running', CallSettled: 'settled' },
  held: { CallerLeft: null, CallerReturned: null, CallApproved: 'approved', CallSettled: 'settled' },
  approved: { CallerLeft: null, CallerReturned: null, CallStarted: 'running', CallSettled: 'settled' },
  running: { CallResent: null, CallSettled: 'settled' },
  settled: { CallClosed: null },
};

const STATES = Object.keys(TABLE);
const TYPES = Object.keys(callFacts) as CallFactType[];
const blankHead = { ...callRules.initial, version: 0 };

describe('the call machine', () => {
  it('has these states and no other', () => {
    expect([...callTable.keys()].sort()).toEqual([...STATES].sort());
  });

  it.each(STATES)('leads from %s where the table says, for every fact there is', (state) => {
    const arrows = Object.fromEntries(TYPES.map((type) => [type, callRules.next(state, type)]));
    expect(arrows).toEqual(Object.fromEntries(TYPES.map((type) => [type, TABLE[state]?.[type]])));
  });

  it('knows the call facts of the catalogue and nothing else', () => {
    expect(callMachine.events.filter((type) => !type.startsWith('xstate.')).sort()).toEqual([...TYPES].sort());
  });

  it('keeps to the rules of machine files', () => {
    expectRulesOfMachineFiles(callMachine, { effects: [], delays: ['hold'] });
  });

  it('ends settled, where nothing is heard but what a person says about it later', () => {
    expect([...(callTable.get('settled') ?? [])]).toEqual([['CallClosed', null]]);
  });
});

const sample = (type: CallFactType, n: number): CallFact =>
  ({
    CallHeld: fact.held({ expiresAt: 1_000 + n, caller: n % 2 === 0 ? 'waiting' : 'detached' }),
    CallerLeft: fact.callerLeft,
    CallerReturned: fact.callerReturned,
    CallApproved: fact.approved(`person ${n}`),
    CallStarted: fact.started({ connection: n }),
    CallResent: fact.resent(n),
    CallSettled: fact.settled({ outcome: 'unknown', reason: `reason ${n}` }),
    CallClosed: fact.closed({ by: `person ${n}` }),
  })[type];

const picks = fc.array(fc.nat(), { minLength: 1, maxLength: 20 });

function* walk(steps: readonly number[]): Generator<{ heard: Heard<CallFact>; head: typeof blankHead }> {
  let head = blankHead;
  for (const [index, pick] of steps.entries()) {
    const types = [...(callTable.get(head.state)?.keys() ?? [])] as CallFactType[];
    const type = types[pick % types.length];
    if (type === undefined) return;
    const heard: Heard<CallFact> = { ...sample(type, index + 1), at: 1_000 + index };
    head = step(callRules, head, heard);
    yield { heard, head };
  }
}

describe('the table', () => {
  it('says what XState itself does, context included, on any walk', () => {
    fc.assert(
      fc.property(picks, (steps) => {
        let snapshot = callMachine.resolveState({ value: 'requested', context: blankCall });
        for (const { heard, head } of walk(steps)) {
          [snapshot] = transition(callMachine, snapshot, heard) as unknown as [typeof snapshot];
          expect({ state: leafOf(snapshot.value), context: snapshot.context }).toEqual({
            state: head.state,
            context: head.context,
          });
        }
      }),
      { numRuns: 500 },
    );
  });

  it('leaves the machine as it is for every fact it does not name', () => {
    for (const state of STATES) {
      const value = leafValue(callMachine, state) as 'settled';
      const snapshot = callMachine.resolveState({ value, context: blankCall });
      for (const type of TYPES.filter((name) => !callTable.get(state)?.has(name))) {
        expect(transition(callMachine, snapshot, { ...sample(type, 1), at: 1 })[0], `${type} in ${state}`).toBe(
          snapshot,
        );
      }
    }
  });
});

describe('a body', () => {
  it('is always in the state the fold is in', () => {
    fc.assert(
      fc.property(picks, (steps) => {
        const body = bodyOf<CallFact, never>({
          machine: callMachine,
          head: blankHead,
          effects: {},
          issue: () => {},
          onThrow: (error) => {
            throw error;
          },
        });
        for (const { heard, head } of walk(steps)) expect(body.hear(heard, 0)).toBe(head.state);
        body.stop();
      }),
      { numRuns: 300 },
    );
  });

  const onClock = (...facts: readonly CallFact[]) => {
    const issued: CallReport[] = [];
    const clock = new SimulatedClock();
    const machine = callMachine.provide({
      actions: { issue: (_: unknown, report: CallReport) => void issued.push(report) },
    });
    const snapshot = machine.resolveState({ value: 'requested', context: blankCall });
    const actor = createActor(machine, { clock, snapshot }).start();
    const hear = (...more: readonly CallFact[]): void => {
      for (const one of more) actor.send({ ...one, at: 1_000 + clock.now() });
    };
    hear(...facts);
    return { issued, clock, hear };
  };
  const elapsed: CallReport = { type: 'ReportHoldElapsed' };

  it.each<[string, CallFact[]]>([
    ['held', []],
    ['whose caller left', [fact.callerLeft]],
    ['whose caller left and came again', [fact.callerLeft, fact.callerReturned]],
    ['approved', [fact.approved()]],
    ['approved after its caller left', [fact.callerLeft, fact.approved()]],
  ])('reports that the time of a call %s is over, counted from when it was first held', (_what, more) => {
    const { issued, clock, hear } = onClock(fact.held({ expiresAt: 61_000 }));
    clock.increment(30_000);
    hear(...more);
    clock.increment(29_999);
    expect(issued).toEqual([]);
    clock.increment(1);
    expect(issued).toEqual([elapsed]);
    clock.increment(1_000_000);
    expect(issued).toEqual([elapsed]);
  });

  it.each<[string, CallFact[]]>([
    ['runs', [fact.approved(), fact.started()]],
    ['is settled', [fact.settled({ outcome: 'denied' })]],
  ])('has no timer once the call %s', (_what, more) => {
    const { issued, clock } = onClock(fact.held({ expiresAt: 61_000 }), ...more);
    clock.increment(1_000_000);
    expect(issued).toEqual([]);
  });

  it('is due at once when the time was over before it was heard', () => {
    const { issued, clock } = onClock(fact.held({ expiresAt: 500 }));
    clock.increment(0);
    clock.increment(1);
    expect(issued).toEqual([elapsed]);
  });
});
