/** Why a server was as it was, out of the file, for when no daemon runs. */
import type { Why } from '../api/client.ts';
import type { DaemonUnreachable } from '../api/errors.ts';
import { unknownServer } from './ask.daemon.ts';
import { CommandError, usedWrongly } from './failure.ts';
import type { Moment } from './moment.ts';
import { fromDatabase, isAhead, serversIn } from './offline.log.ts';

/** In the shape of the API. Throws `why` when there is nothing to read. */
export async function offlineWhy(
  file: string,
  { name, at, now }: { readonly name: string; readonly at: Moment | undefined; readonly now: number },
  why: DaemonUnreachable,
): Promise<Why> {
  const { catalogOf } = await import('../projections/catalog.projection.ts');
  const { gather } = await import('../replay/why.read.ts');
  const { explain } = await import('../replay/why.ts');
  return fromDatabase(file, why, async ({ db, log }) => {
    if (at && isAhead(log, at, now))
      throw usedWrongly('--at lies in the future; leave it out to see the present.', `why ${name}`);
    const evidence = gather(log, {
      server: name,
      at,
      now,
      dayStart: (time) => new Date(time).setHours(0, 0, 0, 0),
      listAt: (server, position) => catalogOf(db, server, position),
      deadSince: log.lastAlive(),
    });
    if (evidence) return explain(evidence) as Why;
    const servers = serversIn(log);
    if (servers.includes(name)) throw tooEarly(name);
    throw unknownServer(name, servers, 'why');
  });
}

const tooEarly = (name: string): CommandError =>
  new CommandError(`The log knows nothing of ${name} at that time yet.`, { next: [`why ${name}`] });
