/** Which servers are listed, and in which order. Pure. */
import type { ServerStatus } from '../api/client.ts';
import { byCodeUnit } from '../config/names.ts';
import type { Model, Sort } from './state.ts';

/** What wants looking at comes first. */
const urgency: Readonly<Record<ServerStatus['state'], number>> = {
  failed: 0,
  'auth-required': 1,
  'backing-off': 2,
  'session-lost': 3,
  reconnecting: 4,
  connecting: 5,
  listing: 6,
  stopping: 7,
  idle: 8,
  ready: 9,
  stopped: 10,
  disabled: 11,
};

const orders: Readonly<Record<Sort, (a: ServerStatus, b: ServerStatus) => number>> = {
  name: () => 0,
  state: (a, b) => urgency[a.state] - urgency[b.state],
  since: (a, b) => byCodeUnit(b.since, a.since),
  tools: (a, b) => b.tools - a.tools,
};

/** The rows of the list: filtered by name, state, transport and error, sorted, names deciding between equals. */
export function listedServers({ status, list }: Pick<Model, 'status' | 'list'>): readonly ServerStatus[] {
  const words = list.filter.toLowerCase().split(/\s+/).filter(Boolean);
  const text = ({ name, state, transport, error }: ServerStatus): string =>
    `${name} ${state} ${transport ?? ''} ${error?.class ?? ''} ${error?.message ?? ''}`.toLowerCase();
  return (status ?? [])
    .filter((server) => words.every((word) => text(server).includes(word)))
    .toSorted((a, b) => orders[list.sort](a, b) || byCodeUnit(a.name, b.name));
}

/** Where the marked server stands in the list; 0 when it is not there. */
export const selectedIndex = (model: Pick<Model, 'status' | 'list'>): number =>
  Math.max(
    0,
    listedServers(model).findIndex(({ name }) => name === model.list.selected),
  );

export const selectedServer = (model: Pick<Model, 'status' | 'list'>): ServerStatus | undefined =>
  listedServers(model)[selectedIndex(model)];
