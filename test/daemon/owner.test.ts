import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AlreadyOwned, type Ownership, takeOwnership } from '../../src/daemon/owner.ts';
import { atEnd } from '../support/cleanup.ts';
import { tempDir } from '../support/temp.ts';

const held: Ownership[] = [];
atEnd(() => {
  for (const ownership of held) ownership.release();
});

function take(dir: string): Ownership {
  const ownership = takeOwnership(dir);
  held.push(ownership);
  return ownership;
}

function refusalOf(dir: string): string {
  try {
    take(dir);
  } catch (error) {
    expect(error).toBeInstanceOf(AlreadyOwned);
    return String(error);
  }
  throw new Error('The directory was taken twice.');
}

/** Every file with its mode, time and content. */
function stateOf(dir: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(dir)
      .sort()
      .map((name) => {
        const { mtimeMs, mode } = statSync(join(dir, name));
        return [
          name,
          `${mode} ${mtimeMs} ${createHash('sha256')
            .update(readFileSync(join(dir, name)))
            .digest('hex')}`,
        ];
      }),
  );
}

describe('A data directory', () => {
  it('has one owner, and whoever comes second is told which', () => {
    const dir = tempDir();
    take(dir);
    const refusal = refusalOf(dir);
    expect(refusal).toContain(`pid ${process.pid}`);
    expect(refusal).toContain(dir);
    expect(refusal).toMatch(/watchkeeper down.*--data/);
  });

  it('names the address of the owner too, once it has one', () => {
    const dir = tempDir();
    take(dir);
    writeFileSync(join(dir, 'daemon.json'), JSON.stringify({ pid: process.pid, url: 'http://127.0.0.1:4711' }));
    expect(refusalOf(dir)).toContain('http://127.0.0.1:4711');
  });

  it('names no address that an earlier owner left behind', () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'daemon.json'), JSON.stringify({ pid: 1, url: 'http://127.0.0.1:4711' }));
    take(dir);
    expect(refusalOf(dir)).not.toContain('4711');
  });

  it('is free again when its owner lets go, and letting go twice is no fault', () => {
    const dir = tempDir();
    const first = take(dir);
    first.release();
    first.release();
    take(dir);
    refusalOf(dir);
  });

  it('stays with its owner however often it was asked for', () => {
    const dir = tempDir();
    take(dir);
    for (let time = 0; time < 3; time += 1) refusalOf(dir);
  });

  it('is not changed by those who are refused', () => {
    const dir = tempDir();
    take(dir);
    const before = stateOf(dir);
    refusalOf(dir);
    expect(stateOf(dir)).toEqual(before);
  });

  it('does not take a pid that was left in it for an owner', () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'owner.pid'), `${process.ppid}\n`);
    writeFileSync(join(dir, 'owner.lock'), '');
    take(dir);
    expect(readFileSync(join(dir, 'owner.pid'), 'utf8').trim()).toBe(String(process.pid));
  });

  it.skipIf(process.platform === 'win32')('keeps who owns it to its owner', () => {
    const dir = tempDir();
    take(dir);
    for (const name of ['owner.lock', 'owner.pid'])
      expect([name, statSync(join(dir, name)).mode & 0o777]).toEqual([name, 0o600]);
  });

  it('is another one for another directory', () => {
    take(tempDir());
    take(tempDir());
  });
});
