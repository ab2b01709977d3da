import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readRecording } from '../../src/recordings/read.ts';
import { filesIn, Segments } from '../../src/recordings/segments.ts';
import { tempDir } from '../support/temp.ts';

const line = (n: number, padding = 1_000): string =>
  JSON.stringify({ at: n, life: 'a', is: 'stderr', text: `${n} ${'x'.repeat(padding)}` });

async function given(maxBytes: number) {
  const parent = join(tempDir(), 'recordings');
  const folder = join(parent, 'taped');
  const errors: unknown[] = [];
  const segments = await Segments.open({
    folder,
    maxBytes,
    preface: (first) => `{"recording":1,"first":${first}}\n`,
    onError: (error) => errors.push(error),
  });
  return { parent, folder, segments, errors };
}

async function numbersIn(parent: string): Promise<number[]> {
  const found: number[] = [];
  for await (const { at } of readRecording(parent, 'taped')) found.push(at);
  return found;
}

it('files stay below the limit together, each begins with the preface, and the newest lines are the ones that are kept', async () => {
  const { parent, folder, segments } = await given(200_000);
  for (let n = 1; n <= 500; n += 1) expect(segments.take(line(n))).toBe(true);
  await segments.close();
  const files = await filesIn(folder);
  expect(files.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(200_000);
  expect(files.length).toBeGreaterThan(4);
  for (const { name, bytes } of files) {
    expect(statSync(join(folder, name)).size).toBe(bytes);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, name), 'utf8')).toMatch(/^\{"recording":1,/);
  }
  const kept = await numbersIn(parent);
  expect(kept.at(-1)).toBe(500);
  expect(kept.length).toBeGreaterThan(100);
  expect(kept).toEqual(kept.map((_, index) => 500 - kept.length + 1 + index));
});

it('what an earlier run left counts too, and is dropped first', async () => {
  const { folder, segments } = await given(100_000);
  for (let n = 1; n <= 60; n += 1) segments.take(line(n));
  await segments.close();
  const before = (await filesIn(folder)).map(({ name }) => name);
  const later = await Segments.open({ folder, maxBytes: 100_000, preface: () => '', onError: () => {} });
  for (let n = 61; n <= 130; n += 1) later.take(line(n));
  await later.close();
  const after = await filesIn(folder);
  expect(after.map(({ name }) => name)).not.toContain(before[0]);
  expect(after.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(100_000);
});

it('the first error is told once, and nothing is taken after it', async () => {
  const { folder, segments, errors } = await given(65_536);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, 'in the way');
  for (let n = 1; n <= 100; n += 1) segments.take(line(n));
  await segments.flush();
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatchObject({ code: 'ENOTDIR' });
  expect(segments.take(line(1))).toBe(false);
  await segments.close();
});

it('a folder that cannot be made is refused at once', async () => {
  const parent = tempDir();
  writeFileSync(join(parent, 'recordings'), 'in the way');
  const opening = Segments.open({
    folder: join(parent, 'recordings', 'taped'),
    maxBytes: 65_536,
    preface: () => '',
    onError: () => {},
  });
  await expect(opening).rejects.toMatchObject({ code: expect.stringMatching(/EEXIST|ENOTDIR/) });
});

it('what a killed daemon left half written, and files of others, are passed over', async () => {
  const parent = tempDir();
  mkdirSync(join(parent, 'taped'));
  writeFileSync(
    join(parent, 'taped', '000000000000001-0000.ndjson'),
    `{"recording":1}\n${line(1)}\n${line(2).slice(0, 50)}`,
  );
  writeFileSync(join(parent, 'taped', '000000000000002-0001.ndjson'), `{"recording":1}\n${line(3)}\n`);
  writeFileSync(join(parent, 'taped', 'notes.txt'), line(4));
  expect(await numbersIn(parent)).toEqual([1, 3]);
  expect(readdirSync(join(parent, 'taped'))).toHaveLength(3);
});
