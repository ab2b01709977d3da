/** Which servers the list shows, in which order, and which of them is chosen. Pure. */
import type { ServerStatus } from '../api/client.ts';
import type { ListScreen, Model } from './model.ts';
import { lookOf } from './states.ts';

const byName = (a: ServerStatus, b: ServerStatus): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

const orders: Readonly<Record<ListScreen['sort'], (a: ServerStatus, b: ServerStatus) => number>> = {
  name: byName,
  state: (a, b) => lookOf(a.state).rank - lookOf(b.state).rank || byName(a, b),
  since: (a, b) => Date.parse(b.since) - Date.parse(a.since) || byName(a, b),
  tools: (a, b) => b.tools - a.tools || byName(a, b),
};

/** Every word of the filter stands in the name, the state or the error. */
export function shownServers({ servers, list }: Pick<Model, 'servers' | 'list'>): readonly ServerStatus[] {
  const words = list.filter.toLowerCase().split(/\s+/).filter(Boolean);
  return (servers ?? [])
    .filter(({ name, state, error }) => {
      const text = `${name} ${state} ${error?.class ?? ''} ${error?.message ?? ''}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .toSorted(orders[list.sort]);
}

/** The chosen server; the first one when the chosen one is not among those shown. */
export function chosen(model: Model): ServerStatus | null {
  const shown = shownServers(model);
  return shown.find(({ name }) => name === model.list.selected) ?? shown[0] ?? null;
}

/** The list with another server chosen. */
export function move(model: Model, by: number): Model {
  const shown = shownServers(model);
  const now = Math.max(
    0,
    shown.findIndex(({ name }) => name === model.list.selected),
  );
  const next = shown[Math.min(shown.length - 1, Math.max(0, now + by))];
  return next === undefined ? model : { ...model, list: { ...model.list, selected: next.name } };
}
