import { describe, expect, it } from 'vitest';
import { refuse } from '../src/actors/refusal.ts';
import { specify } from './given.ts';

/** Counts up to two and then refuses. */
const { given } = specify<number, 'add' | 'look', 'Added'>({
  initial: 0,
  evolve: (count) => count + 1,
  decide: (count, command) => (command === 'look' ? [] : count < 2 ? ['Added'] : refuse('full', 'Two is the most.')),
});

describe('given, when, then', () => {
  it('passes where facts, silence or a refusal are as expected', () => {
    given('Added').when('add').then('Added');
    given('Added').when('look').thenNothing();
    expect(given('Added', 'Added').when('add').thenRefused('full')).toBe('Two is the most.');
  });

  it('fails where they are not', () => {
    expect(() => given().when('add').thenNothing()).toThrow();
    expect(() => given().when('look').then('Added')).toThrow();
    expect(() => given().when('add').thenRefused('full')).toThrow();
    expect(() => given('Added', 'Added').when('add').thenRefused('empty')).toThrow();
    expect(() => given('Added', 'Added').when('add').thenNothing()).toThrow();
  });
});
