import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor, SimulatedClock, transition } from 'xstate';
import { bodyOf } from '../../../src/actors/body.ts';
import { type Heard, step } from '../../../src/actors/head.ts';
import type { ServerReport } from '../../../src/actors/server/server.commands.ts';
import { serverMachine } from '../../../src/actors/server/server.machine.ts';
import { serverRules, serverTable } from '../../../src/actors/server/server.rules.ts';
import { blankServer } from '../../../src/actors/server/server.state.ts';
import { leafOf, leafValue } from '../../../src/actors/table.ts';
import { type ServerFact, type ServerFactType, serverFacts } from '../../../src/events/server.events.ts';
import { expectRulesOfMachineFiles } from '../../support/machine.rules.ts';
import * as fact from '../../support/server.facts.ts';

/** Where each fact leads from each state; null: remembered, no move. What is not named is not heard. */
const TABLE: Record<string, Partial<Record<ServerFactType, string | null>>> = {
  stopped: { ServerConfigured: null, ServerRemoved: null, ServerEnabled: 'idle', ServerDisabled: 'disabled' },
  disabled: { ServerConfigured: null, ServerRemoved: null, ServerEnabled: 'idle', ServerStopped: 'stopped' },
  idle: {
    ServerConfigured: null,
    ServerRemoved: null,
    ConnectStarted: 'connecting',
    ServerFailed: 'failed',
    ServerStopped: 'stopped',
  },
  connecting: {
    ServerConfigured: null,
    ServerRemoved: null,
    ProcessStarted: null,
    Connected: 'listing',
    ConnectFailed: 'backing-off',
    LoginRequired: 'auth-required',
    ServerFailed: 'failed',
    SessionLost: 'session-lost',
    StopRequested: 'stopping',
    ServerStopped: 'stopped',
  },
  reconnecting: {
    ServerConfigured: null,
    ServerRemoved: null,
    ProcessStarted: null,
    Connected: 'listing',
    ConnectFailed: 'backing-off',
    LoginRequired: 'auth-required',
    ServerFailed: 'failed',
    SessionLost: 'session-lost',
    StopRequested: 'stopping',
    ServerStopped: 'stopped',
  },
  listing: {
    ServerConfigured: null,
    ServerRemoved: null,
    PushChanged: null,
    ToolsListed: 'ready',
    ConnectFailed: 'backing-off',
    LoginRequired: 'auth-required',
    ServerFailed: 'failed',
    SessionLost: 'session-lost',
    StopRequested: 'stopping',
    ServerStopped: 'stopped',
  },
  ready: {
    ServerConfigured: null,
    ServerRemoved: null,
    ToolsListed: null,
    ListFailed: null,
    PushChanged: null,
    SettledDown: null,
    ConnectFailed: 'backing-off',
    LoginRequired: 'auth-required',
    ServerFailed: 'failed',
    SessionLost: 'session-lost',
    StopRequested: 'stopping',
    ServerStopped: 'stopped',
  },
  'session-lost': {
    ServerConfigured: null,
    ServerRemoved: null,
    ReconnectStarted: 'reconnecting',
    ReconnectDelayed: 'backing-off',
    StopRequested: 'stopping',
    ServerStopped: 'stopped',
  },
  'backing-off': {
    ServerConfigured: null,
    ServerRemoved: null,
    BackoffElapsed: null,
    ReconnectStarted: 'reconnecting',
    ConnectStarted: 'connecting',
    StopRequested: 'stopping',
    ServerStopped: 'stopped',
  },
  'auth-required': {
    ServerConfigured: null,
    ServerRemoved: null,
    ConnectStarted: 'connecting',
    StopRequested: 'stopping',
    ServerStopped: 'stopped',
  },
  failed: {
    ServerConfigured: null,
    ServerRemoved: null,
    ConnectStarted: 'connecting',
    StopRequested: 'stopping',
    ServerStopped: 'stopped',
  },
  stopping: { ServerConfigured: null, ServerRemoved: null, StopRequested: null, ServerStopped: 'stopped' },
};

const STATES = Object.keys(TABLE);
const TYPES = Object.keys(serverFacts) as ServerFactType[];

