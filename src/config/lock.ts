/**
 * One writer of a file at a time, over all processes.
 *
 * The lock is the operating system's, taken through SQLite on an empty file beside the one that is written. It ends
 * with the process that holds it, so there is no stale lock to recognise and no process id to believe.
 */
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { codeOf, FileError } from './files.ts';

/** Another process writes the file and does not end. */
export class FileLocked extends FileError {}

/** Work on the same file within this process waits here, in order, and does not compete for the lock. */
const queues = new Map<string, Promise<unknown>>();

export const lockFileOf = (file: string): string => join(dirname(file), `.${basename(file)}.watchkeeper-lock`);

/**
 * Runs `work` while nobody else does so for the same file. Its folder must exist; the lock file stays there, empty.
 * Rejects with a FileError when another process holds the lock for longer than `waitMs`.
 */
export async function withFileLock<T>(file: string, work: () => Promise<T>, waitMs = 10_000): Promise<T> {
  const turn = (queues.get(file) ?? Promise.resolve()).then(() => withProcessLock(file, work, waitMs));
  const settled = turn.catch(() => undefined);
  queues.set(file, settled);
  void settled.then(() => {
    if (queues.get(file) === settled) queues.delete(file);
  });
  return turn;
}

async function withProcessLock<T>(file: string, work: () => Promise<T>, waitMs: number): Promise<T> {
  const release = await acquire(file, waitMs);
  try {
    return await work();
  } finally {
    release();
  }
}

async function acquire(file: string, waitMs: number): Promise<() => void> {
  const lockFile = lockFileOf(file);
  await createEmpty(lockFile);
  const giveUpAt = performance.now() + waitMs;
  const database = connect(lockFile);
  for (let pause = 5; ; pause = Math.min(pause * 1.5, 100)) {
    try {
      database.exec('BEGIN EXCLUSIVE');
      return () => database.close();
    } catch (error) {
      if (codeOf(error) !== 'SQLITE_BUSY' || performance.now() > giveUpAt) {
        database.close();
        throw new FileLocked(reason(file, lockFile, codeOf(error), waitMs));
      }
    }
    await sleep(pause * (0.5 + Math.random()));
  }
}

function connect(lockFile: string): Database.Database {
  try {
    return new Database(lockFile, { timeout: 0 });
  } catch (error) {
    throw new FileError(`${lockFile} cannot be opened: ${codeOf(error) ?? 'unknown error'}`);
  }
}

function reason(file: string, lockFile: string, code: string | undefined, waitMs: number): string {
  if (code === 'SQLITE_BUSY') {
    return `${file} is being written by another process for more than ${Math.round(waitMs / 1000)} s; wait for it or end it, then try again`;
  }
  if (code === 'SQLITE_NOTADB') return `${lockFile} is not a lock file; remove it and try again`;
  return `${file} cannot be locked: ${code ?? 'unknown error'}`;
}

/**
 * With mode 0600 from its first moment. An existing file must not be opened here: closing a descriptor of it would
 * drop the lock another part of this process may hold.
 */
async function createEmpty(lockFile: string): Promise<void> {
  try {
    await (await open(lockFile, 'wx', 0o600)).close();
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    throw new FileError(
      `${lockFile} cannot be created: ${codeOf(error) ?? 'unknown error'}; check the folder's permissions`,
    );
  }
}
