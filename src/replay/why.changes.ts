/**
 * What changed shortly before a trouble, or since. Each sign looks at the evidence by itself; one more kind of change is
 * one more function in the list. Pure.
 */

import { canonicalJson } from '../canonical.ts';
import type { ServerFact } from '../events/server.events.ts';
import type { ToolDefinition } from '../events/shapes.ts';
import { diffTools } from '../mcp/tools.ts';
import { isFailure, type ServerTold, type Told } from './trouble.ts';
import { entryChanged } from './why.entry.ts';
import type { Evidence } from './why.evidence.ts';
import { daemonSentence, stop } from './why.words.ts';
import { counted, exactDuration, iso, listed } from './words.ts';

export type ChangeKind = 'config' | 'tools' | 'version' | 'daemon' | 'unobserved' | 'sleep' | 'others';

export interface Change {
  readonly kind: ChangeKind;
  readonly position: number;
  /** ISO 8601. */
  readonly at: string;
  readonly text: string;
}

type Found = Omit<Change, 'at'> & { readonly at: number };
type Sign = (evidence: Evidence) => readonly Found[];

/** A timer this much late (ms) was not kept by a machine that was awake. */
const LATE_MS = 30_000;
/** Others that failed within this time (ms) of the trouble may share its cause. */
export const TOGETHER_MS = 10_000;

const found = (kind: ChangeKind, { position, at }: { position: number; at: number }, text: string): Found => ({
  kind,
  position,
  at,
  text,
});

const entries: Sign = ({ facts, config }) => {
  return [
    ...facts.flatMap((fact, index) =>
      fact.type === 'ServerConfigured' && fact.version !== 1 ? [found('config', fact, entryChanged(facts, index))] : [],
    ),
    ...config.flatMap((fact) =>
      fact.type === 'ConfigRejected'
        ? [
            found(
              'config',
              fact,
              `The configuration file could not be read: ${stop(fact.data.message)} What ran before went on.`,
            ),
          ]
        : [],
    ),
  ];
};

/** In words: how many tools came and went and what they are called. */
export function listDifference(before: readonly ToolDefinition[], after: readonly ToolDefinition[]): string {
  const { added, removed, changed } = diffTools(before, after);
  const part = (tools: readonly { name: string }[], what: string): string[] =>
    tools.length === 0
      ? []
      : [
          `${counted(tools.length, 'tool')} ${what} (${listed(
            tools.map(({ name }) => name),
            5,
          )})`,
        ];
  const parts = [...part(added, 'added'), ...part(removed, 'removed'), ...part(changed, 'changed')];
  return parts.length > 0 ? listed(parts) : 'the same tools in another order or with other words around them';
}

const lists: Sign = ({ facts, listBefore }) => {
  let known = listBefore;
  return facts.flatMap((fact) => {
    if (fact.type === 'ServerRemoved') known = null;
    if (fact.type !== 'ToolsListed' || !fact.data.tools) return [];
    const before = known;
    known = fact.data.tools;
    return before ? [found('tools', fact, `Its tool list changed: ${listDifference(before, known)}.`)] : [];
  });
};

const versions: Sign = ({ facts }) => {
  let known: Told<Extract<ServerFact, { type: 'Connected' }>>['data'] | null = null;
  return facts.flatMap((fact) => {
    if (fact.type !== 'Connected') return [];
    const before = known;
    known = fact.data;
    if (!before) return [];
    const named = ({ serverInfo }: typeof before): string =>
      `${serverInfo?.name ?? 'unnamed'} ${serverInfo?.version ?? ''}`.trim();
    const parts = [
      ...(named(before) === named(fact.data) ? [] : [`it calls itself ${named(fact.data)}, before ${named(before)}`]),
      ...(before.protocolVersion === fact.data.protocolVersion
        ? []
        : [`it speaks protocol ${fact.data.protocolVersion}, before ${before.protocolVersion}`]),
      ...(canonicalJson(before.capabilities) === canonicalJson(fact.data.capabilities)
        ? []
        : ['it declares other capabilities than before']),
    ];
    return parts.length > 0 ? [found('version', fact, `The server is another one: ${listed(parts)}.`)] : [];
  });
};

const daemons: Sign = ({ daemon }) =>
  daemon.flatMap((fact, index) => {
    if (fact.type === 'DaemonStopped') return [found('daemon', fact, daemonSentence(fact))];
    const before = daemon[index - 1];
    const crashed = before?.type === 'DaemonStarted' ? ' The one before had not been stopped in good order.' : '';
    return [found('daemon', fact, `${daemonSentence(fact)}${crashed}`)];
  });

const deadTimes: Sign = ({ daemon }) =>
  daemon.flatMap((fact) => {
    if (fact.type !== 'DaemonStarted' || fact.data.lastAlive === null) return [];
    const length = fact.at - fact.data.lastAlive;
    return length < 1_000
      ? []
      : [found('unobserved', fact, `For ${exactDuration(length)} before that no daemon watched.`)];
  });

/** A pause or a limit that took far longer than it was set to: timers stand still while a machine sleeps. */
const sleeps: Sign = ({ facts, limits }) => {
  let due: { readonly at: number; readonly what: string } | null = null;
  return facts.flatMap((fact) => {
    const waited = due;
    due = null;
    if (fact.type === 'ConnectFailed' || fact.type === 'ReconnectDelayed')
      due = { at: fact.at + fact.data.delayMs, what: `a pause of ${exactDuration(fact.data.delayMs)}` };
    else if ((fact.type === 'ConnectStarted' || fact.type === 'ReconnectStarted') && limits)
      due = {
        at: fact.at + limits.connectTimeoutMs,
        what: `an attempt with a limit of ${exactDuration(limits.connectTimeoutMs)}`,
      };
    else if (fact.type === 'Connected' && limits)
      due = {
        at: fact.at + limits.listTimeoutMs,
        what: `a reading of the list with a limit of ${exactDuration(limits.listTimeoutMs)}`,
      };
    else if (fact.type === 'ProcessStarted') due = waited;
    // What was ended on purpose, or by the daemon's own end, says nothing about timers.
    const ended = fact.type === 'StopRequested' || fact.type === 'ServerStopped' || fact.type === 'ServerConfigured';
    if (!waited || ended || fact.at - waited.at < LATE_MS) return [];
    const late = exactDuration(fact.at - waited.at);
    return [found('sleep', fact, `The machine probably slept: ${waited.what} ended ${late} late.`)];
  });
};

const others: Sign = ({ others: failed }) => {
  const [first] = failed;
  if (!first) return [];
  const names = [...new Set(failed.map(({ stream }) => stream.slice('server-'.length)))].sort();
  const text = `${counted(names.length, 'other server')} failed within ${exactDuration(TOGETHER_MS)} of it: ${listed(names)}. Look for a cause they share, such as the network.`;
  return [found('others', first, text)];
};

const signs: readonly Sign[] = [entries, lists, versions, daemons, deadTimes, sleeps, others];

/** What all signs find from `since` (ms since the epoch) on, newest first, at most `most`. */
export function changesSince(evidence: Evidence, since: number, most = 12): Change[] {
  return signs
    .flatMap((sign) => sign(evidence))
    .filter(({ at }) => at >= since)
    .sort((a, b) => b.position - a.position)
    .slice(0, most)
    .map((change) => ({ ...change, at: iso(change.at) }));
}

/** When the oldest failure of these facts happened; else when they begin. */
export const troubleBegan = (facts: readonly ServerTold[]): ServerTold | undefined =>
  facts.find((fact) => isFailure(fact)) ?? facts[0];
