/**
 * One daemon a data directory. The lock is held by the operating system on a small SQLite file, so that it ends with the
 * process however that ends: there is no stale lock, and no pid that now belongs to somebody else is ever trusted.
 */
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';

/** How long is tried before the directory counts as taken, in ms. */
const CONTEST_MS = 250;

export class AlreadyOwned extends Error {
  override readonly name = 'AlreadyOwned';
}

export interface Ownership {
  release(): void;
}

/** Takes the data directory or throws `AlreadyOwned`, naming the holder; the loser changes nothing in it. */
export function takeOwnership(dataDir: string): Ownership {
  const db = openLock(join(dataDir, 'owner.lock'), dataDir);
  const holder = join(dataDir, 'owner.pid');
  writeFileSync(holder, `${process.pid}\n`, { mode: 0o600 });
  return {
    release: () => {
      if (db.open) db.close();
    },
  };
}

function openLock(file: string, dataDir: string): Database.Database {
  createPrivate(file);
  // Two that start at the same instant both find the lock half taken. Each lets go and tries again, so that one gets it.
  const db = new Database(file, { timeout: CONTEST_MS });
  try {
    db.exec('BEGIN EXCLUSIVE');
    return db;
  } catch (error) {
    db.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'))
      throw new AlreadyOwned(heldBy(dataDir));
    throw error;
  }
}

/** SQLite would make it readable by all. One that is there must not be opened: closing it again would drop a lock this process holds. */
function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function heldBy(dataDir: string): string {
  const pid = holderOf(dataDir);
  const url = urlOf(read(join(dataDir, 'daemon.json')), pid);
  const who = [pid && `pid ${pid}`, url].filter(Boolean).join(', ');
  return `The data directory ${dataDir} belongs to a running watchkeeper${who ? ` (${who})` : ''}. Ask it with: watchkeeper status. Stop it with: watchkeeper down. Or choose another directory with --data.`;
}

/** The holder writes its pid right after it took the lock: until then the file is empty or tells of the one before. */
function holderOf(dataDir: string): string {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let looks = 1; ; looks += 1) {
    const pid = read(join(dataDir, 'owner.pid')).trim();
    if (isAlive(Number(pid)) || looks === 20) return pid;
    Atomics.wait(pause, 0, 0, 10);
  }
}

/** Asks without touching the process: signal 0 is never delivered. */
function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Empty unless the file is of this process: one that was killed leaves its own behind. */
function urlOf(json: string, pid: string): string {
  try {
    const facts = JSON.parse(json) as { pid?: unknown; url?: unknown };
    return String(facts.pid) === pid ? String(facts.url ?? '') : '';
  } catch {
    return '';
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
