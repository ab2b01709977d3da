/**
 * Why a server is, or was, as it is: the chain of facts that led there, newest first, what changed shortly before, and
 * what to do next. Pure: everything comes from the evidence, times included.
 */
import type { ServerFact } from '../events/server.events.ts';
import type { Failure } from '../events/shapes.ts';
import { isFailure, likeness, makesReady, rootOf, type ServerTold, type Told } from './trouble.ts';
import { type Change, changesSince, troubleBegan } from './why.changes.ts';
import type { Evidence } from './why.evidence.ts';
import { type Next, nextThing } from './why.next.ts';
import { summaryOf } from './why.summary.ts';
import { daemonSentence, sentence } from './why.words.ts';
import { iso } from './words.ts';

/** One fact of the chain. Times are ISO 8601. */
export interface Link {
  readonly position: number;
  readonly at: string;
  /** Type of the fact. */
  readonly fact: string;
  /** The state it led to; null for a fact that is not of the server. */
  readonly to: string | null;
  /** What it means, without times and positions. */
  readonly text: string;
  readonly failure?: Pick<
    Failure,
    'class' | 'phase' | 'message' | 'exitCode' | 'signal' | 'httpStatus' | 'retryAfterMs'
  >;
  readonly attempt?: number;
  readonly delayMs?: number;
  /** The same trouble happened so often in a row; the link is the newest of them. */
  readonly times?: number;
  /** The oldest of them. */
  readonly first?: { readonly position: number; readonly at: string };
}

export interface Why {
  readonly server: string;
  /** The moment that was asked about. */
  readonly at: string;
  readonly position: number;
  readonly state: string;
  readonly since: string;
  readonly summary: string;
  /** Attempts since it last settled down; 0 when none was made. */
  readonly attempt: number;
  readonly nextAttemptAt: string | null;
  /** The newest failure of the chain. */
  readonly failure: (NonNullable<Link['failure']> & { readonly position: number; readonly at: string }) | null;
  /** The last words of the process at the newest failure that has any. */
  readonly stderr: { readonly position: number; readonly at: string; readonly text: string } | null;
  readonly losses: { readonly today: number; readonly atLeast: boolean };
  /** Newest first. */
  readonly chain: readonly Link[];
  /** Links of the middle that were left out. */
  readonly omitted: number;
  /** Newest first. */
  readonly changes: readonly Change[];
  /** Only of an earlier moment: what ended this state. */
  readonly until: {
    readonly position: number;
    readonly at: string;
    readonly state: string;
    readonly fact: string;
  } | null;
  readonly next: Next | null;
}

/** Changes this long (ms) before a trouble are told with it. */
const SHORTLY_MS = 15 * 60_000;
const NEWEST_LINKS = 14;
const OLDEST_LINKS = 4;

/** Tells the evidence. */
export function explain(evidence: Evidence): Why {
  const { facts, server, dead, later } = evidence;
  const last = facts.at(-1) as ServerTold;
  const ended = last.data.to ?? 'stopped';
  const state = dead ? 'unobserved' : ended;
  const root = rootOf(facts) ?? 0;
  const story = facts.slice(root);
  const since = dead?.from ?? stateSince(facts);
  const began = troubleBegan(story);
  const failures = facts.flatMap((fact, index) => (index >= root && isFailure(fact) ? [fact] : []));
  const newest = failures.at(-1);
  const spoken = failures.findLast(({ data }) => data.failure.stderrTail);
  const attempts = attemptOf(facts);
  const dueAt = state === 'backing-off' ? dueOf(story) : null;
  const chain = chainOf(evidence, root);
  const shown =
    chain.length > NEWEST_LINKS + OLDEST_LINKS
      ? [...chain.slice(0, NEWEST_LINKS), ...chain.slice(-OLDEST_LINKS)]
      : chain;
  const today = facts.filter(({ type, at }) => type === 'SessionLost' && at >= evidence.dayStart).length;
  const losses = { today, atLeast: !evidence.wholeDay };
  const told = new Set(shown.map(({ position }) => position));
  const answer = {
    server,
    at: iso(evidence.at),
    position: evidence.position,
    state,
    since: iso(since),
    attempt: attempts,
    nextAttemptAt: dueAt === null ? null : iso(dueAt),
    failure: newest ? { ...plain(newest.data.failure), position: newest.position, at: iso(newest.at) } : null,
    stderr: spoken
      ? { position: spoken.position, at: iso(spoken.at), text: spoken.data.failure.stderrTail ?? '' }
      : null,
    losses,
    chain: shown,
    omitted: chain.length - shown.length,
    changes: changesSince(evidence, (began?.at ?? since) - SHORTLY_MS).filter(
      // What stands in the chain is not told twice, unless the change says more.
      ({ kind, position }) => kind !== 'daemon' || !told.has(position),
    ),
    until:
      later && !dead
        ? { position: later.position, at: iso(later.at), state: later.data.to ?? '', fact: later.type }
        : null,
  };
  const about = { evidence, story, state, ended, since, attempts, dueAt, losses };
  return { ...answer, summary: summaryOf(about), next: nextThing(about) };
}

