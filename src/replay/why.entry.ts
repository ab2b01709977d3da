/** What differs when an entry of the configuration file is read anew. Pure. */
import type { ServerFact } from '../events/server.events.ts';
import type { ServerTold, Told } from './trouble.ts';
import { listed } from './words.ts';

export type Configured = Told<Extract<ServerFact, { type: 'ServerConfigured' }>>;

/** What differs between two readings of an entry; the log knows hashes and limits, not the entry itself. */
function entryDifference(before: Configured['data'], after: Configured['data']): string[] {
  const limits = Object.keys(after.limits).flatMap((key) => {
    const [was, is] = [
      before.limits[key as keyof typeof before.limits],
      after.limits[key as keyof typeof after.limits],
    ];
    return was === is ? [] : [`${key} ${was ?? 'unset'} → ${is ?? 'unset'}`];
  });
  const parts = [
    ...(before.identity === after.identity ? [] : [after.transport === 'stdio' ? 'command or args' : 'the URL']),
    ...(before.transport === after.transport
      ? []
      : [`transport ${before.transport ?? 'none'} → ${after.transport ?? 'none'}`]),
    ...(before.wanted === after.wanted ? [] : [after.wanted === 'off' ? 'disabled' : 'enabled']),
    ...(before.lazy === after.lazy ? [] : [after.lazy ? 'lazy' : 'no longer lazy']),
    ...limits,
    ...(before.problem?.message === after.problem?.message
      ? []
      : [after.problem ? 'it has an error now' : 'its error is gone']),
  ];
  if (parts.length > 0 || before.revision === after.revision) return parts;
  return ['keys the log holds no values of, such as env, headers or include'];
}

/** `Its entry in the configuration file changed: connectTimeoutMs 30000 → 5000.`, for the fact at this index. */
export function entryChanged(facts: readonly ServerTold[], index: number): string {
  const isReading = (fact: ServerTold): fact is Configured => fact.type === 'ServerConfigured';
  const after = facts[index];
  const before = facts.slice(0, index).findLast(isReading);
  const parts = before && after && isReading(after) ? entryDifference(before.data, after.data) : [];
  return `Its entry in the configuration file changed${parts.length > 0 ? `: ${listed(parts)}` : ''}.`;
}
