/** A server entry while it is being typed: fields of a form, what is wrong with them, and the entry they make. Pure. */
import { isWebAddress, placeholderFault } from '../config/entry.texts.ts';
import { nameFault, suggestName } from '../config/names.ts';
import { isObject, memberOf } from '../config/raw.ts';
import { joinWords, splitWords } from './shell.words.ts';

export type Entry = Readonly<Record<string, unknown>>;
export type Transport = 'stdio' | 'http';
export type Auth = 'none' | 'oauth' | 'bearer' | 'api-key' | 'basic';

export const auths: readonly Auth[] = ['none', 'oauth', 'bearer', 'api-key', 'basic'];

/** Texts as typed. `env` and `headers` hold a line each; the last one is empty, to be filled. */
export interface Draft {
  readonly name: string;
  readonly transport: Transport;
  readonly command: string;
  readonly args: string;
  readonly env: readonly string[];
  readonly cwd: string;
  readonly url: string;
  readonly auth: Auth;
  /** Token, key or credentials of the chosen authentication. */
  readonly secret: string;
  readonly keyHeader: string;
  readonly headers: readonly string[];
  /** Members of the entry that the form does not show; they stay as they are. */
  readonly rest: Entry;
}

export const blankDraft: Draft = {
  name: '',
  transport: 'stdio',
  command: '',
  args: '',
  env: [''],
  cwd: '',
  url: '',
  auth: 'none',
  secret: '',
  keyHeader: 'X-API-Key',
  headers: [''],
  rest: {},
};

/** Keys the form has fields for. */
const shown = new Set(['command', 'args', 'env', 'cwd', 'url', 'headers', 'auth']);

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

const pairs = (value: unknown): (readonly [string, string])[] =>
  isObject(value) ? Object.entries(value).map(([key, member]) => [key, String(member)] as const) : [];

/** The fields of an entry as it is shown, `***` included. */
export function draftOf(name: string, entry: Entry): Draft {
  const url = memberOf(entry, 'url');
  const rest = Object.fromEntries(Object.entries(entry).filter(([key]) => !shown.has(key)));
  const http = typeof url === 'string' && url !== '';
  const headers = pairs(entry.headers);
  const found = http ? authOf(entry, headers) : { auth: 'none' as const, secret: '', keyHeader: 'X-API-Key', headers };
  return {
    ...blankDraft,
    name,
    transport: http ? 'http' : 'stdio',
    command: typeof entry.command === 'string' ? entry.command : '',
    args: joinWords(texts(entry.args)),
    env: [...pairs(entry.env).map(([key, value]) => `${key}=${value}`), ''],
    cwd: typeof entry.cwd === 'string' ? entry.cwd : '',
    url: http ? url : '',
    auth: found.auth,
    secret: found.secret,
    keyHeader: found.keyHeader,
    headers: [...found.headers.map(([key, value]) => `${key}=${value}`), ''],
    rest,
  };
}

type Headers = readonly (readonly [string, string])[];

/** Which header of an entry is its authentication. */
function authOf(entry: Entry, headers: Headers): { auth: Auth; secret: string; keyHeader: string; headers: Headers } {
  const keyHeader = 'X-API-Key';
  if (typeof entry.auth === 'string' && entry.auth.trim().toLowerCase() === 'oauth') {
    return { auth: 'oauth', secret: '', keyHeader, headers };
  }
  const without = (name: string): Headers => headers.filter(([key]) => key !== name);
  for (const [key, value] of headers) {
    if (key.toLowerCase() === 'authorization') {
      const [, scheme, secret = ''] = /^(bearer|basic)\s+(.*)$/i.exec(value) ?? [];
      if (scheme) {
        const auth = scheme.toLowerCase() === 'basic' ? 'basic' : 'bearer';
        return { auth, secret, keyHeader, headers: without(key) };
      }
    }
    if (/^x-api-key$/i.test(key)) return { auth: 'api-key', secret: value, keyHeader: key, headers: without(key) };
  }
  return { auth: 'none', secret: '', keyHeader, headers };
}

/** `KEY=VALUE`, for headers also `Key: value`; null when it is neither. */
export function readPair(text: string, header: boolean): readonly [string, string] | null {
  const split = text.search(header ? /[=:]/ : /=/);
  if (split < 1) return null;
  const key = text.slice(0, split).trim();
  if (!(header ? /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/ : /^[A-Za-z_][A-Za-z0-9_]*$/).test(key)) return null;
  const value = text.slice(split + 1);
  return [key, header ? value.trim() : value];
}

/** The name of a field of the form; the fields of a list are numbered. */
export type FieldId =
  | 'name'
  | 'transport'
  | 'command'
  | 'args'
  | 'cwd'
  | 'url'
  | 'auth'
  | 'secret'
  | 'keyHeader'
  | `env.${number}`
  | `headers.${number}`;

