import { describe, expect, it } from 'vitest';
import { callTable } from '../../src/actors/call/call.rules.ts';
import { serverTable } from '../../src/actors/server/server.rules.ts';
import type { Table } from '../../src/actors/table.ts';
import { page, tableUnder } from './pages.ts';

/** The table as the page writes it: facts in any order. */
const written = (heading: string): Map<string, string[]> =>
  new Map(
    tableUnder(page('ARCHITECTURE.md'), heading).map(([state = '', facts = '']) => [
      state.replaceAll('`', ''),
      facts === '' ? [] : facts.split(', ').sort(),
    ]),
  );

const drawn = (table: Table): Map<string, string[]> =>
  new Map(
    [...table].map(([state, row]) => [
      state,
      [...row].map(([fact, to]) => (to === null ? `${fact} ·` : `${fact} → \`${to}\``)).sort(),
    ]),
  );

describe('ARCHITECTURE.md', () => {
  it.each<[string, string, Table]>([
    ['server', '### Server', serverTable],
    ['call', '### Call', callTable],
  ])('shows the machine of a %s as it is', (_kind, heading, table) => {
    expect(written(heading)).toEqual(drawn(table));
  });
});
