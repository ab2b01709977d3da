/**
 * What losses have in common: said only where chance does not explain it. Pure.
 *
 * The rule. Each question (a fixed life, a rhythm, soon after something…) is asked of all losses and of each of the most
 * frequent failures by itself. A question has `of` losses it can be asked of, `support` losses that fit, and `each`, the
 * chance that a loss fits though nothing links them: the share of ready time the question covers, or, for values that lie
 * close together, a share no smooth spread of values exceeds. The chance to see `support` or more is bounded by Chernoff
 * and multiplied by the number of answers that were looked through. A hint is given when that stays below `CHANCE`, and
 * most losses fit (`MOST`, or `SOME` where the cause names itself), and at least `LEAST` do.
 *
 * A hint says what happens together, not why.
 */
import type { FailureClass } from '../events/shapes.ts';
import type { Change, Loss, Mark } from './past.ts';
import { chanceOf, densest, firstWhere, lengthOf, overlap, type Span, united } from './statistics.ts';
import { roundedDuration } from './words.ts';

export const CHANCE = 1e-4;
const BESIDES = 1e-3;
const LEAST = 4;
const MOST = 0.6;
const SOME = 0.3;
/** Failures looked at by themselves. */
const GROUPS = 4;
/** Newest losses looked at; what a server did long before says little of what it does now. */
export const LOSSES = 2_000;
/** Positions a hint names, the newest ones. */
const NAMED = 20;
/** Hints given. */
const SAID = 6;

export type HintKind =
  | 'after-connecting'
  | 'after-idle'
  | 'after-calls'
  | 'around-call'
  | 'rhythm'
  | 'after-list-change'
  | 'after-entry-change'
  | 'after-daemon-start'
  | 'since-entry-change'
  | 'since-server-version'
  | 'since-daemon-version';

export interface Hint {
  readonly kind: HintKind;
  /** In words, with the numbers. */
  readonly text: string;
  readonly support: number;
  readonly of: number;
  /** Upper bound of the chance to see this by accident, after all that was looked through. */
  readonly chance: number;
  /** The losses that fit, the newest at most, ascending. */
  readonly positions: readonly number[];
  /** The facts they are linked to, the newest at most, ascending. */
  readonly related: readonly number[];
  /** Failure the hint is about; null: all losses. */
  readonly fingerprint: string | null;
  /** Length it is about, in ms: a life, an idle time, a period. */
  readonly ms?: number;
  readonly tool?: string;
  readonly calls?: number;
}

/** A call of a tool of this server; `position` is that of its first fact, `endedAt` null while it runs. */
export interface SeenCall extends Mark {
  readonly tool: string;
  readonly endedAt: number | null;
}

export interface Evidence {
  /** Ascending. */
  readonly losses: readonly Loss[];
  readonly ready: readonly Span[];
  readonly listChanges: readonly Mark[];
  readonly entryChanges: readonly Change[];
  readonly serverVersions: readonly Change[];
  readonly daemonStarts: readonly Mark[];
  readonly daemonVersions: readonly Change[];
  /** Ascending by start. */
  readonly calls: readonly SeenCall[];
  /** Calls before this time (ms since the epoch) were not looked at. */
  readonly callsFrom: number;
}

/** A loss, and what was called on its connection. */
interface Case extends Loss {
  /** null: not known, as its connection is older than what was read. */
  readonly lifeMs: number | null;
  readonly used: {
    readonly calls: number;
    /** Since the last call ended; null while one runs, and when there was none. */
    readonly idleMs: number | null;
    /** Calls that ran when it was lost, or had just ended. */
    readonly around: readonly SeenCall[];
  } | null;
}

/** A call that ended this long before a loss may still be what caused it. */
const JUST_ENDED_MS = 1_000;

interface Found {
  readonly kind: HintKind;
  readonly fits: readonly Case[];
  readonly of: number;
  readonly each: number;
  /** How many answers were looked through. */
  readonly tried: number;
  readonly share?: number;
  readonly text: string;
  readonly related?: readonly number[];
  readonly ms?: number;
  readonly tool?: string;
  readonly calls?: number;
  /** Chance of what has to hold besides, so that a bad time in which everything happens is no cause; below `BESIDES`. */
  readonly besides?: number;
  /** For `chance` where cases are not the losses themselves. */
  readonly counted?: { readonly support: number; readonly of: number };
}

type Asked = (cases: readonly Case[], evidence: Evidence) => Found | null;

