import { describe, expect, it } from 'vitest';
import { didYouMean, nearest } from '../../src/cli/suggest.ts';

const servers = ['filesystem', 'github', 'gitlab', 'memory', 'time'];

describe('near names', () => {
  it.each([
    ['a missing letter', 'memry', ['memory']],
    ['two letters swapped', 'tiem', ['time']],
    ['other case', 'GitHub', ['github', 'gitlab']],
    ['the beginning of a name', 'file', ['filesystem']],
    ['a name and more', 'memory-server', ['memory']],
    ['nothing near', 'postgres', []],
    ['a short word is not near to everything', 'x', []],
  ])('%s', (_, word, expected) => {
    expect(nearest(word, servers)).toEqual(expected);
  });

  it('at most three are named, each once', () => {
    expect(nearest('aa', ['ab', 'ac', 'ad', 'ae', 'ab'])).toEqual(['ab', 'ac', 'ad']);
  });

  it('they come as a question, or not at all', () => {
    expect(didYouMean('gitlub', servers)).toBe(' Did you mean "github" or "gitlab"?');
    expect(didYouMean('postgres', servers)).toBe('');
  });
});
