import { describe, expect, it } from 'vitest';
import { Problem } from '../../src/http/problem.ts';
import { positionAt } from '../../src/keeper/moment.ts';
import { configured, enabled } from '../support/server.facts.ts';
import { givenLog, storyOn } from '../support/story.ts';

const refusal = (ask: () => unknown): Problem => {
  try {
    ask();
  } catch (error) {
    if (error instanceof Problem) return error;
  }
  throw new Error('It was not refused.');
};

describe('A moment', () => {
  it('of the past is where the log stood then; later than the newest fact and not later than now is the present', async () => {
    const log = givenLog();
    await storyOn(log).tell(1_000, 'server-a', configured());
    await storyOn(log).tell(2_000, 'server-a', enabled);
    const at = (time: number): number => positionAt(log, { time }, 9_000);
    expect([0, 999, 1_000, 1_999, 2_000, 9_000].map(at)).toEqual([0, 0, 1, 1, 2, 2]);
    expect([0, 1, 2].map((position) => positionAt(log, { position }, 9_000))).toEqual([0, 1, 2]);
  });

  it.each([[{ position: 2 }], [{ time: 5_001 }]])(
    'that has yet to come is refused, and the newest position and time are named: %j',
    async (moment) => {
      const log = givenLog();
      await storyOn(log).tell(1_000, 'server-a', configured());
      const { type, status, detail } = refusal(() => positionAt(log, moment, 5_000));
      expect([type, status]).toEqual(['invalid-request', 400]);
      expect(detail).toContain('position 1, 1970-01-01T00:00:01.000Z');
    },
  );

  it('that has yet to come is refused of an empty log as well', () => {
    expect(refusal(() => positionAt(givenLog(), { position: 1 }, 0)).detail).toContain('nothing yet');
  });
});
