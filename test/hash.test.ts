import { expect, it } from 'vitest';
import { hash8, sha256Hex } from '../src/hash.ts';

it('A hash is SHA-256 in lower-case hex', () => {
  expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(hash8('abc')).toBe('ba7816bf');
});
