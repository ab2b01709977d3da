/**
 * The audit chain: each fact carries a hash over itself and the hash of the fact before (docs/security.md, ADR 0022).
 * Pure; who hashes is given from outside.
 */

/** A fact as it stands in its row: `data` as text, exactly as written. */
export interface ChainedRow {
  readonly position: number;
  readonly stream: string;
  readonly version: number;
  readonly type: string;
  readonly schema: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly cause: string | null;
  readonly data: string;
}

/** What the hash before the first fact of a chain counts as. */
export const CHAIN_START = '';

/**
 * The text whose SHA-256 (base64url) is the hash of a row. Fields stand on lines of their own: none of them holds a line
 * break when it is written, so no two rows have the same text.
 */
export function chainText(before: string, row: ChainedRow): string {
  const { position, stream, version, type, schema, at, cause, data } = row;
  return `${before}\n${position}\n${stream}\n${version}\n${type}\n${schema}\n${at}\n${cause ?? ''}\n${data}`;
}
