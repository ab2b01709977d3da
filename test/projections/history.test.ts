import { describe, expect, it } from 'vitest';
import type { ServerFact } from '../../src/events/server.events.ts';
import { type Interval, readHistory } from '../../src/projections/history.projection.ts';
import { readStatus } from '../../src/projections/status.projection.ts';
import {
  configured,
  connected,
  connectFailed,
  connecting,
  disabled,
  elapsed,
  enabled,
  listed,
  listFailed,
  lost,
  process,
  reconnecting,
  removed,
  stopped,
  stopRequested,
} from '../support/server.facts.ts';
import { daemonStarted, givenLog, type Story, storyOn } from '../support/story.ts';

const a = 'server-a';

function given() {
  const log = givenLog();
  return {
    log,
    story: storyOn(log),
    intervals: (query: Parameters<typeof readHistory>[1] = {}) => readHistory(log.db, query),
  };
}

/** `state from-to`, times as they are. */
const lines = (intervals: readonly Interval[]): string[] =>
  intervals.map(({ state, from, to }) => `${state} ${from}-${to ?? ''}`);

/** Each fact 10 ms after the one before it. */
async function tellEach(story: Story, from: number, ...facts: readonly ServerFact[]): Promise<void> {
  for (const [index, fact] of facts.entries()) await story.tell(from + index * 10, a, fact);
}

const first = [configured(), enabled, connecting(), process(), connected(), listed()];

describe('The history of a server', () => {
  it('has one interval for each state, each ending where the next begins', async () => {
    const { story, intervals } = given();
    await tellEach(story, 1_000, ...first);
    expect(lines(intervals())).toEqual([
      'stopped 1000-1010',
      'idle 1010-1020',
      'connecting 1020-1040',
      'listing 1040-1050',
      'ready 1050-',
    ]);
  });

  it('says which fact began an interval, in words and by position', async () => {
    const { story, intervals } = given();
    await story.tell(1_000, a, ...first);
    await story.tell(2_000, a, lost(), reconnecting());
    await story.tell(3_000, a, connectFailed(2, 2));
    await story.tell(4_000, a, stopRequested('reconnect'));
    const last = intervals().slice(-4);
    expect(last.map(({ state, cause, position }) => [state, cause, position])).toEqual([
      ['session-lost', 'SessionLost (exit): watch: it exited with code 1', 7],
      ['reconnecting', 'ReconnectStarted', 8],
      ['backing-off', 'ConnectFailed (exit): watch: it exited with code 1', 9],
      ['stopping', 'StopRequested: reconnect', 10],
    ]);
  });

  it('goes on with what happens in a state', async () => {
    const { story, intervals } = given();
    await story.tell(1_000, a, ...first);
    await tellEach(story, 2_000, listFailed(), listed(1, 's2'), listed(1, 's3'));
    expect(lines(intervals()).at(-1)).toBe('ready 1000-');
  });

  it('keeps states that were passed through at once', async () => {
    const { story, intervals } = given();
    await story.tell(1_000, a, ...first);
    await story.tell(2_000, a, lost(), reconnecting());
    expect(lines(intervals()).slice(-3)).toEqual(['ready 1000-2000', 'session-lost 2000-2000', 'reconnecting 2000-']);
  });

  it('goes on under the same name when a server is removed and comes back', async () => {
    const { story, intervals } = given();
    await story.tell(1_000, a, ...first);
    await story.tell(2_000, a, removed, stopRequested('removed'));
    await story.tell(3_000, a, stopped('removed'));
    await story.tell(9_000, a, configured(), enabled);
    expect(lines(intervals()).slice(-4)).toEqual([
      'ready 1000-2000',
      'stopping 2000-3000',
      'stopped 3000-9000',
      'idle 9000-',
    ]);
  });
});

describe('A server that was removed', () => {
  it('is not watched any more: a restart adds nothing to its history', async () => {
    const { story, intervals } = given();
    await story.tell(1_000, a, ...first);
    await story.tell(2_000, a, removed, stopRequested('removed'));
    await story.tell(3_000, a, stopped('removed'));
    const before = intervals();
    await story.tell(9_000, 'daemon', daemonStarted(5_000));
    expect(intervals()).toEqual(before);
  });
});

describe('Reading the history', () => {
  async function two() {
    const { story, intervals } = given();
    await tellEach(story, 1_000, ...first);
    await story.tell(3_000, 'server-b', configured(), enabled);
    return (query: Parameters<typeof readHistory>[1]) =>
      intervals(query).map(({ server, state, from, to }) => `${server} ${state} ${from}-${to ?? ''}`);
  }

  it('gives one server, or all in the order of their names', async () => {
    const read = await two();
    expect(read({ name: 'b' })).toEqual(['b stopped 3000-3000', 'b idle 3000-']);
    expect(read({}).map((line) => line.slice(0, 1))).toEqual(['a', 'a', 'a', 'a', 'a', 'b', 'b']);
    expect(read({ name: 'c' })).toEqual([]);
  });

  it.each([
    [{ from: 1_045 }, ['listing 1045-1050', 'ready 1050-']],
    [{ from: 1_050 }, ['ready 1050-']],
    [{ from: 5_000 }, ['ready 5000-']],
    [{ to: 1_015 }, ['stopped 1000-1010', 'idle 1010-1015']],
    [{ to: 1_010 }, ['stopped 1000-1010']],
    [{ from: 1_030, to: 1_045 }, ['connecting 1030-1040', 'listing 1040-1045']],
    [{ from: 2_000, to: 4_000 }, ['ready 2000-4000']],
    [{ to: 1_000 }, []],
    [{ from: 10, to: 20 }, []],
  ])('clips to %j', async (query, expected) => {
    const read = await two();
    expect(read({ name: 'a', ...query })).toEqual(expected.map((line) => `a ${line}`));
  });
});

