/** A running XState machine as the body of an actor. */
import { type AnyActorLogic, type AnyStateMachine, createActor, fromCallback } from 'xstate';
import type { Fact } from '../events/catalogue.ts';
import type { Body } from './actor.ts';
import type { Head, Heard } from './head.ts';
import { leafOf, leafValue } from './table.ts';

/** Starts something of the outside world; the returned function ends it. */
export type Effect<Input> = (input: Input) => () => void;

export interface BodyOptions<Input> {
  readonly machine: AnyStateMachine;
  /** Where the body is born: at rest, so that no effect or timer is missed. */
  readonly head: Head<unknown>;
  readonly effects: Readonly<Record<string, Effect<Input>>>;
  /** A timer is due. */
  readonly issue: (report: never) => void;
  /** An effect threw: there is no machine left that could hear of it. */
  readonly onThrow: (error: unknown) => void;
}

/**
 * Effects begin one microtask after their state was entered, and not at all if it was left by then. A throw inside one
 * would put the whole actor into an error state in which it hears nothing; it goes to `onThrow` instead.
 */
export function bodyOf<F extends Fact, Input>({ machine, head, effects, issue, onThrow }: BodyOptions<Input>): Body<F> {
  const actors = Object.fromEntries(
    Object.entries(effects).map(([name, start]) => [
      name,
      fromCallback<{ type: never }, Input & {}>(({ input }) => {
        let end: (() => void) | null = null;
        let left = false;
        queueMicrotask(() => {
          if (left) return;
          try {
            end = start(input);
          } catch (error) {
            onThrow(error);
          }
        });
        return () => {
          left = true;
          try {
            end?.();
          } catch (error) {
            onThrow(error);
          }
        };
      }) as AnyActorLogic,
    ]),
  );
  const provided = machine.provide({
    actors,
    actions: { issue: (_: unknown, report: unknown) => issue(report as never) },
  });
  const snapshot = provided.resolveState({ value: leafValue(machine, head.state), context: head.context });
  const running = createActor(provided, { snapshot });
  running.subscribe({ error: onThrow });
  running.start();
  return {
    hear(fact: Heard<F>) {
      running.send(fact);
      return leafOf(running.getSnapshot().value);
    },
    stop: () => void running.stop(),
  };
}
