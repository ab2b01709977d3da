/** How things were at an earlier position, folded from the streams they are about and not from the whole log. */
import { allowlistRules } from '../actors/allowlist/allowlist.rules.ts';
import { evolveAllowlist, type Grant, grantsOf } from '../actors/allowlist/allowlist.state.ts';
import type { Heard } from '../actors/head.ts';
import type { AllowlistFact } from '../events/allowlist.events.ts';
import type { Recorded } from '../events/envelope.ts';
import type { EventLog } from '../events/log.ts';
import type { ServerFact } from '../events/server.events.ts';
import { evolveStatus, type StatusRow } from '../projections/status.projection.ts';

type Log = Pick<EventLog, 'read' | 'heads'>;
export type ConfiguredThen = Extract<ServerFact, { type: 'ServerConfigured' }>['data'];

/** How every server was when the log stood at `position`; sorted by name. */
export function statusAsOf(log: Log, position: number): StatusRow[] {
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

/** The entry a server had then; null when it had none yet. */
export function configuredAsOf(log: Log, server: string, position: number): ConfiguredThen | null {
  const facts = log.read({ stream: `server-${server}`, type: 'ServerConfigured', upTo: position });
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
