import { hash } from 'node:crypto';

/** SHA-256 of the UTF-8 bytes of a text, as 64 lower-case hex digits. */
export function sha256Hex(text: string): string {
  return hash('sha256', text, 'hex');
}

/** The first 8 digits of `sha256Hex`: the suffix of names that had to be told apart or shortened. */
export function hash8(text: string): string {
  return sha256Hex(text).slice(0, 8);
}
