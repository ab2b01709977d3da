import { expect } from 'vitest';
import { type Head, type Heard, type Rules, type Stamp, step } from '../src/actors/head.ts';
import { isRefusal, type Refusal } from '../src/actors/refusal.ts';
import type { Fact } from '../src/events/catalogue.ts';

/** What decides, reduced to three things; all pure. */
export interface Decider<State, Command, F> {
  readonly initial: State;
  readonly evolve: (state: State, fact: F) => State;
  readonly decide: (state: State, command: Command) => readonly F[] | Refusal;
}

/** `given(facts).when(command).then(facts)`, `.thenNothing()` or `.thenRefused(code)`. */
export function specify<State, Command, F>({ initial, evolve, decide }: Decider<State, Command, F>) {
  return {
    given: (...past: readonly F[]) => ({
      when: (command: Command) => outcome(decide(past.reduce(evolve, initial), command)),
    }),
  };
}

/** The same for the rules of an actor. Every fact of the past is heard at `stamp.at`; one that is not heard throws. */
export function specifyRules<Context, F extends Fact, Command, World = undefined>(
  rules: Rules<Context, F, Command, World>,
  { stamp = { at: 1_000, id: 'command', random: 0.5 }, world }: { stamp?: Stamp; world?: World } = {},
) {
  return specify<Head<Context>, Command, F>({
    initial: { ...rules.initial, version: 0 },
    evolve: (head, fact) => step(rules, head, { ...fact, at: stamp.at } as Heard<F>),
    decide: (head, command) => rules.decide(head, command, stamp, world as World),
  });
}

function outcome<F>(answer: readonly F[] | Refusal) {
  return {
    answer,
    // biome-ignore lint/suspicious/noThenProperty: reads as a specification; nobody awaits it
    then: (...facts: readonly F[]): void => expect(answer).toEqual(facts),
    thenNothing: (): void => expect(answer).toEqual([]),
    /** Answers the words of the refusal, for a closer look. */
    thenRefused: (code: string): string => {
      expect(answer).toMatchObject({ refused: code });
      return isRefusal(answer) ? answer.detail : '';
    },
  };
}
