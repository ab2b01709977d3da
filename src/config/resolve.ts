/** Entry with placeholders → what a connection is opened with. Pure: variables come in through `lookup`. */
import { basicFrom, decode, withScheme } from './authorization.ts';
import { isWebAddress, placeholderFault, webAddressRule } from './entry.texts.ts';
import type { EntryProblem, HttpEntry, ResolvedEntry, ServerEntry, StdioEntry } from './entry.ts';
import { childEnvironment, type Variables } from './environment.ts';
import { expand, type Lookup, scan } from './expand.ts';
import { secretList, secretStarts } from './secrets.ts';

export interface ResolveSources {
  /** The daemon's environment first, then `watchkeeper.env`. */
  readonly lookup: Lookup;
  /** The daemon's environment, of which a child inherits the safe part. */
  readonly environment: Variables;
  readonly platform: string;
}

export type Resolution =
  | { readonly ok: true; readonly entry: ResolvedEntry }
  | { readonly ok: false; readonly problem: EntryProblem };

/**
 * Replaces every placeholder of an entry. A variable that is not set, or a value that cannot be used, is a problem
 * that names field and variable and never holds the value.
 */
export function resolveEntry(entry: ServerEntry, sources: ResolveSources): Resolution {
  try {
    return { ok: true, entry: entry.transport === 'stdio' ? stdio(entry, sources) : http(entry, sources) };
  } catch (error) {
    if (error instanceof Unresolved) return { ok: false, problem: { field: error.field, message: error.message } };
    throw error;
  }
}

class Unresolved extends Error {
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(message);
  }
}

/** Fills in texts and remembers what must stay hidden. */
function filler(lookup: Lookup) {
  const secrets: string[] = [];
  const fill = (field: string, text: string): { text: string; values: readonly string[] } => {
    const expansion = expand(text, lookup);
    if (expansion.ok) {
      secrets.push(...expansion.values, ...expansion.values.map((value) => value.trim()));
      if (expansion.text.includes('\0')) throw new Unresolved(field, `${field} holds a NUL character; remove it`);
      return expansion;
    }
    const { fault } = expansion;
    if (fault.kind === 'unset') throw new Unresolved(field, unset(field, fault.variable));
    throw new Unresolved(field, placeholderFault(field, text)?.message ?? `${field} cannot be read`);
  };
  return { secrets, fill };
}

const unset = (field: string, variable: string): string =>
  `${field} needs the variable ${variable}, which is not set; set it where the daemon runs or in watchkeeper.env, or write a default: \${${variable}:-value}`;

function stdio(entry: StdioEntry, { lookup, environment, platform }: ResolveSources): ResolvedEntry {
  const { secrets, fill } = filler(lookup);
  const command = fill('command', entry.command).text;
  if (command.trim() === '') throw new Unresolved('command', 'command is empty once its variables are filled in');
  const args = entry.args.map((arg, index) => fill(`args[${index}]`, arg).text);
  const env = Object.fromEntries(
    Object.entries(entry.env).map(([name, value]) => [name, fill(`env.${name}`, value).text]),
  );
  const cwd = entry.cwd === undefined ? undefined : fill('cwd', entry.cwd).text;
  if (cwd === '') throw new Unresolved('cwd', 'cwd is empty once its variables are filled in');
  secrets.push(...Object.values(env), ...argumentSecrets(args));
  return {
    transport: 'stdio',
    name: entry.name,
    command,
    args,
    env: childEnvironment(environment, entry.inheritEnv, env, platform),
    cwd,
    secrets: secretList(secrets),
  };
}

function argumentSecrets(args: readonly string[]): string[] {
  const starts = secretStarts(args);
  return args.flatMap((arg, index) => {
    const start = starts[index] ?? null;
    if (start === null) return URL.canParse(arg) ? urlSecrets(new URL(arg), arg) : [];
    const secret = arg.slice(start);
    return [secret, secret.replace(/^(?:bearer|basic)\s+/i, '')];
  });
}

function http(entry: HttpEntry, { lookup }: ResolveSources): ResolvedEntry {
  const { secrets, fill } = filler(lookup);
  const written = fill('url', entry.url).text.trim();
  if (!isWebAddress(written)) throw new Unresolved('url', `${webAddressRule} once its variables are filled in`);
  const url = new URL(written);
  secrets.push(...urlSecrets(url, written));

  const headers = new Map<string, readonly [string, string]>();
  for (const [name, template] of Object.entries(entry.headers)) {
    const field = `headers.${name}`;
    const isAuthorization = name.toLowerCase() === 'authorization';
    const raw = isAuthorization && entry.rawAuthorization;
    const filled = fill(field, template);
    const value = raw ? filled.text : filled.text.trim();
    if (!/^[\t\x20-\x7E\x80-\xFF]*$/.test(value)) {
      throw new Unresolved(field, `${field} holds a line break or a character a header cannot carry; check the value`);
    }
    secrets.push(value, value.replace(/^\S+\s+/, ''));
    // Credentials that are empty are no credentials; an empty header would be malformed.
    if (isAuthorization && !raw && value === '') continue;
    headers.set(name.toLowerCase(), [name, isAuthorization && !raw ? withScheme(value, filled.values) : value]);
  }
  // A request cannot be sent to an address with user info in it: it goes where HTTP wants it.
  if (url.username !== '' || url.password !== '') {
    const basic = basicFrom(url.username, url.password);
    secrets.push(basic, basic.slice('Basic '.length));
    if (!headers.has('authorization')) headers.set('authorization', ['Authorization', basic]);
  }
  return {
    transport: entry.transport,
    name: entry.name,
    explicitType: entry.explicitType,
    url: withoutUser(written, url),
    headers: Object.fromEntries(headers.values()),
    secrets: secretList(secrets),
  };
}

/** The address byte for byte as configured, apart from user info. */
function withoutUser(written: string, url: URL): string {
  if (url.username === '' && url.password === '') return written;
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  const cut = written.replace(/^(https?:\/\/)[^/\\?#]*@/i, '$1');
  return URL.canParse(cut) && new URL(cut).href === bare.href ? cut : bare.href;
}

/** User info and query values, as written and decoded. */
function urlSecrets(url: URL, written: string): string[] {
  const query = /\?([^#]*)/.exec(written)?.[1] ?? '';
  const raw = query.split('&').map((pair) => pair.slice(pair.indexOf('=') + 1));
  const user = [url.username, url.password];
  return [...raw, ...url.searchParams.values(), ...user, ...user.map(decode)];
}

/** Names of all variables an entry mentions, sorted, defaults included: what to look up again when variables change. */
export function variablesOf(entry: ServerEntry): readonly string[] {
  const texts =
    entry.transport === 'stdio'
      ? [entry.command, ...entry.args, ...Object.values(entry.env), entry.cwd ?? '']
      : [entry.url, ...Object.values(entry.headers)];
  const names = new Set<string>();
  const visit = (scanned: ReturnType<typeof scan>): void => {
    const segments = scanned.ok ? [...scanned.segments] : [];
    for (let segment = segments.pop(); segment !== undefined; segment = segments.pop()) {
      if (segment.kind === 'literal') continue;
      names.add(segment.name);
      segments.push(...(segment.fallback ?? []));
    }
  };
  for (const text of texts) visit(scan(text));
  return [...names].sort();
}
