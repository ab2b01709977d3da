/** What becomes of entries that come in: new, known already, or known by another name. Secrets on request apart. Pure. */
import { canonicalJson } from '../canonical.ts';
import { expand, lookupIn } from '../config/expand.ts';
import { suggestName } from '../config/names.ts';
import { isObject, type RawObject } from '../config/raw.ts';
import { secretStarts, speaksOfSecret } from '../config/secrets.ts';
import type { Incoming } from './incoming.ts';
import { changeUrlSecrets, isAddress, urlSecretNames } from './incoming.url.ts';

export interface Candidate extends Incoming {
  /** Id of the client, or the file. */
  readonly from: string;
}

export interface ImportItem {
  readonly from: string;
  /** What it was called where it comes from. */
  readonly original: string;
  /** What it is, or will be, called here. */
  readonly name: string;
  readonly action: 'add' | 'same';
  readonly entry: RawObject;
  readonly notes: readonly string[];
  /** Fields that hold something that looks secret, written out. */
  readonly secrets: readonly string[];
}

export interface ImportPlan {
  readonly items: readonly ImportItem[];
  /** Variables the secrets went into. */
  readonly variables: Readonly<Record<string, string>>;
}

/** What must be equal for two entries to be the same server with the same rights, wherever its secrets stand. */
function sameness({ disabled: _, ...entry }: RawObject, variables: Readonly<Record<string, string>>): string {
  const lookup = lookupIn(variables);
  const filled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(filled);
    if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, filled(member)]));
    if (typeof value !== 'string') return value;
    const expanded = expand(value, lookup);
    if (expanded.ok) return expanded.text;
    // What is not set here stays a name; what stands beside it is compared all the same.
    const named = expand(value, (name) => lookup(name) ?? `\0${name}`);
    return named.ok ? named.text : value;
  };
  return canonicalJson(filled(entry));
}

/** `variables`: those that are set already. Names are given in the order in which candidates come. */
export function planImport(
  existing: ReadonlyMap<string, unknown>,
  candidates: readonly Candidate[],
  { apart, variables: known }: { readonly apart: boolean; readonly variables: Readonly<Record<string, string>> },
): ImportPlan {
  const entries = new Map([...existing].filter((pair): pair is [string, RawObject] => isObject(pair[1])));
  const taken = new Set(existing.keys());
  const variables: Record<string, string> = {};
  const items = candidates.map(({ from, name: original, entry: written, notes }): ImportItem => {
    const secrets = literalSecrets(written);
    const set = { ...known, ...variables };
    const wanted = sameness(written, set);
    const twin = [...entries].find(([, entry]) => sameness(entry, set) === wanted)?.[0];
    if (twin !== undefined) return { from, original, name: twin, action: 'same', entry: written, notes, secrets };
    const name = suggestName(original, taken);
    const { entry, made } = apart ? withoutSecrets(name, written, set) : { entry: written, made: {} };
    Object.assign(variables, made);
    entries.set(name, entry);
    taken.add(name);
    const renamed = name === original ? [] : [`called ${JSON.stringify(original)} there`];
    return { from, original, name, action: 'add', entry, notes: [...renamed, ...notes], secrets: apart ? [] : secrets };
  });
  return { items, variables };
}

const isLiteral = (value: string): boolean => value !== '' && !/\$\{?[A-Za-z_]/.test(value.replaceAll('$$', ''));

const members = (value: unknown): [string, string][] =>
  Object.entries(isObject(value) ? value : {}).filter((pair): pair is [string, string] => typeof pair[1] === 'string');

/** `env.TOKEN`, `headers.Authorization`, `url api_key`, `args[2]`. */
function literalSecrets({ env, headers, url, args }: RawObject): string[] {
  const list = Array.isArray(args) ? args.map(String) : [];
  return [
    ...(typeof url === 'string' ? urlSecretNames(url, isLiteral).map((name) => `url ${name}`) : []),
    ...members(env)
      .filter(([key, value]) => speaksOfSecret(key) && isLiteral(value))
      .map(([key]) => `env.${key}`),
    ...members(headers)
      .filter(([key, value]) => speaksOfSecret(key) && isLiteral(value))
      .map(([key]) => `headers.${key}`),
    ...secretStarts(list).flatMap((start, index) => {
      const arg = list[index] ?? '';
      const holds =
        start === null ? isAddress(arg) && urlSecretNames(arg, isLiteral).length > 0 : isLiteral(arg.slice(start));
      return holds ? [`args[${index}]`] : [];
    }),
  ];
}

/** The entry with variables where secrets were, and what they are set to. */
function withoutSecrets(
  server: string,
  entry: RawObject,
  set: Readonly<Record<string, string>>,
): { entry: RawObject; made: Record<string, string> } {
  const made: Record<string, string> = {};
  const keep = (wanted: string, written: string): string => {
    const value = written.replaceAll('$$', '$');
    const own = (name: string): boolean => {
      const is = made[name] ?? set[name];
      return is === undefined || is === value;
    };
    const name = [wanted, `${upper(server)}_${wanted}`].find(own) ?? numbered(`${upper(server)}_${wanted}`, own);
    made[name] = value;
    return `\${${name}}`;
  };
  const apart =
    (prefix: string) =>
    (key: string, value: string): string => {
      if (!speaksOfSecret(key) || !isLiteral(value)) return value;
      const [scheme = ''] = /^(?:Bearer|Basic|Token) +/i.exec(value) ?? [];
      return scheme + keep(upper(`${prefix}${key}`), value.slice(scheme.length));
    };
  const changed = (value: unknown, change: (key: string, text: string) => string): RawObject =>
    Object.fromEntries(
      Object.entries(isObject(value) ? value : {}).map(([key, member]) => [
        key,
        typeof member === 'string' ? change(key, member) : member,
      ]),
    );
  const inUrl = (text: string): string =>
    changeUrlSecrets(text, (name, secret) =>
      isLiteral(secret) ? keep(`${upper(server)}_${upper(name)}`, secret) : secret,
    );
  const args = Array.isArray(entry.args) ? entry.args.map(String) : null;
  const starts = args === null ? [] : secretStarts(args);
  const result = Object.fromEntries(
    Object.entries(entry).map(([key, value]) => {
      if (key === 'env') return [key, changed(value, apart(''))];
      if (key === 'headers') return [key, changed(value, apart(`${server}_`))];
      if (key === 'url' && typeof value === 'string') return [key, inUrl(value)];
      if (key === 'args' && args !== null)
        return [
          key,
          args.map((arg, index) => {
            const start = starts[index] ?? null;
            if (start === null) return isAddress(arg) ? inUrl(arg) : arg;
            if (!isLiteral(arg.slice(start))) return arg;
            return arg.slice(0, start) + keep(`${upper(server)}_ARG_${index + 1}`, arg.slice(start));
          }),
        ];
      return [key, value];
    }),
  );
  return { entry: result, made };
}

const upper = (text: string): string => {
  const name = text
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  return /^[A-Z_]/.test(name) ? name : `_${name}`;
};

function numbered(name: string, isFree: (name: string) => boolean): string {
  for (let n = 2; ; n += 1) if (isFree(`${name}_${n}`)) return `${name}_${n}`;
}

/** Lines for `watchkeeper.env`, readable by its parser; for values that no line can hold an error with the name. */
export function variableLines(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => {
      if (!/['\r\n]/.test(value)) return `${name}='${value}'\n`;
      const escaped = value
        .replace(/[\\"$]/g, '\\$&')
        .replaceAll('\n', '\\n')
        .replaceAll('\r', '\\r');
      return `${name}="${escaped}"\n`;
    })
    .join('');
}