/** The fields that are there for what was chosen so far, in order. `named`: the name is fixed. */
export function fieldsOf(draft: Draft, named = false): readonly FieldId[] {
  const list = <Key extends 'env' | 'headers'>(key: Key) =>
    draft[key].map((_, index): `${Key}.${number}` => `${key}.${index}`);
  const head: readonly FieldId[] = named ? ['transport'] : ['name', 'transport'];
  if (draft.transport === 'stdio') return [...head, 'command', 'args', ...list('env'), 'cwd'];
  const secret: readonly FieldId[] =
    draft.auth === 'api-key'
      ? ['keyHeader', 'secret']
      : draft.auth === 'bearer' || draft.auth === 'basic'
        ? ['secret']
        : [];
  return [...head, 'url', 'auth', ...secret, ...list('headers')];
}

/** The text of a field. */
export function textIn(draft: Draft, field: FieldId): string {
  const [key = '', index] = field.split('.');
  if (key === 'env' || key === 'headers') return draft[key][Number(index)] ?? '';
  return draft[field as Exclude<FieldId, `${string}.${number}`>];
}

/** The draft with another text in a field; lists keep one empty line at their end. */
export function withValue(draft: Draft, field: FieldId, value: string): Draft {
  const [key = '', index] = field.split('.');
  if (key === 'env' || key === 'headers') {
    const lines = draft[key].map((old, at) => (at === Number(index) ? value : old));
    return { ...draft, [key]: lines.at(-1) === '' ? lines : [...lines, ''] };
  }
  return { ...draft, [key]: value };
}

/** Takes out lines of the lists that were emptied, but for the last one. */
export function tidy(draft: Draft): Draft {
  const filled = (lines: readonly string[]): string[] => [...lines.filter((text) => text.trim() !== ''), ''];
  return { ...draft, env: filled(draft.env), headers: filled(draft.headers) };
}

const fault = (field: string, text: string): string | null => placeholderFault(field, text)?.message ?? null;

/** What is wrong with a field, for a person; null when nothing is. An empty list line is right. */
export function faultOf(draft: Draft, field: FieldId): string | null {
  const value = textIn(draft, field);
  if (field.startsWith('env.')) {
    if (value.trim() === '') return null;
    return readPair(value, false) === null ? 'write it as KEY=VALUE' : fault('it', value);
  }
  if (field.startsWith('headers.')) {
    if (value.trim() === '') return null;
    return readPair(value, true) === null ? 'write it as Name: value' : fault('it', value);
  }
  switch (field) {
    case 'name': {
      if (value === '') return 'a server needs a name';
      const wrong = nameFault(value);
      return wrong === null ? null : `the name ${wrong}; ${suggestName(value)} would do`;
    }
    case 'command':
      if (value.trim() === '') return 'which program is to be started?';
      return fault('it', value);
    case 'args': {
      const read = splitWords(value);
      return read.ok ? fault('it', value) : read.message;
    }
    case 'cwd':
      return fault('it', value);
    case 'url': {
      if (value.trim() === '') return 'where is the server?';
      if (!value.includes('$') && !isWebAddress(value.trim())) return 'it must begin with http:// or https://';
      return fault('it', value);
    }
    case 'secret':
      if (value.trim() === '') return 'it is empty';
      if (draft.auth === 'basic' && value.includes(':') && value.includes('$'))
        return `a variable cannot be encoded here; let it hold the encoded text: \${CREDENTIALS}`;
      return fault('it', value);
    case 'keyHeader':
      return readPair(`${value}:x`, true) === null ? 'this is not the name of a header' : null;
    default:
      return null;
  }
}

/** The first field that is wrong, with what is. */
export function firstFault(draft: Draft, named = false): { readonly field: FieldId; readonly message: string } | null {
  for (const field of fieldsOf(draft, named)) {
    const message = faultOf(draft, field);
    if (message !== null) return { field, message };
  }
  return null;
}

const base64 = (text: string): string =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));

function authorization({ auth, secret, keyHeader }: Draft): readonly (readonly [string, string])[] {
  const value = secret.trim();
  if (auth === 'bearer') return [['Authorization', /\s/.test(value) ? value : `Bearer ${value}`]];
  if (auth === 'api-key') return [[keyHeader.trim(), value]];
  if (auth === 'basic') return [['Authorization', `Basic ${value.includes(':') ? base64(value) : value}`]];
  return [];
}

/** The entry for `mcp.json`. Call it only when nothing is wrong. */
export function entryOf(draft: Draft): Entry {
  const some = (key: string, record: Entry): Entry => (Object.keys(record).length > 0 ? { [key]: record } : {});
  const listed = (lines: readonly string[], header: boolean) =>
    lines.flatMap((text) => {
      const pair = readPair(text, header);
      return pair === null ? [] : [pair];
    });
  if (draft.transport === 'stdio') {
    const args = splitWords(draft.args);
    return {
      command: draft.command.trim(),
      ...(args.ok && args.words.length > 0 ? { args: args.words } : {}),
      ...some('env', Object.fromEntries(listed(draft.env, false))),
      ...(draft.cwd.trim() === '' ? {} : { cwd: draft.cwd.trim() }),
      ...draft.rest,
    };
  }
  return {
    url: draft.url.trim(),
    ...(draft.auth === 'oauth' ? { auth: 'oauth' } : {}),
    ...some('headers', Object.fromEntries([...authorization(draft), ...listed(draft.headers, true)])),
    ...draft.rest,
  };
}

/** Whether an entry still says `***` somewhere: stored values stand for it. */
export const isMasked = (entry: Entry): boolean => JSON.stringify(entry).includes('***');
