/** The form of a server: what is typed, what is wrong with it, and the entry it makes. Pure. */
import { nameFault } from '../config/names.ts';
import { type Field, fieldOf } from './field.ts';
import { joinWords, splitWords } from './words.ts';

export const transports = ['stdio', 'http'] as const;
export const auths = ['none', 'oauth', 'bearer', 'api-key', 'basic'] as const;
export type FieldName = 'name' | 'command' | 'args' | 'env' | 'url' | 'secret' | 'header' | 'headers';
export type Row = FieldName | 'transport' | 'auth' | 'save';

export interface Form {
  readonly transport: (typeof transports)[number];
  readonly auth: (typeof auths)[number];
  readonly fields: Readonly<Record<FieldName, Field>>;
  readonly focus: Row;
  /** The name of the server that is being changed; null: a new one. */
  readonly editing: string | null;
  /** The rest of its entry: what this form does not know stays as it is. */
  readonly base: Readonly<Record<string, unknown>>;
  /** Rows the person has left: what is missing there may be said. */
  readonly seen: readonly Row[];
}

const blank = (): Form['fields'] => ({
  name: fieldOf(),
  command: fieldOf(),
  args: fieldOf(),
  env: fieldOf(),
  url: fieldOf(),
  secret: fieldOf(),
  header: fieldOf('X-API-Key'),
  headers: fieldOf(),
});

export const blankForm = (): Form => ({
  transport: 'stdio',
  auth: 'none',
  fields: blank(),
  focus: 'name',
  editing: null,
  base: {},
  seen: [],
});

const pairsOf = (value: unknown): string =>
  joinWords(Object.entries((value ?? {}) as Record<string, unknown>).map(([key, text]) => `${key}=${String(text)}`));

/** A token in a header of its own is shown as what it is, and hidden. */
function readAuth(
  headers: unknown,
  auth: unknown,
): { readonly login: Form['auth']; readonly secret: string; readonly others: Readonly<Record<string, unknown>> } {
  const all = (headers ?? {}) as Record<string, unknown>;
  const name = Object.keys(all).find((key) => key.toLowerCase() === 'authorization');
  const [, scheme, secret] = /^(bearer|basic)\s+(\S+)$/i.exec(String(all[name ?? ''] ?? '')) ?? [];
  if (auth === 'oauth') return { login: 'oauth', secret: '', others: all };
  // A stored value is found again under the name it has.
  const kept = name === 'Authorization' || !secret?.includes('***');
  if (name === undefined || scheme === undefined || secret === undefined || !kept)
    return { login: 'none', secret: '', others: all };
  const { [name]: _, ...others } = all;
  return { login: scheme.toLowerCase() === 'basic' ? 'basic' : 'bearer', secret, others };
}

/** The form filled in with an entry; hidden values stand as `***`, which keeps them. */
export function formOf(name: string, entry: Readonly<Record<string, unknown>>, editing: string | null): Form {
  const { command, args, env, url, headers, auth, ...base } = entry;
  const http = typeof url === 'string';
  const { login, secret, others } = readAuth(headers, auth);
  const words = Array.isArray(args) ? args.map(String) : [];
  return {
    ...blankForm(),
    transport: http ? 'http' : 'stdio',
    auth: login,
    editing,
    base: auth === undefined || auth === 'oauth' ? base : { ...base, auth },
    focus: editing === null ? 'name' : http ? 'url' : 'command',
    fields: {
      ...blank(),
      name: fieldOf(name),
      command: fieldOf(typeof command === 'string' ? command : ''),
      args: fieldOf(joinWords(words)),
      env: fieldOf(pairsOf(env)),
      url: fieldOf(http ? url : ''),
      secret: fieldOf(secret),
      headers: fieldOf(pairsOf(others)),
    },
  };
}

/** The rows that belong to what is chosen, in order. */
export function rowsOf({ transport, auth, editing }: Form): readonly Row[] {
  const name: readonly Row[] = editing === null ? ['name'] : [];
  if (transport === 'stdio') return [...name, 'transport', 'command', 'args', 'env', 'save'];
  const secret: readonly Row[] =
    auth === 'api-key' ? ['header', 'secret'] : auth === 'bearer' || auth === 'basic' ? ['secret'] : [];
  return [...name, 'transport', 'url', 'auth', ...secret, 'headers', 'save'];
}

export const isField = (row: Row): row is FieldName => row !== 'transport' && row !== 'auth' && row !== 'save';