const questions: readonly Asked[] = [
  fixedLife,
  fixedIdle,
  fixedCalls,
  aroundCall,
  rhythm,
  soonAfter('after-list-change', 30_000, 'its tool list changed', ({ listChanges }) => listChanges),
  soonAfter('after-entry-change', 300_000, 'its entry was changed', ({ entryChanges }) => entryChanges),
  soonAfter('after-daemon-start', 120_000, 'the daemon started', ({ daemonStarts }) => daemonStarts),
  onlySince(
    'since-entry-change',
    ({ entryChanges }) => entryChanges,
    () => 'its entry was changed',
  ),
  onlySince(
    'since-server-version',
    ({ serverVersions }) => serverVersions,
    ({ from, to }) => `the server says it is ${to} (before: ${from})`,
  ),
  onlySince(
    'since-daemon-version',
    ({ daemonVersions }) => daemonVersions,
    ({ from, to }) => `watchkeeper is ${to} (before: ${from})`,
  ),
];

/** All hints, the surest first. A generator, so that whoever asks may let others have a turn in between. */
export function* hintsOf(evidence: Evidence): Generator<void, Hint[]> {
  const losses = evidence.losses.slice(-LOSSES);
  if (losses.length < LEAST) return [];
  const cases = yield* casesOf(losses, evidence);
  const groups = groupsOf(cases);
  const hints: Hint[] = [];
  for (const { fingerprint, members } of groups) {
    const found: Hint[] = [];
    for (const ask of questions) {
      const hint = judged(ask(members, evidence), groups.length, fingerprint);
      if (hint) found.push(hint);
      yield;
    }
    hints.push(...withoutEchoes(found));
  }
  return hints
    .filter((hint) => hint.fingerprint === null || !hints.some((other) => saysAsMuch(other, hint)))
    .sort((a, b) => a.chance - b.chance || b.support - a.support)
    .slice(0, SAID);
}

function judged(found: Found | null, groups: number, fingerprint: string | null): Hint | null {
  if (!found) return null;
  const { kind, fits, of, each, tried, share = MOST, text, related = [] } = found;
  const counted = found.counted ?? { support: fits.length, of };
  const chance = chanceOf(counted.support, counted.of, each) * tried * groups * questions.length;
  if (fits.length < LEAST || fits.length < share * of || chance >= CHANCE) return null;
  if (found.besides !== undefined && found.besides >= BESIDES) return null;
  return {
    kind,
    text: `${text}, ${fits.length} of ${of} times`,
    support: fits.length,
    of,
    chance,
    positions: fits.slice(-NAMED).map(({ position }) => position),
    related: related.slice(-NAMED),
    fingerprint,
    ...(found.ms === undefined ? {} : { ms: found.ms }),
    ...(found.tool === undefined ? {} : { tool: found.tool }),
    ...(found.calls === undefined ? {} : { calls: found.calls }),
  };
}

/** Of hints that a single cause brings about together, only the one that fits most losses; the earlier one if they are equal. */
const echoes: readonly (readonly HintKind[])[] = [
  ['after-connecting', 'after-idle', 'after-calls', 'rhythm'],
  ['after-entry-change', 'since-entry-change'],
];

function withoutEchoes(hints: readonly Hint[]): Hint[] {
  return hints.filter((hint) =>
    echoes
      .filter((kinds) => kinds.includes(hint.kind))
      .every((kinds) => {
        const together = kinds.flatMap((kind) => hints.filter((other) => other.kind === kind));
        const most = Math.max(...together.map(({ support }) => support));
        return together.find(({ support }) => support === most) === hint;
      }),
  );
}

/** A hint about all losses need not be said again of some of them. */
const saysAsMuch = (other: Hint, hint: Hint): boolean => other.fingerprint === null && other.kind === hint.kind;

function groupsOf(cases: readonly Case[]): { fingerprint: string | null; members: readonly Case[] }[] {
  const byPrint = new Map<string, Case[]>();
  for (const one of cases) {
    const members = byPrint.get(one.fingerprint);
    if (members) members.push(one);
    else byPrint.set(one.fingerprint, [one]);
  }
  const all = { fingerprint: null, members: cases };
  if (byPrint.size < 2) return [all];
  const largest = [...byPrint]
    .filter(([, members]) => members.length >= LEAST)
    .sort((a, b) => b[1].length - a[1].length)
    .slice(0, GROUPS);
  return [all, ...largest.map(([fingerprint, members]) => ({ fingerprint, members }))];
}

