/** What is allowed in an entry and probably not what was meant. Names keys, never values. Pure. */

import { isOauth, textOf } from './entry.texts.ts';
import type { ServerEntry } from './entry.ts';
import { nearest } from './nearest.ts';
import { isObject, type RawObject } from './raw.ts';
import { type EntryAsWritten, entryKeys, httpKeys, oauthKeys, otherNames, stdioKeys } from './schema.ts';

/** A warning for each key that is not known, with the one that was probably meant. */
export function unknownKeys(raw: RawObject): string[] {
  const say = (key: string, field: string, known: readonly string[]): string[] => {
    if (known.includes(key)) return [];
    const meant =
      (Object.hasOwn(otherNames, key.toLowerCase()) && otherNames[key.toLowerCase()]) || nearest(key, known);
    const hint = meant && known.includes(meant) ? `; did you mean \`${meant}\`?` : '';
    return [`the key \`${field}\` is not known and is ignored${hint}`];
  };
  const { oauth } = raw;
  return [
    ...Object.keys(raw).flatMap((key) => say(key, key, entryKeys)),
    ...(isObject(oauth) ? Object.keys(oauth).flatMap((key) => say(key, `oauth.${key}`, oauthKeys)) : []),
  ];
}

/** Warnings about an entry that can run. */
export function remarks(written: EntryAsWritten, raw: RawObject, entry: ServerEntry): string[] {
  const found: string[] = [];
  const [idle, kind] = entry.transport === 'stdio' ? [httpKeys, '`command`'] : [stdioKeys, '`url`'];
  for (const key of idle)
    if (Object.hasOwn(raw, key)) found.push(`the key \`${key}\` means nothing in an entry with ${kind}`);
  if (entry.transport !== 'stdio') {
    if (textOf(written.auth) !== undefined && !isOauth(written.auth))
      found.push('auth knows only `oauth`; the value is ignored');
    const names = Object.keys(entry.headers).map((name) => name.toLowerCase());
    const twice = new Set(names.filter((name, index) => names.indexOf(name) !== index));
    for (const name of twice) found.push(`the header \`${name}\` is written more than once; the last one counts`);
  }
  if (entry.limits.callMaxMs < entry.limits.callTimeoutMs) {
    found.push('callMaxMs is shorter than callTimeoutMs; it ends every call first');
  }
  if (entry.lazy && entry.disabled) found.push('lazy means nothing while the entry is disabled');
  return found;
}