/** What the summary and the advice are made from. */
export interface About {
  readonly evidence: Evidence;
  /** Facts from the root on. */
  readonly story: readonly ServerTold[];
  readonly state: string;
  /** The state the newest fact led to: another one than `state` while nobody watches. */
  readonly ended: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly attempts: number;
  readonly dueAt: number | null;
  readonly losses: Why['losses'];
}

/** When the state of the newest fact began; at the latest known time where that is further back. */
function stateSince(facts: readonly ServerTold[]): number {
  const last = facts.at(-1) as ServerTold;
  let since = last.at;
  for (const fact of facts.toReversed()) {
    if (fact.data.to !== last.data.to) break;
    since = fact.at;
  }
  return since;
}

function attemptOf(facts: readonly ServerTold[]): number {
  const newest = facts.findLast(
    ({ type }) =>
      type === 'ConnectStarted' || type === 'ReconnectStarted' || type === 'SettledDown' || type === 'ServerStopped',
  );
  return newest?.type === 'ConnectStarted' || newest?.type === 'ReconnectStarted' ? newest.data.attempt : 0;
}

function dueOf(story: readonly ServerTold[]): number | null {
  const waits = story.findLast(({ type }) => type === 'ConnectFailed' || type === 'ReconnectDelayed');
  return waits?.type === 'ConnectFailed' || waits?.type === 'ReconnectDelayed' ? waits.at + waits.data.delayMs : null;
}

const plain = ({ stderrTail: _, ...failure }: Failure): NonNullable<Link['failure']> => failure;

type Start = Told<Extract<ServerFact, { type: 'ConnectStarted' | 'ReconnectStarted' }>>;

/** The facts worth a line, newest first; the same trouble again and again is one. */
function chainOf(evidence: Evidence, root: number): Link[] {
  const { facts, lazy, gap } = evidence;
  const newestStart = facts.findLastIndex(({ type }) => type === 'ConnectStarted' || type === 'ReconnectStarted');
  const links = facts.flatMap((fact, index): Worded[] =>
    index >= root && isTelling(facts, index, root, newestStart)
      ? [{ fact, index, link: linkOf(facts, index, lazy) }]
      : [],
  );
  const server = together(facts, links, gap).map(({ link }) => link);
  return [...server, ...daemonLinks(evidence, root)].sort((a, b) => b.position - a.position);
}

interface Worded {
  readonly fact: ServerTold;
  readonly index: number;
  readonly link: Link;
}

function linkOf(facts: readonly ServerTold[], index: number, lazy: boolean): Link {
  const fact = facts[index] as ServerTold;
  return {
    position: fact.position,
    at: iso(fact.at),
    fact: fact.type,
    to: fact.data.to ?? null,
    text: sentence(facts, index, lazy),
    ...(isFailure(fact) ? { failure: plain(fact.data.failure) } : {}),
    ...('attempt' in fact.data ? { attempt: fact.data.attempt } : {}),
    ...('delayMs' in fact.data ? { delayMs: fact.data.delayMs } : {}),
  };
}

