import { describe, expect, it } from 'vitest';
import type { Failure } from '../../src/events/shapes.ts';
import { type ServerSummary, summarise } from '../../src/replay/summary.ts';
import { atOnce } from '../../src/replay/unhurried.ts';
import { Chronicle } from '../support/recorded.ts';
import {
  configured,
  connected,
  connectFailed,
  connecting,
  delayed,
  died,
  disabled,
  elapsed,
  enabled,
  listed,
  listFailed,
  loginRequired,
  lost,
  reconnecting,
  stopped,
  stopRequested,
} from '../support/server.facts.ts';

const exits = (pid: number): Failure => ({ ...died, message: `watch: process ${pid} exited with code 1` });

function summaryOf(past: Chronicle, query: { from?: number; to: number }): ServerSummary {
  const summary = atOnce(summarise(past.sources, { server: 'a', ...query }));
  if (!summary) throw new Error('Nothing is known of it.');
  return summary;
}

/** Ready from 100 to 1000 and from 1200 to 5000, down in between; ready again from 5600 after an attempt that failed. */
function flaky(): Chronicle {
  const past = new Chronicle();
  past.tell(0, configured(), enabled, connecting());
  past.tell(80, connected());
  past.tell(100, listed());
  past.tell(1_000, lost(1, exits(17)), reconnecting(2));
  past.tell(1_150, connected(2));
  past.tell(1_200, listed(2, 's1', null));
  past.tell(5_000, lost(2, exits(18)), delayed(3, 500));
  past.tell(5_500, elapsed, reconnecting(3, 3), connectFailed(3, 3, 20));
  past.tell(5_520, elapsed, reconnecting(4, 4));
  past.tell(5_590, connected(4));
  past.tell(5_600, listed(4, 's1', null));
  return past;
}

