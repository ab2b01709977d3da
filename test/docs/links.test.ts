import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../support/paths.ts';
import { anchorsIn, linksIn, pages } from './pages.ts';

const isElsewhere = (target: string): boolean => /^[a-z][a-z0-9+.-]*:/i.test(target);

/** What is wrong with a link, or null. */
function fault(from: string, target: string): string | null {
  const [path = '', anchor] = target.split('#', 2);
  const file = path === '' ? join(projectRoot, from) : join(projectRoot, dirname(from), decodeURIComponent(path));
  if (!existsSync(file)) return `${target}: there is no such file`;
  if (anchor === undefined) return null;
  if (statSync(file).isDirectory() || !file.endsWith('.md')) return `${target}: only pages have headings`;
  return anchorsIn(readFileSync(file, 'utf8')).has(anchor) ? null : `${target}: there is no such heading`;
}

describe('every page', () => {
  it.each(pages().map(({ name, text }) => [name, text]))('%s links only to what is there', (name, text) => {
    const faults = linksIn(text)
      .filter((target) => !isElsewhere(target))
      .map((target) => fault(name, target))
      .filter((found) => found !== null);
    expect(faults).toEqual([]);
  });

  it('is reached from the README', () => {
    const known = new Map(pages().map(({ name, text }) => [name, text]));
    const reached = new Set<string>();
    const visit = (name: string): void => {
      const text = known.get(name);
      if (text === undefined || reached.has(name)) return;
      reached.add(name);
      for (const target of linksIn(text).filter((link) => !isElsewhere(link) && !link.startsWith('#'))) {
        const to = join(dirname(name), target.split('#', 1)[0] ?? '').replaceAll('\\', '/');
        // A link to a folder leads to every page in it.
        for (const page of known.keys()) if (page === to || dirname(page) === to.replace(/\/$/, '')) visit(page);
      }
    };
    visit('README.md');
    expect([...known.keys()].filter((name) => /^(?:[A-Z]+\.md|docs\/)/.test(name) && !reached.has(name))).toEqual([]);
  });
});

describe('a page is read as GitHub reads it', () => {
  it('headings become anchors, numbered where they repeat', () => {
    const text =
      '# A server entry\n## What `at=` does\n## Twice\n```sh\n# no heading\n```\n## Twice\n## [0.1.0] - soon\n';
    expect([...anchorsIn(text)]).toEqual(['a-server-entry', 'what-at-does', 'twice', 'twice-1', '010---soon']);
  });

  it('links are found in sentences and in lists of references, and not in code', () => {
    const text = 'See [a](a.md#b) and `[c](c.md)`.\n```md\n[d](d.md)\n```\n[e]: e.md\n';
    expect(linksIn(text)).toEqual(['a.md#b', 'e.md']);
  });
});
