import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { utf8Length, utf8Prefix } from '../../src/mcp/utf8.ts';

/** Any text, lone surrogates included, some of it longer than one buffer. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('a', 'é', '漢', '😀', '\ud83d', '\ude00') }),
  fc
    .tuple(fc.constantFrom('a', 'é', '漢', '😀', 'x😀'), fc.integer({ min: 15_000, max: 70_000 }))
    .map(([unit, times]) => unit.repeat(times)),
);

describe('UTF-8', () => {
  it('counts the bytes that are sent', () => {
    fc.assert(
      fc.property(text, (value) => {
        expect(utf8Length(value)).toBe(Buffer.byteLength(value));
      }),
    );
  });

  it('cuts to the longest whole characters that fit', () => {
    fc.assert(
      fc.property(text, fc.nat({ max: 300_000 }), (value, limit) => {
        const kept = utf8Prefix(value, limit);
        expect(value.startsWith(kept)).toBe(true);
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(limit);
        const [following = ''] = value.slice(kept.length);
        if (following !== '') expect(Buffer.byteLength(kept + following)).toBeGreaterThan(limit);
      }),
    );
  });

  it.each([
    ['nothing', 'abc', 0, ''],
    ['whole', 'abc', 3, 'abc'],
    ['before a character of two bytes', 'aé', 2, 'a'],
    ['before a character of three bytes', '漢漢', 5, '漢'],
    ['before a character of four bytes', 'a😀', 4, 'a'],
    ['after it', 'a😀b', 5, 'a😀'],
  ])('keeps %s', (_what, value, limit, kept) => {
    expect(utf8Prefix(value, limit)).toBe(kept);
  });
});