describe('A summary', () => {
  it('counts what was ready, what was down, what failed and how long that took', () => {
    const summary = summaryOf(flaky(), { to: 10_000 });
    expect(summary).toMatchObject({
      from: 0,
      to: 10_000,
      state: 'ready',
      time: { ready: 900 + 3_800 + 4_400, down: 900, resting: 0, unobserved: 0 },
      availability: 0.91,
      starts: 1,
      losses: 2,
      failedAttempts: 1,
      mtbf: 9_100 / 2,
      mttr: (200 + 600) / 2,
      repairs: 2,
      failingSince: null,
      hints: [],
    });
    expect(summary.latency.connect).toEqual({ count: 3, p50: 5, p90: 5, p99: 5 });
    expect(summary.latency.list.count).toBe(3);
    expect(summary.latency.call).toEqual({ count: 0, p50: null, p90: null, p99: null });
  });

  it('gives failures of one kind one fingerprint, with rows and times', () => {
    const past = flaky();
    const positions = (type: string) => past.facts.filter((fact) => fact.type === type).map(({ position }) => position);
    const { failures } = summaryOf(past, { to: 10_000 });
    expect(failures.map(({ message, count, code }) => [message, count, code])).toEqual([
      ['watch: process <n> exited with code <n>', 2, 'exit 1'],
      ['watch: it exited with code <n>', 1, 'exit 1'],
    ]);
    const [first = 0, last = 0] = positions('SessionLost');
    expect(failures[0]).toMatchObject({
      phase: 'watch',
      class: 'exit',
      example: 'watch: process 18 exited with code 1',
      first: { at: 1_000, position: first },
      last: { at: 5_000, position: last },
      positions: [first, last],
    });
  });

  it('names the newest rows of a failure that comes again and again', () => {
    const past = new Chronicle();
    past.tell(0, configured(), enabled, connecting(), connected(), listed());
    for (let n = 1; n <= 9; n += 1)
      past.tell(n * 1_000, lost(n), reconnecting(n + 1), connected(n + 1), listed(n + 1, 's1', null));
    const losses = past.facts.filter(({ type }) => type === 'SessionLost').map(({ position }) => position);
    const [failure] = summaryOf(past, { to: 20_000 }).failures;
    expect(failure).toMatchObject({ count: 9, positions: losses.slice(-5), first: { position: losses[0] } });
  });

  it('takes a stretch for itself: what lasts is cut to it, and what lies outside does not count', () => {
    const summary = summaryOf(flaky(), { from: 1_100, to: 5_300 });
    expect(summary).toMatchObject({
      from: 1_100,
      to: 5_300,
      state: 'backing-off',
      time: { ready: 3_800, down: 400, resting: 0, unobserved: 0 },
      losses: 1,
      repairs: 0,
      failingSince: 5_000,
    });
    expect(summaryOf(flaky(), { from: 500, to: 900 })).toMatchObject({
      facts: 0,
      availability: 1,
      losses: 0,
      mtbf: null,
      mttr: null,
    });
  });

  it('knows the age of a connection that is older than the stretch', () => {
    const past = new Chronicle();
    past.tell(0, configured(), enabled, connecting(), connected(), listed());
    for (let n = 1; n <= 8; n += 1)
      past.tell(n * 60_000, lost(n), reconnecting(n + 1), connected(n + 1), listed(n + 1, 's1', null));
    const { hints } = summaryOf(past, { from: 30_000, to: 600_000 });
    expect(hints[0]).toMatchObject({ kind: 'after-connecting', support: 8, of: 8, ms: 60_000 });
  });

  it('leaves out time nobody watched, and does not take it for a repair', () => {
    const past = new Chronicle();
    past.daemonStarted(0, null);
    past.tell(0, configured(), enabled, connecting(), connected(), listed());
    past.tell(1_000, lost());
    // The daemon is killed at 2000 or soon after, and started again at 10000.
    past.daemonStarted(10_000, 2_000);
    past.tell(10_000, stopped('daemon-ended', 2_000), enabled, connecting(2));
    past.tell(10_100, connected(2), listed(2, 's1', null));
    expect(summaryOf(past, { to: 11_000 })).toMatchObject({
      time: { ready: 1_000 + 900, down: 1_000 + 100, resting: 0, unobserved: 8_000 },
      availability: 1_900 / 3_000,
      repairs: 0,
      mttr: null,
    });
  });

  it('does not hold it against a server that it is off or asleep', () => {
    const past = new Chronicle();
    past.tell(0, configured(), enabled, connecting(), connected(), listed());
    past.tell(1_000, stopRequested('disabled'), configured({ wanted: 'off' }), stopped('disabled'), disabled);
    expect(summaryOf(past, { to: 5_000 })).toMatchObject({
      time: { ready: 1_000, down: 0, resting: 4_000, unobserved: 0 },
      availability: 1,
      losses: 0,
    });
    const never = new Chronicle();
    never.tell(0, configured({ wanted: 'off' }), disabled);
    expect(summaryOf(never, { to: 5_000 }).availability).toBeNull();
  });

  it('counts a login that is wanted again as a loss, and a list that fails as none', () => {
    const past = new Chronicle();
    past.tell(0, configured(), enabled, connecting(), connected(), listed());
    past.tell(1_000, listFailed());
    past.tell(2_000, loginRequired());
    expect(summaryOf(past, { to: 3_000 })).toMatchObject({
      losses: 1,
      listFailures: 1,
      failedAttempts: 0,
      failingSince: 2_000,
      state: 'auth-required',
    });
  });

  it.each([
    [0, 24, 0],
    [24, 24, 50],
    [9, 1, 90],
    [1, 0.01, 50],
  ])('scores %i losses in %f h with %i', (losses, hours, score) => {
    const past = new Chronicle();
    past.tell(0, configured(), enabled, connecting(), connected(), listed());
    for (let n = 1; n <= losses; n += 1)
      past.tell(n * 1_000, lost(n), reconnecting(n + 1), connected(n + 1), listed(n + 1, 's1', null));
    expect(summaryOf(past, { to: hours * 3_600_000 }).flapScore).toBe(score);
  });

  it('takes the latency of calls from those that were answered', () => {
    const past = new Chronicle();
    past.tell(0, configured(), enabled, connecting(), connected(), listed());
    for (let n = 1; n <= 10; n += 1) past.call(n * 100, n * 100 + n);
    past.call(2_000, 62_000, 'slow', false);
    past.call(2_100, null);
    past.tell(3_000, listFailed());
    expect(summaryOf(past, { to: 100_000 }).latency.call).toEqual({ count: 10, p50: 5, p90: 9, p99: 10 });
  });

  it('is not there for a server that nothing is known of in that time', () => {
    const past = new Chronicle();
    past.tell(1_000, configured());
    expect(atOnce(summarise(past.sources, { server: 'b', to: 9_000 }))).toBeNull();
    expect(atOnce(summarise(past.sources, { server: 'a', to: 999 }))).toBeNull();
  });
});
