/**
 * An entry as shown to others: keys and placeholders as written, literal values of `env`, `headers`, query strings,
 * user info and secret arguments as `***`; and the way back, where `***` means "as stored". Pure.
 */
import type { EntryProblem } from './entry.ts';
import { scan } from './expand.ts';
import { isObject, mapMembers, memberOf, type RawObject } from './raw.ts';
import { secretStarts, speaksOfSecret } from './secrets.ts';
import { joinUrl, splitUrl } from './url-parts.ts';

export const hidden = '***';

export type Unmasked =
  | { readonly ok: true; readonly raw: RawObject }
  | { readonly ok: false; readonly problem: EntryProblem };

/**
 * The shape `GET /v1/mcp` shows of one entry; `raw` is what the file holds, valid or not. An argument that says again what
 * is a secret elsewhere in the entry, or is one of `secrets` (values it is filled in with), is one too.
 */
export function maskEntry(raw: unknown, secrets: readonly string[] = []): unknown {
  if (!isObject(raw)) return maskAll(raw);
  const repeated = new Set([...secretsIn(raw), ...secrets]);
  return mapMembers(raw, (value, key) => {
    if (key === 'env' || key === 'headers') return isObject(value) ? mapMembers(value, maskAny) : maskAll(value);
    if (key === 'args') return Array.isArray(value) ? maskArgs(value, repeated) : maskAll(value);
    if (key === 'url') return typeof value === 'string' ? maskUrl(value) : maskAll(value);
    if (key === 'oauth' && isObject(value)) return mapMembers(value, maskNamed);
    return maskNamed(value, key);
  });
}

/** All entries of a file for `GET /v1/mcp`, in the order given. */
export const maskEntries = (
  raw: ReadonlyMap<string, unknown>,
  secretsOf: (name: string) => readonly string[] = () => [],
): RawObject => Object.fromEntries([...raw].map(([name, entry]) => [name, maskEntry(entry, secretsOf(name))]));

/** Texts shorter than this are no secret only because they stand in `env` or `headers`: `1`, `info`, `8080`. */
const LEAST = 8;

/** Values written out in an entry where secrets are written. */
function secretsIn(raw: RawObject): string[] {
  const tables = [memberOf(raw, 'env'), memberOf(raw, 'headers'), memberOf(raw, 'oauth')];
  const members = [raw, ...tables].flatMap((table) => (isObject(table) ? Object.entries(table) : []));
  const named = members.flatMap(([key, value]) => (typeof value === 'string' && speaksOfSecret(key) ? [value] : []));
  const others = tables.slice(0, 2).flatMap((table) => (isObject(table) ? Object.values(table) : []));
  const long = others.filter((value): value is string => typeof value === 'string' && value.length >= LEAST);
  const args = memberOf(raw, 'args');
  const given = Array.isArray(args) ? args.map((arg) => (typeof arg === 'string' ? arg : '')) : [];
  const starts = secretStarts(given);
  const flagged = given.flatMap((arg, index) => (starts[index] == null ? [] : [arg.slice(starts[index])]));
  const all = [...named, ...long, ...flagged].flatMap((text) => [
    text,
    text.replace(/^\s*(?:bearer|basic|token)\s+/i, ''),
  ]);
  return all.filter((text) => text !== '' && !text.includes('$'));
}

/**
 * Puts stored values back where a posted entry says `***` (or holds a value exactly as it was shown).
 * `stored` is the entry of that name in the file, undefined when there is none; `***` without a stored value is a problem.
 */
export function unmaskEntry(posted: RawObject, stored: unknown, secrets: readonly string[] = []): Unmasked {
  const missing: string[] = [];
  const repeated = new Set([...(isObject(stored) ? secretsIn(stored) : []), ...secrets]);
  const keep = (value: unknown, old: unknown, field: string): unknown => {
    if (old !== undefined && (value === hidden || same(value, maskAny(old)))) return old;
    if (isMasked(value)) missing.push(field);
    return value;
  };
  const named = (value: unknown, old: unknown, field: string, key: string): unknown =>
    value === hidden || (speaksOfSecret(key) && old !== undefined && same(value, maskAll(old)))
      ? keep(value, old, field)
      : value;
  const raw = mapMembers(posted, (value, key) => {
    const old = memberOf(stored, key);
    if ((key === 'env' || key === 'headers' || key === 'oauth') && isObject(value)) {
      return mapMembers(value, (member, name) =>
        key === 'oauth'
          ? named(member, memberOf(old, name), `${key}.${name}`, name)
          : keep(member, memberOf(old, name), `${key}.${name}`),
      );
    }
    if (key === 'args' && Array.isArray(value))
      return unmaskArgs(value, Array.isArray(old) ? old : [], missing, repeated);
    if (key === 'url' && typeof value === 'string') {
      return unmaskUrl(value, typeof old === 'string' ? old : undefined, 'url', missing);
    }
    return named(value, old, key, key);
  });
  const [field] = missing;
  if (field === undefined) return { ok: true, raw };
  const message = `${field} is ${hidden}, which keeps the stored value, but none is stored there; write the value or a placeholder such as \${NAME}`;
  return { ok: false, problem: { field, message } };
}

