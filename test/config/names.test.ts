import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isServerName, nameFault, planRenames, suggestName } from '../../src/config/names.ts';

describe('a server name', () => {
  it.each(['a', '0', 'github', 'sqlite-notes', 'my_server', 'A-B_c9', 'x'.repeat(40), 'a-', 'constructor'])(
    'may be %j',
    (name) => {
      expect(nameFault(name)).toBeNull();
    },
  );

  it.each(['', '_a', '-a', 'a b', 'a/b', 'a.b', 'ä', 'a__b', 'a_', '__proto__', 'x'.repeat(41), 'a\n', '名'])(
    'may not be %j',
    (name) => {
      expect(nameFault(name)).not.toBeNull();
    },
  );

  it.each([
    ['a/b', 'a-b'],
    ['my server', 'my-server'],
    ['Ünïcode', 'Unicode'],
    ['a__b', 'a_b'],
    ['a_', 'a'],
    ['__proto__', 'proto'],
    ['@scope/package', 'scope-package'],
    ['服务', 'server'],
    ['', 'server'],
    ['fine', 'fine'],
    ['x'.repeat(50), 'x'.repeat(40)],
  ])('%j is better written %j', (name, better) => {
    expect(suggestName(name)).toBe(better);
  });

  it('is suggested so that it is free', () => {
    expect(suggestName('a/b', new Set(['a-b', 'a-b-2']))).toBe('a-b-3');
    expect(suggestName('x'.repeat(41), new Set(['x'.repeat(40)]))).toBe(`${'x'.repeat(38)}-2`);
  });
});

describe('renaming what has no valid name', () => {
  it('leaves valid names alone and never gives one name twice', () => {
    expect(planRenames(['a b', 'a-b', 'a/b', 'ok'])).toEqual([
      { from: 'a b', to: 'a-b-2' },
      { from: 'a/b', to: 'a-b-3' },
    ]);
  });

  it('ends with valid and distinct names whatever there was', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ maxLength: 60 })), (names) => {
        const plan = new Map(planRenames(names).map(({ from, to }) => [from, to]));
        const after = names.map((name) => plan.get(name) ?? name);
        expect(after.every(isServerName)).toBe(true);
        expect(new Set(after).size).toBe(names.length);
      }),
    );
  });
});
