/** The history of a server out of the file, for when no daemon runs. */
import type { History } from '../api/client.ts';
import type { DaemonUnreachable } from '../api/errors.ts';
import { unknownServer } from './ask.daemon.ts';
import { fromDatabase } from './offline.log.ts';
import type { Interval } from './shapes.ts';

const iso = (time: number): string => new Date(time).toISOString();

/** In the shape of the API; `from` and `to` in milliseconds. Throws `why` when there is nothing to read. */
export async function offlineHistory(
  file: string,
  query: { readonly name: string; readonly from: number | undefined; readonly to: number | undefined },
  why: DaemonUnreachable,
): Promise<History> {
  const { readHistory } = await import('../projections/history.projection.ts');
  return fromDatabase(file, why, async ({ db, log }) => {
    const seen = unwatched(readHistory(db, query), log.lastAlive());
    const intervals = seen.map((one) => ({
      ...one,
      state: one.state as Interval['state'],
      from: iso(one.from),
      to: one.to === null ? null : iso(one.to),
    }));
    if (intervals.length > 0) return { intervals };
    const servers = db.prepare<[], string>('select distinct server from history order by server').pluck().all();
    if (servers.includes(query.name)) return { intervals };
    throw unknownServer(query.name, servers, 'history');
  });
}

type Read = ReturnType<typeof import('../projections/history.projection.ts').readHistory>;

/** What a daemon that was killed left open ended when it was last alive: nobody knows how it went on. */
function unwatched(intervals: Read, lastAlive: number | null): Read {
  const last = intervals.at(-1);
  if (!last || last.to !== null || lastAlive === null || last.state === 'stopped' || last.state === 'disabled')
    return intervals;
  const ended = Math.max(last.from, lastAlive);
  const nobody = { server: last.server, state: 'unobserved', from: ended, to: null, cause: null, position: null };
  return [...intervals.slice(0, -1), { ...last, to: ended }, nobody] as Read;
}