/** Whether a fact says something its neighbours do not. */
function isTelling(facts: readonly ServerTold[], index: number, root: number, newestStart: number): boolean {
  const fact = facts[index] as ServerTold;
  const renewed = index < newestStart;
  const followed = (by: (later: ServerTold) => boolean): boolean => facts.slice(index + 1).some(by);
  switch (fact.type) {
    case 'ServerEnabled':
      return index === facts.length - 1;
    case 'BackoffElapsed':
    case 'ProcessStarted':
    case 'SettledDown':
      return false;
    case 'ReconnectStarted':
      return !renewed && !followed(isFailure);
    case 'ReconnectDelayed':
      return !renewed;
    case 'Connected':
      return !renewed && !followed((later) => isFailure(later) && later.type !== 'ListFailed');
    case 'ToolsListed':
      return (index === root || !renewed) && makesReady(facts, index);
    case 'ListFailed':
      return !renewed && !followed(({ type }) => type === 'ToolsListed');
    case 'PushChanged':
      return !renewed && !fact.data.push && !followed(({ type }) => type === 'PushChanged');
    case 'StopRequested':
      return !followed(({ type }) => type === 'ServerStopped');
    case 'ServerStopped':
      // The start that follows says the same as its reason.
      return !followed(({ type }) => type === 'ConnectStarted');
    default:
      return true;
  }
}

/** Ascending links in; the same failure in a row becomes its newest one with a count. Descending links out. */
function together(facts: readonly ServerTold[], links: readonly Worded[], gap: number | null): Worded[] {
  const groups: Worded[][] = [];
  for (const worded of links) {
    const group = groups.at(-1);
    const before = group?.at(-1);
    const same =
      before && before.fact.type === worded.fact.type && isFailure(before.fact) && isFailure(worded.fact)
        ? likeness(before.fact.data.failure) === likeness(worded.fact.data.failure)
        : false;
    if (group && same) group.push(worded);
    else groups.push([worded]);
  }
  return groups.toReversed().flatMap((group) => {
    const newest = group.at(-1);
    const oldest = group[0];
    if (!newest || !oldest || newest === oldest) return newest ? [newest] : [];
    const times =
      gap !== null && oldest.index < gap && newest.index >= gap ? across(facts, oldest, newest) : group.length;
    const text = `${newest.link.text} The same happened ${times} times in a row.`;
    return [
      {
        ...newest,
        link: { ...newest.link, text, times, first: { position: oldest.fact.position, at: oldest.link.at } },
      },
    ];
  });
}

/** Attempts are numbered: how many lie between two of them is known where the facts in between were not read. */
function across(facts: readonly ServerTold[], oldest: Worded, newest: Worded): number {
  const attemptAt = (index: number): number => {
    const start = facts
      .slice(0, index)
      .findLast(({ type }) => type === 'ConnectStarted' || type === 'ReconnectStarted');
    return (start as Start | undefined)?.data.attempt ?? 1;
  };
  return Math.max(2, attemptAt(newest.index) - attemptAt(oldest.index) + 1);
}

/** The start of the daemon that a start of the server came from, or the end of the daemon that it ended with. */
function daemonLinks({ facts, daemon }: Evidence, root: number): Link[] {
  const enabled = facts.findIndex(({ type }, index) => index >= root && type === 'ServerEnabled');
  const last = facts.at(-1) as ServerTold;
  const from = enabled < 0 ? null : facts.slice(0, enabled).findLast(({ type }) => type === 'ServerStopped');
  const byDaemon =
    from?.type === 'ServerStopped' ? /^daemon-/.test(from.data.reason) : enabled >= 0 && facts[0]?.version === 1;
  const start = byDaemon
    ? daemon.findLast(({ type, at }) => type === 'DaemonStarted' && at <= (facts[enabled]?.at ?? 0))
    : undefined;
  const end =
    last.type === 'ServerStopped' && last.data.reason === 'daemon-stopping'
      ? daemon.find(({ type, position }) => type === 'DaemonStopped' && position > last.position)
      : undefined;
  return [start, end]
    .filter((fact) => fact !== undefined)
    .map((fact) => ({
      position: fact.position,
      at: iso(fact.at),
      fact: fact.type,
      to: null,
      text: daemonSentence(fact),
    }));
}
