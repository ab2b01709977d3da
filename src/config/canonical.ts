import { createHash } from 'node:crypto';

export { canonicalJson } from '../canonical.ts';

/** Lower-case hex SHA-256 of a text's UTF-8 bytes. */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
