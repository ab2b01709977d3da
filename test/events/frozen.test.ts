/**
 * Logs as released versions wrote them, each of a daemon that lived through everything (test/e2e/whole.story.ts). Today's
 * machines have to explain them: what stands in people's logs is never written again.
 *
 * A release adds its own, after its version is in package.json and before it is tagged; so does whoever brings a new fact
 * or a new shape, after it was made to happen in the story:
 * `FREEZE_LOG=1 npx vitest run test/e2e/replay.test.ts`, then `UPDATE_PINS=1 npx vitest run test/events/frozen.test.ts`.
 * Both only add; a log that is there is never written over (a second one of a version is called `<version>-2.ndjson`).
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { catalogue } from '../../src/events/catalogue.ts';
import type { Recorded } from '../../src/events/envelope.ts';
import { upcast } from '../../src/events/upcast.ts';
import { timeline } from '../../src/replay/timeline.ts';
import { type Means, verifier } from '../../src/replay/verify.ts';
import { missingIn } from '../e2e/whole.story.ts';
import { projectRoot } from '../support/paths.ts';

const folder = join(projectRoot, 'test/events/frozen');
const pinFile = join(projectRoot, 'test/events/frozen.pins.json');
const names = readdirSync(folder).sort();
const bytesOf = (name: string): Buffer => readFileSync(join(folder, name));
const hash = (name: string): string => createHash('sha256').update(bytesOf(name)).digest('hex').slice(0, 16);
const rowsOf = (name: string): Recorded[] =>
  bytesOf(name)
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
/** As a reader of today gets them. */
const factsOf = (name: string): Recorded[] =>
  rowsOf(name).map((row) => ({ ...row, ...upcast(row.type, row.schema, row.data) }) as Recorded);

const pins: Record<string, string> = JSON.parse(readFileSync(pinFile, 'utf8'));
if (process.env.UPDATE_PINS === '1') {
  for (const name of names) pins[name] ??= hash(name);
  writeFileSync(pinFile, `${JSON.stringify(pins, null, 2)}\n`);
}

describe('The log of a release', () => {
  it.each(names.flatMap((name) => (['machine', 'table'] as const).map((by): [string, Means] => [name, by])))(
    '%s is explained to its last fact by the %s',
    (name, by) => {
      const facts = factsOf(name);
      const check = verifier(by);
      for (const fact of facts) expect(check.take(fact)).toBeNull();
      expect(check.facts).toBe(facts.length);
    },
  );

  it.each(names)('%s can be told line by line', (name) => {
    const lines = [...timeline(factsOf(name))];
    expect(lines.length).toBeGreaterThan(100);
    for (const { text } of lines) expect(text).not.toMatch(/^$|undefined|\[object/);
  });

  it.each(names)('%s is what it was when it was pinned', (name) => {
    expect(pins[name]).toBe(hash(name));
  });

  it('is gone for none that was pinned', () => {
    expect(Object.keys(pins).sort()).toEqual(names);
  });
});

describe('The logs of all releases', () => {
  const rows = names.flatMap(rowsOf);

  it('hold every kind of fact in every shape that was ever written, and lead to every state', () => {
    const shapes = new Set(rows.map(({ type, schema }) => `${type} ${schema}`));
    const released = Object.entries(catalogue).flatMap(([type, { schema }]) =>
      Array.from({ length: schema }, (_, index) => `${type} ${index + 1}`),
    );
    expect(released.filter((shape) => !shapes.has(shape))).toEqual([]);
    expect(missingIn(rows)).toEqual([]);
  });
});
