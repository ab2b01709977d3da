import { describe, expect, it } from 'vitest';
import type { ServerFact } from '../../src/events/server.events.ts';
import { configuredAsOf, grantsAsOf, statusAsOf } from '../../src/keeper/as-of.ts';
import { MARK_EVERY, readStatus, type StatusRow, statusMarks } from '../../src/projections/status.projection.ts';
import {
  configured,
  connected,
  connectFailed,
  connecting,
  delayed,
  disabled,
  elapsed,
  enabled,
  listed,
  listFailed,
  loginRequired,
  lost,
  process,
  pushChanged,
  reconnecting,
  removed,
  serverFailed,
  settledDown,
  stopped,
  stopRequested,
} from '../support/server.facts.ts';
import {
  daemonStarted,
  givenLog,
  grantAdded,
  grantBound,
  grantRemoved,
  grantSuspended,
  storyOn,
} from '../support/story.ts';

/** A life in which every kind of fact of a server happens. */
const life: readonly ServerFact[] = [
  configured({ wanted: 'off' }),
  disabled,
  configured({ revision: 'r2' }),
  enabled,
  connecting(),
  process(),
  connected(),
  pushChanged(false),
  listed(),
  listFailed(),
  listed(1, 's1', null),
  settledDown(),
  lost(),
  reconnecting(2, 2),
  connected(2),
  listed(2, 's2'),
  lost(2),
  delayed(3, 700),
  elapsed,
  reconnecting(3, 3),
  connectFailed(3, 3),
  connecting(4),
  loginRequired(4),
  connecting(5),
  serverFailed(5),
  connecting(6),
  connected(6),
  stopRequested('config-changed'),
  configured({ revision: 'r3', transport: 'streamable-http' }),
  stopped('config-changed'),
  enabled,
  removed,
  stopped('removed'),
  configured(),
  enabled,
  connecting(7),
];

describe('How things were', () => {
  it('at any position is what was shown when the log stood there', async () => {
    const log = givenLog();
    const story = storyOn(log);
    const shown = new Map<number, readonly StatusRow[]>([[0, []]]);
    const remember = () => shown.set(log.lastPosition(), readStatus(log.db));
    await story.tell(1_000, 'daemon', daemonStarted(null));
    for (const [index, fact] of life.entries()) {
      await story.tell(2_000 + index, 'server-a', fact);
      remember();
      const other = life[(index * 7) % 5];
      if (other && index < 5) await story.tell(2_000 + index, 'server-b', life[index] ?? other);
      remember();
    }
    expect(shown.size).toBeGreaterThan(life.length);
    for (const [position, rows] of shown) {
      expect([position, statusAsOf(log, position)]).toEqual([position, rows]);
      expect([position, statusAsOf(log, position, statusMarks(log.db))]).toEqual([position, rows]);
    }
  });

  it('is found from the newest mark: a long past is not folded again', async () => {
    const log = givenLog();
    const story = storyOn(log);
    const flapping = Array.from({ length: 200 }, (_, index) => [lost(index + 1), reconnecting(index + 2)]).flat();
    await story.tell(1_000, 'server-a', configured(), enabled, connecting(), connected(), listed());
    for (const [index, fact] of flapping.entries()) {
      await story.tell(2_000 + index, 'server-a', fact, ...(index % 2 ? [connected(index), listed(index)] : []));
    }
    let read = 0;
    const counting = {
      ...log,
      read: (query: Parameters<typeof log.read>[0]) => {
        const facts = log.read(query);
        read += facts.length;
        return facts;
      },
    };
    const marks = statusMarks(log.db);
    for (const position of [3, 40, 41, 333, 500, log.lastPosition()]) {
      read = 0;
      expect(statusAsOf(counting, position, marks)).toEqual(statusAsOf(log, position));
      expect(read).toBeLessThanOrEqual(MARK_EVERY);
      read = 0;
      expect(configuredAsOf(counting, 'a', position, marks)).toEqual(configuredAsOf(log, 'a', position));
      expect(read).toBe(1);
    }
  });

  it('is the same while a view has yet to be filled, or was begun in the middle', async () => {
    const log = givenLog();
    const story = storyOn(log);
    const turns = Array.from({ length: 30 }, (_, index) => [listFailed(), listed(1, `s${index}`)]).flat();
    await story.tell(1_000, 'server-a', configured(), enabled, connecting(), connected(), listed(), ...turns);
    const now = log.lastPosition();
    const whole = statusAsOf(log, now);
    const entry = configuredAsOf(log, 'a', now);
    const same = () => {
      expect(statusAsOf(log, now, statusMarks(log.db))).toEqual(whole);
      expect(configuredAsOf(log, 'a', now, statusMarks(log.db))).toEqual(entry);
    };
    log.db.prepare('update status_marks set configured = null').run();
    same();
    log.db.prepare('delete from status_marks').run();
    same();
  });

  it('has no server before its first fact, and none while it was removed', async () => {
    const log = givenLog();
    const story = storyOn(log);
    await story.tell(1_000, 'server-b', configured());
    await story.tell(2_000, 'server-a', configured());
    await story.tell(3_000, 'server-b', removed);
    await story.tell(4_000, 'server-b', configured());
    const names = (position: number): string[] => statusAsOf(log, position).map(({ server }) => server);
    expect([0, 1, 2, 3, 4, 99].map(names)).toEqual([[], ['b'], ['a', 'b'], ['a'], ['a', 'b'], ['a', 'b']]);
  });

  it('knows the entry of then', async () => {
    const log = givenLog();
    const story = storyOn(log);
    await story.tell(1_000, 'server-a', configured({ revision: 'r1' }), enabled);
    await story.tell(2_000, 'server-a', configured({ revision: 'r2' }));
    const revision = (position: number) => configuredAsOf(log, 'a', position)?.revision ?? null;
    expect([0, 1, 2, 3, 9].map(revision)).toEqual([null, 'r1', 'r1', 'r2', 'r2']);
    const marked = (position: number) => configuredAsOf(log, 'a', position, statusMarks(log.db))?.revision ?? null;
    expect([0, 1, 2, 3, 9].map(marked)).toEqual([null, 'r1', 'r1', 'r2', 'r2']);
    expect(configuredAsOf(log, 'b', 9)).toBeNull();
  });

  it('knows the grants of then', async () => {
    const log = givenLog();
    const story = storyOn(log);
    const get = 'mcp__a__get';
    await story.tell(1_000, 'allowlist', grantAdded(get), grantBound(get, 'i', 'd'), grantAdded('mcp__b__*'));
    await story.tell(2_000, 'allowlist', grantSuspended(get, ['i', 'd'], ['i', 'new']), grantRemoved(get));
    const states = (position: number) => grantsAsOf(log, position).map(({ entry, state }) => `${entry} ${state}`);
    expect(states(0)).toEqual([]);
    expect(states(1)).toEqual([`${get} unbound`]);
    expect(states(3)).toEqual([`${get} bound`, 'mcp__b__* unbound']);
    expect(states(4)).toEqual([`${get} suspended`, 'mcp__b__* unbound']);
    expect(states(5)).toEqual(['mcp__b__* unbound']);
  });
});
