/** One server entry as written → what the daemon works with, or the problem of this entry alone. */
import { canonicalJson, sha256 } from './canonical.ts';
import type { EntryProblem, LoadedEntry, OauthSettings, ServerEntry } from './entry.ts';
import { scan } from './expand.ts';
import { limitsOf } from './limits.ts';
import { nameFault, suggestName } from './names.ts';
import { nearest } from './nearest.ts';
import { isObject, memberOf, type RawObject } from './raw.ts';
import {
  type EntryAsWritten,
  entryKeys,
  entrySchema,
  fieldOf,
  httpKeys,
  oauthKeys,
  otherNames,
  stdioKeys,
} from './schema.ts';

/**
 * Reads an entry. Never throws; a wrong entry comes back with `problem` and without `entry`.
 * `repeated`: paths of keys the file holds more than once; `taken`: names a suggested name must avoid.
 */
export function readEntry(
  name: string,
  raw: unknown,
  { repeated = [], taken = new Set() }: { repeated?: readonly string[]; taken?: ReadonlySet<string> } = {},
): LoadedEntry {
  const warnings = repeated.map((key) => `the key \`${key}\` is written more than once; the last one counts`);
  const head = { name, revision: sha256(canonicalJson(raw)), identity: identityOf(raw) };
  const failed = (problem: EntryProblem): LoadedEntry => ({ ...head, transport: null, entry: null, problem, warnings });

  const fault = nameFault(name);
  if (fault !== null) {
    const better = suggestName(name, taken);
    const message = `the name ${JSON.stringify(name)} ${fault}; rename it to \`${better}\` (\`watchkeeper config fix\` does so)`;
    return failed({ field: 'name', message });
  }
  if (!isObject(raw)) {
    return failed({ field: 'entry', message: 'the entry must be an object with `command` or `url`' });
  }
  const present = withoutNulls(raw);
  warnings.push(...unknownKeys(present));
  const parsed = entrySchema.safeParse(present);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = fieldOf(issue?.path ?? []);
    return failed({
      field: field === '' ? 'entry' : field,
      message: `${field} ${issue?.message ?? 'is wrong'}`.trim(),
    });
  }
  const written = parsed.data;
  const problem = contradiction(written) ?? unreadable(written);
  if (problem !== null) return failed(problem);
  const entry = build(name, written);
  warnings.push(...remarks(written, present, entry));
  return { ...head, transport: entry.transport, entry, problem: null, warnings };
}

/** `null` means "not set", as it always did for this file. */
const withoutNulls = (raw: RawObject): RawObject =>
  Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== null));

/** What a grant is bound to: command and arguments, or the address, as written. */
function identityOf(raw: unknown): string {
  const [command, args, url] = ['command', 'args', 'url'].map((key) => memberOf(raw, key) ?? null);
  const isSet = (value: unknown): boolean => value !== null && value !== '';
  return sha256(canonicalJson(isSet(url) && !isSet(command) ? { url } : { command, args: args ?? [], url }));
}

const textOf = (value: string | undefined): string | undefined => (value?.trim() ? value.trim() : undefined);

function contradiction(written: EntryAsWritten): EntryProblem | null {
  const command = textOf(written.command);
  const url = textOf(written.url);
  if (command !== undefined && url !== undefined) {
    return { field: 'url', message: '`command` and `url` exclude each other; remove one of them' };
  }
  if (command === undefined && url === undefined) {
    return { field: 'command', message: 'neither `command` nor `url` is set; a server needs one of them' };
  }
  if (written.type === 'stdio' && url !== undefined) {
    return {
      field: 'type',
      message: 'type is `stdio`, but the entry has `url`; use `http` or `sse`, or leave `type` out',
    };
  }
  if (written.type !== undefined && written.type !== 'stdio' && command !== undefined) {
    return {
      field: 'type',
      message: `type is \`${written.type}\`, but the entry has \`command\`; use \`stdio\`, or leave \`type\` out`,
    };
  }
  return null;
}

/** Faults in texts that do not depend on any variable: open placeholders, addresses that are none. */
function unreadable(written: EntryAsWritten): EntryProblem | null {
  for (const [field, text] of textsOf(written)) {
    const problem = placeholderFault(field, text);
    if (problem !== null) return problem;
  }
  const url = textOf(written.url);
  if (url !== undefined && !url.includes('$') && !isWebAddress(url)) return { field: 'url', message: webAddressRule };
  return null;
}

export const webAddressRule = 'url must be a whole address that begins with http:// or https://';

export function isWebAddress(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url);
}

/** Every text of an entry in which placeholders count, with its field. */
function textsOf(written: EntryAsWritten): readonly (readonly [string, string])[] {
  const stdio = textOf(written.command) !== undefined;
  const table = (key: 'env' | 'headers') =>
    Object.entries(written[key] ?? {}).map(([name, text]) => [`${key}.${name}`, text] as const);
  return stdio
    ? [
        ['command', written.command ?? ''],
        ...(written.args ?? []).map((text, index) => [`args[${index}]`, text] as const),
        ...table('env'),
        ['cwd', written.cwd ?? ''],
      ]
    : [['url', written.url ?? ''], ...table('headers')];
}

/** The problem of a text whose placeholders cannot be read; null when they can. */
export function placeholderFault(field: string, text: string): EntryProblem | null {
  const scanned = scan(text);
  if (scanned.ok) return null;
  const what =
    scanned.fault.kind === 'unclosed'
      ? `has \`\${\` without a closing \`}\``
      : `has a \`\${…}\` that does not hold the name of a variable`;
  return { field, message: `${field} ${what}; for a literal dollar sign write \`$$\`` };
}

function build(name: string, written: EntryAsWritten): ServerEntry {
  const base = {
    name,
    disabled: written.disabled ?? false,
    lazy: written.lazy ?? false,
    include: written.include ?? [],
    exclude: written.exclude ?? [],
    toolPrefix: written.tool_prefix,
    limits: limitsOf(written),
  };
  const command = textOf(written.command);
  if (command !== undefined) {
    const { args = [], env = {}, cwd, inheritEnv = false } = written;
    return { ...base, transport: 'stdio', command, args, env, cwd, inheritEnv };
  }
  return {
    ...base,
    transport: written.type === 'sse' ? 'sse' : 'streamable-http',
    explicitType: written.type !== undefined,
    url: textOf(written.url) ?? '',
    headers: written.headers ?? {},
    auth: isOauth(written.auth) ? 'oauth' : undefined,
    oauthClientName: textOf(written.oauth_client_name),
    oauth: oauthOf(written.oauth),
    rawAuthorization: written.rawAuthorization ?? false,
  };
}

const isOauth = (auth: string | undefined): boolean => auth?.trim().toLowerCase() === 'oauth';

function oauthOf(written: EntryAsWritten['oauth']): OauthSettings {
  const { clientId, scopes, clientMetadataUrl } = written ?? {};
  return {
    ...(clientId === undefined ? {} : { clientId }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
  };
}

function unknownKeys(raw: RawObject): string[] {
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

/** Things that are allowed and probably not what was meant. */
function remarks(written: EntryAsWritten, raw: RawObject, entry: ServerEntry): string[] {
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
