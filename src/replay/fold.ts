/**
 * Folding a stream: by the table, as the daemon does, and through the machine itself, as proof that both agree.
 * A fact is heard by both or by neither, and leads to the same state.
 */
import { type AnyStateMachine, createActor, SimulatedClock, type SnapshotFrom, StateMachine } from 'xstate';
import { type Head, type Heard, type Rules, step } from '../actors/head.ts';
import { leafOf, leafValue } from '../actors/table.ts';
import type { Fact } from '../events/catalogue.ts';

/** The head after all facts. Throws `NotHeard` for a fact that its state does not react to. */
export function foldByTable<Context, F extends Fact>(
  rules: Pick<Rules<Context, F, never, never>, 'initial' | 'next' | 'evolve'>,
  facts: Iterable<Heard<F>>,
): Head<Context> {
  let head: Head<Context> = { ...rules.initial, version: 0 };
  for (const fact of facts) head = step(rules, head, fact);
  return head;
}

export interface MachineStep<Context> {
  readonly state: string;
  readonly context: Context;
  /** false: the machine ignored the fact. */
  readonly heard: boolean;
}

/**
 * Steps a machine without running it. `transition()` of XState builds an actor and a system for every step; the scope it
 * needs is the same each time and is made once here.
 */
export function machineFolder<Context>(whole: AnyStateMachine, initial: { state: string; context: Context }) {
  // Without its effects: they never start here, and making them ready would be most of the work of a step.
  const machine: AnyStateMachine = new StateMachine(whole.config, { ...whole.implementations, actors: {} });
  const self = createActor(machine, { clock: new SimulatedClock() });
  const scope = {
    self,
    id: self.id,
    sessionId: self.sessionId,
    system: self.system,
    logger: () => {},
    defer: () => {},
    stopChild: () => {},
    emit: () => {},
    actionExecutor: () => {},
  } as Parameters<AnyStateMachine['transition']>[2];
  let snapshot: SnapshotFrom<AnyStateMachine> = machine.resolveState({
    value: leafValue(machine, initial.state),
    context: initial.context,
  });
  return (fact: Heard): MachineStep<Context> => {
    const next = machine.transition(snapshot, fact, scope) as SnapshotFrom<AnyStateMachine>;
    const heard = next !== snapshot;
    snapshot = next;
    return { state: leafOf(snapshot.value), context: snapshot.context as Context, heard };
  };
}
