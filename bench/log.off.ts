/**
 * The log, with the facts of calls left out: what remains is the daemon as it would be without them, to see what they cost.
 * The hub benchmark builds a daemon with this in the place of `src/events/sqlite.ts`.
 */
import type { Recorded } from '../src/events/envelope.ts';
import * as real from '../src/events/sqlite.ts';

export * from '../src/events/sqlite.ts';

export function openLog(options: real.SqliteLogOptions): real.SqliteLog {
  const log = real.openLog(options);
  return {
    ...log,
    async append(facts, heads) {
      const kept = facts.filter(({ stream }) => !stream.startsWith('call-'));
      const rest = heads.filter(({ stream }) => !stream.startsWith('call-'));
      const written = kept.length > 0 ? await log.append(kept, rest) : [];
      let next = 0;
      return facts.map((fact): Recorded => {
        if (!fact.stream.startsWith('call-')) return written[next++] as Recorded;
        return { ...fact, position: Number.MAX_SAFE_INTEGER };
      });
    },
  };
}
