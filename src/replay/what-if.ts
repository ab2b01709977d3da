/**
 * How a stretch of a server's life would have gone with other limits: the recorded run beside two runs under a virtual
 * clock, which differ in what they assume where the outside was never asked.
 */
import type { Heard } from '../actors/head.ts';
import { step } from '../actors/head.ts';
import { type Backoff, usualBackoff } from '../actors/server/backoff.ts';
import type { Configuration } from '../actors/server/server.commands.ts';
import { serverRules } from '../actors/server/server.rules.ts';
import type { ServerFact } from '../events/server.events.ts';
import type { Limits } from '../events/shapes.ts';
import type { Temper } from './evidence.ts';
import { counter, type Figures } from './figures.ts';
import { inputsOf, type ServerHead, type ServerRecorded } from './inputs.ts';
import { gathering } from './outside.ts';
import { type Assumption, type AssumptionKind, rerun } from './rerun.ts';
import { atOnce } from './unhurried.ts';

/**
 * What can be changed, in ms. The number of attempts is not among them: no server is given up for having failed often.
 * Limits of calls are not either: a call does not move its server.
 */
export const changeable = [
  'connectTimeoutMs',
  'listTimeoutMs',
  'pollIntervalMs',
  'stableMs',
  'backoffBaseMs',
  'backoffMaxMs',
] as const;
export type Changeable = (typeof changeable)[number];
export type Changes = Readonly<Partial<Record<Changeable, number>>>;

/** Longest delay a timer can take. */
export const LONGEST_MS = 2 ** 31 - 1;

export const isChangeable = (key: string): key is Changeable => (changeable as readonly string[]).includes(key);

/** What is wrong with a wish for other limits; null: nothing. Names the key, and what is known instead. */
export function wrongIn(set: Readonly<Record<string, unknown>>): string | null {
  for (const [key, value] of Object.entries(set)) {
    if (!isChangeable(key)) return `"${key}" cannot be changed. What can: ${changeable.join(', ')}.`;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > LONGEST_MS) {
      return `"${key}" has to be a whole number of milliseconds from 1 to ${LONGEST_MS}.`;
    }
  }
  return null;
}

/** Something that had to be assumed, and how often. */
export interface Assumed {
  readonly kind: AssumptionKind;
  /** The rule that was used, in one sentence. */
  readonly rule: string;
  readonly count: number;
  /** The first ones: when it was needed (ms since the epoch), and the position of the fact it was taken from. */
  readonly examples: readonly { readonly at: number; readonly position: number | null }[];
}

export interface Run extends Figures {
  readonly assumed: readonly Assumed[];
}

export interface WhatIf {
  /** Milliseconds since the epoch; all figures are of this stretch. */
  readonly from: number;
  readonly until: number;
  readonly set: Changes;
  /** The limits at the end of the record. */
  readonly was: Readonly<Record<Changeable, number>>;
  readonly recorded: Figures;
  /** With the changed limits, when the outside is taken to be as it was last seen. */
  readonly changed: Run;
  /** The same, when it is taken to be as it was seen next. */
  readonly atBest: Run;
}

export interface WhatIfQuery {
  readonly set: Changes;
  /** Milliseconds since the epoch; without it from the first fact. */
  readonly from?: number | undefined;
  /** Up to when the last state lasted (ms since the epoch). */
  readonly until: number;
}

const EXAMPLES = 5;

const rules: Readonly<Record<AssumptionKind, Readonly<Record<Temper, string>>>> = {
  attempt: {
    careful: 'An attempt at a time when none was made goes as the last one before it; after a loss, as the next one.',
    hopeful: 'An attempt at a time when none was made goes as the next one that was made.',
  },
  connect: {
    careful: 'A connect that a limit cut short would not have been answered at all.',
    hopeful: 'A connect that a limit cut short would have been answered right after.',
  },
  list: {
    careful: 'A list that a limit cut short would not have come at all.',
    hopeful: 'A list that a limit cut short would have come right after.',
  },
  loss: {
    careful: 'A connection that was never made is lost when the recorded one was.',
    hopeful: 'A connection that was never made is lost when the recorded one was.',
  },
  poll: {
    careful: 'What a poll noticed had happened at that moment, and the next poll notices it.',
    hopeful: 'What a poll noticed had happened right after the poll before, and the next poll notices it.',
  },
  command: {
    careful: 'What a person asked for is asked for at the same moment, though the server is in another state.',
    hopeful: 'What a person asked for is asked for at the same moment, though the server is in another state.',
  },
  close: {
    careful: 'Closing takes as long as it did the last time.',
    hopeful: 'Closing takes as long as it did the last time.',
  },
};

