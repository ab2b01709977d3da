/** Facts written into a real log as actors write them: with the state each leads to and the head that follows. */
import { join } from 'node:path';
import { allowlistRules } from '../../src/actors/allowlist/allowlist.rules.ts';
import { callRules } from '../../src/actors/call/call.rules.ts';
import { type Head, type Heard, type Rules, step } from '../../src/actors/head.ts';
import { journalRules } from '../../src/actors/journal.ts';
import { serverRules } from '../../src/actors/server/server.rules.ts';
import type { AllowlistFact, GrantOrigin } from '../../src/events/allowlist.events.ts';
import { catalogue, type Fact } from '../../src/events/catalogue.ts';
import type { DaemonFact } from '../../src/events/daemon.events.ts';
import type { Recorded, Unrecorded } from '../../src/events/envelope.ts';
import type { EventLog } from '../../src/events/log.ts';
import { openLog, type SqliteLog } from '../../src/events/sqlite.ts';
import { projector } from '../../src/projections/projection.ts';
import { views } from '../../src/projections/views.ts';
import { atEnd } from './cleanup.ts';
import { projectRoot } from './paths.ts';
import { tempDir } from './temp.ts';

/** A real log with all views in a file of its own; closed when the test file is over. */
export function givenLog(): SqliteLog {
  const log = openLog({
    file: join(tempDir(), 'watchkeeper.db'),
    migrations: join(projectRoot, 'migrations'),
    durability: 'process',
    project: (db) => projector(db, views),
  });
  atEnd(() => log.close());
  return log;
}

/** A fact of a stream, not yet written. */
export function unrecorded(stream: string, version: number, fact: Fact, more: Partial<Unrecorded> = {}): Unrecorded {
  const { type, data } = fact;
  return { stream, version, type, schema: catalogue[type].schema, at: 1_000, cause: null, data, ...more };
}

type Part = readonly [stream: string, ...facts: Fact[]];

export interface Story {
  /** Writes facts of one stream at a time (ms since the epoch), in one transaction. */
  tell(at: number, stream: string, ...facts: readonly Fact[]): Promise<readonly Recorded[]>;
  /** Writes facts of several streams in one transaction. */
  batch(at: number, ...parts: readonly Part[]): Promise<readonly Recorded[]>;
}

type AnyRules = Rules<any, any, any, any>;

function rulesOf(stream: string): AnyRules {
  if (stream.startsWith('server-')) return serverRules;
  if (stream.startsWith('call-')) return callRules;
  return stream === 'allowlist' ? allowlistRules : journalRules();
}

/** A fact that its stream does not hear throws. */
export function storyOn(log: EventLog): Story {
  const heads = new Map<string, Head<unknown>>();
  const headOf = (stream: string): Head<unknown> =>
    heads.get(stream) ?? log.head(stream) ?? { ...rulesOf(stream).initial, version: 0 };

  const batch: Story['batch'] = (at, ...parts) => {
    const facts: Unrecorded[] = [];
    for (const [stream, ...told] of parts) {
      for (const fact of told) {
        const head = step(rulesOf(stream), headOf(stream), { ...fact, at } as Heard<Fact>);
        heads.set(stream, head);
        const data = head.state === '' ? fact.data : { ...fact.data, to: head.state };
        facts.push(unrecorded(stream, head.version, fact, { at, data: data as Unrecorded['data'] }));
      }
    }
    const kept = [...new Set(parts.map(([stream]) => stream))].filter((stream) => !stream.startsWith('call-'));
    return log.append(
      facts,
      kept.map((stream) => ({ ...headOf(stream), stream })),
    );
  };
  return { batch, tell: (at, stream, ...facts) => batch(at, [stream, ...facts]) };
}

/** A start of the daemon; `lastAlive` null: the first one ever. */
export const daemonStarted = (lastAlive: number | null): DaemonFact => ({
  type: 'DaemonStarted',
  data: { run: 'run', version: '0.1.0', pid: 1, lastAlive },
});

const binding = ([identity, definition]: readonly [string, string | null]) => ({ identity, definition });

export const grantAdded = (entry: string, origin: GrantOrigin = 'file', by = 'file'): AllowlistFact => ({
  type: 'GrantAdded',
  data: { entry, origin, by },
});
export const grantRemoved = (entry: string, origin: GrantOrigin = 'file', by = 'file'): AllowlistFact => ({
  type: 'GrantRemoved',
  data: { entry, origin, by },
});
export const grantBound = (entry: string, ...to: readonly [string, string | null]): AllowlistFact => ({
  type: 'GrantBound',
  data: { entry, binding: binding(to) },
});
export const grantSuspended = (
  entry: string,
  before: readonly [string, string | null],
  after: readonly [string, string | null],
): AllowlistFact => ({
  type: 'GrantSuspended',
  data: {
    entry,
    before: binding(before),
    after: binding(after),
    changed: before[0] === after[0] ? 'tool' : 'server',
  },
});
