import { describe, expect, it } from 'vitest';
import { Roster } from '../src/roster.ts';

interface Named {
  readonly name: string;
}

const given = (...names: string[]): { roster: Roster<Named>; numbers: number[] } => {
  const roster = new Roster<Named>();
  return { roster, numbers: names.map((name) => roster.add({ name })) };
};
const namesIn = (roster: Roster<Named>): string[] => roster.values().map(({ name }) => name);

describe('A roster', () => {
  it('finds what was added under the number it was given', () => {
    const { roster, numbers } = given('a', 'b');
    expect(numbers.map((number) => roster.get(number)?.name)).toEqual(['a', 'b']);
    expect([roster.size, roster.get(99)]).toEqual([2, undefined]);
  });

  it('begins with the number that is asked for, and says which ones it has given', () => {
    const roster = new Roster<Named>(1_000);
    expect([roster.next, roster.add({ name: 'a' }), roster.next]).toEqual([1_000, 1_000, 1_001]);
  });

  it('says whether there was anything to delete', () => {
    const { roster, numbers } = given('a');
    const [number = 0] = numbers;
    expect([roster.delete(number), roster.delete(number), roster.size]).toEqual([true, false, 0]);
  });

  it('lists values in the order they came, also after others have gone', () => {
    const { roster, numbers } = given('a', 'b', 'c');
    roster.delete(numbers[0] ?? 0);
    roster.add({ name: 'd' });
    expect(namesIn(roster)).toEqual(['b', 'c', 'd']);
  });

  it('finds the one a test is true of, also where places are free again', () => {
    const roster = new Roster<{ name: string }>();
    const gone = roster.add({ name: 'gone' });
    roster.add({ name: 'here' });
    roster.delete(gone);
    expect(roster.find(({ name }) => name === 'here')).toEqual({ name: 'here' });
    expect(roster.find(({ name }) => name === 'gone')).toBeUndefined();
  });

  it('is empty after it was cleared, and can be used again', () => {
    const { roster, numbers } = given('a', 'b');
    roster.clear();
    const number = roster.add({ name: 'c' });
    expect([namesIn(roster), numbers.includes(number), roster.get(numbers[0] ?? 0)]).toEqual([['c'], false, undefined]);
  });

  it('gives no number twice and finds each of many, however long some of them stay', () => {
    const { roster } = given();
    const there = new Map<number, Named>();
    const seen = new Set<number>();
    for (let turn = 0; turn < 5_000; turn += 1) {
      const value = { name: String(turn) };
      const number = roster.add(value);
      expect(seen.has(number)).toBe(false);
      seen.add(number);
      there.set(number, value);
      // Every tenth stays, the others go a little later; there are up to hundreds at once.
      for (const old of [...there.keys()].slice(0, turn % 7 === 0 ? 8 : 0)) {
        if (Number(there.get(old)?.name) % 10 === 0) continue;
        there.delete(old);
        expect(roster.delete(old)).toBe(true);
        expect(roster.get(old)).toBeUndefined();
      }
    }
    expect(roster.size).toBe(there.size);
    expect(roster.values()).toEqual([...there.values()]);
    for (const [number, value] of there) expect(roster.get(number)).toBe(value);
  });
});