/**
 * Facts of one server, all of them from the first one on, in order. Limits are changed from the last moment before `from`
 * at which the server was at rest, as an edit of its entry would; figures begin with `from`. Yields now and then. Throws
 * `Unexplained` where today's rules do not lead to what stands in the log.
 */
export function* asking(facts: readonly ServerRecorded[], query: WhatIfQuery): Generator<undefined, WhatIf> {
  const { set, until } = query;
  const { head, configuration, first } = yield* restBefore(facts, query.from);
  const from = query.from ?? facts[0]?.at ?? until;

  const gathered = gathering();
  const recorded = counter(from, until, head.state);
  let last: ServerHead = head;
  for (const input of inputsOf(facts.slice(first), head, configuration)) {
    gathered.take(input);
    for (const { at, type, data } of input.facts) {
      const { endedAt } = data as { endedAt?: number };
      recorded.add({ at, type, to: data.to ?? '', endedAt });
    }
    last = input.after;
    if (input.index % 500 === 499) yield;
  }
  const outside = gathered.outside();
  const { limits, backoff } = split(set);

  const run = function* (temper: Temper): Generator<undefined, Run> {
    const counted = counter(from, until, head.state);
    const assumed = new Map<AssumptionKind, { count: number; examples: Assumption[] }>();
    yield* rerun({
      outside,
      head,
      until,
      temper,
      limits,
      backoff,
      onFact: ({ at, type, data }, to) =>
        counted.add({ at, type, to, endedAt: (data as { endedAt?: number }).endedAt }),
      onAssumption: (assumption) => {
        if (assumption.at < from) return;
        const known = assumed.get(assumption.kind) ?? { count: 0, examples: [] };
        known.count += 1;
        if (known.examples.length < EXAMPLES) known.examples.push(assumption);
        assumed.set(assumption.kind, known);
      },
    });
    return {
      ...counted.figures(),
      assumed: [...assumed].map(([kind, { count, examples }]) => ({
        kind,
        rule: rules[kind][temper],
        count,
        examples: examples.map(({ at, position }) => ({ at, position })),
      })),
    };
  };
  return {
    from,
    until,
    set,
    was: limitsOf(last.context.limits),
    recorded: recorded.figures(),
    changed: yield* run('careful'),
    atBest: yield* run('hopeful'),
  };
}

/** The same at once. */
export const whatIf = (facts: readonly ServerRecorded[], query: WhatIfQuery): WhatIf => atOnce(asking(facts, query));

const AT_REST = new Set(['stopped', 'disabled']);

/** The head at the last moment up to `from` at which the server was at rest, and the facts from there on. */
function* restBefore(
  facts: readonly ServerRecorded[],
  from: number | undefined,
): Generator<undefined, { head: ServerHead; configuration: Configuration | null; first: number }> {
  let head: ServerHead = { ...serverRules.initial, version: 0 };
  let configuration: Configuration | null = null;
  let rest: { head: ServerHead; configuration: Configuration | null; first: number } = {
    head,
    configuration,
    first: 0,
  };
  for (const [index, fact] of facts.entries()) {
    if (from === undefined || fact.at > from) break;
    head = step(serverRules, head, fact as unknown as Heard<ServerFact>);
    if (fact.type === 'ServerConfigured') {
      const { to: _, ...data } = fact.data;
      configuration = data as unknown as Configuration;
    }
    if (AT_REST.has(head.state)) rest = { head, configuration, first: index + 1 };
    if (index % 5_000 === 4_999) yield;
  }
  return rest;
}

/** Limits of the entry, and those of the pauses between attempts. */
function split({ backoffBaseMs, backoffMaxMs, ...limits }: Changes): { limits: Partial<Limits>; backoff: Backoff } {
  const baseMs = backoffBaseMs ?? usualBackoff.baseMs;
  return { limits, backoff: { baseMs, maxMs: backoffMaxMs ?? Math.max(baseMs, usualBackoff.maxMs) } };
}

function limitsOf({ connectTimeoutMs, listTimeoutMs, pollIntervalMs, stableMs }: Limits): Record<Changeable, number> {
  const { baseMs, maxMs } = usualBackoff;
  return { connectTimeoutMs, listTimeoutMs, pollIntervalMs, stableMs, backoffBaseMs: baseMs, backoffMaxMs: maxMs };
}
