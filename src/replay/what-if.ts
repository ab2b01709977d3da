/**
 * How a stretch of a server's life would have gone with other limits: the recorded run beside two runs under a virtual
 * clock, which differ in what they assume where the outside was never asked.
 */
import type { Heard } from '../actors/head.ts';
import { step } from '../actors/head.ts';
import { type Backoff, usualBackoff } from '../actors/server/backoff.ts';
import type { Configuration } from '../actors/server/server.commands.ts';
import { serverRules } from '../actors/server/server.rules.ts';
import type { ServerContext } from '../actors/server/server.state.ts';
import type { ServerFact } from '../events/server.events.ts';
import type { Limits } from '../events/shapes.ts';
import type { Changeable, Changes } from './changes.ts';
import type { Temper } from './evidence.ts';
import { counter, type Figures } from './figures.ts';
import { inputsOf, type ServerHead, type ServerRecorded } from './inputs.ts';
import { gathering } from './outside.ts';
import { type Assumption, type AssumptionKind, rerun } from './rerun.ts';
import { atOnce } from './unhurried.ts';

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

/** What is asked about: where it begins, and what happened from there on. */
export interface Stretch {
  /** The last moment at which the server was at rest before the stretch. */
  readonly head: ServerHead;
  /** The entry that held then; null: there was none yet. */
  readonly configuration: Configuration | null;
  readonly facts: readonly ServerRecorded[];
}

/** States in which nothing of a server runs or is about to. */
export const AT_REST: ReadonlySet<string> = new Set(['stopped', 'disabled']);

/** The entry as far as a head remembers it; null before the first one. */
export const configurationIn = ({
  revision,
  identity,
  transport,
  wanted,
  lazy,
  limits,
  problem,
}: ServerContext): Configuration | null =>
  revision === ''
    ? null
    : { revision, identity, transport, wanted: wanted === 'off' ? 'off' : 'on', lazy, limits, problem };

/** More facts are too many for one answer. */
export const MOST_FACTS = 500_000;

export class TooMany extends Error {
  override readonly name = 'TooMany';
}

/**
 * The stretch that begins with the last rest before `from` (ms since the epoch; without it with the first fact). `facts`:
 * all of one server from its first one on, or from the rest that `begin` is. Yields now and then. Throws `TooMany`.
 */
export function* stretchOf(
  facts: Iterable<ServerRecorded>,
  from?: number,
  begin: Omit<Stretch, 'facts'> = { head: { ...serverRules.initial, version: 0 }, configuration: null },
): Generator<undefined, Stretch> {
  let { head, configuration } = begin;
  let rest: Omit<Stretch, 'facts'> = begin;
  let kept: ServerRecorded[] = [];
  let seen = 0;
  for (const fact of facts) {
    kept.push(fact);
    if (from !== undefined && fact.at <= from) {
      head = step(serverRules, head, fact as unknown as Heard<ServerFact>);
      if (fact.type === 'ServerConfigured') {
        const { to: _, ...data } = fact.data;
        configuration = data as unknown as Configuration;
      }
      if (AT_REST.has(head.state)) {
        rest = { head, configuration };
        kept = [];
      }
    }
    if (kept.length > MOST_FACTS)
      throw new TooMany(`These are more than ${MOST_FACTS} facts; ask about a shorter time.`);
    seen += 1;
    if (seen % 1_000 === 0) yield;
  }
  return { ...rest, facts: kept };
}

/**
 * Limits are changed from the beginning of the stretch on, as an edit of the entry would; figures begin with `from`. Yields
 * now and then. Throws `Unexplained` where today's rules do not lead to what stands in the log.
 */
export function* asking({ head, configuration, facts }: Stretch, query: WhatIfQuery): Generator<undefined, WhatIf> {
  const { set, until } = query;
  const from = query.from ?? facts[0]?.at ?? until;

  const gathered = gathering();
  const recorded = counter(from, until, head.state);
  let last: ServerHead = head;
  for (const input of inputsOf(facts, head, configuration)) {
    gathered.take(input);
    for (const { at, type, data } of input.facts) {
      const { endedAt } = data as { endedAt?: number };
      recorded.add({ at, type, to: data.to ?? '', endedAt });
    }
    last = input.after;
    if (input.index % 200 === 199) yield;
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

/** The same at once, of facts that come from anywhere: all of one server from its first one on. */
export const whatIf = (facts: Iterable<ServerRecorded>, query: WhatIfQuery): WhatIf =>
  atOnce(asking(atOnce(stretchOf(facts, query.from)), query));

/** Limits of the entry, and those of the pauses between attempts. */
function split({ backoffBaseMs, backoffMaxMs, ...limits }: Changes): { limits: Partial<Limits>; backoff: Backoff } {
  const baseMs = backoffBaseMs ?? usualBackoff.baseMs;
  return { limits, backoff: { baseMs, maxMs: backoffMaxMs ?? Math.max(baseMs, usualBackoff.maxMs) } };
}

function limitsOf({ connectTimeoutMs, listTimeoutMs, pollIntervalMs, stableMs }: Limits): Record<Changeable, number> {
  const { baseMs, maxMs } = usualBackoff;
  return { connectTimeoutMs, listTimeoutMs, pollIntervalMs, stableMs, backoffBaseMs: baseMs, backoffMaxMs: maxMs };
}
