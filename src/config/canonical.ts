import { createHash } from 'node:crypto';

/** JSON text that does not depend on the order of keys: keys sorted by code unit, no spaces. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

/** Lower-case hex SHA-256 of a text's UTF-8 bytes. */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
