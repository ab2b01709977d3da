/** What is pasted into the form: JSON or a command line as READMEs show them, read as an entry. Pure. */
import { type ParseError, parse } from 'jsonc-parser';
import { entriesIn, isIncoming, readIncoming } from '../clients/incoming.ts';
import { suggestName } from '../config/names.ts';
import { type Form, formOf } from './form.ts';
import { splitWords } from './words.ts';

export interface Pasted {
  readonly form: Form;
  readonly said: string;
}

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** null: nothing that describes a server; it is to go where the cursor is. */
export function readPaste(text: string, form: Form): Pasted | null {
  const trimmed = text
    .trim()
    .replace(/^```\w*\n?|```$/g, '')
    .trim();
  if (trimmed.startsWith('{') || /^"[^"]+"\s*:\s*\{/.test(trimmed)) return fromJson(trimmed, form);
  return fromLine(trimmed, form);
}

function fromJson(text: string, form: Form): Pasted | null {
  const errors: ParseError[] = [];
  // A piece out of the middle of a file: `"name": {…}`.
  const whole = text.startsWith('{') ? text : `{${text.replace(/,\s*$/, '')}}`;
  const value: unknown = parse(whole, errors, { allowTrailingComma: true });
  if (errors.length > 0 || !isMembers(value)) return null;
  const alone = 'command' in value || 'url' in value || 'httpUrl' in value || 'serverUrl' in value;
  const entries = alone ? { '': value } : (entriesIn(value) ?? value);
  const [first, ...others] = Object.entries(entries).flatMap(([name, raw]) => {
    const read = readIncoming(name, raw, ['colon', 'braces', 'dollar']);
    return isIncoming(read) ? [read] : [];
  });
  if (first === undefined) return null;
  const name = first.name === '' ? nameFrom(first.entry, form) : suggestName(first.name);
  const more =
    others.length > 0 ? ` It held ${others.length} more, which are left: watchkeeper import takes them all.` : '';
  return {
    form: filled(name, first.entry, form),
    said: `Filled in from JSON.${[...first.notes, ''].join(' ')}${more}`,
  };
}

const assignment = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s;

/** `FOO=bar npx -y thing`, an address, or `… mcp add name -- npx -y thing` of some client. */
function fromLine(text: string, form: Form): Pasted | null {
  const joined = text.replace(/\\\r?\n\s*/g, ' ').trim();
  if (joined.includes('\n')) return null;
  if (/^https?:\/\/\S+$/.test(joined)) {
    if (form.focus === 'headers' || form.focus === 'args' || form.focus === 'env') return null;
    return {
      form: filled(nameFrom({ url: joined }, form), { url: joined }, form),
      said: 'Filled in from the address.',
    };
  }
  const words = splitWords(joined.replace(/^\$\s+/, ''));
  // A single word, or one typed where words are expected, is a text like any other.
  if (words === null || words.length < 2 || form.focus === 'args' || form.focus === 'env' || form.focus === 'headers')
    return null;
  return fromWords(words, form);
}

/** What a client's own `mcp add` is given: words before `--`, the command behind it. */
interface Added {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly line: readonly string[];
}

const takesValue = /^(?:-[tseH]|--(?:transport|scope|env|header|client-id|callback-port))$/;

function readAdd(given: readonly string[]): Added {
  const split = given.indexOf('--');
  const before = split < 0 ? given : given.slice(0, split);
  const words: string[] = [];
  const env: Record<string, string> = {};
  const headers: Record<string, string> = {};
  for (let index = 0; index < before.length; index += 1) {
    const word = before[index] ?? '';
    if (!word.startsWith('-')) words.push(word);
    else if (takesValue.test(word)) {
      index += 1;
      const value = before[index] ?? '';
      const [, key, text] = assignment.exec(value) ?? [];
      if (/^(?:-e|--env)$/.test(word) && key !== undefined && text !== undefined) env[key] = text;
      const [, name, header] = /^([^:]+):\s*(.*)$/.exec(value) ?? [];
      if (/^(?:-H|--header)$/.test(word) && name !== undefined && header !== undefined) headers[name] = header;
    }
  }
  return { words, env, headers, line: split < 0 ? words.slice(1) : given.slice(split + 1) };
}

const unlessEmpty = (key: string, value: object): Members => (Object.keys(value).length === 0 ? {} : { [key]: value });

const said = 'Filled in from the command line.';

function fromAdd(given: readonly string[], form: Form): Pasted | null {
  const { words, env, headers, line } = readAdd(given);
  const [name, url] = words;
  const [command, ...args] = line;
  if (name === undefined || command === undefined) return null;
  const entry =
    url !== undefined && /^https?:\/\//.test(url)
      ? { url, ...unlessEmpty('headers', headers) }
      : { command, ...unlessEmpty('args', args), ...unlessEmpty('env', env) };
  return { form: filled(suggestName(name), entry, form), said };
}

function fromWords(words: readonly string[], form: Form): Pasted | null {
  const added = words.indexOf('add');
  if (added > 0 && added <= 3 && words.slice(0, added).includes('mcp')) return fromAdd(words.slice(added + 1), form);
  const env: Record<string, string> = {};
  let begin = words[0] === 'env' ? 1 : 0;
  for (; begin < words.length; begin += 1) {
    const [, key, value] = assignment.exec(words[begin] ?? '') ?? [];
    if (key === undefined || value === undefined) break;
    env[key] = value;
  }
  const [command, ...args] = words.slice(begin);
  if (command === undefined || !looksLikeCommand(command)) return null;
  const entry = { command, ...unlessEmpty('args', args), ...unlessEmpty('env', env) };
  return { form: filled(nameFrom(entry, form), entry, form), said };
}

const runners =
  /^(?:npx|bunx|pnpx|uvx|uv|node|bun|deno|python3?|docker|podman|pipx|npm|pnpm|yarn|cargo|go|java|dotnet|ruby|php)(?:\.exe|\.cmd)?$/;
const looksLikeCommand = (command: string): boolean =>
  runners.test(command.split(/[\\/]/).at(-1) ?? '') || /[\\/]/.test(command);

/** A name that a person has typed stays; else one out of what is pasted. */
function nameFrom(entry: Members, { fields, editing }: Form): string {
  const typed = editing ?? fields.name.value.trim();
  if (typed !== '') return typed;
  if (typeof entry.url === 'string') {
    const host = URL.canParse(entry.url) ? new URL(entry.url).hostname : 'server';
    return suggestName(host.replace(/^(?:www|mcp|api)\./, '').split('.')[0] ?? 'server');
  }
  const args = Array.isArray(entry.args) ? entry.args.map(String) : [];
  const packaged = args.find(
    (arg) => !arg.startsWith('-') && /^[@\w][\w@./-]*$/.test(arg) && !['run', 'exec', 'dlx', 'tool'].includes(arg),
  );
  const last = (packaged ?? String(entry.command ?? '')).split('/').at(-1) ?? '';
  return suggestName(
    last.replace(/@[^@]*$|\.\w+$/g, '').replace(/^(?:mcp-)?server-|^mcp-|-mcp(?:-server)?$|-server$/g, ''),
  );
}

const filled = (name: string, entry: Members, { editing, base }: Form): Form => {
  const form = formOf(editing ?? name, entry, editing);
  return { ...form, base: { ...base, ...form.base }, focus: editing === null ? 'name' : form.focus };
};
