/** Entries of clients and of other hubs, as entries of `mcp.json`. Pure. */
import { isObject, memberOf, type RawObject } from '../config/raw.ts';
import type { FillsIn } from './descriptor.ts';

export interface Incoming {
  /** As the file it comes from calls it. */
  readonly name: string;
  readonly entry: RawObject;
  /** What could not be taken over as it was. */
  readonly notes: readonly string[];
}

export interface NotIncoming {
  readonly name: string;
  readonly why: string;
}

/** Reads one entry. What only its program can do (built-in extensions) is not taken. */
export function readIncoming(name: string, raw: unknown, fillsIn: readonly FillsIn[]): Incoming | NotIncoming {
  if (!isObject(raw)) return { name, why: 'is not an object' };
  const type = String(raw.type ?? raw.transport ?? raw.transportType ?? '')
    .toLowerCase()
    .replaceAll('_', '-');
  if (['builtin', 'platform', 'frontend', 'inline-python'].includes(type))
    return { name, why: `is part of its program (${type})` };
  const notes: string[] = [];
  const filled = (text: string): string => placeholders(text, fillsIn, notes);
  const url = firstText(raw, ['httpUrl', 'serverUrl', 'url', 'uri', 'endpoint']);
  const reached =
    url === undefined ? startedBy(raw, filled) : { url: filled(url), ...typeOf(type), ...headersOf(raw, filled) };
  if (reached === null) return { name, why: 'has neither a command nor an address' };
  const entry = { ...reached, ...listsOf(raw), ...disabledOf(raw) };
  return { name, entry, notes: [...new Set(notes)] };
}

export const isIncoming = (read: Incoming | NotIncoming): read is Incoming => 'entry' in read;

const firstText = (raw: RawObject, keys: readonly string[]): string | undefined =>
  keys.map((key) => raw[key]).find((value): value is string => typeof value === 'string' && value !== '');

const typeOf = (type: string): RawObject => (type === 'sse' ? { type: 'sse' } : {});

const disabledOf = ({ disabled, enabled }: RawObject): RawObject =>
  disabled === true || enabled === false ? { disabled: true } : {};

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

const textMembers = (value: unknown, change: (text: string) => string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(isObject(value) ? value : {})
      .filter(([, member]) => ['string', 'number', 'boolean'].includes(typeof member))
      .map(([key, member]) => [key, change(String(member))]),
  );

const unlessEmpty = (key: string, value: RawObject | readonly unknown[]): RawObject =>
  Object.keys(value).length === 0 ? {} : { [key]: value };

function startedBy(raw: RawObject, filled: (text: string) => string): RawObject | null {
  const { command: written, cmd } = raw;
  // One client writes the whole command line as a list, another one an object.
  const parts = Array.isArray(written) ? texts(written) : null;
  const inner = isObject(written) ? written : raw;
  const command = parts?.[0] ?? (isObject(written) ? memberOf(written, 'path') : (written ?? cmd));
  if (typeof command !== 'string' || command === '') return null;
  const args = (parts?.slice(1) ?? texts(memberOf(inner, 'args'))).map(filled);
  const env = {
    ...textMembers(memberOf(inner, 'env') ?? raw.env, filled),
    ...textMembers(raw.environment, filled),
    ...textMembers(raw.envs, filled),
    ...Object.fromEntries([...texts(raw.env_vars), ...texts(raw.env_keys)].map((name) => [name, `\${${name}}`])),
  };
  const cwd = firstText(raw, ['cwd', 'workingDirectory']);
  return {
    command: filled(command),
    ...unlessEmpty('args', args),
    ...unlessEmpty('env', env),
    ...(cwd === undefined ? {} : { cwd: filled(cwd) }),
  };
}

function headersOf(raw: RawObject, filled: (text: string) => string): RawObject {
  const variable = firstText(raw, ['bearer_token_env_var']);
  const token = firstText(raw, ['bearerToken']);
  const named = textMembers(raw.env_http_headers, (name) => `\${${name}}`);
  const headers = {
    ...textMembers(raw.headers, filled),
    ...textMembers(raw.http_headers, filled),
    ...named,
    ...(variable === undefined ? {} : { Authorization: `Bearer \${${variable}}` }),
    ...(token === undefined ? {} : { Authorization: `Bearer ${filled(token)}` }),
  };
  return unlessEmpty('headers', headers);
}

function listsOf(raw: RawObject): RawObject {
  const include = [...texts(raw.includeTools), ...texts(raw.enabled_tools), ...texts(raw.tools)].filter(
    (name) => name !== '*',
  );
  const exclude = [...texts(raw.excludeTools), ...texts(raw.disabledTools), ...texts(raw.disabled_tools)];
  return { ...unlessEmpty('include', include), ...unlessEmpty('exclude', exclude) };
}

/** Whatever a program fills in becomes `${NAME}`; a dollar sign it leaves alone stays one here as well. */
function placeholders(text: string, fillsIn: readonly FillsIn[], notes: string[]): string {
  const can = (way: FillsIn): boolean => fillsIn.includes(way);
  const pattern =
    /\$\{env:([A-Za-z_]\w*)\}|\{env:([A-Za-z_]\w*)\}|\$\{input:([\w.-]+)\}|\$\{([A-Za-z_]\w*)((?::-[^{}]*)?)\}|\$([A-Za-z_]\w*)|\$\(|\$(?=[A-Za-z_{$])/g;
  return text.replace(
    pattern,
    (whole, colon?: string, curly?: string, input?: string, braces?: string, fallback = '', dollar?: string) => {
      if (colon !== undefined && can('colon')) return `\${${colon}}`;
      if (curly !== undefined) return can('curly') ? `\${${curly}}` : whole;
      if (input !== undefined && can('colon')) {
        const name = input.toUpperCase().replace(/\W/g, '_');
        notes.push(`asks for ${input}; set the variable ${name} instead`);
        return `\${${name}}`;
      }
      if (braces !== undefined && can('braces')) return `\${${braces}${fallback}}`;
      if (dollar !== undefined && can('dollar')) return `\${${dollar}}`;
      if (whole === '$(') {
        if (can('dollar')) notes.push('runs a command to get a value; set it by hand');
        return whole;
      }
      return `$${whole}`;
    },
  );
}

/** Keys under which files of clients and hubs keep their entries. */
const entryKeys = ['mcpServers', 'servers', 'mcp', 'context_servers', 'mcp_servers', 'extensions'] as const;

/** The entries of a file whose kind is not known, whatever program it is of; null when it holds none. */
export function entriesIn(plain: unknown): RawObject | null {
  for (const key of entryKeys) {
    const value = memberOf(plain, key);
    // An export may be a list of entries that name themselves.
    if (Array.isArray(value)) return named(value);
    if (key === 'mcp' && isObject(value) && isObject(value.servers)) return value.servers;
    if (isObject(value)) return value;
  }
  return Array.isArray(plain) ? named(plain) : null;
}

const named = (list: readonly unknown[]): RawObject =>
  Object.fromEntries(
    list.flatMap((item): [string, unknown][] => {
      const name = memberOf(item, 'name');
      return typeof name === 'string' ? [[name, item]] : [];
    }),
  );
