/** One server entry as written → what the daemon works with, or the problem of this entry alone. */
import { canonicalJson } from '../canonical.ts';
import { sha256Hex } from '../hash.ts';
import { remarks, unknownKeys } from './entry.remarks.ts';
import { isOauth, isWebAddress, placeholderFault, textOf, webAddressRule } from './entry.texts.ts';
import type { EntryProblem, LoadedEntry, OauthSettings, ServerEntry } from './entry.ts';
import { limitsOf } from './limits.ts';
import { nameFault, suggestName } from './names.ts';
import { isObject, memberOf, type RawObject } from './raw.ts';
import { type EntryAsWritten, entrySchema, fieldOf } from './schema.ts';

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
  const head = { name, revision: sha256Hex(canonicalJson(raw)), identity: identityOf(raw) };
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
  return sha256Hex(canonicalJson(isSet(url) && !isSet(command) ? { url } : { command, args: args ?? [], url }));
}

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

function build(name: string, written: EntryAsWritten): ServerEntry {
  const base = {
    name,
    disabled: written.disabled ?? false,
    lazy: written.lazy ?? false,
    include: written.include ?? [],
    exclude: written.exclude ?? [],
    toolPrefix: written.tool_prefix,
    limits: limitsOf(written),
    repeatCalls: written.repeatCalls ?? 'unsent',
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

function oauthOf(written: EntryAsWritten['oauth']): OauthSettings {
  const { clientId, scopes, clientMetadataUrl } = written ?? {};
  return {
    ...(clientId === undefined ? {} : { clientId }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
  };
}
