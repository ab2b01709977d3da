/**
 * How a server came to be as it is: the stretch of its stream that tells it, from the newest fact back to the one that
 * began it. Pure; facts are of one server and ascend.
 */
import type { Fact } from '../events/catalogue.ts';
import type { Recorded } from '../events/envelope.ts';
import type { ServerFact } from '../events/server.events.ts';
import type { Failure } from '../events/shapes.ts';

/** A recorded fact whose data is known by its type. */
export type Told<F extends Fact> = F extends Fact ? Recorded<F> : never;
export type ServerTold = Told<ServerFact>;
export type FailureTold = Extract<ServerTold, { data: { failure: Failure } }>;

export const isFailure = (fact: ServerTold): fact is FailureTold => 'failure' in fact.data;

/** Facts that prepare a start, in the order they may stand before it. */
const PREPARES: ReadonlySet<ServerTold['type']> = new Set([
  'ServerEnabled',
  'ServerConfigured',
  'ServerStopped',
  'ServerDisabled',
  'ServerRemoved',
  'StopRequested',
]);

/** The first list of a connection is what makes it ready; later ones find it so. */
export const makesReady = (facts: readonly ServerTold[], index: number): boolean =>
  facts[index]?.type === 'ToolsListed' && facts[index - 1]?.data.to !== 'ready';

/**
 * Where the story begins: the last time all was well before a trouble, or what led to the start when there was none.
 * null when these facts do not reach back that far.
 */
export function rootOf(facts: readonly ServerTold[]): number | null {
  let troubled = false;
  /** The connection in view held so long that earlier failures no longer counted. */
  let held = false;
  let wasReady: number | null = null;
  for (let index = facts.length - 1; index >= 0; index -= 1) {
    const fact = facts[index] as ServerTold;
    switch (fact.type) {
      case 'SessionLost':
      case 'ConnectFailed':
      case 'LoginRequired':
      case 'ServerFailed':
        troubled = true;
        held = false;
        wasReady = null;
        break;
      case 'SettledDown':
        held = true;
        break;
      case 'ToolsListed':
        if (troubled && makesReady(facts, index)) wasReady = index;
        if (wasReady !== null && held) return wasReady;
        break;
      case 'ReconnectStarted':
        // It came up after a trouble and did not hold: what went before belongs to it.
        held = false;
        wasReady = null;
        break;
      case 'ConnectStarted':
        return wasReady ?? preparedFrom(facts, index);
      default:
        // At rest, and nothing was tried since.
        if (PREPARES.has(fact.type) && fact.type !== 'ServerEnabled') return preparedFrom(facts, index + 1);
    }
  }
  return null;
}

/** The oldest of the facts right before `index` that prepared it; of none, where the story of the failure begins that it followed. */
function preparedFrom(facts: readonly ServerTold[], index: number): number {
  let first = index;
  while (first > 0 && PREPARES.has((facts[first - 1] as ServerTold).type)) first -= 1;
  const before = facts[first - 1];
  if (first < index || before === undefined || !isFailure(before)) return first;
  return rootOf(facts.slice(0, index)) ?? index - 1;
}

/** What makes two failures the same trouble: class, phase and words, numbers aside. */
export const likeness = ({ class: kind, phase, message }: Failure): string =>
  `${kind} ${phase} ${message.replace(/\b(?:0x)?[0-9a-f]*\d[0-9a-f]*\b/gi, '#')}`;

/** When the attempt a fact belongs to began; undefined when that is further back. */
export function attemptBegan(facts: readonly ServerTold[], index: number): number | undefined {
  for (let back = index - 1; back >= 0; back -= 1) {
    const fact = facts[back] as ServerTold;
    if (fact.type === 'ConnectStarted' || fact.type === 'ReconnectStarted') return fact.at;
  }
  return undefined;
}

/** Since when the connection that ended with a fact had been ready; undefined when it never was, or that is further back. */
export function readySince(facts: readonly ServerTold[], index: number): number | undefined {
  for (let back = index - 1; back >= 0; back -= 1) {
    const fact = facts[back] as ServerTold;
    if (fact.type === 'ConnectStarted' || fact.type === 'ReconnectStarted') return undefined;
    if (makesReady(facts, back) && back > 0) return fact.at;
  }
  return undefined;
}
