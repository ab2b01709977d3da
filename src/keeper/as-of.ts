import type { Recorded } from '../events/envelope.ts';
import type { EventLog } from '../events/log.ts';
import type { ServerFact } from '../events/server.events.ts';
import { evolveStatus, type StatusRow } from '../projections/status.projection.ts';

/** How every server was when the log stood at `position`; sorted by name. Folds the servers' streams, not the whole log. */
export function statusAsOf(log: Pick<EventLog, 'read' | 'heads'>, position: number): StatusRow[] {
  return log
    .heads()
    .filter(({ stream }) => stream.startsWith('server-'))
    .map(({ stream }) =>
      log
        .read({ stream, upTo: position })
        .reduce<StatusRow | null>((row, fact) => evolveStatus(row, fact as Recorded<ServerFact>), null),
    )
    .flatMap((row) => (row && !row.gone ? [row] : []));
}
