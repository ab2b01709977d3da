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

type Snapshot = SnapshotFrom<AnyStateMachine>;
type Config = AnyStateMachine['config'];

function withoutEffects({ invoke: _, states = {}, ...config }: Config): Config {
  const inner = Object.entries(states).map(([name, state]) => [name, withoutEffects(state as Config)]);
  return inner.length === 0 ? config : { ...config, states: Object.fromEntries(inner) };
}

/**
 * Steps a machine without running it, any number of streams side by side: a snapshot is all there is of each.
 * `transition()` of XState builds an actor and a system for every step; the scope it needs is the same each time and is
 * made once here. A fact that is not heard gives the same snapshot back.
 */
export function machineSteps(whole: AnyStateMachine, initial: { readonly state: string; readonly context: unknown }) {
  // Without its effects: they never start here, and making them ready would be most of the work of a step.
  const machine: AnyStateMachine = new StateMachine(withoutEffects(whole.config), whole.implementations);
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
  const born: Snapshot = machine.resolveState({
    value: leafValue(machine, initial.state),
    context: initial.context,
  });
  return {
    born,
    step: (snapshot: Snapshot, fact: Heard): Snapshot => machine.transition(snapshot, fact, scope) as Snapshot,
  };
}

/** One stream, fact by fact, through the machine itself. */
export function machineFolder<Context>(whole: AnyStateMachine, initial: { state: string; context: Context }) {
  const { born, step: next } = machineSteps(whole, initial);
  let snapshot = born;
  return (fact: Heard): MachineStep<Context> => {
    const before = snapshot;
    snapshot = next(before, fact);
    return { state: leafOf(snapshot.value), context: snapshot.context as Context, heard: snapshot !== before };
  };
}
