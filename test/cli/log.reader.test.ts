import { describe, expect, it } from 'vitest';
import {
  eventsBetween,
  lastPosition,
  newest,
  positionBefore,
  type ReadEvents,
  startOf,
} from '../../src/cli/log.reader.ts';
import type { Event } from '../../src/cli/shapes.ts';

const fact = (position: number, stream = 'server-a', type = 'ToolsListed'): Event => ({
  position,
  stream,
  version: 1,
  type,
  schema: 1,
  at: new Date(1000 * position).toISOString(),
  cause: null,
  data: {},
});

function over(events: readonly Event[]): { read: ReadEvents; asked: () => number } {
  let asked = 0;
  return {
    asked: () => asked,
    read: async ({ after, limit, stream, type }) => {
      asked++;
      const fits = events.filter(
        (event) =>
          event.position > after &&
          (stream === undefined || event.stream === stream) &&
          (type === undefined || event.type === type),
      );
      const page = fits.slice(0, limit);
      return { events: page, next: fits.length > limit ? (page.at(-1)?.position ?? null) : null };
    },
  };
}

const positions = (events: readonly Event[]): number[] => events.map(({ position }) => position);
const dense = (count: number): Event[] => Array.from({ length: count }, (_, index) => fact(index + 1));
const gaps = [3, 4, 10, 11, 12, 40].map((position) => fact(position));

describe('finding a place in a log that only reads forwards', () => {
  it.each([
    ['an empty log', [], 0],
    ['one fact', dense(1), 1],
    ['many facts', dense(1000), 1000],
    ['positions with gaps', gaps, 40],
  ])('the newest position of %s', async (_, events, expected) => {
    expect(await lastPosition(over(events).read)).toBe(expected);
  });

  it.each([
    ['before everything', 0, 0],
    ['exactly at a fact: that fact comes first', 10_000, 4],
    ['between facts: the later one comes first', 11_500, 11],
    ['after everything', 99_000, 40],
  ])('%s', async (_, time, expected) => {
    expect(await positionBefore(over(gaps).read, time)).toBe(expected);
  });

  it('a place among a hundred thousand facts is found with few questions', async () => {
    const { read, asked } = over(dense(100_000));
    expect(await positionBefore(read, 31_337_000)).toBe(31_336);
    expect(asked()).toBeLessThan(80);
  });

  it('a position given as the start is itself part of the answer', async () => {
    expect(await startOf(over(gaps).read, { position: 10 })).toBe(9);
    expect(await startOf(over(gaps).read, { position: 0 })).toBe(0);
  });

  it('the newest facts come in order', async () => {
    expect(positions(await newest(over(dense(5000)).read, 3, {}))).toEqual([4998, 4999, 5000]);
  });

  it('the newest facts of a rare stream are found however far back they are', async () => {
    const rare = dense(9000).map((event) =>
      event.position % 4000 === 1 ? fact(event.position, 'server-rare') : event,
    );
    expect(positions(await newest(over(rare).read, 5, { stream: 'server-rare' }))).toEqual([1, 4001, 8001]);
  });

  it('a range ends where it was told to, over all pages', async () => {
    const found: Event[] = [];
    for await (const event of eventsBetween(over(dense(3000)).read, 10, 2500, {})) found.push(event);
    expect([found.length, found[0]?.position, found.at(-1)?.position]).toEqual([2490, 11, 2500]);
  });
});
