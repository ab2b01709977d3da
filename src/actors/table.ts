/**
 * The table of a machine: where each fact leads from each state. Made once by asking XState itself, so that folding the
 * log needs no interpreter. Valid because machine files keep to one rule: one fact, one arrow, no guard (ADR 2).
 */
import { type AnyStateMachine, assign, type StateValue, transition } from 'xstate';
import type { Next } from './head.ts';

export type Table = ReadonlyMap<string, ReadonlyMap<string, string | null>>;

/** The leaf's own name: the public name of a state. */
export function leafOf(value: StateValue): string {
  if (typeof value === 'string') return value;
  const [inner] = Object.values(value);
  if (inner === undefined) throw new Error('A state without a leaf.');
  return leafOf(inner);
}

interface Node {
  readonly states: Readonly<Record<string, Node>>;
}

/** Every leaf of a machine, as the values that `resolveState` takes. */
export function leavesOf(node: Node): StateValue[] {
  return Object.entries(node.states).flatMap(([name, child]) => {
    const below = leavesOf(child);
    return below.length === 0 ? [name] : below.map((value): StateValue => ({ [name]: value }));
  });
}

/** Value of the leaf called `name`; throws when there is none. */
export function leafValue(machine: AnyStateMachine, name: string): StateValue {
  const value = leavesOf(machine.root).find((leaf) => leafOf(leaf) === name);
  if (value === undefined) throw new Error(`No state "${name}".`);
  return value;
}

/** `machine`'s action `record` is replaced: only the arrows matter here, and a new context shows that a fact was heard. */
export function tableOf(machine: AnyStateMachine, context: unknown): Table {
  const arrows = machine.provide({ actions: { record: assign(({ context }) => ({ ...context })) } });
  const types = machine.events.filter((type: string) => !type.startsWith('xstate.'));
  return new Map(
    leavesOf(machine.root).map((value) => {
      const from = leafOf(value);
      const snapshot = arrows.resolveState({ value, context });
      const row = new Map<string, string | null>();
      for (const type of types) {
        const event = { type, data: {}, at: 0 };
        // Asked first because it costs a fraction of a transition, and most facts are not heard in most states.
        if (!snapshot.can(event)) continue;
        const [next] = transition(arrows, snapshot, event);
        const to = leafOf(next.value);
        row.set(type, to === from ? null : to);
      }
      return [from, row];
    }),
  );
}

export const nextBy =
  (table: Table): Next =>
  (state, type) =>
    table.get(state)?.get(type);
