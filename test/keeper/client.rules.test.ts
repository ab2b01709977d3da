import { describe, expect, it } from 'vitest';
import { ClientRules } from '../../src/keeper/client.rules.ts';

type Limits = { servers?: readonly string[] | null; callsPerMinute?: number | null; asksInClient?: boolean };

function given(clients: Record<string, Limits>) {
  let time = 1_000;
  const known = { ...clients };
  const rules = new ClientRules({
    tokens: { limitsOf: (id) => (Object.hasOwn(known, id) ? (known[id] ?? null) : null) },
    now: () => time,
  });
  const pass = (ms: number): void => {
    time += ms;
  };
  return { rules, known, pass };
}

describe('What a client sees', () => {
  const { rules } = given({ all: {}, none: { servers: [] }, some: { servers: ['a'] }, also: { servers: null } });
  it.each([
    ['main', 'a', true],
    ['socket', 'anything', true],
    ['all', 'a', true],
    ['also', 'b', true],
    ['some', 'a', true],
    ['some', 'b', false],
    ['some', 'ab', false],
    ['none', 'a', false],
    ['gone', 'a', false],
    ['__proto__', 'a', false],
  ])('%s and server %s: %s', (client, server, expected) => {
    expect(rules.sees(client, server)).toBe(expected);
  });
});

describe('How often a client may call', () => {
  it('is as often as it likes where nothing was said, and for the daemon’s own token', () => {
    const { rules } = given({ free: {} });
    for (const client of ['free', 'main', 'socket'])
      for (let n = 0; n < 1_000; n += 1) expect(rules.overRate(client)).toBeNull();
  });

  it('is so many a minute: all at once, then one after the other', () => {
    const { rules, pass } = given({ c: { callsPerMinute: 6 } });
    for (let n = 0; n < 6; n += 1) expect(rules.overRate('c')).toBeNull();
    expect(rules.overRate('c')).toBe(
      'The client "c" may make 6 calls a minute and has made them; the next one is free in 10 s.',
    );
    pass(9_000);
    expect(rules.overRate('c')).toMatch(/in 1 s/);
    pass(1_000);
    expect(rules.overRate('c')).toBeNull();
    expect(rules.overRate('c')).not.toBeNull();
  });

  it('does not grow beyond a minute’s worth, however long nothing was called', () => {
    const { rules, pass } = given({ c: { callsPerMinute: 2 } });
    pass(3_600_000);
    expect([1, 2, 3].map(() => rules.overRate('c') === null)).toEqual([true, true, false]);
  });

  it('begins anew when a person sets another rate', () => {
    const { rules, known } = given({ c: { callsPerMinute: 1 } });
    expect([rules.overRate('c') === null, rules.overRate('c') === null]).toEqual([true, false]);
    known.c = { callsPerMinute: 2 };
    expect([rules.overRate('c') === null, rules.overRate('c') === null, rules.overRate('c') === null]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('is counted for each client by itself', () => {
    const { rules } = given({ c: { callsPerMinute: 1 }, d: { callsPerMinute: 1 } });
    expect([rules.overRate('c'), rules.overRate('d')]).toEqual([null, null]);
  });
});

it('A client asks the person itself only where that was set', () => {
  const { rules } = given({ on: { asksInClient: true }, off: { asksInClient: false }, unset: {} });
  expect(['on', 'off', 'unset', 'gone', 'main', 'socket'].filter(rules.asksInClient)).toEqual(['on']);
});
