/** Reading and replacing small text files that people own: nothing is ever half written, modes and links stay. */
import { randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, open, readFile, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A file that exists but cannot be used as text. */
export class FileError extends Error {
  override readonly name = 'FileError';
}

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';

/**
 * The text of a file, a byte order mark included; null when there is no such file.
 * Rejects with a FileError when it cannot be read or is not UTF-8 (replacing what cannot be decoded would destroy it
 * at the next edit).
 */
export async function readText(file: string): Promise<string | null> {
  let bytes: Buffer;
  try {
    // A pipe or a device may never end, and nobody could edit it.
    const info = await stat(file);
    if (!info.isFile() && !info.isDirectory()) throw new FileError(`${file} cannot be read: it is not a regular file`);
    bytes = await readFile(file);
  } catch (error) {
    if (error instanceof FileError) throw error;
    if (isMissing(error)) return null;
    const why = codeOf(error) === 'EISDIR' ? 'it is a directory' : (codeOf(error) ?? 'unknown error');
    throw new FileError(`${file} cannot be read: ${why}`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new FileError(`${file} is not UTF-8 text; save it as UTF-8`);
  }
}

/** Everybody may write it (o+w). That others of the owner's group may is common, and theirs to know. */
const WORLD = 0o002;
const STICKY = 0o1000;

/**
 * Why a file's content may be the word of another user of the machine, with the command that mends it; null when it is not,
 * where there is no such file, and on Windows, whose folders of a user are not for others.
 */
export async function writableByOthers(file: string): Promise<string | null> {
  if (process.platform === 'win32') return null;
  const target = await linkTarget(file);
  const info = await stat(target).catch(() => null);
  if (info === null) return null;
  if ((info.mode & WORLD) !== 0)
    return `every user of this machine may write ${target}; look through it, then: chmod o-w ${target}`;
  const folder = dirname(target);
  const mode = (await stat(folder).catch(() => null))?.mode ?? 0;
  if ((mode & WORLD) === 0 || (mode & STICKY) !== 0) return null;
  return `every user of this machine may replace ${target}; look through it, then: chmod o-w ${folder}`;
}

/** The file a path leads to in the end, also when the last link points at nothing yet. */
export async function linkTarget(file: string): Promise<string> {
  let path = resolve(file);
  for (let hop = 0; hop < 40; hop += 1) {
    const info = await lstat(path).catch((error: unknown) => {
      if (isMissing(error)) return null;
      throw error;
    });
    if (!info?.isSymbolicLink()) {
      const folder = await realpath(dirname(path)).catch(() => dirname(path));
      return join(folder, basename(path));
    }
    path = resolve(dirname(path), await readlink(path));
  }
  throw new FileError(`${file} is a chain of links that does not end; replace it by a file`);
}

/**
 * Replaces a file's content as one step: written beside it under a name of its own, flushed to disk, renamed over it.
 * A link is written through; mode and, where allowed, owner of an existing file stay. A new file gets mode 0600, new
 * directories 0700. Rejects with a FileError; the old content is then untouched.
 */
export async function writeAtomic(file: string, text: string): Promise<void> {
  let temp: string | undefined;
  try {
    const target = await linkTarget(file);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    const old = await stat(target).catch(() => null);
    temp = join(dirname(target), `.${basename(target)}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`);
    const handle = await open(temp, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      if (old !== null) {
        if (old.uid !== process.getuid?.()) await handle.chown(old.uid, old.gid).catch(() => undefined);
        await handle.chmod(old.mode & 0o7777);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    await renameOver(temp, target);
    temp = undefined;
    await syncDirectory(dirname(target));
  } catch (error) {
    if (error instanceof FileError) throw error;
    throw new FileError(
      `${file} cannot be written: ${codeOf(error) ?? 'unknown error'}; check the folder and its permissions`,
    );
  } finally {
    if (temp !== undefined) await rm(temp, { force: true }).catch(() => undefined);
  }
}

/** On Windows a file that somebody reads just now cannot be replaced for a moment. */
async function renameOver(from: string, to: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await rename(from, to);
    } catch (error) {
      const busy = process.platform === 'win32' && ['EPERM', 'EACCES', 'EBUSY'].includes(codeOf(error) ?? '');
      if (!busy || attempt >= 10) throw error;
      await sleep(20 * (attempt + 1));
    }
  }
}

/** Makes the new name itself durable; file systems that cannot do so are left alone. */
async function syncDirectory(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null);
  await handle?.sync().catch(() => undefined);
  await handle?.close().catch(() => undefined);
}

/** Creates a directory that only its owner may enter; an existing one is narrowed to that. */
export async function makePrivateDirectory(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (process.platform !== 'win32') await chmod(folder, 0o700);
}
