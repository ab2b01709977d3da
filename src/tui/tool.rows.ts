/** The tools of a server with what is granted: rows to tick. Pure. */
import type { Tool } from '../api/client.ts';
import { byCodeUnit } from '../config/names.ts';
import type { Opened } from './state.ts';

/** `mcp__<server>__` */
export const prefixOf = (server: string): string => `mcp__${server}__`;
/** The entry that grants a whole server, whatever tools it will have. */
export const wholeOf = (server: string): string => `${prefixOf(server)}*`;

export type ToolRow =
  /** The wildcard: tools that come later too. */
  | { readonly is: 'whole'; readonly entry: string }
  /** Every tool there is now, each under its own name. */
  | { readonly is: 'all'; readonly entries: readonly string[] }
  | { readonly is: 'tool'; readonly entry: string; readonly tool: Tool }
  /** Granted, and offered no longer. */
  | { readonly is: 'gone'; readonly entry: string };

export type Tick = 'on' | 'off' | 'some' | 'covered' | 'suspended';

/** Entries that are ticked: as changed, or as they stand in the file. */
export const tickedOf = ({ tools }: Opened): ReadonlySet<string> => tools.ticked ?? new Set(tools.entries ?? []);

export function toolRows({ name, tools }: Opened): readonly ToolRow[] {
  const listed = (tools.list ?? []).toSorted((a, b) => byCodeUnit(a.tool, b.tool));
  const words = tools.filter.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (tool: Tool): boolean =>
    words.every((word) => `${tool.tool} ${tool.title ?? ''} ${tool.description}`.toLowerCase().includes(word));
  const rows = listed.filter(fits).map((tool): ToolRow => ({ is: 'tool', entry: tool.name, tool }));
  if (words.length > 0) return rows;
  const known = new Set([wholeOf(name), ...listed.map((tool) => tool.name)]);
  const gone = [...new Set([...(tools.entries ?? []), ...tools.suspended])].filter((entry) => !known.has(entry)).sort();
  return [
    { is: 'whole', entry: wholeOf(name) },
    ...(listed.length > 0 ? [{ is: 'all' as const, entries: listed.map((tool) => tool.name) }] : []),
    ...rows,
    ...gone.map((entry): ToolRow => ({ is: 'gone', entry })),
  ];
}

/** How a row stands. Suspended: granted once, and what it was granted for has changed; a tick renews it. */
export function tickOf(opened: Opened, row: ToolRow): Tick {
  const ticked = tickedOf(opened);
  const whole = ticked.has(wholeOf(opened.name));
  if (row.is === 'all') {
    if (whole) return 'covered';
    const count = row.entries.filter((entry) => ticked.has(entry)).length;
    return count === 0 ? 'off' : count === row.entries.length ? 'on' : 'some';
  }
  if (row.is !== 'whole' && whole) return 'covered';
  if (ticked.has(row.entry)) return 'on';
  return opened.tools.suspended.includes(row.entry) ? 'suspended' : 'off';
}

/** The entries with a row ticked or unticked. */
export function toggled(opened: Opened, row: ToolRow): ReadonlySet<string> {
  const next = new Set(tickedOf(opened));
  const entries = row.is === 'all' ? row.entries : [row.entry];
  const on = entries.every((entry) => next.has(entry));
  for (const entry of entries) {
    if (on) next.delete(entry);
    else next.add(entry);
  }
  return next;
}

/** Whether the ticks differ from what stands in the file. */
export function isChanged({ tools }: Opened): boolean {
  if (tools.ticked === null) return false;
  const before = new Set(tools.entries ?? []);
  return before.size !== tools.ticked.size || [...tools.ticked].some((entry) => !before.has(entry));
}

/** What is saved: the wildcard alone where it is ticked, since it covers the rest. */
export function entriesToSave(opened: Opened): readonly string[] {
  const ticked = tickedOf(opened);
  const whole = wholeOf(opened.name);
  return ticked.has(whole) ? [whole] : [...ticked].sort();
}
