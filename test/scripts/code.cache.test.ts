import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { afterAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../support/paths.ts';

const dist = join(projectRoot, 'dist');
const content = readFileSync(join(dist, 'code.cache'));
const header = content.indexOf('\n');
const { v8, parts } = JSON.parse(content.toString('utf8', 0, header)) as {
  v8: string;
  parts: Record<string, [number, number]>;
};
const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string };

const dirs: string[] = [];
afterAll(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
});

/** A copy of the installed package with another code cache, or none; gives what `watchkeeper version` prints. */
function versionWith(cache: Buffer | null): { stdout: string; stderr: string; status: number | null } {
  const dir = mkdtempSync(join(tmpdir(), 'watchkeeper-cache-'));
  dirs.push(dir);
  cpSync(dist, join(dir, 'dist'), { recursive: true });
  cpSync(join(projectRoot, 'package.json'), join(dir, 'package.json'));
  symlinkSync(join(projectRoot, 'node_modules'), join(dir, 'node_modules'));
  if (cache === null) rmSync(join(dir, 'dist/code.cache'));
  else writeFileSync(join(dir, 'dist/code.cache'), cache);
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(dir, 'dist/cli/main.js'), 'version'], {
    encoding: 'utf8',
  });
  return { stdout, stderr, status };
}

const cacheFor = (otherV8: string): Buffer =>
  Buffer.concat([Buffer.from(JSON.stringify({ v8: otherV8, parts })), content.subarray(header)]);

describe('the code cache of the built program', () => {
  it('is taken by this Node for every file that it names', () => {
    const opening = /OPENING = '(.*)\\n'/.exec(readFileSync(join(dist, 'load.js'), 'utf8'))?.[1];
    expect(v8).toBe(process.versions.v8);
    expect(Object.keys(parts).length).toBeGreaterThan(3);
    for (const [name, [begin, end]] of Object.entries(parts)) {
      const script = new Script(`${opening}\n${readFileSync(join(dist, name), 'utf8')}\n})`, {
        cachedData: content.subarray(header + 1 + begin, header + 1 + end),
      });
      expect([name, script.cachedDataRejected]).toEqual([name, false]);
    }
  });

  it('holds what a daemon starts from, and nothing that imports later: that would fail', () => {
    const names = Object.keys(parts);
    expect(names).toContainEqual(expect.stringMatching(/^chunks\/daemon-/));
    expect(names.filter((name) => /\bimport\(/.test(readFileSync(join(dist, name), 'utf8')))).toEqual([]);
  });

  it.each([
    ['is missing', null],
    ['is of another V8', cacheFor('1.2.3')],
    ['is empty', Buffer.alloc(0)],
    ['ends before its parts', content.subarray(0, header + 1)],
    ['is not a cache at all', Buffer.from('{"v8":1}\nnothing')],
  ])('is not needed: the program runs as well where it %s', (_, cache) => {
    const { stdout, stderr, status } = versionWith(cache);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain(version);
  });
});