describe('the server machine', () => {
  it('has these states and no other', () => {
    expect([...serverTable.keys()].sort()).toEqual([...STATES].sort());
  });

  it.each(STATES)('leads from %s where the table says, for every fact there is', (state) => {
    const arrows = Object.fromEntries(TYPES.map((type) => [type, serverRules.next(state, type)]));
    expect(arrows).toEqual(Object.fromEntries(TYPES.map((type) => [type, TABLE[state]?.[type]])));
  });

  it('knows the server facts of the catalogue and nothing else', () => {
    expect(serverMachine.events.filter((type) => !type.startsWith('xstate.')).sort()).toEqual([...TYPES].sort());
  });

  it('keeps to the rules of machine files', () => {
    expectRulesOfMachineFiles(serverMachine, {
      effects: ['connection', 'list', 'watch', 'close'],
      delays: ['connectLimit', 'listLimit', 'stable', 'backoff'],
    });
  });

  it('begins stopped, which owns nothing', () => {
    expect(serverRules.initial).toEqual({ state: 'stopped', context: blankServer });
  });
});

/** One fact of each type, with numbers that go up, so that a walk changes its context. */
const sample = (type: ServerFactType, n: number): ServerFact =>
  ({
    ServerConfigured: fact.configured({ revision: `r${n}`, wanted: n % 2 === 0 ? 'on' : 'off' }),
    ServerRemoved: fact.removed,
    ServerEnabled: fact.enabled,
    ServerDisabled: fact.disabled,
    ConnectStarted: fact.connecting(n),
    ReconnectStarted: fact.reconnecting(n, n),
    ProcessStarted: fact.process(n),
    Connected: fact.connected(n),
    ConnectFailed: fact.connectFailed(n, n),
    LoginRequired: fact.loginRequired(n),
    ServerFailed: fact.serverFailed(n),
    ToolsListed: fact.listed(n, `s${n}`),
    ListFailed: fact.listFailed(n),
    PushChanged: fact.pushChanged(n % 2 === 0, n),
    SessionLost: fact.lost(n),
    ReconnectDelayed: fact.delayed(n, n),
    BackoffElapsed: fact.elapsed,
    SettledDown: fact.settledDown(n),
    StopRequested: fact.stopRequested('reconnect'),
    ServerStopped: fact.stopped('reconnect'),
  })[type];

/** Picks of a walk: each number chooses among the facts that are heard where the walk stands. */
const picks = fc.array(fc.nat(), { minLength: 1, maxLength: 60 });

function* walk(steps: readonly number[]): Generator<{ heard: Heard<ServerFact>; head: typeof fact.blankHead }> {
  let head = fact.blankHead;
  for (const [index, pick] of steps.entries()) {
    const types = [...(serverTable.get(head.state)?.keys() ?? [])] as ServerFactType[];
    const type = types[pick % types.length];
    if (type === undefined) throw new Error(`Nothing is heard in ${head.state}.`);
    const heard: Heard<ServerFact> = { ...sample(type, index + 1), at: 1_000 + index };
    head = step(serverRules, head, heard);
    yield { heard, head };
  }
}

describe('the table', () => {
  it('says what XState itself does, context included, on any walk', () => {
    fc.assert(
      fc.property(picks, (steps) => {
        let snapshot = serverMachine.resolveState({ value: 'stopped', context: blankServer });
        for (const { heard, head } of walk(steps)) {
          [snapshot] = transition(serverMachine, snapshot, heard) as unknown as [typeof snapshot];
          expect({ state: leafOf(snapshot.value), context: snapshot.context }).toEqual({
            state: head.state,
            context: head.context,
          });
        }
      }),
      { numRuns: 150 },
    );
  });

  it('leaves the machine as it is for every fact it does not name', () => {
    for (const state of STATES) {
      const value = leafValue(serverMachine, state) as 'stopped';
      const snapshot = serverMachine.resolveState({ value, context: blankServer });
      for (const type of TYPES.filter((name) => !serverTable.get(state)?.has(name))) {
        expect(transition(serverMachine, snapshot, { ...sample(type, 1), at: 1 })[0], `${type} in ${state}`).toBe(
          snapshot,
        );
      }
    }
  });
});

