/** The pages of the project as tests see them: their text, their links, and what stands in them as code. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { projectRoot } from '../support/paths.ts';

export interface Page {
  /** From the project's root, with slashes. */
  readonly name: string;
  readonly text: string;
}

const markdownUnder = (dir: string): string[] =>
  readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => join(entry.parentPath, entry.name));

/** Every markdown file that belongs to the project. */
export function pages(): Page[] {
  const top = readdirSync(projectRoot)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(projectRoot, name));
  const below = ['docs', 'bench', 'test', 'examples'].flatMap((folder) => markdownUnder(join(projectRoot, folder)));
  return [...top, ...below]
    .map((file) => ({ name: relative(projectRoot, file).replaceAll('\\', '/'), text: readFileSync(file, 'utf8') }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function page(name: string): string {
  return readFileSync(join(projectRoot, name), 'utf8');
}

const FENCE = /^```(\w*)[^\n]*\n([\s\S]*?)^```/gm;

/** The text without fenced code, in which neither links nor headings are meant. */
export const prose = (text: string): string => text.replace(FENCE, '');

/** Where links lead to, as written. */
export function linksIn(text: string): string[] {
  const plain = prose(text).replace(/`[^`\n]*`/g, '');
  const inline = [...plain.matchAll(/\]\(([^()\s]+)\)/g)];
  const references = [...plain.matchAll(/^\[[^\]]+\]:\s*(\S+)/gm)];
  return [...inline, ...references].map(([, target = '']) => target);
}

/** Names by which headings are linked to, as GitHub makes them: later ones of the same text are numbered. */
export function anchorsIn(text: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = [...prose(text).matchAll(/^#{1,6} +(.+?) *#*$/gm)].map(([, heading = '']) => {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/ /g, '-');
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    return before === 0 ? slug : `${slug}-${before}`;
  });
  return new Set(anchors);
}

/** Lines a person would type: from shell blocks, without prompts and comments, and code within sentences. */
export function codeIn(text: string): string[] {
  const blocks = [...text.matchAll(FENCE)]
    .filter(([, language = '']) => ['sh', 'console', 'ini'].includes(language))
    .flatMap(([, language, body = '']) => {
      const lines = body.replace(/\\\n\s*/g, ' ').split('\n');
      // In a session only what follows a prompt was typed; the rest is output.
      return language === 'console'
        ? lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2))
        : lines;
    });
  const inline = [...prose(text).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  return [...blocks, ...inline];
}

/** Rows of the first table under a heading, cells trimmed, without its header. */
export function tableUnder(text: string, heading: string): string[][] {
  const start = text.indexOf(`\n${heading}\n`);
  if (start < 0) throw new Error(`No heading "${heading}".`);
  const [table] = /(?:^\|.*\n)+/m.exec(text.slice(start + heading.length + 1)) ?? [];
  return (table ?? '')
    .trim()
    .split('\n')
    .slice(2)
    .map((row) =>
      row
        .replace(/^\||\|$/g, '')
        .split('|')
        .map((cell) => cell.trim()),
    );
}
