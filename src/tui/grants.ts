/** What of a server runs without asking, as rows to tick. Pure. */
import type { Tool } from '../api/client.ts';
import type { Grants } from './model.ts';

export const prefixOf = (server: string): string => `mcp__${server}__`;
export const wildcardOf = (server: string): string => `${prefixOf(server)}*`;

/** `every`: the whole server, also tools that come later. `all`: the tools that are there now. `tool`: one of them. */
export type GrantRow =
  | { readonly kind: 'every'; readonly entry: string }
  | { readonly kind: 'all'; readonly entries: readonly string[] }
  | { readonly kind: 'tool'; readonly entry: string; readonly tool: Tool }
  /** Granted, and no longer among the tools. */
  | { readonly kind: 'gone'; readonly entry: string };

export function grantRows(server: string, tools: readonly Tool[], grants: Grants): readonly GrantRow[] {
  const names = new Set(tools.map(({ name }) => name));
  const every = wildcardOf(server);
  const known = [...new Set([...grants.saved, ...grants.suspended])];
  const gone = known.filter((entry) => entry !== every && !names.has(entry)).toSorted();
  return [
    { kind: 'every', entry: every },
    ...(tools.length === 0 ? [] : [{ kind: 'all' as const, entries: tools.map(({ name }) => name) }]),
    ...tools.map((tool): GrantRow => ({ kind: 'tool', entry: tool.name, tool })),
    ...gone.map((entry): GrantRow => ({ kind: 'gone', entry })),
  ];
}

/** `covered`: not ticked itself, and granted all the same since the whole server is. */
export type Tick = 'on' | 'off' | 'some' | 'covered';

export function tickOf(row: GrantRow, grants: Grants, server: string): Tick {
  const { ticked } = grants;
  const every = ticked.includes(wildcardOf(server));
  if (row.kind === 'all') {
    const on = row.entries.filter((entry) => ticked.includes(entry)).length;
    if (on === row.entries.length) return 'on';
    return every ? 'covered' : on > 0 ? 'some' : 'off';
  }
  if (ticked.includes(row.entry)) return 'on';
  return every && row.kind !== 'every' ? 'covered' : 'off';
}

/** Ticks a row, or takes its tick away. Ticking every tool is not the same as the whole server. */
export function toggle(row: GrantRow, grants: Grants): Grants {
  const entries = row.kind === 'all' ? row.entries : [row.entry];
  const on = entries.every((entry) => grants.ticked.includes(entry));
  const others = grants.ticked.filter((entry) => !entries.includes(entry));
  return { ...grants, ticked: on ? others : [...others, ...entries] };
}

/** As they stand in the file; what is suspended is not ticked, so that only a person can renew it. */
export const grantsOf = (saved: readonly string[], suspended: readonly string[]): Grants => ({
  saved: saved.filter((entry) => !suspended.includes(entry)),
  suspended,
  ticked: saved.filter((entry) => !suspended.includes(entry)),
});

/** Whether something was ticked or unticked since it was read. */
export const isChanged = ({ saved, ticked }: Grants): boolean =>
  saved.length !== ticked.length || saved.some((entry) => !ticked.includes(entry));
