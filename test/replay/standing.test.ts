import { describe, expect, it } from 'vitest';
import { serverMachine } from '../../src/actors/server/server.machine.ts';
import { counter } from '../../src/replay/figures.ts';
import { Past } from '../../src/replay/past.ts';
import { availabilityOf, endedBy, standingOf } from '../../src/replay/standing.ts';

const leaves = (states: any): string[] =>
  Object.entries<any>(states).flatMap(([name, { states: inner }]) =>
    Object.keys(inner ?? {}).length > 0 ? leaves(inner) : [name],
  );

describe('How a server stands', () => {
  it('is known for every state of the machine', () => {
    const of = (standing: string) =>
      leaves(serverMachine.states)
        .filter((state) => standingOf(state) === standing)
        .sort();
    expect(of('ready')).toEqual(['ready']);
    expect(of('resting')).toEqual(['disabled', 'idle', 'stopped', 'stopping']);
    expect(of('down')).toEqual([
      'auth-required',
      'backing-off',
      'connecting',
      'failed',
      'listing',
      'reconnecting',
      'session-lost',
    ]);
    expect(standingOf('unobserved')).toBe('resting');
  });

  it.each([
    [3, 1, 0.75],
    [0, 1, 0],
    [1, 0, 1],
    [0, 0, null],
  ])('%d ms ready and %d ms down are a share of %s', (ready, down, share) => {
    expect(availabilityOf(ready, down)).toBe(share);
  });

  it.each([
    ['SessionLost', 'ready', 'connection'],
    ['LoginRequired', 'ready', 'connection'],
    ['ConnectFailed', 'connecting', 'attempt'],
    ['ConnectFailed', 'listing', 'attempt'],
    ['LoginRequired', 'reconnecting', 'attempt'],
    ['ServerFailed', 'idle', null],
    ['ServerStopped', 'ready', null],
    ['ListFailed', 'ready', null],
  ])('%s in %s ends unasked: %s', (type, state, ended) => {
    expect(endedBy(type, state)).toBe(ended);
  });

  it('comes to the same figures in a summary and in what might have been', () => {
    const failure = { class: 'exit' as const, phase: 'watch' as const, message: 'watch: gone' };
    const life: readonly (readonly [at: number, type: any, to: string, data?: object])[] = [
      [0, 'ServerEnabled', 'idle'],
      [10, 'ServerFailed', 'failed', { failure }],
      [20, 'ConnectStarted', 'connecting'],
      [30, 'ConnectFailed', 'backing-off', { failure }],
      [50, 'ReconnectStarted', 'reconnecting'],
      [60, 'Connected', 'listing', { tookMs: 1 }],
      [70, 'ToolsListed', 'ready', { tookMs: 1 }],
      [170, 'SessionLost', 'session-lost', { failure }],
      [180, 'LoginRequired', 'auth-required', { failure }],
      [200, 'ServerStopped', 'stopped'],
    ];
    const figures = counter(0, 300);
    const past = new Past({ at: 0, state: 'stopped', connectedAt: null }, []);
    for (const [at, type, to, data] of life) {
      figures.add({ at, type, to });
      past.add({ position: at + 1, at, type, data: { ...data, to } } as never);
    }
    past.close(300);
    const { upMs, downMs, losses, failed, availability } = figures.figures();
    expect([upMs, downMs, losses, failed]).toEqual([100, 90, 1, 2]);
    expect([past.spent.ready, past.spent.down, past.losses.length, past.failedAttempts]).toEqual([100, 90, 1, 2]);
    expect(availability).toBe(availabilityOf(past.spent.ready, past.spent.down));
  });
});
