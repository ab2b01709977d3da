import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expand, lookupIn, scan } from '../../src/config/expand.ts';

const lookup = lookupIn({ A: 'one', B: 'two', EMPTY: '', REF: '$' + '{A}', DOLLARS: 'p$$w$A' });
const textOf = (template: string): string => {
  const result = expand(template, lookup);
  return result.ok ? result.text : `fault: ${result.fault.kind}`;
};

describe('a text with placeholders', () => {
  it.each([
    ['plain', 'plain'],
    ['', ''],
    ['$A', 'one'],
    ['${A}', 'one'],
    ['x${A}y$B', 'xoney' + 'two'],
    ['$A-$B', 'one-two'],
    ['$A.$B', 'one.two'],
    ['${EMPTY}', ''],
    ['${MISSING:-default}', 'default'],
    ['${MISSING:-}', ''],
    ['${A:-default}', 'one'],
    ['${EMPTY:-default}', 'default'],
    ['${MISSING:-${A}}', 'one'],
    ['${MISSING:-a $B c}', 'a two c'],
    ['${MISSING:-$$5}', '$5'],
    ['${A:-${MISSING}}', 'one'],
    ['$$', '$'],
    ['$$A', '$A'],
    ['$${A}', '${A}'],
    ['$$$A', '$one'],
    ['$$$$', '$$'],
    ['$', '$'],
    ['a$', 'a$'],
    ['costs $5', 'costs $5'],
    ['$ A', '$ A'],
    ['$-x', '$-x'],
    ['^a$|b', '^a$|b'],
    ['}', '}'],
    ['{A}', '{A}'],
    ['${REF}', '${A}'],
    ['$DOLLARS', 'p$$w$A'],
  ])('%j becomes %j', (template, expected) => {
    expect(textOf(template)).toBe(expected);
  });

  it.each([
    ['$MISSING', { kind: 'unset', variable: 'MISSING' }],
    ['${MISSING}', { kind: 'unset', variable: 'MISSING' }],
    ['${A}${MISSING}', { kind: 'unset', variable: 'MISSING' }],
    ['${MISSING:-$ALSO}', { kind: 'unset', variable: 'ALSO' }],
    ['$AB', { kind: 'unset', variable: 'AB' }],
    ['$a', { kind: 'unset', variable: 'a' }],
    ['${A', { kind: 'unclosed' }],
    ['${', { kind: 'unclosed' }],
    ['${A:-x', { kind: 'unclosed' }],
    ['${A:-${B}', { kind: 'unclosed' }],
    ['${}', { kind: 'not-a-name' }],
    ['${1}', { kind: 'not-a-name' }],
    ['${A B}', { kind: 'not-a-name' }],
    ['${input:token}', { kind: 'not-a-name' }],
    ['${A:-'.repeat(40) + '}'.repeat(40), { kind: 'not-a-name' }],
  ])('%j is a fault', (template, fault) => {
    expect(expand(template, lookup)).toEqual({ ok: false, fault });
  });

  it('does not take what an object inherits for a variable', () => {
    expect(expand('$constructor', lookup)).toEqual({ ok: false, fault: { kind: 'unset', variable: 'constructor' } });
  });

  it('asks the first source before the second', () => {
    const both = lookupIn({ A: 'first', C: undefined }, { A: 'second', C: 'third' });
    expect([both('A'), both('C'), both('D')]).toEqual(['first', 'third', undefined]);
  });

  it('tells the values that were put in and not the defaults', () => {
    expect(expand('$A ${MISSING:-x} ${B}', lookup)).toMatchObject({ values: ['one', 'two'] });
  });

  it('never expands a value, whatever it holds', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        expect(expand('<${V}>', () => value)).toEqual({ ok: true, text: `<${value}>`, values: [value] });
      }),
    );
  });

  it('gives any text back once its dollars are doubled', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(expand(text.replaceAll('$', '$$$$'), () => undefined)).toMatchObject({ ok: true, text });
      }),
    );
  });

  it('takes a text apart without losing a character', () => {
    const piece = fc.constantFrom('$A', '${A}', '${A:-x$$}', '$$', '$', 'a', '}', '{', ' ', '${B:-${C}}');
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        const scanned = scan(text);
        if (scanned.ok) expect(scanned.segments.map(({ written }) => written).join('')).toBe(text);
      }),
    );
  });
});