/** A literal as `***`; placeholders, an authorization scheme and mere punctuation between them stay. */
export function maskText(text: string): string {
  if (text === '') return text;
  const scanned = scan(text);
  if (!scanned.ok || scanned.segments.every(({ kind }) => kind === 'literal')) return hidden;
  return scanned.segments
    .map((segment, index) => {
      const { written } = segment;
      if (segment.kind === 'variable' || !/[\p{L}\p{N}]/u.test(written)) return written;
      return index === 0 && /^\s*(?:bearer|basic|token|apikey)\s+$/i.test(written) ? written : hidden;
    })
    .join('');
}

/** User info and query values of a URL as `***`. */
export function maskUrl(text: string): string {
  const parts = splitUrl(text);
  if (parts === null) return hidden;
  return joinUrl({
    ...parts,
    user: parts.user?.map(maskText) ?? null,
    query: parts.query?.map(({ key, value }) => ({ key, value: maskText(value) })) ?? null,
  });
}

function maskArgs(args: readonly unknown[], repeated: ReadonlySet<string>): readonly unknown[] {
  const starts = secretStarts(args.map((arg) => (typeof arg === 'string' ? arg : '')));
  return args.map((arg, index) => {
    if (typeof arg !== 'string') return arg;
    const start = starts[index] ?? null;
    if (start !== null) return arg.slice(0, start) + maskText(arg.slice(start));
    if (repeated.has(arg)) return hidden;
    const flag = /^(-[^=]*=)(.*)$/s.exec(arg);
    if (flag && repeated.has(flag[2] ?? '')) return `${flag[1]}${hidden}`;
    return isUrl(arg) ? maskUrl(arg) : arg;
  });
}

const isUrl = (text: string): boolean => /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(text);
const maskNamed = (value: unknown, key: string): unknown => (speaksOfSecret(key) ? maskAll(value) : value);
const maskAny = (value: unknown): unknown => (typeof value === 'string' ? maskText(value) : maskAll(value));

function maskAll(value: unknown): unknown {
  if (typeof value === 'string') return maskText(value);
  if (Array.isArray(value)) return value.map(maskAll);
  if (isObject(value)) return mapMembers(value, maskAll);
  return typeof value === 'number' ? hidden : value;
}

/** Whether a value is what masking makes of some other one. */
const isMasked = (value: unknown): boolean =>
  typeof value === 'string' && value.includes(hidden) && maskText(value) === value;

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Arguments may have moved: a masked one takes the first stored one, not yet taken, that is shown the same way. */
function unmaskArgs(
  args: readonly unknown[],
  stored: readonly unknown[],
  missing: string[],
  repeated: ReadonlySet<string>,
): readonly unknown[] {
  const shown = maskArgs(stored, repeated);
  const posted = maskArgs(args, repeated);
  const taken = new Set<number>();
  return args.map((arg, index) => {
    if (typeof arg !== 'string' || !arg.includes(hidden) || posted[index] !== arg) return arg;
    const fits = (at: number): boolean =>
      !taken.has(at) &&
      shown[at] === arg &&
      stored[at] !== arg &&
      (arg !== hidden || shown[at - 1] === posted[index - 1]);
    const at = shown.findIndex((_, candidate) => fits(candidate));
    if (at >= 0) {
      taken.add(at);
      return stored[at];
    }
    if (isUrl(arg)) {
      const near = stored.find((old): old is string => typeof old === 'string' && isUrl(old));
      return unmaskUrl(arg, near, `args[${index}]`, missing);
    }
    if (arg === hidden || secretStarts(args.map(String))[index] != null) missing.push(`args[${index}]`);
    return arg;
  });
}

function unmaskUrl(text: string, stored: string | undefined, field: string, missing: string[]): string {
  if (stored !== undefined && text === maskUrl(stored)) return stored;
  const parts = splitUrl(text);
  const old = stored === undefined ? null : splitUrl(stored);
  if (parts === null || !text.includes(hidden)) return text;
  const keep = (part: string, value: string | undefined): string => {
    if (value !== undefined && part === maskText(value)) return value;
    if (part === hidden && value !== undefined) return value;
    if (isMasked(part)) missing.push(field);
    return part;
  };
  const seen = new Map<string, number>();
  return joinUrl({
    ...parts,
    user: parts.user?.map((part, index) => keep(part, old?.user?.[index])) ?? null,
    query:
      parts.query?.map(({ key, value }) => {
        const nth = seen.get(key) ?? 0;
        seen.set(key, nth + 1);
        return { key, value: keep(value, old?.query?.filter((pair) => pair.key === key)[nth]?.value) };
      }) ?? null,
  });
}
