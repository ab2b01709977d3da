import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../src/root.ts';
import { promises } from './promises.ts';

describe('what is promised', () => {
  it.each(Object.entries(promises))('%s is held by a test that exists', (_id, { heldBy: [file, title] }) => {
    const path = join(packageRoot(), file);
    expect(existsSync(path), `${file} does not exist`).toBe(true);
    const titles = [
      ...readFileSync(path, 'utf8').matchAll(
        /\b(?:it|describe)(?:\.(?:each|for)\([\s\S]*?\))?\(\s*(['"`])([\s\S]*?)\1/g,
      ),
    ].map(([, , text = '']) => text);
    expect(
      titles.some((text) => text.includes(title)),
      `no title with "${title}" in ${file}`,
    ).toBe(true);
  });
});