describe('Time in which the daemon was dead', () => {
  it('does not exist before its first start', async () => {
    const { story, intervals } = given();
    await story.tell(1_000, 'daemon', daemonStarted(null));
    await story.tell(2_000, a, ...first);
    expect(lines(intervals())[0]).toBe('stopped 2000-2000');
    expect(intervals().map(({ state }) => state)).not.toContain('unobserved');
  });

  it('is unobserved for a server that ran, from its last sign of life to the next start', async () => {
    const { story, intervals } = given();
    await tellEach(story, 1_000, ...first);
    await story.batch(9_000, ['daemon', daemonStarted(5_000)], [a, stopped('daemon-ended', 5_000)]);
    expect(lines(intervals()).slice(-3)).toEqual(['ready 1050-5000', 'unobserved 5000-9000', 'stopped 9000-']);
    expect(intervals().at(-1)?.cause).toBe('ServerStopped: daemon-ended');
    expect(intervals().at(-2)?.cause).toBe('DaemonStarted');
  });

  it.each([
    ['stopped', [...first, stopRequested('daemon-stopping'), stopped('daemon-stopping')]],
    ['disabled', [configured({ wanted: 'off' }), disabled]],
  ])('lies between two intervals of a server that was %s', async (state, facts) => {
    const { story, intervals } = given();
    await story.tell(1_000, a, ...facts);
    await story.tell(9_000, 'daemon', daemonStarted(5_000));
    expect(lines(intervals()).slice(-3)).toEqual([`${state} 1000-5000`, 'unobserved 5000-9000', `${state} 9000-`]);
  });

  it('ends with the start, whatever the server does next', async () => {
    const { story, intervals } = given();
    await story.tell(1_000, a, ...first);
    await story.batch(9_000, ['daemon', daemonStarted(5_000)], [a, stopped('daemon-ended', 5_000)]);
    await story.tell(9_500, a, enabled);
    expect(lines(intervals({ from: 9_000 }))).toEqual(['stopped 9000-9500', 'idle 9500-']);
  });

  it('begins no sooner than the interval it follows', async () => {
    const { story, intervals } = given();
    await story.tell(6_000, a, ...first);
    await story.batch(9_000, ['daemon', daemonStarted(5_000)], [a, stopped('daemon-ended', 6_000)]);
    expect(lines(intervals()).slice(-3)).toEqual(['ready 6000-6000', 'unobserved 6000-9000', 'stopped 9000-']);
  });

  it('is told again for each death, and for each server', async () => {
    const { story, intervals } = given();
    await story.batch(1_000, [a, ...first], ['server-b', configured({ wanted: 'off' }), disabled]);
    for (const [dead, born] of [
      [2_000, 3_000],
      [4_000, 5_000],
    ] as const) {
      await story.batch(born, ['daemon', daemonStarted(dead)], [a, stopped('daemon-ended', dead)]);
      await story.tell(born, a, enabled);
    }
    const unobserved = intervals().filter(({ state }) => state === 'unobserved');
    expect(unobserved.map(({ server, from, to }) => [server, from, to])).toEqual([
      ['a', 2_000, 3_000],
      ['a', 4_000, 5_000],
      ['b', 2_000, 3_000],
      ['b', 4_000, 5_000],
    ]);
  });

  it('leaves the status alone, which says what is now', async () => {
    const { log, story } = given();
    await story.tell(1_000, a, ...first);
    await story.batch(9_000, ['daemon', daemonStarted(5_000)], [a, stopped('daemon-ended', 5_000)]);
    expect(readStatus(log.db)).toMatchObject([{ server: 'a', state: 'stopped', since: 9_000, pid: null }]);
  });
});

describe('A pause between attempts', () => {
  it('is one interval, with the attempts between', async () => {
    const { story, intervals } = given();
    await tellEach(
      story,
      1_000,
      configured(),
      enabled,
      connecting(),
      connectFailed(1, 1),
      elapsed,
      reconnecting(2, 2),
      connectFailed(2, 2),
    );
    expect(lines(intervals({ from: 1_025 }))).toEqual([
      'connecting 1025-1030',
      'backing-off 1030-1050',
      'reconnecting 1050-1060',
      'backing-off 1060-',
    ]);
  });
});
