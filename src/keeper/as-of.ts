/** How things were at an earlier position, folded from the streams they are about, from the newest mark on, and not from the whole log. */
import { allowlistRules } from '../actors/allowlist/allowlist.rules.ts';
import { evolveAllowlist, type Grant, grantsOf } from '../actors/allowlist/allowlist.state.ts';
import type { Heard } from '../actors/head.ts';
import type { AllowlistFact } from '../events/allowlist.events.ts';
import { type Recorded, serverOf } from '../events/envelope.ts';
import type { EventLog } from '../events/log.ts';
import type { ServerFact } from '../events/server.events.ts';
import { evolveStatus, type StatusMarks, type StatusRow } from '../projections/status.projection.ts';

type Log = Pick<EventLog, 'read' | 'heads'>;
export type ConfiguredThen = Extract<ServerFact, { type: 'ServerConfigured' }>['data'];

const unmarked: StatusMarks = () => null;

/**
 * How every server was when the log stood at `position`; sorted by name. With `marks` only the facts since the newest mark
 * of each server are read; without any, each stream is folded from its beginning, which gives the same.
 */
export function statusAsOf(log: Log, position: number, marks = unmarked): StatusRow[] {
  return log
    .heads()
    .filter(({ stream }) => stream.startsWith('server-'))
    .map(({ stream }) => {
      const mark = marks(serverOf(stream), position)?.row ?? null;
      return log
        .read({ stream, after: mark?.position ?? 0, upTo: position })
        .reduce<StatusRow | null>((row, fact) => evolveStatus(row, fact as Recorded<ServerFact>), mark);
    })
    .flatMap((row) => (row && !row.gone ? [row] : []));
}

/** The entry a server had then; null when it had none yet. */
export function configuredAsOf(log: Log, server: string, position: number, marks = unmarked): ConfiguredThen | null {
  // Every entry is marked, so that the newest mark tells which one counts.
  const known = marks(server, position)?.configured ?? null;
  const since = known === null ? {} : { after: known - 1, limit: 1 };
  const facts = log.read({ stream: `server-${server}`, type: 'ServerConfigured', upTo: position, ...since });
  return (facts.at(-1)?.data as ConfiguredThen | undefined) ?? null;
}

/** The grants there were then; sorted by entry. */
export function grantsAsOf(log: Log, position: number): readonly Grant[] {
  const context = log
    .read({ stream: 'allowlist', upTo: position })
    .reduce(
      (grants, fact) => evolveAllowlist(grants, fact as unknown as Heard<AllowlistFact>),
      allowlistRules.initial.context,
    );
  return grantsOf(context);
}
