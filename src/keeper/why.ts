/** Answers why a server is as it is, out of its stream and the catalog. */
import type { z } from 'zod';
import { nearest } from '../config/nearest.ts';
import type { SqliteLog } from '../events/sqlite.ts';
import type { why } from '../http/contract.why.ts';
import type { Moment } from '../http/keeper.ts';
import { Problem } from '../http/problem.ts';
import { catalogOf } from '../projections/catalog.projection.ts';
import { gather } from '../replay/why.read.ts';
import { explain } from '../replay/why.ts';

export interface WhyParts {
  readonly log: Pick<SqliteLog, 'read' | 'positionAt' | 'lastPosition' | 'head' | 'db'>;
  /** Names of the configured servers, sorted. */
  readonly names: () => readonly string[];
}

/** Midnight of the day a time is in, in the zone of this machine. */
export const midnightOf = (time: number): number => new Date(time).setHours(0, 0, 0, 0);

/** Throws `unknown-server`, with the name that was probably meant, when the log knows no fact of it by then. */
export function whyAnswer(
  { log, names }: WhyParts,
  { name, at }: { readonly name: string; readonly at: Moment | undefined },
  now: number,
): z.infer<typeof why> {
  const listAt = (server: string, position: number) => catalogOf(log.db, server, position);
  const evidence = gather(log, { server: name, at, now, dayStart: midnightOf, listAt });
  if (evidence) return explain(evidence) as z.infer<typeof why>;
  throw new Problem('unknown-server', unknownWords(name, names(), log.head(`server-${name}`) !== null));
}

/** What to say of a name without facts: the one that was probably meant, or that it is known only later. */
export function unknownWords(name: string, names: readonly string[], known: boolean): string {
  if (known) return `The log knows nothing of server "${name}" at that time yet; ask about a later one.`;
  const near = nearest(name, names);
  const meant = near === undefined ? '' : ` Did you mean "${near}"?`;
  return `There is no server "${name}".${meant} Configured: ${names.join(', ') || 'none'}.`;
}
