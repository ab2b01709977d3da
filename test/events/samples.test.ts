/**
 * A row of each fact as a released version wrote it. What stands in people's logs is never written again, so neither are
 * these: a new shape gets a new sample beside the old one, and the pins say when one was touched.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { catalogue, definitionOf } from '../../src/events/catalogue.ts';
import { describeMembers } from '../../src/events/describe.ts';
import type { Recorded } from '../../src/events/envelope.ts';
import { upcast } from '../../src/events/upcast.ts';
import { projectRoot } from '../support/paths.ts';
import { givenLog } from '../support/story.ts';

interface Pin {
  /** Of the bytes of the sample. */
  readonly sample: string;
  /** Of names and types of the members, as `docs/events.md` lists them. */
  readonly shape: string;
}

const folder = join(projectRoot, 'test/events/samples');
const pinFile = join(projectRoot, 'test/events/samples.pins.json');
const names = readdirSync(folder).sort();
const bytesOf = (name: string): Buffer => readFileSync(join(folder, name));
const sampleOf = (name: string): Recorded => JSON.parse(bytesOf(name).toString());
const hash = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex').slice(0, 16);

function pinOf(name: string): Pin {
  const definition = definitionOf(name.split('.')[0] ?? '');
  const members = definition ? describeMembers(definition).map(([member, type]) => `${member}: ${type}`) : [];
  return { sample: hash(bytesOf(name)), shape: hash(members.join('\n')) };
}

const pins: Record<string, Pin> = JSON.parse(readFileSync(pinFile, 'utf8'));
if (process.env.UPDATE_PINS === '1') {
  // Adds what is new. To change a pin, take its line out by hand: allowed only for a schema that was never released.
  for (const name of names) pins[name] ??= pinOf(name);
  const sorted = Object.fromEntries(Object.entries(pins).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(pinFile, `${JSON.stringify(sorted, null, 2)}\n`);
}

describe('The samples', () => {
  it('are one for each type and schema that was ever written', () => {
    const expected = Object.entries(catalogue).flatMap(([type, { schema }]) =>
      Array.from({ length: schema }, (_, index) => `${type}.${index + 1}.json`),
    );
    expect(names).toEqual(expected.sort());
  });

  it.each(names)('%s is the row of a log with that type and schema', (name) => {
    const [type, schema] = name.split('.');
    const { data, ...row } = sampleOf(name);
    expect(row).toEqual({
      position: expect.any(Number),
      stream: expect.stringMatching(/^(server-|call-|allowlist$|config$|daemon$|logins$)/),
      version: expect.any(Number),
      type,
      schema: Number(schema),
      at: expect.any(Number),
      cause: row.cause === null ? null : expect.stringMatching(/^(\d+|c-\w+)$/),
    });
    expect(row.stream.startsWith(definitionOf(row.type)?.stream ?? '?')).toBe(true);
    expect('to' in data).toBe(/^(server|call)-/.test(row.stream));
  });

  it.each(names)('%s is understood by this version, to the last member', (name) => {
    const { type, schema, data } = sampleOf(name);
    const today = upcast(type, schema, data);
    const shape = definitionOf(type);
    expect(today.schema).toBe(shape?.schema);
    const { to: _, ...members } = today.data;
    expect(shape?.data.parse(members)).toEqual(members);
  });

  it('are read from a log, and show in the views, without a fault', async () => {
    const log = givenLog();
    const facts = names.map(sampleOf).sort((a, b) => a.position - b.position);
    await log.append(facts, []);
    expect(log.read({}).map(({ type, data }) => ({ type, data }))).toEqual(
      facts.map(({ type, schema, data }) => ({ type, data: upcast(type, schema, data).data })),
    );
  });

  it.each(names)('%s is what it was when it was pinned', (name) => {
    expect(pins[name]?.sample).toBe(hash(bytesOf(name)));
  });
});

describe('A released shape', () => {
  const today = Object.entries(catalogue).map(([type, { schema }]) => `${type}.${schema}.json`);

  it.each(today)('is not edited: %s has the members it was pinned with', (name) => {
    expect(pinOf(name).shape).toBe(pins[name]?.shape);
  });

  it('is pinned for no sample that is gone', () => {
    expect(Object.keys(pins)).toEqual(names);
  });
});
