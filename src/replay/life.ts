/**
 * What a machine does in each of its states besides moving: which effects run and which timers are set. Read out of the
 * machine itself, as its table is, so that a run under a virtual clock needs no rules of its own.
 */
import type { AnyStateMachine } from 'xstate';

export interface Timer<Context, Report> {
  /** The same wherever the same timer is meant: state and delay. */
  readonly id: string;
  /** Milliseconds from the entry of its state. */
  readonly delayMs: (context: Context) => number;
  /** What is reported when it is due. */
  readonly report: (context: Context) => Report;
}

export interface Life<Context, Report> {
  readonly effects: ReadonlySet<string>;
  readonly timers: readonly Timer<Context, Report>[];
}

/** As much of a state of XState as is read here. */
interface Node {
  readonly id: string;
  readonly states: Readonly<Record<string, Node>>;
  readonly invoke: readonly { readonly src: unknown }[];
  readonly after: readonly { readonly delay: string | number; readonly actions: readonly unknown[] }[];
}

/** By the name of each leaf. Machine files keep to rules (ADR 2): an `after` holds the action `issue` and nothing else. */
export function livesOf<Context, Report>(machine: AnyStateMachine): ReadonlyMap<string, Life<Context, Report>> {
  const lives = new Map<string, Life<Context, Report>>();
  const walk = (name: string, node: Node, above: Life<Context, Report>): void => {
    const life = {
      effects: new Set([...above.effects, ...node.invoke.map(({ src }) => String(src))]),
      timers: [...above.timers, ...node.after.map((after) => timerOf<Context, Report>(machine, node.id, after))],
    };
    const below = Object.entries(node.states);
    if (below.length === 0) lives.set(name, life);
    for (const [child, inner] of below) walk(child, inner, life);
  };
  walk('', machine.root as unknown as Node, { effects: new Set(), timers: [] });
  return lives;
}

function timerOf<Context, Report>(
  machine: AnyStateMachine,
  state: string,
  { delay, actions }: Node['after'][number],
): Timer<Context, Report> {
  const delays = machine.implementations.delays as Record<string, (args: { context: unknown }) => number>;
  const length = typeof delay === 'number' ? () => delay : delays[delay];
  const issue = actions[0] as { params?: (args: { context: Context }) => Report } | undefined;
  const report = issue?.params;
  if (length === undefined || report === undefined) throw new Error(`${state}: a timer that reports nothing.`);
  return {
    id: `${state} ${delay}`,
    delayMs: (context) => length({ context }),
    report: (context) => report({ context }),
  };
}
