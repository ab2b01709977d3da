/** What is wrong with a server, if anything: rules looked through in order, each from symptoms to a verdict. Pure. */
import type { Failure, Limits, Transport } from '../events/shapes.ts';
import type { Hint } from './correlation.ts';
import type { Mark, SeenFailure } from './past.ts';
import { standingOf } from './standing.ts';
import type { ServerSummary } from './summary.ts';
import { rules } from './verdict.rules.ts';

/** One thing that was looked at, without starting the server. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** What was found, in words; holds no secret. */
  readonly detail: string;
  /** What to do; null when there is nothing to do. */
  readonly next: string | null;
}

export interface Advice {
  readonly text: string;
  /** A whole command line. */
  readonly command?: string;
  /** A member of the entry in `mcp.json`, as it would be written. */
  readonly setting?: string;
}

/** A row of the log, or words that are in no row (`position` null). */
export interface Proof {
  readonly position: number | null;
  /** Ms since the epoch. */
  readonly at: number | null;
  readonly text: string;
}

export type Confidence = 'high' | 'medium' | 'low';

export interface Verdict {
  /** Kebab-case; never used for something else. */
  readonly kind: string;
  /** Nothing has to be done. */
  readonly ok: boolean;
  readonly verdict: string;
  readonly confidence: Confidence;
  /** What it is based on, and what makes it as sure as it is. */
  readonly why: readonly string[];
  readonly evidence: readonly Proof[];
  readonly advice: readonly Advice[];
}

/** Everything the rules may know. Times in ms since the epoch. */
export interface Symptoms {
  readonly name: string;
  /** A daemon runs; without one the state is the last known. */
  readonly watched: boolean;
  readonly now: number;
  readonly state: string;
  readonly since: number;
  readonly tools: number;
  readonly transport: Transport | null;
  /** The last trouble that no success has followed. */
  readonly error: { readonly class: Failure['class']; readonly message: string } | null;
  /** Why the entry cannot be used. */
  readonly problem: { readonly field: string; readonly message: string } | null;
  readonly limits: Limits | null;
  readonly lastFailure: (Mark & { readonly failure: Failure }) | null;
  /** Of the last days; null when nothing is known of them. */
  readonly summary: ServerSummary | null;
  /** What the server wrote to stdout that is not protocol. */
  readonly noise: readonly { readonly at: number; readonly text: string }[];
  readonly checks: readonly Check[];
}

/** The same with what most rules ask for. */
export interface Case extends Symptoms {
  readonly down: boolean;
  readonly ready: boolean;
  readonly failed: (name: string) => Check | undefined;
  readonly hint: (kind: Hint['kind']) => Hint | undefined;
  readonly failures: readonly SeenFailure[];
  readonly losses: number;
}

export interface Rule {
  /** Only when no other rule has anything to say. */
  readonly otherwise?: boolean;
  /** Where it has something to say nothing else matters. */
  readonly alone?: boolean;
  readonly when: (seen: Case) => Verdict | null;
}

/** The verdict, and what else was found. */
export function verdictOf(symptoms: Symptoms): { readonly verdict: Verdict; readonly also: readonly Verdict[] } {
  const { state, summary, checks } = symptoms;
  const seen: Case = {
    ...symptoms,
    down: standingOf(state) === 'down',
    ready: symptoms.watched && state === 'ready',
    failed: (name) => checks.find((check) => check.name === name && !check.ok),
    hint: (kind) => summary?.hints.find((one) => one.kind === kind),
    failures: summary?.failures ?? [],
    losses: summary?.losses ?? 0,
  };
  for (const { alone, when } of rules) {
    const only = alone ? when(seen) : null;
    if (only) return { verdict: only, also: [] };
  }
  const said = (otherwise: boolean): Verdict[] =>
    rules.filter((rule) => (rule.otherwise ?? false) === otherwise).flatMap(({ when }) => when(seen) ?? []);
  const found = said(false);
  const main = found.find(({ ok }) => !ok) ?? found[0] ?? said(true)[0] ?? unknown(state);
  return { verdict: main, also: found.filter((one) => one !== main) };
}

const unknown = (state: string): Verdict => ({
  kind: 'unknown',
  ok: true,
  verdict: `is ${state}`,
  confidence: 'low',
  why: ['No rule fits.'],
  evidence: [],
  advice: [],
});
