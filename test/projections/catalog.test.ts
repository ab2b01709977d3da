import { describe, expect, it } from 'vitest';
import { catalogAt, readCatalog } from '../../src/projections/catalog.projection.ts';
import {
  configured,
  connected,
  connecting,
  enabled,
  listed,
  listFailed,
  one,
  process,
  removed,
  stopped,
  stopRequested,
} from '../support/server.facts.ts';
import { givenLog, storyOn } from '../support/story.ts';

const listing = [configured(), enabled, connecting(), process(), connected()];
const two = { name: 'put', description: 'Puts.' };

async function given() {
  const log = givenLog();
  const story = storyOn(log);
  await story.tell(1_000, 'server-a', ...listing, listed(1, 's1', [one]));
  await story.tell(2_000, 'server-b', ...listing, listed(1, 's1', [two]));
  await story.tell(3_000, 'server-a', listed(1, 's2', [one, two]));
  await story.tell(4_000, 'server-a', listFailed(), listed(1, 's2', null));
  await story.tell(5_000, 'server-a', removed, stopRequested('removed'), stopped('removed'));
  return { db: log.db, story };
}

describe('The catalog', () => {
  it('has a row for each list that differed, and one for the end of a server', async () => {
    const { db } = await given();
    expect(readCatalog(db, 'a')).toEqual([
      { position: 6, server: 'a', at: 1_000, tools: [one] },
      { position: 13, server: 'a', at: 3_000, tools: [one, two] },
      { position: 16, server: 'a', at: 5_000, tools: [] },
    ]);
    expect(readCatalog(db).map(({ position, server }) => [position, server])).toEqual([
      [6, 'a'],
      [12, 'b'],
      [13, 'a'],
      [16, 'a'],
    ]);
  });

  it('begins anew for a server that comes back', async () => {
    const { db, story } = await given();
    await story.tell(6_000, 'server-a', ...listing.with(2, connecting(2)), listed(1, 's2', [one, two]));
    expect(readCatalog(db, 'a').map(({ tools }) => tools.length)).toEqual([1, 2, 0, 2]);
  });

  it.each([
    [0, []],
    [5, []],
    [6, [['a', 1]]],
    [11, [['a', 1]]],
    [
      12,
      [
        ['a', 1],
        ['b', 1],
      ],
    ],
    [
      13,
      [
        ['a', 2],
        ['b', 1],
      ],
    ],
    [
      15,
      [
        ['a', 2],
        ['b', 1],
      ],
    ],
    [
      16,
      [
        ['a', 0],
        ['b', 1],
      ],
    ],
    [
      999,
      [
        ['a', 0],
        ['b', 1],
      ],
    ],
  ])('at position %d is what each server offered then: %j', async (position, expected) => {
    const { db } = await given();
    expect(catalogAt(db, position).map(({ server, tools }) => [server, tools.length])).toEqual(expected);
  });
});
