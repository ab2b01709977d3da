/** Verifying and asking what if out of the file, for when no daemon runs. */
import type { Replayed } from '../api/client.ts';
import type { DaemonUnreachable } from '../api/errors.ts';
import type { Changes } from '../replay/changes.ts';
import { unknownServer } from './ask.daemon.ts';
import type { Moment } from './moment.ts';
import { fromDatabase, serversIn } from './offline.log.ts';

export interface OfflineReplay {
  readonly name: string | undefined;
  readonly from: Moment | undefined;
  readonly to: Moment | undefined;
  readonly fast: boolean;
  readonly set: Changes | undefined;
}

/** In the shape of the API. Throws `why` when there is no log to read. */
export async function offlineReplay(
  file: string,
  { name, from, to, fast, set }: OfflineReplay,
  why: DaemonUnreachable,
): Promise<Replayed> {
  const { replaying } = await import('../replay/replay.ts');
  const { atOnce } = await import('../replay/unhurried.ts');
  return fromDatabase(file, why, async ({ log }) => {
    if (name !== undefined && log.read({ stream: `server-${name}`, limit: 1 }).length === 0) {
      const servers = serversIn(log);
      if (!servers.includes(name)) throw unknownServer(name, servers, 'replay');
    }
    // What was true when the daemon was last alive was true until then.
    const until = log.lastAlive() ?? 0;
    return atOnce(replaying(log, { name, from, to, by: fast ? 'table' : 'machine', set, until }));
  });
}