const textOf = (form: Form, name: FieldName): string => form.fields[name].value.trim();
const variable = /^[A-Za-z_][A-Za-z0-9_]*$/;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Pairs `NAME=value`, or what is wrong with them. */
function readPairs(text: string, names: RegExp, what: string): Record<string, string> | string {
  const words = splitWords(text);
  if (words === null) return 'a quote is not closed';
  const pairs: Record<string, string> = {};
  for (const word of words) {
    const at = word.indexOf('=');
    if (at < 1) return `"${word.length > 20 ? `${word.slice(0, 20)}…` : word}" is not ${what}=value`;
    const name = word.slice(0, at);
    if (!names.test(name)) return `"${name}" is no name of a ${what.toLowerCase()}`;
    pairs[name] = word.slice(at + 1);
  }
  return pairs;
}

const required = (text: string, sentence: string): string | null => (text === '' ? sentence : null);

function urlFault(text: string): string | null {
  if (text === '') return 'the address is missing';
  if (!URL.canParse(text.replace(/\$\{[^}]*\}|\$[A-Za-z_]\w*/g, 'x'))) return 'is not a web address';
  return /^https?:\/\//.test(text) ? null : 'begins with http:// or https://';
}

/** What is wrong in a row; null when nothing is. */
export function faultOf(form: Form, row: Row, taken: readonly string[]): string | null {
  switch (row) {
    case 'name': {
      const name = textOf(form, 'name');
      if (name === '') return 'a name is missing';
      return nameFault(name) ?? (taken.includes(name) ? 'is taken: open that server and press e to change it' : null);
    }
    case 'command':
      return required(textOf(form, 'command'), 'a command is missing');
    case 'args':
      return splitWords(form.fields.args.value) === null ? 'a quote is not closed' : null;
    case 'env': {
      const read = readPairs(form.fields.env.value, variable, 'NAME');
      return typeof read === 'string' ? read : null;
    }
    case 'url':
      return urlFault(textOf(form, 'url'));
    case 'secret':
      return required(textOf(form, 'secret'), 'a value is missing');
    case 'header':
      return headerName.test(textOf(form, 'header')) ? null : 'is no name of a header';
    case 'headers': {
      const read = readPairs(form.fields.headers.value, headerName, 'Header');
      return typeof read === 'string' ? read : null;
    }
    default:
      return null;
  }
}

/** The first row that keeps the form from being saved. */
export const firstFault = (form: Form, taken: readonly string[]): Row | null =>
  rowsOf(form).find((row) => faultOf(form, row, taken) !== null) ?? null;

const unlessEmpty = (key: string, value: object): Record<string, unknown> =>
  Object.keys(value).length === 0 ? {} : { [key]: value };

function authHeader(form: Form): Record<string, string> {
  const secret = textOf(form, 'secret');
  switch (form.auth) {
    case 'bearer':
      return { Authorization: /^bearer\s/i.test(secret) ? secret : `Bearer ${secret}` };
    case 'basic':
      return { Authorization: /^basic\s/i.test(secret) ? secret : `Basic ${secret}` };
    case 'api-key':
      return { [textOf(form, 'header')]: secret };
    default:
      return {};
  }
}

/** A header that is written out wins; one that only stands for what was stored makes way for what was typed anew. */
function withAuth(pairs: Record<string, string>, auth: Record<string, string>): Record<string, string> {
  const [name = ''] = Object.keys(auth).map((key) => key.toLowerCase());
  const kept = Object.entries(pairs).filter(([key, value]) => key.toLowerCase() !== name || value !== '***');
  return { ...auth, ...Object.fromEntries(kept) };
}

/** The entry as it goes into the file. Only for a form without faults. */
export function entryOf(form: Form): Record<string, unknown> {
  const pairs = (name: 'env' | 'headers', names: RegExp): Record<string, string> => {
    const read = readPairs(form.fields[name].value, names, '');
    return typeof read === 'string' ? {} : read;
  };
  if (form.transport === 'stdio') {
    const args = splitWords(form.fields.args.value) ?? [];
    return {
      command: textOf(form, 'command'),
      ...unlessEmpty('args', args),
      ...unlessEmpty('env', pairs('env', variable)),
      ...form.base,
    };
  }
  return {
    url: textOf(form, 'url'),
    ...(form.auth === 'oauth' ? { auth: 'oauth' } : {}),
    ...unlessEmpty('headers', withAuth(pairs('headers', headerName), authHeader(form))),
    ...form.base,
  };
}
