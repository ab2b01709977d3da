import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHAIN_START, chainText } from '../../src/events/chain.ts';
import { ChainCheck, type Finding, type Row } from '../../src/replay/chain.ts';

const hash = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** Rows as the log writes them; `unchained` of them stood there before there was a chain. */
function rows(count: number, unchained = 0): Row[] {
  let before = CHAIN_START;
  return Array.from({ length: count }, (_, index) => {
    const row = {
      position: index + 1,
      stream: `call-c${Math.floor(index / 2)}`,
      version: (index % 2) + 1,
      type: index % 2 === 0 ? 'CallStarted' : 'CallSettled',
      schema: 1,
      at: 1_000 + index,
      cause: index % 3 === 0 ? null : `c-${index}`,
      data: JSON.stringify({ n: index, text: `fact\n${index}` }),
    };
    if (index < unchained) return { ...row, chain: null };
    before = hash(chainText(before, row));
    return { ...row, chain: before };
  });
}

function findings(of: readonly Row[], expected?: string): { found: Finding[]; check: ChainCheck } {
  const check = new ChainCheck(hash, expected);
  const found = of.flatMap((row) => [...check.take(row)]);
  return { found, check };
}
const kinds = (of: readonly Row[]): string[] => findings(of).found.map(({ kind, position }) => `${kind} ${position}`);
const changed = (of: readonly Row[], position: number, more: Partial<Row>): Row[] =>
  of.map((row) => (row.position === position ? { ...row, ...more } : row));

describe('A chain that nobody touched', () => {
  it('has nothing to find, and ends with the hash of its newest fact', () => {
    const { found, check } = findings(rows(6));
    expect(found).toEqual([]);
    expect(check).toMatchObject({ facts: 6, unchained: 0, from: 1, tip: { position: 6, at: 1_005 } });
  });

  it('may begin after facts that were written before there was one', () => {
    const { found, check } = findings(rows(6, 4));
    expect(found).toEqual([]);
    expect(check).toMatchObject({ facts: 6, unchained: 4, from: 5 });
  });

  it('is empty without complaint', () => {
    expect(findings([]).found).toEqual([]);
  });
});

describe('What was done to a log is found, with its position', () => {
  const whole = rows(8);
  it.each<[string, Row[], string[]]>([
    ['data that was edited', changed(whole, 3, { data: '{"n":2}' }), ['edited 3']],
    ['a time that was edited', changed(whole, 3, { at: 9 }), ['edited 3']],
    ['a cause that was edited', changed(whole, 3, { cause: 'c-9' }), ['edited 3']],
    ['a type that was edited', changed(whole, 3, { type: 'CallApproved' }), ['edited 3']],
    ['a stream that was edited', changed(whole, 3, { stream: 'call-x' }), ['edited 3']],
    [
      'a hash that was edited: it and the next no longer fit',
      changed(whole, 3, { chain: 'x' }),
      ['edited 3', 'edited 4'],
    ],
    ['a fact that is gone', whole.filter(({ position }) => position !== 4), ['gap 5']],
    ['the first facts gone', whole.slice(3), ['gap 4']],
    [
      'a fact that is gone, the later ones renumbered',
      whole.filter(({ position }) => position !== 4).map((row, index) => ({ ...row, position: index + 1 })),
      ['edited 4', 'edited 5', 'edited 6', 'edited 7'],
    ],
    ['a hash taken away', changed(whole, 3, { chain: null }), ['unchained 3']],
    [
      'two facts exchanged',
      [2, 3].reduce((all, n) => changed(all, n, { data: whole[n === 2 ? 2 : 1]?.data ?? '' }), whole),
      ['edited 2', 'edited 3'],
    ],
    [
      'the first hashes taken away, as if they were older than the chain',
      whole.map((row) => (row.position < 4 ? { ...row, chain: null } : row)),
      ['edited 4'],
    ],
  ])('%s', (_what, of, expected) => {
    expect(kinds(of)).toEqual(expected);
  });

  it('whatever single member of whatever row is changed', () => {
    const members = ['stream', 'version', 'type', 'schema', 'at', 'cause', 'data', 'chain'] as const;
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.constantFrom(...members),
        fc.string(),
        (position, member, text) => {
          const row = whole[position - 1] as Row;
          const value = typeof row[member] === 'number' ? row[member] + 1 : `${row[member] ?? ''}${text}!`;
          expect(kinds(changed(whole, position, { [member]: value }))).toContain(`edited ${position}`);
        },
      ),
    );
  });
});

describe('A hash that was noted', () => {
  const whole = rows(8);
  it('is found where it was', () => {
    expect(findings(whole, whole[4]?.chain ?? '').check.expectedAt).toBe(5);
  });

  it('is missing from a log whose end was cut', () => {
    expect(findings(whole.slice(0, 6), whole[7]?.chain ?? '').check.expectedAt).toBeNull();
  });

  it('is missing from a log that was made anew from some place on, though nothing else shows', () => {
    const forged = rows(8).slice(0, 4);
    let before = forged[3]?.chain ?? '';
    for (const row of whole.slice(4)) {
      const next = { ...row, data: row.position === 5 ? '{}' : row.data };
      before = hash(chainText(before, next));
      forged.push({ ...next, chain: before });
    }
    const { found, check } = findings(forged, whole[7]?.chain ?? '');
    expect(found).toEqual([]);
    expect(check.expectedAt).toBeNull();
  });
});
