import { describe, expect, it } from 'vitest';
import { Roster } from '../src/roster.ts';

const given = (...keys: string[]): Roster<string, { key: string }> => {
  const roster = new Roster<string, { key: string }>();
  for (const key of keys) roster.set(key, { key });
  return roster;
};
const keysIn = (roster: Roster<string, { key: string }>): string[] => [...roster.values()].map(({ key }) => key);

describe('A roster', () => {
  it('answers for each key what was put there last', () => {
    const roster = given('a', 'b');
    roster.set('a', { key: 'a again' });
    expect(roster.get('a')).toEqual({ key: 'a again' });
    expect([roster.size, roster.has('b'), roster.has('c'), roster.get('c')]).toEqual([2, true, false, undefined]);
  });

  it('lists values in the order they came, also after others have gone', () => {
    const roster = given('a', 'b', 'c');
    roster.delete('a');
    roster.set('d', { key: 'd' });
    expect(keysIn(roster)).toEqual(['b', 'c', 'd']);
  });

  it('says whether there was anything to delete', () => {
    const roster = given('a');
    expect([roster.delete('a'), roster.delete('a'), roster.size]).toEqual([true, false, 0]);
  });

  it('leaves out what is deleted while it is listed', () => {
    const roster = given('a', 'b', 'c');
    const seen: string[] = [];
    for (const { key } of roster.values()) {
      seen.push(key);
      roster.delete('b');
    }
    expect(seen).toEqual(['a', 'c']);
  });

  it('is empty after it was cleared, and can be used again', () => {
    const roster = given('a', 'b');
    roster.clear();
    roster.set('c', { key: 'c' });
    expect(keysIn(roster)).toEqual(['c']);
  });
});
