import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../src/hash.ts';
import { CHANGED_LATELY_MS, remarksWith } from '../../src/keeper/remarks.ts';
import { readTools } from '../../src/mcp/tools.ts';
import { started } from '../support/call.facts.ts';
import { givenLog } from '../support/story.ts';

const DAY = 24 * 3_600_000;
const now = 30 * DAY;
type Tool = { readonly name: string; readonly description?: string; readonly annotations?: object };

/** Lists a server had, each so many ms ago, oldest first; the last one is what it lists now. */
async function remarksAfter(
  lists: readonly (readonly [ago: number, tools: readonly Tool[]])[],
  called = true,
  tool = 'get',
) {
  const log = givenLog();
  const add = log.db.prepare('insert into catalog (position, server, at, tools) values (?, ?, ?, ?)');
  for (const [index, [ago, tools]] of lists.entries()) add.run(index + 1, 'a', now - ago, JSON.stringify(tools));
  if (called)
    await log.append(
      [
        {
          stream: 'call-c1',
          version: 1,
          type: 'CallStarted',
          schema: 1,
          at: 1,
          cause: null,
          data: started().data as never,
        },
      ],
      [],
    );
  const listed = readTools(lists.at(-1)?.[1] ?? [], sha256Hex).tools.find(({ name }) => name === 'get');
  const remarks = remarksWith({
    db: log.db,
    directory: { find: (name) => (listed ? { name, server: 'a', tool: listed } : undefined) },
    now: () => now,
  });
  return remarks({
    server: 'a',
    tool,
    name: 'mcp__a__get',
    definition: listed?.hash ?? '',
    hasOutputSchema: false,
  });
}

const get = (description: string): Tool => ({ name: 'get', description });
const put: Tool = { name: 'put' };

describe('What is worth a look before a call is approved', () => {
  it('is a name that looks like another', async () => {
    expect((await remarksAfter([[20 * DAY, [get('Reads.')]]], true, 'g\u0435t'))[0]).toBe(
      'Its own name is "g\\u0435t": it holds what may look like something else.',
    );
  });

  it('is nothing for a tool that was called before and is what it was', async () => {
    expect(await remarksAfter([[20 * DAY, [get('Reads.')]]])).toEqual([]);
  });

  it('is that nobody ever called the tool', async () => {
    expect(await remarksAfter([[20 * DAY, [get('Reads.')]]], false)).toEqual(['This tool was never called before.']);
  });

  it.each([
    [
      'changed an hour ago',
      [
        [20 * DAY, [get('Reads.')]],
        [3_600_000, [get('Deletes.')]],
      ] as const,
      ['Its definition changed 1 h ago. See how: watchkeeper tools a --changes --from 7d'],
    ],
    [
      'changed, and other tools changed later',
      [
        [20 * DAY, [get('Reads.')]],
        [2 * DAY, [get('Deletes.')]],
        [3_600_000, [get('Deletes.'), put]],
      ] as const,
      ['Its definition changed 2 d ago. See how: watchkeeper tools a --changes --from 7d'],
    ],
    [
      'changed longer ago than that matters',
      [
        [20 * DAY, [get('Reads.')]],
        [CHANGED_LATELY_MS + 1, [get('Deletes.')]],
      ] as const,
      [],
    ],
    [
      'changed and changed back',
      [
        [20 * DAY, [get('Reads.')]],
        [2 * DAY, [get('Deletes.')]],
        [DAY, [get('Reads.')]],
      ] as const,
      ['Its definition changed 1 d ago. See how: watchkeeper tools a --changes --from 7d'],
    ],
    [
      'is new',
      [
        [20 * DAY, [put]],
        [DAY, [put, get('Reads.')]],
      ] as const,
      ['The tool is new: first listed 1 d ago.'],
    ],
    ['came with a server that is new itself', [[DAY, [get('Reads.')]]] as const, []],
    [
      'came back with its server',
      [
        [20 * DAY, [get('Reads.')]],
        [2 * DAY, []],
        [DAY, [get('Reads.')]],
      ] as const,
      [],
    ],
  ])('is that its definition %s', async (_what, lists, expected) => {
    expect(await remarksAfter(lists)).toEqual(expected);
  });

  it.each([
    [{ destructiveHint: true }, ["Its server calls it destructive; that is the server's own word."]],
    [
      { destructiveHint: true, openWorldHint: true },
      ["Its server calls it destructive and reaching outside; that is the server's own word."],
    ],
    [{ readOnlyHint: true }, ["Its server calls it read-only; that is the server's own word."]],
    [{ readOnlyHint: 'yes', destructiveHint: 1 }, []],
    [{}, []],
  ])('is what its server says of it, as information: %j', async (annotations, expected) => {
    expect(await remarksAfter([[20 * DAY, [{ ...get('Reads.'), annotations }]]])).toEqual(expected);
  });
});
