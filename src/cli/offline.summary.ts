/** How well servers did, out of the file, for when no daemon runs. */
import type { Summary } from '../api/client.ts';
import type { DaemonUnreachable } from '../api/errors.ts';
import { unknownServer } from './ask.daemon.ts';
import { fromDatabase } from './offline.log.ts';

/**
 * In the shape of the API; `from` and `to` in milliseconds. What lasts is counted until the daemon was last known alive.
 * Throws `why` when there is nothing to read.
 */
export async function offlineSummary(
  file: string,
  query: { readonly name: string | undefined; readonly from: number | undefined; readonly to: number | undefined },
  why: DaemonUnreachable,
): Promise<Summary> {
  const { summaries } = await import('../keeper/summary.ts');
  const { atOnce } = await import('../replay/unhurried.ts');
  return fromDatabase(file, why, async ({ db, log }) => {
    const heads = log.heads().filter(({ stream }) => stream.startsWith('server-'));
    const known = heads.map(({ stream }) => stream.slice('server-'.length));
    const { name, from, to } = query;
    if (name !== undefined && !known.includes(name)) throw unknownServer(name, known, 'history --summary');
    const present = heads.filter(({ context }) => (context as { wanted?: unknown }).wanted !== 'gone');
    const names = name === undefined ? present.map(({ stream }) => stream.slice('server-'.length)) : [name];
    const seen = log.lastAlive() ?? 0;
    return atOnce(summaries(log, db, { names, from, to: Math.min(to ?? seen, seen) }));
  });
}
