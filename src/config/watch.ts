/** What a file holds, as it changes. */
import { type FSWatcher, watch as watchDirectory } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { Observable } from 'rxjs';
import { linkTarget, readText, writableByOthers } from './files.ts';

/** `unusable`: there, but not readable or not UTF-8; `message` is fit for a person. */
export type FileContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unusable'; readonly message: string };

export interface WatchOptions {
  /** What is known already; only something else is emitted. Without it the first content is emitted too. */
  readonly known?: FileContent;
  /** Whether a text is whole. One that is not may be half written: it is emitted only when it stays for `patienceMs`. */
  readonly isWhole?: (text: string) => boolean;
  /** Quiet time after the last change before the file is read. Longer where half a text cannot be told from a whole one. */
  readonly settleMs?: number;
  readonly patienceMs?: number;
  /** How the file is read; `read` unless given. */
  readonly reader?: (file: string) => Promise<FileContent>;
  /** How often the file is looked at without being told to, as long as a directory cannot be watched. */
  readonly pollMs?: number;
}

/** How much rarer the file is looked at while its directories are watched: on some drives a watch is there and tells nothing. */
const RARER = 5;

const sameContent = (a: FileContent | undefined, b: FileContent): boolean => JSON.stringify(a) === JSON.stringify(b);

/**
 * Emits the settled content of a file whenever it differs from the one before; each save is seen once, whether it was
 * made in place, by renaming over the file, by deleting and writing again, or by replacing the target of a link.
 * A file that is gone or broken is given `patienceMs` to come back. Never errors; ends only by unsubscribing.
 *
 * The directories of the file and of what it links to are watched, since a watch on the file itself ends with its
 * inode; and the file is looked at now and then, since a watch may tell nothing (network drives) or not be possible yet (new
 * directories).
 */
export function watchFile(file: string, options: WatchOptions = {}): Observable<FileContent> {
  const { isWhole, settleMs = isWhole ? 120 : 400, patienceMs = 1500, pollMs = 1000, reader = read } = options;
  return new Observable((subscriber) => {
    const path = resolve(file);
    let last = options.known;
    let mark = '';
    /** When the content last looked different, and whether a look is under way or asked for meanwhile. */
    let changedAt = performance.now();
    let looking = false;
    let again = false;
    let timer: NodeJS.Timeout | undefined;
    const watchers = directoryWatchers(() => changed());

    const arm = (delay: number): void => {
      clearTimeout(timer);
      timer = setTimeout(() => void look(), delay);
      timer.unref();
    };
    const changed = (): void => {
      changedAt = performance.now();
      if (looking) again = true;
      else arm(settleMs);
    };
    const look = async (): Promise<void> => {
      looking = true;
      const before = await markOf(path);
      const content = await reader(path);
      const after = await markOf(path);
      looking = false;
      if (subscriber.closed) return;
      if (again || before !== after) {
        again = false;
        changedAt = performance.now();
        mark = after;
        return arm(settleMs);
      }
      mark = after;
      if (sameContent(last, content)) return;
      const whole = content.kind === 'text' && (isWhole?.(content.text) ?? true);
      const waited = performance.now() - changedAt;
      if (!whole && last !== undefined && waited < patienceMs) return arm(Math.max(patienceMs - waited, 1));
      last = content;
      subscriber.next(content);
    };
    const poll = async (): Promise<void> => {
      const [now, target] = await Promise.all([markOf(path), linkTarget(path).catch(() => path)]);
      if (subscriber.closed) return;
      watchers.follow([path, target]);
      if (now !== mark) {
        mark = now;
        changed();
      }
    };

    let turn = 0;
    const every = setInterval(() => {
      turn += 1;
      if (turn % RARER === 0 || !watchers.complete()) void poll();
    }, pollMs);
    every.unref();
    void poll().then(() =>
      subscriber.closed || looking ? undefined : arm(options.known === undefined ? 0 : settleMs),
    );
    return () => {
      clearTimeout(timer);
      clearInterval(every);
      watchers.follow([]);
    };
  });
}

/** Reads a file as the watch does. */
export async function read(file: string): Promise<FileContent> {
  try {
    const text = await readText(file);
    return text === null ? { kind: 'missing' } : { kind: 'text', text };
  } catch (error) {
    return { kind: 'unusable', message: error instanceof Error ? error.message : String(error) };
  }
}

/** The same, unusable also where another user of the machine could have written it. */
export async function readOwn(file: string): Promise<FileContent> {
  const content = await read(file);
  if (content.kind !== 'text') return content;
  const fault = await writableByOthers(file);
  return fault === null ? content : { kind: 'unusable', message: `its lines do not count: ${fault}` };
}

/** Changes whenever the file behind the path is written or replaced. */
async function markOf(path: string): Promise<string> {
  const info = await stat(path, { bigint: true }).catch(() => null);
  return info === null ? 'none' : [info.dev, info.ino, info.size, info.mtimeNs, info.ctimeNs].join(' ');
}

/** Watches the directories of some paths and tells when one of those names is touched. */
function directoryWatchers(changed: () => void) {
  const watchers = new Map<string, FSWatcher>();
  let names = new Set<string>();
  let wanted = 0;
  const drop = (folder: string): void => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  const add = (folder: string): void => {
    try {
      const watcher = watchDirectory(folder, { persistent: false }, (_event, name) => {
        if (name === null || names.has(name)) changed();
      });
      watcher.on('error', () => drop(folder));
      watchers.set(folder, watcher);
    } catch {
      // No such directory yet, or no watches left: looking now and then remains.
    }
  };
  return {
    follow(paths: readonly string[]): void {
      names = new Set(paths.map((path) => basename(path)));
      const folders = new Set(paths.map((path) => dirname(path)));
      wanted = folders.size;
      for (const folder of [...watchers.keys()]) if (!folders.has(folder)) drop(folder);
      for (const folder of folders) if (!watchers.has(folder)) add(folder);
    },
    /** Whether every directory that matters is watched. */
    complete: (): boolean => wanted > 0 && watchers.size === wanted,
  };
}
