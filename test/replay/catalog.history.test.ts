import { describe, expect, it } from 'vitest';
import type { AllowlistFact } from '../../src/events/allowlist.events.ts';
import type { Recorded } from '../../src/events/envelope.ts';
import type { ToolDefinition } from '../../src/events/shapes.ts';
import { toolsHistory } from '../../src/http/contract.catalog.ts';
import { type CatalogWindow, catalogHistory, type ToolList } from '../../src/replay/catalog.history.ts';
import { grantAdded, grantBound, grantSuspended, unrecorded } from '../support/story.ts';

const noon = Date.UTC(2026, 2, 1, 12);
const iso = (time: number): string => new Date(time).toISOString();
const one: ToolDefinition = { name: 'one' };
const two: ToolDefinition = { name: 'two' };
const list = (position: number, server: string, ...tools: ToolDefinition[]): ToolList => ({
  position,
  server,
  at: noon + position,
  tools,
});
const grant = (position: number, fact: AllowlistFact): Recorded<AllowlistFact> =>
  ({ ...unrecorded('allowlist', position, fact), position }) as Recorded<AllowlistFact>;

const historyOf = (
  lists: readonly ToolList[],
  { grants = [], from, to }: Partial<CatalogWindow> & { grants?: Recorded<AllowlistFact>[] } = {},
) => {
  const found = catalogHistory(lists, grants, (server, tool) => `mcp__${server}__${tool}`, { from, to });
  return toolsHistory.parse(found);
};
const lines = (changes: readonly { position?: number; name: string; change: string }[] | null): string[] =>
  (changes ?? []).map(({ position, name, change }) => `${position ?? '-'} ${change} ${name}`);

describe('Changes of the catalog', () => {
  it('are what differs from the list before, for each server by itself', () => {
    const { changes } = historyOf([list(1, 'a', one), list(2, 'b', one), list(3, 'a', one, two), list(4, 'a', two)]);
    expect(lines(changes)).toEqual([
      '1 added mcp__a__one',
      '2 added mcp__b__one',
      '3 added mcp__a__two',
      '4 removed mcp__a__one',
    ]);
  });

  it('show a changed tool before and after, and which members differ', () => {
    const other = { name: 'one', description: 'Now with words.', _meta: { a: 1 } };
    expect(historyOf([list(1, 'a', one), list(2, 'a', other)]).changes.at(-1)).toEqual({
      position: 2,
      at: iso(noon + 2),
      server: 'a',
      tool: 'one',
      name: 'mcp__a__one',
      change: 'changed',
      parts: ['description', '_meta'],
      before: one,
      after: other,
      grant: null,
    });
  });

  it('are none for the same tools in another order', () => {
    expect(historyOf([list(1, 'a', one, two), list(2, 'a', two, one)]).changes).toHaveLength(2);
  });

  it('are all of the tools when a server goes, and again when it comes back', () => {
    const { changes } = historyOf([list(1, 'a', one), list(2, 'a'), list(3, 'a', one)]);
    expect(lines(changes)).toEqual(['1 added mcp__a__one', '2 removed mcp__a__one', '3 added mcp__a__one']);
  });
});

describe('Two moments', () => {
  const better = { name: 'one', description: 'Better.' };
  const lists = [
    list(1, 'a', one),
    list(3, 'a', better),
    list(5, 'a', better, two),
    list(7, 'a', one, two),
    list(8, 'b', one),
  ];

  it.each<[Partial<CatalogWindow>, string[], string[] | null]>([
    [
      {},
      [
        '1 added mcp__a__one',
        '3 changed mcp__a__one',
        '5 added mcp__a__two',
        '7 changed mcp__a__one',
        '8 added mcp__b__one',
      ],
      null,
    ],
    [{ to: 4 }, ['1 added mcp__a__one', '3 changed mcp__a__one'], null],
    [
      { from: 1 },
      ['3 changed mcp__a__one', '5 added mcp__a__two', '7 changed mcp__a__one', '8 added mcp__b__one'],
      ['- added mcp__a__two', '- added mcp__b__one'],
    ],
    [
      { from: 1, to: 5 },
      ['3 changed mcp__a__one', '5 added mcp__a__two'],
      ['- changed mcp__a__one', '- added mcp__a__two'],
    ],
    [{ from: 5, to: 5 }, [], []],
    [{ from: 0, to: 1 }, ['1 added mcp__a__one'], ['- added mcp__a__one']],
  ])('%j have changes between them, and one difference', (window, changes, difference) => {
    const found = historyOf(lists, window);
    expect(lines(found.changes)).toEqual(changes);
    expect(found.difference === null ? null : lines(found.difference)).toEqual(difference);
  });
});

describe('A tool', () => {
  it('was seen first, changed last and went away at a place in the log', () => {
    const better = { name: 'one', description: 'Better.' };
    const lists = [list(1, 'a', one), list(3, 'a', better, two), list(5, 'a', better)];
    const place = (position: number) => ({ position, at: iso(noon + position) });
    expect(historyOf(lists).tools).toMatchObject([
      { name: 'mcp__a__one', firstSeen: place(1), lastChanged: place(3), removed: null },
      { name: 'mcp__a__two', firstSeen: place(3), lastChanged: place(3), removed: place(5) },
    ]);
    // It comes back: seen first long ago, and since now it is what it is.
    expect(historyOf([...lists, list(9, 'a', better, two)]).tools[1]).toMatchObject({
      firstSeen: place(3),
      lastChanged: place(9),
      removed: null,
    });
  });
});

describe('A change of a granted tool', () => {
  const better = { name: 'one', description: 'Better.' };
  const worse = { name: 'one', description: 'Worse.' };
  const [entry, whole] = ['mcp__a__one', 'mcp__a__*'];
  const bound = [grant(2, grantAdded(entry)), grant(3, grantBound(entry, 'i', 'd1'))];
  const lists = [list(1, 'a', one), list(4, 'a', better), list(6, 'a', worse)];
  const grantsOf = (grants: Recorded<AllowlistFact>[]) => historyOf(lists, { grants }).changes.map((one) => one.grant);

  it.each<[string, Recorded<AllowlistFact>[], unknown[]]>([
    ['nobody granted', [], [null, null, null]],
    [
      'is marked, and so is that it suspended the grant',
      [...bound, grant(5, grantSuspended(entry, ['i', 'd1'], ['i', 'd2']))],
      [null, { entry, suspended: true }, null],
    ],
    [
      'suspends nothing when the grant was renewed before the next one',
      [...bound, grant(5, grantBound(entry, 'i', 'd2'))],
      [null, { entry, suspended: false }, { entry, suspended: false }],
    ],
    [
      'suspends no grant of the whole server',
      [grant(2, grantAdded(whole)), grant(3, grantBound(whole, 'i', null))],
      [null, { entry: whole, suspended: false }, { entry: whole, suspended: false }],
    ],
  ])('%s', (_what, grants, expected) => {
    expect(grantsOf(grants)).toEqual(expected);
  });
});
