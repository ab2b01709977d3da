import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { glob, toolFilter } from '../../src/mcp/globs.ts';

describe('a tool name pattern', () => {
  it.each([
    ['get', 'get', true],
    ['get', 'get_all', false],
    ['get', 'Get', false],
    ['get_*', 'get_all', true],
    ['get_*', 'get_', true],
    ['*', '', true],
    ['*', 'a/b.c', true],
    ['*.delete', 'repo/x.delete', true],
    ['a*b*c', 'a--b--b--c', true],
    ['a*b*c', 'a--c--b', false],
    ['?et', 'get', true],
    ['?et', 'et', false],
    ['go?', 'go🚀', true],
    ['***', 'x', true],
    ['', '', true],
    ['', 'x', false],
    ['[ab]', 'a', false],
    ['[ab]', '[ab]', true],
    ['{a,b}', 'a', false],
    ['!a', 'b', false],
    ['a.c', 'abc', false],
  ])('%j matches %j: %s', (pattern, name, expected) => {
    expect(glob(pattern)(name)).toBe(expected);
  });

  it('agrees with the regular expression it stands for', () => {
    const unit = fc.constantFrom('a', 'b', '/', '.', '🚀');
    fc.assert(
      fc.property(
        fc.string({ unit: fc.oneof(unit, fc.constantFrom('*', '?')), maxLength: 8 }),
        fc.string({ unit, maxLength: 8 }),
        (pattern, name) => {
          const source = pattern.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll('?', '.');
          expect(glob(pattern)(name)).toBe(new RegExp(`^${source}$`, 'su').test(name));
        },
      ),
    );
  });

  it('ends on patterns that make a backtracking matcher run for ever', () => {
    expect(glob(`${'a*'.repeat(50)}b`)('a'.repeat(2_000))).toBe(false);
  });
});

describe('include and exclude', () => {
  it.each([
    ['neither', [], [], ['get_a', 'get_b', 'put']],
    ['include', ['get_*', 'put'], [], ['get_a', 'get_b', 'put']],
    ['exclude', [], ['put'], ['get_a', 'get_b']],
    ['both: exclude wins', ['get_*'], ['*_b'], ['get_a']],
    ['an include that matches nothing', ['nope'], [], []],
  ])('%s', (_what, include, exclude, passing) => {
    expect(['get_a', 'get_b', 'put'].filter(toolFilter(include, exclude))).toEqual(passing);
  });
});
