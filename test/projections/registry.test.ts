import { describe, expect, it } from 'vitest';
import { readRegistry } from '../../src/projections/registry.projection.ts';
import {
  configured,
  connected,
  connecting,
  enabled,
  listed,
  listFailed,
  lost,
  one,
  process,
  reconnecting,
  removed,
  stopped,
  stopRequested,
} from '../support/server.facts.ts';
import { givenLog, storyOn } from '../support/story.ts';

const listing = [configured(), enabled, connecting(), process(), connected()];
const two = { name: 'put', title: 'Put', inputSchema: { type: 'object' }, 'x-vendor': { kept: [1, null] } };

function given() {
  const log = givenLog();
  return { story: storyOn(log), tools: () => readRegistry(log.db) };
}

describe('The registry', () => {
  it('holds the list as it was received, unknown members and order included', async () => {
    const { story, tools } = given();
    await story.tell(1_000, 'server-a', ...listing, listed(1, 's1', [two, one]));
    expect(tools()).toEqual([{ server: 'a', position: 6, signature: 's1', tools: [two, one], warnings: [] }]);
  });

  it('holds nothing of a server that never listed', async () => {
    const { story, tools } = given();
    await story.tell(1_000, 'server-a', ...listing);
    expect(tools()).toEqual([]);
  });

  it('takes a new list in one step', async () => {
    const { story, tools } = given();
    await story.tell(1_000, 'server-a', ...listing, listed(1, 's1', [one]), listed(1, 's2', [two]));
    expect(tools()).toMatchObject([{ signature: 's2', tools: [two], position: 7 }]);
  });

  it('takes an empty list for what it is', async () => {
    const { story, tools } = given();
    await story.tell(1_000, 'server-a', ...listing, listed(1, 's1', [one]), listed(1, 's0', []));
    expect(tools()).toMatchObject([{ signature: 's0', tools: [] }]);
  });

  it.each([
    ['a list that failed', [listFailed()]],
    ['a list that is the same', [listed(1, 's1', null)]],
    ['a loss', [lost(), reconnecting()]],
    ['a stop', [stopRequested('idle'), stopped('idle')]],
  ])('keeps the list over %s', async (_what, facts) => {
    const { story, tools } = given();
    await story.tell(1_000, 'server-a', ...listing, listed(1, 's1', [one]), ...facts);
    expect(tools()).toMatchObject([{ server: 'a', position: 6, tools: [one] }]);
  });

  it('forgets a server that is removed, and no other', async () => {
    const { story, tools } = given();
    await story.tell(1_000, 'server-b', ...listing, listed(1, 's1', [one]));
    await story.tell(1_000, 'server-a', ...listing, listed(1, 's1', [one]));
    await story.tell(2_000, 'server-a', removed, stopRequested('removed'), stopped('removed'));
    expect(tools().map(({ server }) => server)).toEqual(['b']);
  });

  it('is sorted by server', async () => {
    const { story, tools } = given();
    for (const name of ['b', 'a', 'B']) await story.tell(1_000, `server-${name}`, ...listing, listed(1, 's1', [one]));
    expect(tools().map(({ server }) => server)).toEqual(['B', 'a', 'b']);
  });

  it('keeps what was wrong with a list beside it', async () => {
    const { story, tools } = given();
    const list = listed(1, 's1', [one]);
    await story.tell(1_000, 'server-a', ...listing, {
      ...list,
      data: { ...list.data, warnings: ['a tool without a name was left out'] },
    } as typeof list);
    expect(tools()).toMatchObject([{ warnings: ['a tool without a name was left out'] }]);
  });
});
