import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, sha256 } from '../../src/config/canonical.ts';

describe('canonical JSON', () => {
  it('has its keys in order of code units, at every depth', () => {
    expect(canonicalJson({ b: [{ z: 1, a: null }], B: 'ä', a: undefined })).toBe('{"B":"ä","b":[{"a":null,"z":1}]}');
  });

  it('is JSON of the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('has the well-known hash', () => {
    expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
