/**
 * Reads what is needed to tell why a server is as it is: its stream backwards, in pages, no further than the story goes.
 * Only where one trouble is longer than some thousand facts is its middle left out and its beginning looked up.
 */
import type { ServerContext } from '../actors/server/server.state.ts';
import type { ConfigFact, DaemonFact } from '../events/daemon.events.ts';
import type { Recorded } from '../events/envelope.ts';
import type { EventLog } from '../events/log.ts';
import type { ToolDefinition } from '../events/shapes.ts';
import { isFailure, rootOf, type ServerTold, type Told } from './trouble.ts';
import { TOGETHER_MS, troubleBegan } from './why.changes.ts';
import type { Evidence } from './why.evidence.ts';

type Log = Pick<EventLog, 'read' | 'positionAt' | 'lastPosition' | 'head'>;

export interface Asked {
  readonly server: string;
  /** A log position, or a time in ms since the epoch; undefined for now. */
  readonly at: { readonly position: number } | { readonly time: number } | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Beginning of a day at a time, in the zone of the person who asks. */
  readonly dayStart: (time: number) => number;
  /** The list of a server in the catalog when the log stood at a position. */
  readonly listAt: (server: string, position: number) => readonly ToolDefinition[] | null;
  /** When the daemon was last known alive, if none runs now. */
  readonly deadSince?: number | null;
}

const PAGE = 200;
/** Facts of a server that are read at most for one answer. */
const FARTHEST = 2_000;

/** null when the log knows no fact of the server up to that moment. */
export function gather(log: Log, asked: Asked): Evidence | null {
  const stream = `server-${asked.server}`;
  const { at, position } = momentOf(log, asked);
  const dayStart = asked.dayStart(at);
  const read = readBack(log, stream, position, dayStart);
  const last = read.facts.at(-1);
  if (!last) return null;
  const opening = read.whole || read.told ? [] : openingOf(log, stream, read.facts);
  const facts = [...opening, ...read.facts];
  const first = facts[0] as ServerTold;
  const began = troubleBegan(facts.slice(rootOf(facts) ?? 0)) ?? last;
  const later = laterThan(log, stream, position, last);
  const configured = facts.findLast(({ type }) => type === 'ServerConfigured');
  const head = later === null ? (log.head(stream)?.context as ServerContext | undefined) : undefined;
  return {
    server: asked.server,
    at,
    position,
    facts,
    gap: opening.length > 0 ? opening.length : null,
    daemon: newest(log, 'daemon', position, 20) as Told<DaemonFact>[],
    config: newest(log, 'config', position, 20) as Told<ConfigFact>[],
    others: isFailure(began) ? failedTogether(log, stream, began, position) : [],
    listBefore: facts.some((fact) => fact.type === 'ToolsListed' && fact.data.tools)
      ? asked.listAt(asked.server, first.position - 1)
      : null,
    limits: configured?.type === 'ServerConfigured' ? configured.data.limits : (head?.limits ?? null),
    lazy: configured?.type === 'ServerConfigured' ? configured.data.lazy : (head?.lazy ?? false),
    later,
    dead: deadAt(log, asked, { at, position }, last),
    dayStart,
    wholeDay: read.whole || (read.facts[0]?.at ?? 0) < dayStart,
  };
}

function momentOf(log: Log, { at, now }: Asked): { at: number; position: number } {
  const newest = log.lastPosition();
  if (at === undefined) return { at: now, position: newest };
  if ('time' in at) return { at: at.time, position: at.time >= now ? newest : log.positionAt(at.time) };
  const [fact] = log.read({ upTo: at.position, limit: 1, newestFirst: true });
  return { at: fact?.at ?? now, position: Math.min(at.position, newest) };
}

/** Facts of a stream up to a position, ascending. */
const newest = (log: Log, stream: string, upTo: number, limit: number): Recorded[] =>
  log.read({ stream, upTo, limit, newestFirst: true }).reverse();

function readBack(log: Log, stream: string, position: number, dayStart: number) {
  let facts: ServerTold[] = [];
  for (let upTo = position; ; ) {
    const page = newest(log, stream, upTo, PAGE) as ServerTold[];
    facts = [...page, ...facts];
    const whole = page.length < PAGE;
    const told = (rootOf(facts) ?? 0) > 0;
    const day = (facts[0]?.at ?? 0) < dayStart;
    if (whole || (told && day) || facts.length >= FARTHEST) return { facts, whole, told };
    upTo = (facts[0] as ServerTold).position - 1;
  }
}

/** How the trouble began: attempts and connections are numbered, so the first of them is found by halving. */
function openingOf(log: Log, stream: string, facts: readonly ServerTold[]): ServerTold[] {
  const start = facts.findLast(({ type }) => type === 'ConnectStarted' || type === 'ReconnectStarted');
  if (start?.type !== 'ConnectStarted' && start?.type !== 'ReconnectStarted') return [];
  const second = start.data.connection - start.data.attempt + 2;
  const end = (facts[0] as ServerTold).position - 1;
  let low = 0;
  let high = end;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const next = log.read({ stream, after: middle, upTo: end, limit: 12 }).find(({ data }) => 'connection' in data);
    const isBefore = next && 'connection' in next.data && (next.data.connection as number) < second;
    if (isBefore) low = next.position;
    else high = middle;
  }
  const before = newest(log, stream, low, 40);
  const after = log.read({ stream, after: low, upTo: end, limit: 20 });
  return [...before, ...after] as ServerTold[];
}

function laterThan(log: Log, stream: string, position: number, last: ServerTold): ServerTold | null {
  const facts = log.read({ stream, after: position, limit: PAGE }) as ServerTold[];
  return facts.find(({ data }) => data.to !== last.data.to) ?? null;
}

function failedTogether(log: Log, stream: string, began: ServerTold, upTo: number): Recorded[] {
  const { position, at } = began;
  return log
    .read({ after: Math.max(0, position - 200), upTo: Math.min(upTo, position + 200) })
    .filter((fact) => fact.stream !== stream && fact.stream.startsWith('server-'))
    .filter((fact) => Math.abs(fact.at - at) <= TOGETHER_MS && isAlike(fact as ServerTold, began));
}

/** One that had long been failing, or has an entry that cannot work, shares no cause with a trouble that begins now. */
function isAlike(other: ServerTold, began: ServerTold): boolean {
  if (other.type === 'SessionLost' || other.type === 'LoginRequired') return true;
  if (other.type !== 'ConnectFailed' || began.type !== 'ConnectFailed') return false;
  return other.data.attempt === 1 && other.data.failure.class === began.data.failure.class;
}

/** Whether no daemon lived at the moment: the next start says when the one before was last alive. */
function deadAt(
  log: Log,
  { deadSince }: Asked,
  { at, position }: { at: number; position: number },
  last: ServerTold,
): Evidence['dead'] {
  const start = log.read({ stream: 'daemon', after: position, limit: 4 }).find(({ type }) => type === 'DaemonStarted');
  if (start) {
    const { lastAlive } = start.data as Extract<DaemonFact, { type: 'DaemonStarted' }>['data'];
    const from = Math.max(lastAlive ?? at, last.at);
    return lastAlive !== null && from < at ? { from, to: start.at, position: start.position } : null;
  }
  if (deadSince === undefined || deadSince === null) return null;
  const { to } = last.data;
  const from = Math.max(deadSince, last.at);
  return to !== 'stopped' && to !== 'disabled' && from < at ? { from, to: null, position: null } : null;
}
