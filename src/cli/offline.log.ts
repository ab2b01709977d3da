/** The log as a file, for when no daemon runs. Nothing in it is changed. */
import { existsSync } from 'node:fs';
import type { DaemonUnreachable } from '../api/errors.ts';
import { unlessNoDaemon } from './ask.daemon.ts';
import type { Context } from './command.ts';
import { CommandError } from './failure.ts';
import type { ReadEvents } from './log.reader.ts';
import type { Moment } from './moment.ts';

/** Said with what was read from the file. */
export const NO_DAEMON = 'No daemon runs; this is what its log says.';

/** Opens the database for reading; throws `why` when there is no log to read either. */
export async function openOfflineLog(
  file: string,
  why: DaemonUnreachable,
): Promise<{ read: ReadEvents; close: () => void }> {
  if (!existsSync(file)) throw why;
  const { openReader, readLog } = await import('../events/sqlite.ts');
  try {
    const db = openReader(file);
    const log = readLog(db);
    return {
      read: async ({ after, limit, stream, type }) => {
        const facts = log.read({ after, limit, stream, type });
        return {
          events: facts.map((fact) => ({ ...fact, at: new Date(fact.at).toISOString() })),
          next: facts.length < limit ? null : (facts.at(-1)?.position ?? null),
        };
      },
      close: () => void db.close(),
    };
  } catch (error) {
    throw unreadable(file, error);
  }
}

type Database = ReturnType<typeof import('../events/sqlite.ts')['openReader']>;
export type OfflineLog = ReturnType<typeof import('../events/sqlite.ts')['readLog']>;

/** Reads out of the database and closes it. Throws `why` when there is no file. */
export async function fromDatabase<T>(
  file: string,
  why: unknown,
  read: (opened: { readonly db: Database; readonly log: OfflineLog }) => T | Promise<T>,
): Promise<T> {
  if (!existsSync(file)) throw why;
  const { openReader, readLog } = await import('../events/sqlite.ts');
  let db: Database | undefined;
  try {
    db = openReader(file);
    return await read({ db, log: readLog(db) });
  } catch (error) {
    throw unreadable(file, error);
  } finally {
    db?.close();
  }
}

/** Every server the log has heard of, also those that are gone. */
export const serversIn = (log: OfflineLog): string[] =>
  log.heads().flatMap(({ stream }) => (stream.startsWith('server-') ? [stream.slice('server-'.length)] : []));

/** Whether a moment has yet to come; `now` in ms since the epoch. */
export const isAhead = (log: OfflineLog, moment: Moment, now: number): boolean =>
  'position' in moment ? moment.position > log.lastPosition() : moment.time > now;

/** Where the log stood at a moment; 0 before the first fact. */
export const placeOf = (log: OfflineLog, moment: Moment): number =>
  'position' in moment ? moment.position : log.positionAt(moment.time);

/** What SQLite says about a file it cannot read, with the file's name; errors of ours pass. */
export function unreadable(file: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  if (/^no such table/.test(error.message))
    return new CommandError(`${file} holds no log: no daemon has written to it yet.`, { next: ['up --detach'] });
  return new CommandError(`${file} cannot be read: ${error.message}.`, { next: ['up --detach'] });
}

/** Reads the log through the daemon, or from the file when none runs. */
export function withLog<T>(
  { api, files }: Pick<Context, 'api' | 'files'>,
  use: (read: ReadEvents) => Promise<T>,
): Promise<T> {
  return unlessNoDaemon(
    api,
    () => use((query) => api.events(query)),
    async (why) => {
      const log = await openOfflineLog(files.databaseFile, why);
      try {
        return await use(log.read);
      } finally {
        log.close();
      }
    },
  );
}
