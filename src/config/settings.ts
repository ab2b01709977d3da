/** Settings from flags, `WATCHKEEPER_*` and `watchkeeper.json`, in this order. Pure apart from reading JSON text. */
import type { z } from 'zod';
import { plainValue, problemAt, readTree, repeatedKeys, withoutMark } from './jsonc.ts';
import { nearest } from './nearest.ts';
import { isObject, memberOf } from './raw.ts';
import { fieldOf } from './schema.ts';
import { type SettingName, settingDefinitions, settingNames, settingsSchema } from './settings.schema.ts';

/** All settings, nested as in the file. */
export interface Settings {
  readonly mount_mode: 'per-server' | 'routed';
  /** The daemon itself is a server. */
  readonly self: boolean;
  readonly naming: { readonly maxLength: number };
  readonly approval: { readonly windowMs: number; readonly holdMs: number };
  readonly http: { readonly host: string; readonly port: number; readonly allowedHosts: readonly string[] };
  readonly mcp: { readonly sessionIdleMs: number; readonly maxSessions: number };
  readonly oauth: {
    readonly callbackPort: number;
    readonly loginMs: number;
    readonly store: 'auto' | 'keychain' | 'file';
  };
  readonly log: {
    readonly durability: 'process' | 'power';
    readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  };
  readonly start: { readonly parallel: number };
  readonly recording: { readonly maxBytes: number; readonly maxMessageBytes: number };
}

export type SettingSource = 'flag' | 'environment' | 'file';

/** A value that cannot be used; the next source, in the end the default, is taken instead. */
export interface SettingProblem {
  readonly source: SettingSource;
  /** Dotted name, or null for the file as a whole. */
  readonly setting: SettingName | null;
  /** Fit for a person; never holds the value. */
  readonly message: string;
}

export interface LoadedSettings {
  readonly settings: Settings;
  readonly warnings: readonly string[];
  readonly problems: readonly SettingProblem[];
  /** Where each setting that is not the default came from. */
  readonly sources: Readonly<Partial<Record<SettingName, SettingSource>>>;
}

export interface SettingInputs {
  /** By dotted name; texts are read as in the environment. undefined: the flag was not given. */
  readonly flags?: Readonly<Partial<Record<SettingName, unknown>>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** null: no file, or one that does not count (see trust). */
  readonly text?: string | null;
}

/** `WATCHKEEPER_APPROVAL_WINDOW_MS` for `approval.windowMs`; host and port also without `HTTP_`. */
export function variablesFor(name: SettingName): readonly string[] {
  const long = `WATCHKEEPER_${name
    .replace(/\./g, '_')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toUpperCase()}`;
  return name === 'http.port' || name === 'http.host' ? [long.replace('_HTTP_', '_'), long] : [long];
}

/** Puts the settings together. Never throws. */
export function loadSettings({ flags = {}, env = {}, text = null }: SettingInputs = {}): LoadedSettings {
  const problems: SettingProblem[] = [];
  const sources: Partial<Record<SettingName, SettingSource>> = {};
  const file = readFile(text, problems);
  const nested: Record<string, Record<string, unknown> | unknown> = {};
  for (const name of settingNames) {
    for (const [source, field, value] of candidates(name, flags, env, file.value)) {
      if (value === undefined) continue;
      const problem = check(name, value);
      if (problem === null) {
        sources[name] = source;
        put(nested, name, value);
        break;
      }
      problems.push({ source, setting: name, message: `${field} ${problem}` });
    }
  }
  return { settings: settingsSchema.parse(nested), warnings: file.warnings, problems, sources };
}

function* candidates(
  name: SettingName,
  flags: NonNullable<SettingInputs['flags']>,
  env: NonNullable<SettingInputs['env']>,
  file: unknown,
): Generator<readonly [SettingSource, string, unknown]> {
  yield ['flag', name, fromText(name, flags[name])];
  for (const variable of variablesFor(name))
    yield ['environment', variable, fromText(name, env[variable] || undefined)];
  yield ['file', name, name.split('.').reduce<unknown>(memberOf, file) ?? undefined];
}

/** Flags and variables are texts: numbers and truth values are read, lists are separated by commas. */
function fromText(name: SettingName, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const fallback = settingDefinitions[name].parse(undefined);
  if (typeof fallback === 'number') return /^\d+$/.test(value.trim()) ? Number(value) : value;
  if (typeof fallback === 'boolean') {
    const word = value.trim().toLowerCase();
    return ['true', '1'].includes(word) ? true : ['false', '0'].includes(word) ? false : value;
  }
  if (Array.isArray(fallback))
    return value
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  return value;
}

function check(name: SettingName, value: unknown): string | null {
  const schema: z.ZodType = settingDefinitions[name];
  const result = schema.safeParse(value);
  if (result.success) return null;
  const [issue] = result.error.issues;
  return issue?.message ?? 'is wrong';
}

function put(nested: Record<string, unknown>, name: SettingName, value: unknown): void {
  const [group = '', key] = name.split('.');
  if (key === undefined) nested[group] = value;
  else {
    const held = nested[group];
    nested[group] = { ...(isObject(held) ? held : {}), [key]: value };
  }
}

function readFile(source: string | null, problems: SettingProblem[]): { value: unknown; warnings: readonly string[] } {
  const none = { value: {}, warnings: [] };
  if (source === null || withoutMark(source).trim() === '') return none;
  const text = withoutMark(source);
  const tree = readTree(text);
  if (!tree.ok) {
    problems.push({ source: 'file', setting: null, message: tree.problem.message });
    return none;
  }
  if (tree.root.type !== 'object') {
    const { message } = problemAt(text, tree.root.offset, 'it must hold an object');
    problems.push({ source: 'file', setting: null, message });
    return none;
  }
  const value = plainValue(tree.root);
  const repeated = repeatedKeys(tree.root).map(
    (key) => `the key \`${key}\` is written more than once; the last one counts`,
  );
  problems.push(...misplaced(value));
  return { value, warnings: [...unknownKeys(value), ...repeated] };
}

const groups = new Set(settingNames.filter((name) => name.includes('.')).map((name) => name.split('.')[0] ?? ''));

function unknownKeys(value: unknown): readonly string[] {
  const paths = Object.entries(isObject(value) ? value : {}).flatMap(([key, member]): string[][] =>
    groups.has(key) && isObject(member) ? Object.keys(member).map((inner) => [key, inner]) : [[key]],
  );
  const known: readonly string[] = settingNames;
  return paths.flatMap((path) => {
    const name = fieldOf(path);
    const [key = ''] = path;
    if (path.length === 1 && (key === '$schema' || groups.has(key))) return [];
    if (path.length === 1 && key.includes('.') && known.includes(key)) {
      const [group, inner] = key.split('.');
      return [`the key \`${key}\` is ignored; write it nested: {"${group}": {"${inner}": …}}`];
    }
    if (known.includes(name)) return [];
    const meant = nearest(name, known);
    return [
      `the key \`${name}\` is not known and is ignored${meant === undefined ? '' : `; did you mean \`${meant}\`?`}`,
    ];
  });
}

/** A group that is not an object holds no settings. */
function misplaced(value: unknown): readonly SettingProblem[] {
  return [...groups]
    .filter((group) => !isObject(memberOf(value, group) ?? {}))
    .map((group) => ({ source: 'file', setting: null, message: `${group} must be an object of settings` }));
}
