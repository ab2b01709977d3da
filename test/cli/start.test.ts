import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/root.ts';

const statement = /^(?:import|export)\s+((?:type\s+)?(?:\{[^}]*\}|\*(?:\s+as\s+\w+)?|\w+))\s+from\s+'([^']+)'/gm;

/** Everything that is loaded before a command runs: value imports, from file to file. */
function loadedAtStart(entry: string): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    const source = readFileSync(file, 'utf8');
    for (const [, clause = '', from = ''] of source.matchAll(statement)) {
      const named = /^\{([^}]*)\}$/
        .exec(clause)?.[1]
        ?.split(',')
        .map((name) => name.trim());
      const onlyTypes = clause.startsWith('type ') || named?.every((name) => name === '' || name.startsWith('type '));
      if (onlyTypes) continue;
      if (from.startsWith('.')) visit(resolve(dirname(file), from));
      else if (!from.startsWith('node:')) packages.add(from);
    }
  };
  visit(entry);
  return { files, packages };
}

describe('the start of a command', () => {
  const { files, packages } = loadedAtStart(join(packageRoot(), 'src/cli/main.ts'));

  it('loads no package besides the parser of the command line', () => {
    expect([...packages]).toEqual(['commander']);
  });

  it('loads every command, and nothing of the daemon but what is small', () => {
    const names = [...files].map((file) => file.slice(join(packageRoot(), 'src/').length));
    expect(names).toContain('cli/commands/status.ts');
    expect(names.filter((name) => !/^(cli|api)\//.test(name)).sort()).toEqual([
      'config/home.ts',
      'config/nearest.ts',
      'config/paths.ts',
      'config/secrets.ts',
      'daemon/token.ts',
      'hash.ts',
      'replay/bundle.contents.ts',
      'replay/changes.ts',
      'replay/fact.words.ts',
      'replay/timeline.ts',
      'replay/words.ts',
      'root.ts',
      'visible.ts',
    ]);
  });
});
