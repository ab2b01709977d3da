/** The last look at what leaves the machine: secrets, places of homes and names of people. Pure. */
import { redactor } from '../mcp/redact.ts';

export interface Private {
  /** Values that must not be shown, such as those of placeholders. */
  readonly secrets: readonly string[];
  /** Home directories. */
  readonly homes: readonly string[];
  /** Names of the person on this machine. */
  readonly users: readonly string[];
}

/** Names every machine has: they tell nothing about a person, and are words of many a text. */
const NOBODY = new Set(['root', 'user', 'node', 'admin', 'nobody', 'daemon', 'runner', 'ubuntu']);

/** Members whose values are words of the catalogue or hashes: changing one would break the fact and hide nothing. */
const KEPT = new Set([
  'server',
  'to',
  'class',
  'phase',
  'transport',
  'era',
  'eraFrom',
  'wanted',
  'signal',
  'revision',
  'identity',
  'signature',
  'protocolVersion',
]);
const REASONS = /^(?:disabled|removed|config-changed|reconnect|idle|daemon-(?:stopping|ended))$/;

/** Homes of others as well: a path in a message may come from another machine. */
const HOMES = /(?:\/(?:home|Users)\/|[A-Za-z]:[\\/]+Users[\\/]+)[^\s/\\"'<>|:*?]+/g;

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const byLength = (texts: readonly string[]): string[] => [...new Set(texts)].sort((a, b) => b.length - a.length);

/** A function that cleans a text. */
export function scrubber({ secrets, homes, users }: Private): (text: string) => string {
  const redact = redactor(secrets);
  const places = byLength(homes).filter((home) => home.length > 1);
  const names = byLength(users).filter((name) => name.length > 1 && !NOBODY.has(name.toLowerCase()));
  const place = places.length > 0 ? new RegExp(`(?:${places.map(escaped).join('|')})(?![\\w.-])`, 'g') : null;
  const name =
    names.length > 0
      ? new RegExp(`(?<![\\p{L}\\p{N}_])(?:${names.map(escaped).join('|')})(?![\\p{L}\\p{N}_])`, 'giu')
      : null;
  return (text) => {
    const masked = redact(text);
    const placed = (place ? masked.replace(place, '<home>') : masked).replace(HOMES, '<home>');
    return name ? placed.replace(name, '<user>') : placed;
  };
}

/** The same on every text within a value; keys stay, and so do words a program reads. */
export function scrubbed<Value>(value: Value, scrub: (text: string) => string): Value {
  const walk = (inner: unknown, key: string): unknown => {
    if (typeof inner === 'string')
      return KEPT.has(key) || (key === 'reason' && REASONS.test(inner)) ? inner : scrub(inner);
    if (Array.isArray(inner)) return inner.map((item) => walk(item, ''));
    if (typeof inner !== 'object' || inner === null) return inner;
    return Object.fromEntries(Object.entries(inner).map(([name, member]) => [name, walk(member, name)]));
  };
  return walk(value, '') as Value;
}
