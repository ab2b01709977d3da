import { describe, expect, it } from 'vitest';
import { readGrants } from '../../src/projections/allowlist.projection.ts';
import { givenLog, grantAdded, grantBound, grantRemoved, grantSuspended, storyOn } from '../support/story.ts';

const get = 'mcp__a__get';
const all = 'mcp__b__*';

function given() {
  const log = givenLog();
  const story = storyOn(log);
  return {
    tell: (at: number, ...facts: Parameters<typeof story.tell>[2][]) => story.tell(at, 'allowlist', ...facts),
    grants: () => readGrants(log.db),
  };
}

describe('Grants', () => {
  it('are tied to nothing at first', async () => {
    const { tell, grants } = given();
    await tell(1_000, grantAdded(get, 'api', 'main'));
    expect(grants()).toEqual([
      {
        entry: get,
        state: 'unbound',
        identity: null,
        definition: null,
        origin: 'api',
        grantedBy: 'main',
        at: 1_000,
        position: 1,
      },
    ]);
  });

  it('say what they are tied to, and since which fact', async () => {
    const { tell, grants } = given();
    await tell(1_000, grantAdded(get));
    await tell(2_000, grantBound(get, 'i', 'd'));
    expect(grants()).toMatchObject([{ state: 'bound', identity: 'i', definition: 'd', at: 1_000, position: 2 }]);
  });

  it('of a whole server are tied to no definition', async () => {
    const { tell, grants } = given();
    await tell(1_000, grantAdded(all), grantBound(all, 'i', null));
    expect(grants()).toMatchObject([{ entry: all, state: 'bound', identity: 'i', definition: null }]);
  });

  it('that are suspended still say what they were tied to', async () => {
    const { tell, grants } = given();
    await tell(1_000, grantAdded(get), grantBound(get, 'i', 'd'), grantSuspended(get, ['i', 'd'], ['i', 'new']));
    expect(grants()).toMatchObject([{ state: 'suspended', identity: 'i', definition: 'd', position: 3 }]);
  });

  it('can be renewed', async () => {
    const { tell, grants } = given();
    await tell(1_000, grantAdded(get), grantBound(get, 'i', 'd'), grantSuspended(get, ['i', 'd'], ['i', 'new']));
    await tell(2_000, grantBound(get, 'i', 'new'));
    expect(grants()).toMatchObject([{ state: 'bound', definition: 'new', at: 1_000 }]);
  });

  it('that are removed and added again begin anew', async () => {
    const { tell, grants } = given();
    await tell(1_000, grantAdded(get), grantBound(get, 'i', 'd'));
    await tell(2_000, grantRemoved(get));
    expect(grants()).toEqual([]);
    await tell(3_000, grantAdded(get, 'approval', 'socket'));
    expect(grants()).toMatchObject([
      { state: 'unbound', identity: null, definition: null, origin: 'approval', grantedBy: 'socket', at: 3_000 },
    ]);
  });

  it('are sorted by entry', async () => {
    const { tell, grants } = given();
    await tell(1_000, grantAdded(all), grantAdded(get), grantAdded('mcp__B__x'));
    expect(grants().map(({ entry }) => entry)).toEqual(['mcp__B__x', get, all]);
  });
});