describe('a body', () => {
  it('is always in the state the fold is in', async () => {
    await fc.assert(
      fc.asyncProperty(picks, async (steps) => {
        const thrown: unknown[] = [];
        const nothing = () => () => {};
        const body = bodyOf<ServerFact, { connection: number }>({
          machine: serverMachine,
          head: fact.blankHead,
          effects: { connection: nothing, list: nothing, watch: nothing, close: nothing },
          issue: () => {},
          onThrow: (error) => thrown.push(error),
        });
        for (const { heard, head } of walk(steps)) expect(body.hear(heard, 0)).toBe(head.state);
        body.stop();
        await Promise.resolve();
        expect(thrown).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  /** A body on a clock that stands still until told; hears the facts given, and remembers what its timers report. */
  const onClock = (...facts: readonly ServerFact[]) => {
    const issued: ServerReport[] = [];
    const clock = new SimulatedClock();
    const machine = serverMachine.provide({
      actions: { issue: (_: unknown, report: ServerReport) => void issued.push(report) },
    });
    const snapshot = machine.resolveState({ value: 'stopped', context: blankServer });
    const actor = createActor(machine, { clock, snapshot }).start();
    const hear = (...more: readonly ServerFact[]): void => {
      for (const one of more) actor.send({ ...one, at: clock.now() });
    };
    hear(...facts);
    return { issued, clock, hear, state: () => leafOf(actor.getSnapshot().value) };
  };
  const limits = { ...fact.configuration().limits, connectTimeoutMs: 100, listTimeoutMs: 200, stableMs: 1_000 };
  const started = [fact.configured({ limits }), fact.enabled, fact.connecting(7)];

  it.each<[string, ServerFact[], number, ServerReport]>([
    ['connecting takes too long', started, 100, { type: 'ReportTimeout', of: 'connect', connection: 7 }],
    [
      'reconnecting takes too long',
      [...started, fact.connectFailed(7), fact.reconnecting(8)],
      100,
      { type: 'ReportTimeout', of: 'connect', connection: 8 },
    ],
    [
      'the first list takes too long',
      [...started, fact.connected(7)],
      200,
      { type: 'ReportTimeout', of: 'list', connection: 7 },
    ],
    [
      'the connection held',
      [...started, fact.connected(7), fact.listed(7)],
      1_000,
      { type: 'ReportStable', connection: 7 },
    ],
    [
      'the pause is over',
      [...started, fact.connectFailed(7, 1, 375)],
      375,
      { type: 'ReportBackoffElapsed', connection: 7 },
    ],
    [
      'the pause after a loss is over',
      [...started, fact.connected(7), fact.listed(7), fact.lost(7), fact.delayed(3, 600)],
      600,
      { type: 'ReportBackoffElapsed', connection: 7 },
    ],
  ])('reports that %s, once and not before', (_what, facts, afterMs, report) => {
    const { issued, clock, state } = onClock(...facts);
    const before = state();
    clock.increment(afterMs - 1);
    expect(issued).toEqual([]);
    clock.increment(1);
    expect(issued).toEqual([report]);
    clock.increment(afterMs * 10);
    expect(issued).toEqual([report]);
    // A timer moves nothing.
    expect(state()).toBe(before);
  });

  it('has no timer left of a state it is no longer in', () => {
    const { issued, clock, hear } = onClock(...started);
    clock.increment(99);
    hear(fact.connected(7));
    clock.increment(199);
    hear(fact.listed(7));
    clock.increment(999);
    hear(fact.stopRequested('disabled'));
    clock.increment(1_000_000);
    expect(issued).toEqual([]);
  });

  it('goes on counting a connection as stable while lists come and go', () => {
    const { issued, clock, hear } = onClock(...started, fact.connected(7), fact.listed(7));
    clock.increment(900);
    hear(fact.listed(7, 's2'), fact.listFailed(7), fact.pushChanged(false, 7));
    clock.increment(100);
    expect(issued).toEqual([{ type: 'ReportStable', connection: 7 }]);
  });

  it('counts anew for a new connection', () => {
    const { issued, clock, hear } = onClock(...started);
    clock.increment(60);
    hear(fact.stopRequested('reconnect'), fact.stopped('reconnect'), fact.enabled, fact.connecting(8));
    clock.increment(99);
    expect(issued).toEqual([]);
    clock.increment(1);
    expect(issued).toEqual([{ type: 'ReportTimeout', of: 'connect', connection: 8 }]);
  });
});
