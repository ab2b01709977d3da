import { describe, expect, it } from 'vitest';
import { visibleJson, visibleName } from '../src/visible.ts';

describe('JSON that a person decides from', () => {
  it.each([
    ['an override of direction', 'photo\u202egpj.exe', '"photo\\u202egpj.exe"'],
    ['an isolate and its end', '\u2066a\u2069', '"\\u2066a\\u2069"'],
    ['marks of direction', 'a\u200e\u200f\u061cb', '"a\\u200e\\u200f\\u061cb"'],
    ['what has no width', 'pass\u200bword\u2060\ufeff', '"pass\\u200bword\\u2060\\ufeff"'],
    ['letters written as tags', 'hi\u{e0072}\u{e006d}', '"hi\\udb40\\udc72\\udb40\\udc6d"'],
    ['variation selectors, which can carry any text', 'a\ufe0f\u{e0101}', '"a\\ufe0f\\udb40\\udd01"'],
    ['the one-byte start of a sequence', '\u009b31mred', '"\\u009b31mred"'],
    ['a sequence', '\u001b[2J', '"\\u001b[2J"'],
    ['line breaks of other kinds', 'a\u2028b\u2029c\u0085d', '"a\\u2028b\\u2029c\\u0085d"'],
    ['spaces that are none, and fillers', 'a\u00a0b\u3000c\u3164\u2800', '"a\\u00a0b\\u3000c\\u3164\\u2800"'],
    ['what is private or means nothing', '\ue000\u{f0000}', '"\\ue000\\udb80\\udc00"'],
    ['half a character', '\ud800', '"\\ud800"'],
  ])('shows %s', (_what, value, expected) => {
    expect(visibleJson(value)).toBe(expected);
    expect(JSON.parse(visibleJson({ [value]: [value] }, 2))).toEqual({ [value]: [value] });
  });

  it.each([
    'plain text',
    'Gr\u00fc\u00dfe',
    '\u65e5\u672c\u8a9e',
    '\u0627\u0644\u0639\u0631\u0628\u064a\u0629',
    '\u{1f600}',
  ])('leaves %s as it is', (value) => {
    expect(visibleJson(value)).toBe(JSON.stringify(value));
  });

  it('keeps the line breaks between members', () => {
    expect(visibleJson({ a: 'x\ny', b: 1 }, 2)).toBe('{\n  "a": "x\\ny",\n  "b": 1\n}');
  });
});

describe('The name of a tool', () => {
  it.each(['read_graph', 'a(b', '*', 'with space', 'dots.and-dashes/1'])('%s stays as it is', (name) => {
    expect(visibleName(name)).toBe(name);
  });

  it.each([
    ['n\u043ete', '"n\\u043ete"'],
    ['a\nb', '"a\\nb"'],
    ['x\u001b[31mred', '"x\\u001b[31mred"'],
    ['note\u200b', '"note\\u200b"'],
  ])('is quoted where it looks like another: %j', (name, expected) => {
    expect(visibleName(name)).toBe(expected);
  });
});
