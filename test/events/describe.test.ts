import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { catalogue } from '../../src/events/catalogue.ts';
import { fact } from '../../src/events/define.ts';
import { describeCatalogue } from '../../src/events/describe.ts';
import { projectRoot } from '../support/paths.ts';

const page = join(projectRoot, 'docs/events.md');

describe('The page of one fact', () => {
  const text = describeCatalogue({
    BellRung: fact({
      stream: 'daemon',
      schema: 4,
      about: 'Somebody rang the bell.',
      data: z.object({
        strokes: z.number().int().describe('How often.'),
        tone: z.enum(['high', 'low']),
        by: z.string().nullable().optional().describe('Who | what.'),
        where: z.object({ deck: z.number() }).nullable().describe('The place.'),
        names: z.array(z.string()),
        tools: z.array(z.looseObject({ name: z.string() })),
        more: z.record(z.string(), z.unknown()),
      }),
    }),
    BellMuted: fact({ stream: 'daemon', schema: 1, about: 'Silence.', data: z.object({}) }),
  });

  it('names schema and sentence', () => {
    expect(text).toContain('### BellRung\n\nSchema 4. Somebody rang the bell.\n\n| Member | Type | Meaning |');
  });

  it.each([
    ['| `strokes` | integer | How often. |'],
    ['| `tone` | `high`, `low` |  |'],
    ['| `by` | string or null, optional | Who \\| what. |'],
    ['| `where` | object or null | The place. |'],
    ['| `where.deck` | number |  |'],
    ['| `names` | list of string |  |'],
    ['| `tools` | list of object |  |'],
    ['| `more` | object |  |'],
  ])('has the line %s', (line) => {
    expect(text.split('\n')).toContain(line);
  });

  it('says so when a fact has no members', () => {
    expect(text).toContain('### BellMuted\n\nSchema 1. Silence.\n\nIt has no members.\n');
  });
});

describe('docs/events.md', () => {
  const text = describeCatalogue(catalogue);
  if (process.env.UPDATE_DOCS === '1') writeFileSync(page, text);

  it('is what the definitions say; UPDATE_DOCS=1 writes it anew', () => {
    expect(existsSync(page) ? readFileSync(page, 'utf8') : '').toBe(text);
  });

  it('has a section for every fact and explains the envelope', () => {
    for (const type of Object.keys(catalogue)) expect(text).toContain(`\n### ${type}\n`);
    for (const member of ['position', 'stream', 'version', 'type', 'schema', 'at', 'cause', 'data']) {
      expect(text).toContain(`\n| \`${member}\` | `);
    }
  });
});
