/** Where the installed package is, whether it runs from `src` or from the bundle in `dist`. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Manifest {
  readonly name?: unknown;
  readonly version?: unknown;
}

function manifestIn(dir: string): Manifest | null {
  const file = join(dir, 'package.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest) : null;
}

function findPackage(): { root: string; version: string } {
  let dir = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const manifest = manifestIn(dir);
    if (manifest?.name === 'watchkeeper') return { root: dir, version: String(manifest.version) };
    const parent = dirname(dir);
    if (parent === dir) throw new Error(`No package.json of watchkeeper above ${fileURLToPath(import.meta.url)}.`);
    dir = parent;
  }
}

const found = findPackage();

/** The folder that holds `package.json`, `migrations` and `dist`. */
export function packageRoot(): string {
  return found.root;
}

export function packageVersion(): string {
  return found.version;
}
