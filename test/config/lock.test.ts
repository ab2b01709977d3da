import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'vite';
import { beforeAll, describe, expect, it } from 'vitest';
import { lockFileOf, withFileLock } from '../../src/config/lock.ts';
import { atEnd } from '../support/cleanup.ts';
import { projectRoot } from '../support/paths.ts';
import { tempDir } from '../support/temp.ts';

const dir = tempDir();

/** The lock and the editor as a program of their own, so that real processes compete. */
beforeAll(async () => {
  symlinkSync(join(projectRoot, 'node_modules'), join(dir, 'node_modules'));
  await build({
    root: projectRoot,
    configFile: false,
    logLevel: 'silent',
    build: {
      ssr: true,
      outDir: dir,
      emptyOutDir: false,
      rollupOptions: {
        input: { lock: 'src/config/lock.ts', edit: 'src/config/edit.ts' },
        output: { entryFileNames: '[name].mjs' },
        preserveEntrySignatures: 'strict',
      },
    },
  });
  writeFileSync(
    join(dir, 'adds.mjs'),
    `import { configEditor } from './edit.mjs';
const [file, prefix, count] = process.argv.slice(2);
await Promise.all(Array.from({ length: Number(count) }, (_, n) => configEditor(file).setEntry(prefix + n, { command: 'x' })));`,
  );
  writeFileSync(
    join(dir, 'holds.mjs'),
    `import { withFileLock } from './lock.mjs';
await withFileLock(process.argv[2], () => new Promise((done) => { console.log('held'); process.stdin.once('data', done); }));
console.log('released');
process.exit(0);`,
  );
});

function run(program: string, ...args: string[]): ChildProcess {
  const child = spawn(process.execPath, [join(dir, program), ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  atEnd(() => void child.kill('SIGKILL'));
  return child;
}
async function holder(file: string): Promise<ChildProcess> {
  const child = run('holds.mjs', file);
  if (child.stdout === null) throw new Error('no output');
  await once(createInterface(child.stdout), 'line');
  return child;
}

describe('writers in several processes', () => {
  it('lose nothing of each other', async () => {
    const file = join(dir, 'race.json');
    const writers = ['a', 'b', 'c'].map((prefix) => run('adds.mjs', file, prefix, '10'));
    const codes = await Promise.all(writers.map((writer) => once(writer, 'exit')));
    expect(codes.map(([code]) => code)).toEqual([0, 0, 0]);
    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')).servers)).toHaveLength(30);
  });

  it('wait for the one that holds the lock', async () => {
    const file = join(dir, 'waits.json');
    const other = await holder(file);
    let done = false;
    const waiting = withFileLock(file, async () => {
      done = true;
    });
    await withFileLock(join(dir, 'another.json'), async () => undefined);
    expect(done).toBe(false);
    other.stdin?.write('go\n');
    await waiting;
    expect(done).toBe(true);
  });

  it('give up after a while and say so', async () => {
    const file = join(dir, 'stuck.json');
    const other = await holder(file);
    await expect(withFileLock(file, async () => 'ran', 200)).rejects.toMatchObject({
      name: 'FileError',
      message: expect.stringMatching(/stuck\.json is being written by another process/),
    });
    other.kill('SIGKILL');
  });

  it('go on at once when the holder was killed', async () => {
    const file = join(dir, 'killed.json');
    const other = await holder(file);
    other.kill('SIGKILL');
    await once(other, 'exit');
    expect(await withFileLock(file, async () => 'ran')).toBe('ran');
  });
});

describe('the lock', () => {
  it('is released when the work fails', async () => {
    const file = join(dir, 'fails.json');
    await expect(withFileLock(file, () => Promise.reject(new Error('work')))).rejects.toThrow('work');
    expect(await withFileLock(file, async () => 'ran')).toBe('ran');
  });

  it('keeps the order in which it was asked for within a process', async () => {
    const file = join(dir, 'order.json');
    const seen: number[] = [];
    await Promise.all(
      [0, 1, 2, 3, 4].map((n) =>
        withFileLock(file, async () => {
          await Promise.resolve();
          seen.push(n);
        }),
      ),
    );
    expect(seen).toEqual([0, 1, 2, 3, 4]);
  });

  it('is an empty file for the owner alone', async () => {
    const file = join(dir, 'mode.json');
    await withFileLock(file, async () => undefined);
    expect(statSync(lockFileOf(file))).toMatchObject({ size: 0 });
    expect(statSync(lockFileOf(file)).mode & 0o777).toBe(0o600);
  });

  it('does not believe a file that is something else', async () => {
    const file = join(dir, 'foreign.json');
    writeFileSync(lockFileOf(file), `{"pid":${process.pid}}`.repeat(50));
    await expect(withFileLock(file, async () => 'ran', 200)).rejects.toThrow(/is not a lock file; remove it/);
  });
});
