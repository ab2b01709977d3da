/** What people copy out of the README of a server: JSON of some client's configuration, or a command line. Pure. */
import { plainValue, readTree } from '../config/jsonc.ts';
import { isObject, memberOf } from '../config/raw.ts';
import { type Entry, readPair } from './entry.draft.ts';
import { splitWords } from './shell.words.ts';

export type Pasted =
  /** `others`: how many more servers the text holds. */
  | { readonly ok: true; readonly name: string | null; readonly entry: Entry; readonly others: number }
  | { readonly ok: false; readonly message: string };

/** Reads a pasted text; null when it is neither JSON, nor an address, nor a command of several words. */
export function readPasted(given: string): Pasted | null {
  const text = given
    .trim()
    .replace(/^```\w*\n([\s\S]*?)\n?```$/, '$1')
    .trim();
  if (text === '') return null;
  if (/^[{"]/.test(text)) return readSnippet(text);
  if (/^https?:\/\/\S+$/i.test(text)) return { ok: true, name: null, entry: { url: text }, others: 0 };
  return readCommandLine(text.replace(/^[$>#]\s+/, ''));
}

// JSON

/** Where clients keep their servers. */
const roots = ['mcpServers', 'servers', 'mcp', 'context_servers', 'mcp_servers'] as const;

function readSnippet(text: string): Pasted | null {
  let tree = readTree(text);
  // `"memory": {…}` without the braces around it, as it often stands in a README.
  if (!tree.ok || tree.root.type === 'string') tree = readTree(`{${text.replace(/,\s*$/, '')}}`);
  if (!tree.ok) {
    return text.startsWith('{') || /^"[^"]*"\s*:/.test(text)
      ? { ok: false, message: 'This looks like JSON, but something in it is wrong or missing.' }
      : null;
  }
  const found = serversIn(plainValue(tree.root));
  const [first] = found;
  if (!first) return { ok: false, message: 'There is no server in this JSON: no "command" and no "url".' };
  return { ok: true, name: first[0], entry: first[1], others: found.length - 1 };
}

type Found = readonly [name: string | null, entry: Entry];

function serversIn(value: unknown, depth = 0): readonly Found[] {
  if (!isObject(value) || depth > 3) return [];
  const own = entryFrom(value);
  if (own !== null) {
    const name = memberOf(value, 'name');
    return [[typeof name === 'string' ? name : null, own]];
  }
  for (const root of roots) {
    const inside = memberOf(value, root);
    if (isObject(inside)) return serversIn(inside, depth + 1);
  }
  return Object.entries(value).flatMap(([name, member]): Found[] => {
    const entry = isObject(member) ? entryFrom(member) : null;
    return entry === null ? [] : [[name, entry]];
  });
}

/** An entry of any client as one of ours; null when it is none. Members that mean nothing here are left out. */
function entryFrom(value: Entry): Entry | null {
  const pick = (...keys: string[]): unknown => keys.map((key) => memberOf(value, key)).find((one) => one !== undefined);
  const command = pick('command', 'cmd');
  const [program, ...inline] = Array.isArray(command) ? command.map(String) : [command];
  const url = pick('url', 'serverUrl', 'httpUrl', 'uri');
  const kept = (key: string, member: unknown): Entry => {
    const empty = member === undefined || (isObject(member) && Object.keys(member).length === 0);
    return empty ? {} : { [key]: mapTexts(member) };
  };
  if (typeof program === 'string' && program !== '') {
    const more = memberOf(value, 'args');
    const args = [...inline, ...(Array.isArray(more) ? more.map(String) : [])];
    return {
      command: variables(program),
      ...kept('args', args.length > 0 ? args : undefined),
      ...kept('env', pick('env', 'environment', 'envs')),
      ...kept('cwd', memberOf(value, 'cwd')),
    };
  }
  if (typeof url !== 'string' || url === '') return null;
  const auth = memberOf(value, 'auth');
  return {
    url: variables(url),
    ...(memberOf(value, 'type') === 'sse' ? { type: 'sse' } : {}),
    ...(auth === 'oauth' ? { auth } : {}),
    ...kept('headers', pick('headers', 'http_headers', 'requestInit')),
  };
}

function mapTexts(value: unknown): unknown {
  if (typeof value === 'string') return variables(value);
  if (Array.isArray(value)) return value.map(mapTexts);
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapTexts(one)]));
  return value;
}

/** `${env:NAME}` and `${input:some-name}` of editors as `${NAME}`. */
const variables = (text: string): string =>
  text
    .replace(/\$\{env:([A-Za-z_]\w*)\}/g, `\${$1}`)
    .replace(/\$\{input:([\w.-]+)\}/g, (_, name: string) => `\${${name.toUpperCase().replace(/[^A-Z0-9_]/g, '_')}}`);

// Command lines

/** Options of the `add` commands of clients that take a value: what becomes of it. */
const options: Readonly<Record<string, 'env' | 'header' | 'transport' | 'url' | 'nothing'>> = {
  '-e': 'env',
  '--env': 'env',
  '-H': 'header',
  '--header': 'header',
  '-t': 'transport',
  '--transport': 'transport',
  '--url': 'url',
  '-s': 'nothing',
  '--scope': 'nothing',
};

function readCommandLine(text: string): Pasted | null {
  const read = splitWords(text.replace(/\n+(?=\s*-)/g, ' '));
  if (!read.ok) return null;
  const words = read.words;
  const adding = addCommand(words);
  if (adding !== null) return adding;
  if (words.length < 2 || /\n\s*\S/.test(text.replace(/\\\n/g, ''))) return null;
  return plainCommand(words, null);
}

/** `KEY=VALUE program args…` */
function plainCommand(words: readonly string[], name: string | null, env: Entry = {}): Pasted | null {
  const first = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  const program = words[first];
  if (program === undefined || !/^[\w@./~$\\:+-]+$/.test(program)) return null;
  const before = words.slice(0, first).flatMap((word) => {
    const pair = readPair(word, false);
    return pair === null ? [] : [pair];
  });
  const variables = { ...env, ...Object.fromEntries(before) };
  const args = words.slice(first + 1);
  return {
    ok: true,
    name,
    others: 0,
    entry: {
      command: program,
      ...(args.length > 0 ? { args } : {}),
      ...(Object.keys(variables).length > 0 ? { env: variables } : {}),
    },
  };
}

/** `claude mcp add …`, `codex mcp add …`, `gemini mcp add …`, `watchkeeper add …`, `code --add-mcp '{…}'`; null for others. */
function addCommand(words: readonly string[]): Pasted | null {
  const [program = '', second, third] = words;
  if (second === '--add-mcp' && third) return readSnippet(third);
  const ours = program === 'watchkeeper' && second === 'add';
  if (!ours && !(second === 'mcp' && /^add/.test(third ?? ''))) return null;
  if (third === 'add-json') {
    const [name, json = ''] = words.slice(3).filter((word) => !word.startsWith('-'));
    const found = readSnippet(json);
    return found?.ok ? { ...found, name: name ?? null } : found;
  }
  const env: Record<string, unknown> = {};
  const headers: Record<string, unknown> = {};
  const plain: string[] = [];
  let [sse, url]: [boolean, string | null] = [false, null];
  const rest = words.slice(ours ? 2 : 3);
  const split = rest.indexOf('--');
  const before = split < 0 ? rest : rest.slice(0, split);
  for (let at = 0; at < before.length; at += 1) {
    const word = before[at] ?? '';
    const [flag = '', inline] = word.startsWith('--') ? word.split(/=(.*)/s) : [word];
    const kind = options[flag];
    if (kind === undefined) {
      // Of a command without `--` in front of it everything belongs to it from its first word on.
      if (!word.startsWith('-') || plain.length > 1) plain.push(word);
      continue;
    }
    if (inline === undefined) at += 1;
    const value = inline ?? before[at] ?? '';
    if (kind === 'url') url = value;
    if (kind === 'transport') sse = value === 'sse';
    const pair = kind === 'env' || kind === 'header' ? readPair(value, kind === 'header') : null;
    if (pair) (kind === 'env' ? env : headers)[pair[0]] = pair[1];
  }
  const [name = null, target, ...args] = plain;
  const address = url ?? (target !== undefined && /^https?:\/\//i.test(target) ? target : null);
  if (address !== null) {
    const some = Object.keys(headers).length > 0 ? { headers } : {};
    return { ok: true, name, entry: { url: address, ...(sse ? { type: 'sse' } : {}), ...some }, others: 0 };
  }
  const command = split >= 0 ? rest.slice(split + 1) : target === undefined ? [] : [target, ...args];
  return command.length === 0 ? null : plainCommand(command, name, env);
}