/** Calls a turn while losses and calls are brought together. */
const TURN = 5_000;

function* casesOf(losses: readonly Loss[], { calls, callsFrom }: Evidence): Generator<void, Case[]> {
  const cases: Case[] = [];
  let seen = 0;
  for (const loss of losses) {
    const { connectedAt, at } = loss;
    if (connectedAt === null || connectedAt < callsFrom) {
      cases.push({ ...loss, lifeMs: connectedAt === null ? null : at - connectedAt, used: null });
      continue;
    }
    let count = 0;
    let lastEnd = Number.NEGATIVE_INFINITY;
    const around: SeenCall[] = [];
    for (let n = firstWhere(calls, (call) => call.at >= connectedAt); n < calls.length; n += 1) {
      const call = calls[n];
      if (!call || call.at > at) break;
      count += 1;
      if (call.endedAt !== null && call.endedAt < at) lastEnd = Math.max(lastEnd, call.endedAt);
      if (call.endedAt === null || call.endedAt + JUST_ENDED_MS >= at) around.push(call);
      seen += 1;
      if (seen % TURN === 0) yield;
    }
    const running = around.some(({ endedAt }) => endedAt === null || endedAt >= at);
    const idleMs = running || count === 0 ? null : at - lastEnd;
    cases.push({ ...loss, lifeMs: at - connectedAt, used: { calls: count, idleMs, around } });
  }
  return cases;
}

/** Lengths within this share of each other are the same one. */
const CLOSE = 0.02;
/** Clocks and event loops are no more exact than this, in ms. */
const JITTER_MS = 20;
/** Shorter lives than this are about how long a start takes, in ms. */
const SHORTEST_MS = 500;
/** No smooth spread of lengths puts more of them that close together: an exponential one has 1.5 %, one of half its mean 3 %. */
const CLOSE_BY_CHANCE = 0.05;

interface Cluster {
  readonly fits: readonly Case[];
  readonly of: number;
  readonly ms: number;
}

/** The cases whose lengths lie closest together. */
function cluster(cases: readonly Case[], length: (one: Case) => number | null): Cluster | null {
  const known = cases
    .flatMap((one) => {
      const ms = length(one);
      return ms === null ? [] : [{ one, ms }];
    })
    .sort((a, b) => a.ms - b.ms);
  const { from, to } = densest(
    known.map(({ ms }) => ms),
    (least) => Math.max(2 * JITTER_MS, (2 * CLOSE * least) / (1 - CLOSE)),
  );
  const inside = known.slice(from, to);
  const ms = inside[Math.floor(inside.length / 2)]?.ms;
  if (ms === undefined || ms < SHORTEST_MS) return null;
  const fits = inside.map(({ one }) => one).sort((a, b) => a.position - b.position);
  return { fits, of: known.length, ms };
}

function fixedLife(cases: readonly Case[]): Found | null {
  const found = cluster(cases, ({ lifeMs }) => lifeMs);
  if (!found) return null;
  const { fits, of, ms } = found;
  const classes = new Set(fits.map((one) => one.class));
  return {
    kind: 'after-connecting',
    ...found,
    each: CLOSE_BY_CHANCE,
    tried: of,
    text: `ends ${roundedDuration(ms)} after it connected${lasting(classes)}`,
  };
}

/** What seems to have an end of its own. */
function lasting(classes: ReadonlySet<FailureClass>): string {
  if (classes.size !== 1) return '';
  if (classes.has('auth')) return ', which is how long its login seems to last';
  return classes.has('session') ? ', which is how long its sessions seem to last' : '';
}

/** A life without any call is idle from its beginning; that alone would say no more than a fixed life. */
function fixedIdle(cases: readonly Case[]): Found | null {
  const found = cluster(cases, ({ used, lifeMs }) => used && (used.calls === 0 ? lifeMs : used.idleMs));
  if (!found) return null;
  const { fits, of, ms } = found;
  if (fits.filter(({ used }) => used !== null && used.calls > 0).length < 3) return null;
  const text = `ends ${roundedDuration(ms)} after its last call`;
  return { kind: 'after-idle', fits, of, ms, each: CLOSE_BY_CHANCE, tried: of, text };
}

/** The same number of calls each time, if calls come as they like: most likely at three, and then one time in nine. */
const FEWEST_CALLS = 3;
const SAME_BY_CHANCE = 0.11;

