import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { catalogue, definitionOf } from '../../src/events/catalogue.ts';
import { type FactDefinition, fact } from '../../src/events/define.ts';
import { steps, UnknownShape, upcast } from '../../src/events/upcast.ts';

/** A type that has been given two successors: a member was renamed, then one was added. */
const bellRung = fact({
  stream: 'server',
  schema: 3,
  about: 'Somebody rang the bell.',
  data: z.object({ strokes: z.number(), loud: z.boolean() }),
});
const known = {
  BellRung: {
    1: ({ times }: Readonly<Record<string, unknown>>) => ({ strokes: times }),
    2: (data: Readonly<Record<string, unknown>>) => ({ ...data, loud: false }),
  },
};

const table = catalogue as unknown as Record<string, FactDefinition>;
afterEach(() => {
  delete table.BellRung;
});

describe('Reading what an older version wrote', () => {
  it.each([
    [1, { times: 8 }, { strokes: 8, loud: false }],
    [2, { strokes: 8 }, { strokes: 8, loud: false }],
    [3, { strokes: 8, loud: true }, { strokes: 8, loud: true }],
  ])('takes schema %d through every later one', (schema, data, expected) => {
    table.BellRung = bellRung;
    const { schema: now, data: today } = upcast('BellRung', schema, data, known);
    expect(now).toBe(3);
    expect(today).toEqual(expected);
    expect(bellRung.data.safeParse(today).success).toBe(true);
  });

  it('does not change what was read', () => {
    table.BellRung = bellRung;
    const data = Object.freeze({ times: 8 });
    upcast('BellRung', 1, data, known);
    expect(data).toEqual({ times: 8 });
  });

  it('says so when a step is missing', () => {
    table.BellRung = bellRung;
    const { 1: first } = known.BellRung;
    expect(() => upcast('BellRung', 1, { times: 8 }, { BellRung: { 1: first } })).toThrow(UnknownShape);
    expect(() => upcast('BellRung', 1, { times: 8 }, { BellRung: { 1: first } })).toThrow(
      /No step leads from schema 2 of "BellRung" to 3/,
    );
  });
});

describe('Reading what a newer version wrote', () => {
  it('is refused for a schema this version does not know', () => {
    table.BellRung = bellRung;
    expect(() => upcast('BellRung', 4, {}, known)).toThrow(UnknownShape);
    expect(() => upcast('BellRung', 4, {}, known)).toThrow(/"BellRung".*schema 4.*knows 3.*newer version/);
  });

  it.each(['BellRung', 'constructor', '__proto__', ''])('is refused for the unknown type "%s"', (type) => {
    expect(() => upcast(type, 1, {}, known)).toThrow(UnknownShape);
    expect(definitionOf(type)).toBeUndefined();
  });
});

describe('The steps of this version', () => {
  it('lead from every schema that was ever released to the one of today, and no further', () => {
    const missing = Object.entries(catalogue).flatMap(([type, { schema }]) =>
      Array.from({ length: schema - 1 }, (_, index) => index + 1)
        .filter((from) => !steps[type]?.[from])
        .map((from) => `${type} from ${from}`),
    );
    const extra = Object.entries(steps).flatMap(([type, ofType]) =>
      Object.keys(ofType)
        .filter((from) => Number(from) >= (definitionOf(type)?.schema ?? 0))
        .map((from) => `${type} from ${from}`),
    );
    expect({ missing, extra }).toEqual({ missing: [], extra: [] });
  });
});
