import { chmodSync, chownSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  DirectoryError,
  directoryError,
  makeDataDirectory,
  makeSocketDirectory,
} from '../../src/config/data-directory.ts';
import { homeFolder } from '../../src/config/home.ts';
import { tempDir } from '../support/temp.ts';

let dir: string;
beforeEach(() => {
  dir = tempDir();
});

const mode = (path: string): number => statSync(path).mode & 0o7777;

describe('A data directory', () => {
  it('is made with everything above it, for its owner alone', async () => {
    await makeDataDirectory(join(dir, 'a/b/c'));
    expect(mode(join(dir, 'a/b/c'))).toBe(0o700);
  });

  it('that others could enter is narrowed', async () => {
    mkdirSync(join(dir, 'open'));
    chmodSync(join(dir, 'open'), 0o755);
    await makeDataDirectory(join(dir, 'open'));
    expect(mode(join(dir, 'open'))).toBe(0o700);
  });

  it('that everybody uses is left as it is', async () => {
    const shared = join(dir, 'tmp');
    mkdirSync(shared);
    chmodSync(shared, 0o1777);
    await expect(makeDataDirectory(shared)).rejects.toThrow(
      `${shared} is used by others too; choose a data directory of its own, such as ${shared}/watchkeeper.`,
    );
    expect(mode(shared)).toBe(0o1777);
    await expect(makeDataDirectory('/')).rejects.toThrow(DirectoryError);
  });

  it.each([
    ['is a file', 'file', /file is to be the data directory, but is a file\.$/],
    ['lies under a file', 'file/x/y', /x\/y cannot be used: a part of its path is a file \(ENOTDIR/],
    ['has a name that is too long', 'n'.repeat(300), /cannot be used: its path is too long \(ENAMETOOLONG/],
  ])('that %s is refused by name', async (_what, path, message) => {
    writeFileSync(join(dir, 'file'), '');
    await expect(makeDataDirectory(join(dir, path))).rejects.toThrow(message);
    await expect(makeDataDirectory(join(dir, path))).rejects.toThrow(DirectoryError);
  });

  it.runIf(process.platform === 'linux')('where nothing can be made is refused instead of tried for ever', async () => {
    await expect(makeDataDirectory('/proc/watchkeeper')).rejects.toThrow('no folder can be made there (ENOENT');
  });

  it.each([
    [{ code: 'EACCES', path: '/d/watchkeeper.db' }, 'this user may not write there (EACCES: /d/watchkeeper.db)'],
    [{ code: 'EROFS', path: '/d' }, 'its file system is read-only (EROFS)'],
    [{ code: 'SQLITE_READONLY_DIRECTORY' }, 'this user may not write its database (SQLITE_READONLY_DIRECTORY)'],
    [{ code: 'SQLITE_NOTADB' }, 'its watchkeeper.db is not a database (SQLITE_NOTADB)'],
  ])('that fails with %j is told in words', (more, words) => {
    expect(directoryError('/d', Object.assign(new Error('raw'), more))).toMatchObject({
      name: 'DirectoryError',
      message: `The data directory /d cannot be used: ${words}.`,
    });
  });

  it('has nothing to do with other errors', () => {
    const error = new Error('a bug');
    expect(directoryError('/d', error)).toBe(error);
    const other = Object.assign(new Error('busy'), { code: 'SQLITE_BUSY' });
    expect(directoryError('/d', other)).toBe(other);
  });
});

describe('The home folder', () => {
  it('is HOME where that is a whole path, and never the folder a command runs in', () => {
    expect(homeFolder({ HOME: '/home/u' })).toBe('/home/u');
    for (const HOME of ['', 'relative', undefined]) expect(homeFolder({ HOME })).toMatch(/^(?:\/|[A-Z]:\\)/);
  });
});

describe.skipIf(process.platform === 'win32')('The folder of a socket outside the data directory', () => {
  it('is made for its owner alone, and narrowed if it is there', async () => {
    const folder = join(dir, 'watchkeeper-1');
    await makeSocketDirectory(folder);
    expect(mode(folder)).toBe(0o700);
    chmodSync(folder, 0o777);
    await makeSocketDirectory(folder);
    expect(mode(folder)).toBe(0o700);
  });

  it('is refused when it is a link to somewhere else', async () => {
    const folder = join(dir, 'watchkeeper-1');
    symlinkSync(dir, folder);
    await expect(makeSocketDirectory(folder)).rejects.toThrow(
      `${folder} is to hold the daemon's socket, but another user of this machine made it; remove it, set XDG_RUNTIME_DIR`,
    );
  });

  // Only root can make a folder of somebody else's.
  it.skipIf(process.getuid?.() !== 0)('is refused when it belongs to somebody else', async () => {
    const folder = join(dir, 'watchkeeper-1');
    mkdirSync(folder);
    chownSync(folder, 12_345, 12_345);
    await expect(makeSocketDirectory(folder)).rejects.toThrow(DirectoryError);
  });
});
