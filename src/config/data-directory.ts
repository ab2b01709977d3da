/** The folder of a daemon: made or narrowed to its owner, or refused in words. */
import { chmod, lstat, mkdir, stat } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { codeOf, makePrivateDirectory } from './files.ts';

/** The folder cannot be used; the message names it and says why. */
export class DirectoryError extends Error {
  override readonly name = 'DirectoryError';
}

const STICKY = 0o1000;

/** Throws a DirectoryError when the folder cannot be made, or is one that others use too. */
export async function makeDataDirectory(folder: string): Promise<void> {
  try {
    await mustBeOwn(folder);
    await makeAbove(folder);
    await makePrivateDirectory(folder);
  } catch (error) {
    throw directoryError(folder, error);
  }
}

/** It is narrowed to its owner, which must never happen to a folder that others use. */
async function mustBeOwn(folder: string): Promise<void> {
  const info = await stat(folder).catch(() => null);
  if (info === null) return;
  if (!info.isDirectory()) throw new DirectoryError(`${folder} is to be the data directory, but is a file.`);
  if (folder === parse(folder).root || (process.platform !== 'win32' && (info.mode & STICKY) !== 0))
    throw new DirectoryError(
      `${folder} is used by others too; choose a data directory of its own, such as ${join(folder, 'watchkeeper')}.`,
    );
}

/**
 * The folder of a socket that does not fit into the data directory. Where it lies others may have made it first, and whoever
 * has the folder can put another socket in place of ours. Throws a DirectoryError.
 */
export async function makeSocketDirectory(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
  const info = await lstat(folder);
  if (!info.isDirectory() || (process.getuid !== undefined && info.uid !== process.getuid()))
    throw new DirectoryError(
      `${folder} is to hold the daemon's socket, but another user of this machine made it; remove it, set XDG_RUNTIME_DIR, or choose a data directory with a shorter path (--data).`,
    );
  if (process.platform !== 'win32') await chmod(folder, 0o700);
}

/** One by one: asked to make all of them at once, Node never comes back from file systems such as /proc. */
async function makeAbove(folder: string): Promise<void> {
  const above = dirname(folder);
  if ((await stat(folder).catch(() => null)) !== null) return;
  if (above !== folder) await makeAbove(above);
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'its file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of this user is used up',
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'a part of its path is a file',
  ENOENT: 'no folder can be made there',
  EISDIR: 'there is a folder where a file is to be',
  ELOOP: 'its path is a chain of links that does not end',
  ENAMETOOLONG: 'its path is too long',
  SQLITE_CANTOPEN: 'its database cannot be opened',
  SQLITE_READONLY: 'this user may not write its database',
  SQLITE_NOTADB: 'its watchkeeper.db is not a database',
  SQLITE_CORRUPT: 'its database is damaged',
  SQLITE_FULL: 'the disk is full',
};

/** What keeps a data directory from being used, as a DirectoryError; other errors come back as they are. */
export function directoryError(folder: string, error: unknown): unknown {
  const code = codeOf(error);
  if (error instanceof DirectoryError || code === undefined) return error;
  const reason = reasons[code] ?? reasons[/^SQLITE_[A-Z]+/.exec(code)?.[0] ?? ''];
  if (reason === undefined) return error;
  const path = (error as NodeJS.ErrnoException).path;
  const where = path !== undefined && path !== folder ? `: ${path}` : '';
  return new DirectoryError(`The data directory ${folder} cannot be used: ${reason} (${code}${where}).`, {
    cause: error,
  });
}
