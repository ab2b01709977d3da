import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../support/paths.ts';
import { page } from './pages.ts';

const text = page('docs/security.md');
/** Rows of its tables, without their heads. */
const rows = text
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| ---') && !line.endsWith('| Held by |'))
  .map((line) => line.split(' | '));
/** A link to a test file, and the title in it. */
const CITED = /\[[^\]]+\]\(\.\.\/(test\/[\w./-]+)\) "([^"]+)"/g;
const cited = rows.flatMap((row) =>
  [...(row[2] ?? '').matchAll(CITED)].map(([, file = '', title = '']) => [file, title]),
);

const titlesIn = (file: string): string[] =>
  [
    ...readFileSync(join(projectRoot, file), 'utf8').matchAll(
      /(?:\b(?:it|describe)|\]\)|\))(?:\.\w+)*\(\s*(['"`])((?:(?!\1)[\s\S]|\\\1)*?)\1/g,
    ),
  ].map(([, , title = '']) => title.replaceAll("\\'", "'"));

describe('docs/security.md', () => {
  it('has a table for every attacker', () => {
    const attackers = [...text.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
    expect(attackers.slice(1, 6)).toEqual([
      'A web page',
      'A malicious server',
      "A model that follows somebody else's words",
      'Another user of the machine',
      'Whoever gets hold of the disk',
    ]);
    expect(rows.length).toBeGreaterThan(30);
  });

  it.each(rows)('names what stops %s, and a test for it', (tried, stops, held = '') => {
    expect(tried.length).toBeGreaterThan(5);
    expect(stops?.length).toBeGreaterThan(10);
    expect([...held.matchAll(CITED)].length).toBeGreaterThan(0);
  });

  it.each(cited)('%s has a test "%s"', (file = '', title = '') => {
    expect(existsSync(join(projectRoot, file)), file).toBe(true);
    expect(titlesIn(file)).toContain(title);
  });
});
