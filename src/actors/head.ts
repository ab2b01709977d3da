/** The pure half of an actor: what it knows, and what its facts do to it. */
import type { Fact } from '../events/catalogue.ts';
import type { Refusal } from './refusal.ts';

/** A fact as a machine hears it: with the time it was decided at (ms since the epoch). */
export type Heard<F extends Fact = Fact> = F & { readonly at: number };

/** The fold of every fact decided so far. */
export interface Head<Context> {
  readonly state: string;
  readonly context: Context;
  /** Number of facts in the stream. */
  readonly version: number;
}

/** Put on a command where it enters the actor, once, so that deciding needs no clock and no dice. */
export interface Stamp {
  /** Milliseconds since the epoch; never goes back. */
  readonly at: number;
  /** Id of the command: the `cause` of the facts it leads to. */
  readonly id: string;
  /** In [0, 1). */
  readonly random: number;
}

/** Where a fact leads: a state, `null` for "remembered, no move", `undefined` for "not heard here". */
export type Next = (state: string, type: Fact['type']) => string | null | undefined;

/** Everything that makes one kind of actor; all of it pure. `decide` answers facts or why not. */
export interface Rules<Context, F extends Fact, Command, World = undefined> {
  readonly initial: { readonly state: string; readonly context: Context };
  readonly next: Next;
  readonly evolve: (context: Context, fact: Heard<F>) => Context;
  readonly decide: (head: Head<Context>, command: Command, stamp: Stamp, world: World) => readonly F[] | Refusal;
}

export class NotHeard extends Error {
  override readonly name = 'NotHeard';
}

/** The head after one more fact. Throws `NotHeard` for a fact the state does not react to: a fault in `decide`. */
export function step<Context, F extends Fact>(
  rules: Pick<Rules<Context, F, never, never>, 'next' | 'evolve'>,
  head: Head<Context>,
  fact: Heard<F>,
): Head<Context> {
  const target = rules.next(head.state, fact.type);
  if (target === undefined) throw new NotHeard(`${fact.type} is not heard in state "${head.state}".`);
  return { state: target ?? head.state, context: rules.evolve(head.context, fact), version: head.version + 1 };
}