function fixedCalls(cases: readonly Case[]): Found | null {
  const known = cases.filter(({ used }) => used !== null);
  const byCount = new Map<number, Case[]>();
  for (const one of known) {
    const calls = one.used?.calls ?? 0;
    // A client that goes quiet after so many calls kills nobody: the last one has to be there when it ends.
    if (calls >= FEWEST_CALLS && (one.used?.around.length ?? 0) > 0)
      byCount.set(calls, [...(byCount.get(calls) ?? []), one]);
  }
  const [most] = [...byCount].sort((a, b) => b[1].length - a[1].length);
  if (!most) return null;
  const [calls, fits] = most;
  const text = `ends with call number ${calls} of its connection`;
  return { kind: 'after-calls', fits, of: known.length, each: SAME_BY_CHANCE, tried: known.length, text, calls };
}

/** The tool whose calls run, or have just ended, when the server is lost: beside the share of time its calls run. */
function aroundCall(cases: readonly Case[], { calls, ready, callsFrom }: Evidence): Found | null {
  const known = cases.filter(({ used }) => used !== null);
  const byTool = new Map<string, Case[]>();
  for (const one of known) {
    for (const tool of new Set(one.used?.around.map((call) => call.tool))) {
      byTool.set(tool, [...(byTool.get(tool) ?? []), one]);
    }
  }
  const [most] = [...byTool].sort((a, b) => b[1].length - a[1].length);
  if (!most) return null;
  const [tool, fits] = most;
  const of = known.length;
  const covered = calls
    .filter((call) => call.tool === tool)
    .map(({ at, endedAt }) => ({ from: at, to: (endedAt ?? at) + JUST_ENDED_MS }));
  const watched = ready.slice(firstWhere(ready, ({ to }) => to > callsFrom));
  const each = shareOf(watched, united(covered));
  const related = fits.flatMap(({ used }) => used?.around.filter((call) => call.tool === tool).at(-1)?.position ?? []);
  const text = `ends during a call of ${tool} or right after it`;
  return { kind: 'around-call', fits, of, each, tried: byTool.size, share: SOME, text, related, tool };
}

const shareOf = (ready: readonly Span[], covered: readonly Span[]): number =>
  overlap(ready, covered) / Math.max(1, lengthOf(ready));

/** Periods people give to timers, in ms. */
const PERIODS = [5, 10, 15, 20, 30, 60, 120, 180, 240, 360, 480, 720, 1_440, 10_080].map((minutes) => minutes * 60_000);
/** How far from the beat a loss may be: this share of the period, and no more than ten minutes. */
const OFF_BEAT = 0.02;
const OFF_BEAT_MS = 600_000;

/**
 * Losses in step with the clock. Counted by beats, not by losses: many losses in one beat are one, and a beat in which the
 * server was lost often would have one near the beat by chance as well.
 */
function rhythm(cases: readonly Case[]): Found | null {
  let best: (Found & { readonly chance: number }) | null = null;
  for (const period of PERIODS) {
    const reach = Math.min(OFF_BEAT * period, OFF_BEAT_MS);
    const phases = cases.map(({ at }) => at % period).sort((a, b) => a - b);
    const around = [...phases, ...phases.map((phase) => phase + period)];
    const { from } = densest(around, () => 2 * reach);
    const start = around[from] ?? 0;
    const near = ({ at }: Case): boolean => (((at - start) % period) + period) % period <= 2 * reach;
    const fits = cases.filter(near);
    const beatOf = ({ at }: Case): number => Math.floor((at - start - reach + period / 2) / period);
    const losses = new Map<number, number>();
    for (const one of cases) losses.set(beatOf(one), (losses.get(beatOf(one)) ?? 0) + 1);
    const support = new Set(fits.map(beatOf)).size;
    const single = (2 * reach) / period;
    const each = [...losses.values()].reduce((sum, count) => sum + 1 - (1 - single) ** count, 0) / losses.size;
    const counted = { support, of: losses.size };
    const chance = chanceOf(support, losses.size, each);
    if (support < LEAST || support < MOST * losses.size || fits.length < MOST * cases.length) continue;
    // Losses of every hour are also losses of every five minutes: the longest period that fits as many is meant.
    if (best && (fits.length < 0.9 * best.fits.length || chance > CHANCE)) continue;
    const at = fits.at(-1)?.at ?? 0;
    best = {
      kind: 'rhythm',
      fits,
      of: cases.length,
      each,
      tried: cases.length * PERIODS.length,
      counted,
      chance,
      ms: period,
      text: `ends every ${roundedDuration(period)}, the last time at ${new Date(at).toISOString().slice(11, 19)} UTC`,
    };
  }
  return best;
}

