import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, sha256 } from '../../src/config/canonical.ts';
import { readEntry } from '../../src/config/entry.read.ts';
import { canonicalJson as ofTheWire } from '../../src/mcp/canonical.ts';

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

  it('is written by one function for entries and for the wire', () => {
    expect(canonicalJson).toBe(ofTheWire);
  });

  it('gives an entry the revision that stands in every log so far', () => {
    const entry = { env: { B: 'ä', A: '2' }, command: 'node', args: ['a.js'] };
    expect(readEntry('one', entry).revision).toBe('5fda3965d812f486103c80190f0621276d55f6a1500c02e3f38f28a1a8a861bf');
  });

  it('has the well-known hash', () => {
    expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
