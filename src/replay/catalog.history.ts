/** What a server's tools were from list to list: each change, the difference of two moments, and since when a tool is what it is. Pure. */
import { type AllowlistContext, blankAllowlist, evolveAllowlist } from '../actors/allowlist/allowlist.state.ts';
import type { Heard } from '../actors/head.ts';
import { canonicalJson } from '../canonical.ts';
import type { AllowlistFact } from '../events/allowlist.events.ts';
import type { Recorded } from '../events/envelope.ts';
import type { ToolDefinition } from '../events/shapes.ts';
import { diffTools } from '../mcp/tools.ts';
import { iso } from './words.ts';

/** A list a server had from then on, as received. `at` in ms since the epoch. */
export interface ToolList {
  readonly position: number;
  readonly server: string;
  readonly at: number;
  readonly tools: readonly ToolDefinition[];
}

export type ChangeOfTool = 'added' | 'removed' | 'changed';

export interface Place {
  readonly position: number;
  /** ISO 8601. */
  readonly at: string;
}

export interface Difference {
  readonly server: string;
  /** In the server's own spelling. */
  readonly tool: string;
  /** The registered name. */
  readonly name: string;
  readonly change: ChangeOfTool;
  /** Members of the definition that differ; empty unless `changed`. */
  readonly parts: readonly string[];
  readonly before: ToolDefinition | null;
  readonly after: ToolDefinition | null;
}

export interface ToolStep extends Difference, Place {
  /** The entry of the allowlist that granted the tool until then, and whether this change suspended it. */
  readonly grant: { readonly entry: string; readonly suspended: boolean } | null;
}

export interface ToolLife {
  readonly server: string;
  readonly tool: string;
  readonly name: string;
  readonly firstSeen: Place;
  /** When it became what it is, or was last. */
  readonly lastChanged: Place;
  /** When it was taken away; null while it is offered. */
  readonly removed: Place | null;
}

export interface CatalogHistory {
  /** Ascending. */
  readonly changes: readonly ToolStep[];
  /** From the beginning of the window to its end, in one step; null when the window has no beginning. */
  readonly difference: readonly Difference[] | null;
  /** Every tool there ever was up to the end of the window; sorted by name. */
  readonly tools: readonly ToolLife[];
}

type NameOf = (server: string, tool: string) => string;

/** Positions: what had happened up to `from` is the beginning; `to` itself belongs to the window. */
export interface CatalogWindow {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** `lists` and `grants` (facts of the allowlist) ascend by position. */
export function catalogHistory(
  lists: readonly ToolList[],
  grants: readonly Recorded<AllowlistFact>[],
  nameOf: NameOf,
  { from, to = Number.POSITIVE_INFINITY }: CatalogWindow,
): CatalogHistory {
  const known = lists.filter(({ position }) => position <= to);
  const steps = withGrants(stepsOf(known, nameOf), grants);
  const inWindow = steps.filter(({ position }) => from === undefined || position > from);
  return {
    changes: inWindow,
    difference: from === undefined ? null : differenceOf(listsAt(known, from), listsAt(known, to), nameOf),
    tools: livesOf(steps),
  };
}

type Step = Omit<ToolStep, 'grant'>;

function stepsOf(lists: readonly ToolList[], nameOf: NameOf): Step[] {
  const known = new Map<string, readonly ToolDefinition[]>();
  return lists.flatMap(({ server, position, at, tools }) => {
    const before = known.get(server) ?? [];
    known.set(server, tools);
    return between(server, before, tools, nameOf).map((step) => ({ position, at: iso(at), ...step }));
  });
}

function between(
  server: string,
  before: readonly ToolDefinition[],
  after: readonly ToolDefinition[],
  nameOf: NameOf,
): Difference[] {
  const { added, removed, changed } = diffTools(before, after);
  const step = (
    change: ChangeOfTool,
    tool: string,
    old: ToolDefinition | null,
    now: ToolDefinition | null,
  ): Difference => ({
    server,
    tool,
    name: nameOf(server, tool),
    change,
    parts: old && now ? partsOf(old, now) : [],
    before: old,
    after: now,
  });
  return [
    ...added.map((tool) => step('added', tool.name, null, tool)),
    ...removed.map((tool) => step('removed', tool.name, tool, null)),
    ...changed.map(({ name, before: old, after: now }) => step('changed', name, old, now)),
  ];
}

/** Members that differ, those of the specification first. */
function partsOf(before: ToolDefinition, after: ToolDefinition): string[] {
  const usual = ['title', 'description', 'inputSchema', 'outputSchema', 'annotations'];
  const members = new Set([...usual, ...Object.keys(before), ...Object.keys(after)]);
  return [...members].filter((member) => canonicalJson(before[member]) !== canonicalJson(after[member]));
}

function listsAt(lists: readonly ToolList[], position: number): Map<string, readonly ToolDefinition[]> {
  return new Map(lists.filter((list) => list.position <= position).map(({ server, tools }) => [server, tools]));
}

function differenceOf(
  before: ReadonlyMap<string, readonly ToolDefinition[]>,
  after: ReadonlyMap<string, readonly ToolDefinition[]>,
  nameOf: NameOf,
): Difference[] {
  return [...after]
    .flatMap(([server, tools]) => between(server, before.get(server) ?? [], tools, nameOf))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function livesOf(steps: readonly Step[]): ToolLife[] {
  const lives = new Map<string, ToolLife>();
  for (const { position, at, server, tool, name, change } of steps) {
    const place = { position, at };
    const key = `${server}\n${tool}`;
    const life = lives.get(key) ?? { server, tool, name, firstSeen: place, lastChanged: place, removed: null };
    lives.set(key, change === 'removed' ? { ...life, removed: place } : { ...life, lastChanged: place, removed: null });
  }
  return [...lives.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A grant of the tool itself goes before one of its whole server, which no change of a tool suspends. */
function withGrants(steps: readonly Step[], facts: readonly Recorded<AllowlistFact>[]): ToolStep[] {
  let context: AllowlistContext = blankAllowlist;
  let read = 0;
  return steps.map((step, index) => {
    for (; (facts[read]?.position ?? Number.POSITIVE_INFINITY) < step.position; read += 1)
      context = evolveAllowlist(context, facts[read] as unknown as Heard<AllowlistFact>);
    const granted = [step.name, `mcp__${step.server}__*`].find((entry) => context.grants[entry]?.state === 'bound');
    if (granted === undefined) return { ...step, grant: null };
    const next = steps.slice(index + 1).find(({ name }) => name === step.name);
    const suspended = facts.some(
      ({ type, position, data }) =>
        type === 'GrantSuspended' &&
        data.entry === granted &&
        granted === step.name &&
        position > step.position &&
        position < (next?.position ?? Number.POSITIVE_INFINITY),
    );
    return { ...step, grant: { entry: granted, suspended } };
  });
}