/**
 * Losses soon after something, beside the share of ready time that lies as soon after it; and beside the losses as soon
 * before it, since in a bad hour there are restarts and edits as well.
 */
function soonAfter(
  kind: HintKind,
  withinMs: number,
  what: string,
  marksOf: (evidence: Evidence) => readonly Mark[],
): Asked {
  return (cases, evidence) => {
    const marks = marksOf(evidence);
    const newest = (at: number): Mark | undefined => marks[firstWhere(marks, (mark) => mark.at > at) - 1];
    const fits = cases.filter(({ at }) => at - (newest(at)?.at ?? Number.NEGATIVE_INFINITY) <= withinMs);
    const causes = new Set(fits.flatMap(({ at }) => newest(at)?.position ?? []));
    // Several losses after one cause tell no more than one.
    if (causes.size < LEAST) return null;
    const lostIn = (from: number, to: number): boolean =>
      (cases[firstWhere(cases, ({ at }) => at >= from)]?.at ?? Number.POSITIVE_INFINITY) < to;
    const after = marks.filter(({ at }) => lostIn(at, at + withinMs) && !lostIn(at - withinMs, at)).length;
    const before = marks.filter(({ at }) => !lostIn(at, at + withinMs) && lostIn(at - withinMs, at)).length;
    const each = shareOf(evidence.ready, united(marks.map(({ at }) => ({ from: at, to: at + withinMs }))));
    return {
      kind,
      fits,
      of: cases.length,
      each,
      tried: 1,
      share: SOME,
      besides: chanceOf(after, after + before, 0.5),
      counted: { support: causes.size, of: causes.size + cases.length - fits.length },
      text: `ends within ${roundedDuration(withinMs)} after ${what}`,
      related: [...causes],
      ms: withinMs,
    };
  };
}

/** Rates that differ by less tell nothing. */
const MORE_OFTEN = 3;
/** Losses in one slice of the time looked at are one: a bad hour is no new state of things. */
const SLICES = 200;
/** A new state of things has no long pause: this share of the time since then, at most. */
const LONGEST_PAUSE = 0.25;
/** Changes looked at, the newest ones. */
const CHANGES = 50;

/** Losses that began with a change and go on, beside the share of ready time that lies after it. */
function onlySince(
  kind: HintKind,
  changesOf: (evidence: Evidence) => readonly Change[],
  words: (change: Change) => string,
): Asked {
  return (cases, evidence) => {
    const changes = changesOf(evidence).slice(-CHANGES);
    const { ready } = evidence;
    const whole = lengthOf(ready);
    const begin = ready[0]?.from ?? 0;
    const end = ready.at(-1)?.to ?? 0;
    const slice = Math.max(1, (end - begin) / SLICES);
    const slices = (some: readonly Case[]): number =>
      new Set(some.map(({ at }) => Math.floor((at - begin) / slice))).size;
    const judge = (change: Change) => {
      const fits = cases.filter(({ at }) => at >= change.at);
      const earlier = cases.filter(({ at }) => at < change.at);
      const since = overlap(ready, [{ from: change.at, to: Number.MAX_SAFE_INTEGER }]);
      const rate = fits.length / Math.max(1, since);
      const rateBefore = earlier.length / Math.max(1, whole - since);
      const counted = { support: slices(fits), of: slices(fits) + slices(earlier) };
      const each = since / Math.max(1, whole);
      const pause = longestPause([change.at, ...fits.map(({ at }) => at), end]);
      const goesOn = counted.support >= LEAST && pause <= LONGEST_PAUSE * (end - change.at);
      const begun = goesOn && whole > since && rate >= MORE_OFTEN * rateBefore;
      return { change, fits, counted, each, chance: begun ? chanceOf(counted.support, counted.of, each) : 1 };
    };
    const [best] = changes.map(judge).sort((a, b) => a.chance - b.chance);
    if (!best || best.chance === 1) return null;
    const { change, fits, counted, each } = best;
    const text = `ends since ${words(change)} at ${new Date(change.at).toISOString()}`;
    return { kind, fits, of: cases.length, each, tried: changes.length, counted, text, related: [change.position] };
  };
}

const longestPause = (times: readonly number[]): number =>
  times.reduce((longest, time, n) => Math.max(longest, time - (times[n - 1] ?? time)), 0);
