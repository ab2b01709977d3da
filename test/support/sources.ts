/** The project's own text, and what its modules import. There is no compiler to ask, so the text is read. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { projectRoot } from './paths.ts';

export interface Import {
  /** Of ours: its path, `src/events/log.ts`. Of others: as written. */
  readonly target: string;
  readonly ours: boolean;
  /** Leaves nothing behind at run time. */
  readonly typeOnly: boolean;
  /** Loaded when it is needed, not with the file. */
  readonly dynamic: boolean;
}

export interface Source {
  /** From the root of the project, with slashes. */
  readonly path: string;
  readonly text: string;
  /** The text with the content of comments, texts and patterns taken out; lines stay where they are. */
  readonly code: string;
  readonly imports: readonly Import[];
}

/** Every TypeScript file under a folder of the project, sorted by path. */
export function sourcesIn(folder: string): readonly Source[] {
  return readdirSync(join(projectRoot, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) =>
      posix.join(folder, entry.parentPath.slice(join(projectRoot, folder).length).replaceAll('\\', '/'), entry.name),
    )
    .sort()
    .map((path) => {
      const text = readFileSync(join(projectRoot, path), 'utf8');
      return { path, text, code: codeOf(text), imports: importsOf(path, text) };
    });
}

const STATIC = /^(?:import|export)\s+(type\s+)?(?:([^'";]*?)\s+from\s+)?'([^'\n]+)'/gm;
const DYNAMIC = /(\btypeof\s+)?\bimport\(\s*'([^'\n]+)'\s*\)/g;

export function importsOf(path: string, text: string): Import[] {
  const found = (specifier: string, typeOnly: boolean, dynamic: boolean): Import => {
    const ours = specifier.startsWith('.');
    return { target: ours ? posix.join(dirname(path), specifier) : specifier, ours, typeOnly, dynamic };
  };
  const fixed = [...text.matchAll(STATIC)].map(([, type, names = '', specifier = '']) =>
    found(specifier, type !== undefined || areTypes(names), false),
  );
  const late = [...text.matchAll(DYNAMIC)].map(([, type, specifier = '']) =>
    found(specifier, type !== undefined, true),
  );
  return [...fixed, ...late];
}

/** `{ type A, type B }` */
function areTypes(names: string): boolean {
  const list = /^\{(.*)\}$/s
    .exec(names.trim())?.[1]
    ?.split(',')
    .filter((name) => name.trim() !== '');
  return list !== undefined && list.length > 0 && list.every((name) => /^\s*type\s/.test(name));
}

/** What may stand before a slash that begins a pattern. */
const BEFORE_PATTERN = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|void|await|yield))\s*$/;

/** Takes out what is no code. What is computed within a text stays, in brackets. */
export function codeOf(text: string): string {
  let code = '';
  let at = 0;
  /** Open braces of each `${` we are in. */
  const within: number[] = [];
  const blank = (end: number): void => {
    code += text.slice(at, end).replace(/[^\n]/g, ' ');
    at = end;
  };
  const template = (from: number): void => {
    let end = from;
    while (end < text.length && text[end] !== '`' && !text.startsWith('${', end)) end += text[end] === '\\' ? 2 : 1;
    blank(end);
    if (text.startsWith('${', at)) {
      code += ' (';
      at += 2;
      within.push(0);
    } else blank(at + 1);
  };
  while (at < text.length) {
    const char = text[at] ?? '';
    const rest = text.slice(at, at + 2);
    if (rest === '//') blank(endOf(text, '\n', at));
    else if (rest === '/*') blank(endOf(text, '*/', at) + 2);
    else if (char === "'" || char === '"') blank(closing(text, at, char) + 1);
    else if (char === '`') template(at + 1);
    else if (char === '/' && BEFORE_PATTERN.test(code.slice(-80))) blank(patternEnd(text, at));
    else if (char === '}' && within.at(-1) === 0) {
      within.pop();
      code += ')';
      at += 1;
      template(at);
    } else {
      const open = within.length - 1;
      if (open >= 0 && (char === '{' || char === '}')) within[open] = (within[open] ?? 0) + (char === '{' ? 1 : -1);
      code += char;
      at += 1;
    }
  }
  return code;
}

function endOf(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from);
  return end < 0 ? text.length : end;
}

function closing(text: string, from: number, quote: string): number {
  let end = from + 1;
  while (end < text.length && text[end] !== quote) end += text[end] === '\\' ? 2 : 1;
  return end;
}

/** Behind the slash that ends a pattern and its flags; slashes in brackets are part of it. */
function patternEnd(text: string, from: number): number {
  let inBrackets = false;
  let end = from + 1;
  for (; end < text.length && (inBrackets || text[end] !== '/'); end += 1) {
    if (text[end] === '\\') end += 1;
    else if (text[end] === '[') inBrackets = true;
    else if (text[end] === ']') inBrackets = false;
  }
  const [flags = ''] = /^[a-z]*/.exec(text.slice(end + 1)) ?? [];
  return end + 1 + flags.length;
}

/** Lines of the code that a pattern matches, as `path:line: text`. */
export function linesWith(sources: readonly Pick<Source, 'path' | 'text' | 'code'>[], pattern: RegExp): string[] {
  return sources.flatMap(({ path, text, code }) => {
    const lines = text.split('\n');
    return code
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${lines[index]?.trim()}`] : []));
  });
}

/** Files that belong to the repository or will, without the lock file; null where there is no repository. */
export function filesOfRepository(): readonly string[] | null {
  // Whoever owns the folder, and whatever repository the environment points at.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));
  const args = [
    '-c',
    'safe.directory=*',
    'ls-files',
    '-z',
    '--cached',
    '--others',
    '--exclude-standard',
    '--deduplicate',
  ];
  try {
    return execFileSync('git', args, {
      cwd: projectRoot,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 1e8,
    })
      .split('\0')
      .filter((path) => path !== '' && path !== 'package-lock.json')
      .sort();
  } catch {
    return null;
  }
}
