import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeClients } from '../../src/clients/describe.ts';
import { knownClients } from '../../src/clients/known.ts';
import { projectRoot } from '../support/paths.ts';

const page = join(projectRoot, 'docs/clients.md');
const markers = /(<!-- made from src\/clients\/known -->\n\n)[\s\S]*?(\n<!-- end -->)/;

describe('docs/clients.md', () => {
  it('holds the tables that are made from the descriptors (UPDATE_DOCS=1 writes them)', () => {
    const text = readFileSync(page, 'utf8');
    const wanted = text.replace(
      markers,
      (_whole, begin: string, end: string) => begin + describeClients(knownClients) + end,
    );
    if (process.env.UPDATE_DOCS === '1') writeFileSync(page, wanted);
    expect(readFileSync(page, 'utf8')).toBe(wanted);
    expect(wanted).toContain('| Antigravity | `mcp_<entry>_<tool>` | 64 |');
  });

  it('has a source and a date for every client', () => {
    for (const { id, sources } of knownClients) {
      expect([id, sources.length > 0]).toEqual([id, true]);
      for (const { about, found, date } of sources) {
        expect(about).not.toBe('');
        expect(found).not.toBe('');
        expect(date).toMatch(/^(?:20\d\d-\d\d|undated)$/);
      }
    }
  });
});
