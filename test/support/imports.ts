/** What the files of `src` import, read from their text. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, normalize, relative } from 'node:path';
import { packageRoot } from '../../src/root.ts';

export interface Import {
  /** As in `src/actors/desk.ts`, or a package's name. */
  readonly target: string;
  /** Only types: gone when the program runs. */
  readonly typeOnly: boolean;
  /** Loaded when it is needed, not at the start. */
  readonly lazy: boolean;
}

export interface SourceFile {
  readonly file: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

const STATEMENT = /(?:^|\n)\s*(?:import|export)\s+(type\s+)?((?:[\w*\s{},$]|\s)*?)\s*(?:from\s+)?'([^']+)'/g;
const LAZY = /import\('([^']+)'\)/g;

const onlyTypes = (names: string): boolean => {
  const listed = names
    .replace(/^[^{]*\{|\}[^}]*$/g, '')
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  return /^\s*\{/.test(names) && listed.length > 0 && listed.every((name) => name.startsWith('type '));
};

export function sourceFiles(): SourceFile[] {
  const root = packageRoot();
  return readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const text = readFileSync(path, 'utf8');
      const target = (spelled: string): string =>
        spelled.startsWith('.') ? relative(root, normalize(join(entry.parentPath, spelled))) : spelled;
      return {
        file: relative(root, path),
        text,
        imports: [
          ...[...text.matchAll(STATEMENT)].map(([, type, names = '', from = '']) => ({
            target: target(from),
            typeOnly: type !== undefined || onlyTypes(names),
            lazy: false,
          })),
          ...[...text.matchAll(LAZY)].map(([, from = '']) => ({ target: target(from), typeOnly: false, lazy: true })),
        ],
      };
    })
    .sort((a, b) => (a.file < b.file ? -1 : 1));
}

/** Groups of files that need each other to be loaded: strongly connected parts of the graph of value imports. */
export function cyclesOf(files: readonly SourceFile[]): string[][] {
  const graph = new Map(
    files.map(({ file, imports }) => [file, imports.filter(({ typeOnly }) => !typeOnly).map(({ target }) => target)]),
  );
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (file: string): void => {
    index.set(file, index.size);
    low.set(file, index.get(file) ?? 0);
    stack.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!graph.has(next)) continue;
      if (!index.has(next)) {
        visit(next);
        low.set(file, Math.min(low.get(file) ?? 0, low.get(next) ?? 0));
      } else if (stack.includes(next)) low.set(file, Math.min(low.get(file) ?? 0, index.get(next) ?? 0));
    }
    if (low.get(file) !== index.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1 || graph.get(file)?.includes(file)) cycles.push(group);
  };
  for (const file of graph.keys()) if (!index.has(file)) visit(file);
  return cycles;
}
