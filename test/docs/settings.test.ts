import { describe, expect, it } from 'vitest';
import { limitsOf } from '../../src/config/limits.ts';
import { entryKeys, entrySchema } from '../../src/config/schema.ts';
import { settingDefinitions, settingNames } from '../../src/config/settings.schema.ts';
import { variablesFor } from '../../src/config/settings.ts';
import { page, tableUnder } from './pages.ts';

const text = page('docs/settings.md');
/** What stands between the first backticks of a cell. */
const code = (cell = ''): string => /`([^`]*)`/.exec(cell)?.[1] ?? '';
const codes = (cell = ''): string[] => [...cell.matchAll(/`([^`]*)`/g)].map(([, found = '']) => found);

describe('docs/settings.md', () => {
  const rows = tableUnder(text, '## The settings file');

  it('lists every setting and no other, in the order of the schema', () => {
    expect(rows.map(([name]) => code(name))).toEqual(settingNames);
  });

  it.each(settingNames.map((name) => [name]))('says the default and the variable of %s', (name) => {
    const [, fallback, variable] = rows.find(([cell]) => code(cell) === name) ?? [];
    expect(JSON.parse(code(fallback))).toEqual(settingDefinitions[name].parse(undefined));
    expect(code(variable)).toBe(variablesFor(name)[0]);
  });

  it('gives the unit of every time', () => {
    const times = rows.filter(([name]) => code(name).endsWith('Ms'));
    expect(times.length).toBeGreaterThan(0);
    for (const [, , , meaning] of times) expect(meaning).toContain('milliseconds');
  });

  const entryRows = tableUnder(text, '## A server entry');

  it('lists every key of an entry and no other', () => {
    expect(entryRows.flatMap(([keys]) => codes(keys)).sort()).toEqual([...entryKeys].sort());
  });

  it.each(Object.entries(limitsOf(entrySchema.parse({ command: 'node' }))))(
    'says the default of the limit %s',
    (key, fallback) => {
      const [, , written = ''] = entryRows.find(([keys]) => codes(keys).includes(key)) ?? [];
      expect(written === '' ? null : Number(code(written))).toBe(fallback);
    },
  );
});
