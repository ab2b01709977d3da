import { describe, expect, it } from 'vitest';
import type { CallFact } from '../../src/events/call.events.ts';
import { type CallRow, calledBefore, openCalls, readCall, readCalls } from '../../src/projections/calls.projection.ts';
import {
  approved,
  callerLeft,
  callerReturned,
  closed,
  held,
  request,
  resent,
  settled,
  started,
} from '../support/call.facts.ts';
import { givenLog, storyOn } from '../support/story.ts';

/** Each fact 1,000 ms after the one before it, from 1,000 on. */
async function rowAfter(...facts: readonly CallFact[]): Promise<CallRow | null> {
  const log = givenLog();
  const story = storyOn(log);
  for (const [index, fact] of facts.entries()) await story.tell((index + 1) * 1_000, 'call-c1', fact);
  return readCall(log.db, 'c1');
}

const asked = { id: 'c1', server: 'a', tool: 'get', name: 'mcp__a__get', mode: 'ask', client: 'main', door: 'http' };

describe('The row of a call', () => {
  it('that runs at once begins with its start', async () => {
    expect(await rowAfter(started({ verdict: 'granted' }))).toEqual({
      ...asked,
      seq: 1,
      state: 'running',
      outcome: null,
      verdict: 'granted',
      requestedAt: 1_000,
      startedAt: 1_000,
      settledAt: null,
      expiresAt: null,
      argsHash: 'h',
      argsBytes: 2,
      resultBytes: null,
      truncated: null,
      decidedBy: null,
      reason: null,
      unusual: [],
      identity: 'i',
      definition: 'd',
      resultHash: null,
      tookMs: null,
      closed: null,
    });
  });

  it('ends with sizes and never with the result itself', async () => {
    const end = settled({ resultBytes: 5, resultHash: 'r', truncated: true, tookMs: 1_000 });
    expect(await rowAfter(started({ verdict: 'allow-all' }), end)).toMatchObject({
      state: 'settled',
      outcome: 'succeeded',
      verdict: 'allow-all',
      startedAt: 1_000,
      settledAt: 2_000,
      resultBytes: 5,
      truncated: true,
    });
  });

  it('that waits for a person says until when, and what is odd', async () => {
    expect(await rowAfter(held({ unusual: ['the tool changed'] }))).toMatchObject({
      state: 'held',
      requestedAt: 1_000,
      startedAt: null,
      expiresAt: 61_000,
      verdict: null,
      unusual: ['the tool changed'],
    });
  });

  it('does not change with the caller coming and going', async () => {
    expect(await rowAfter(held(), callerLeft, callerReturned, callerLeft)).toEqual(await rowAfter(held()));
  });

  it('that was approved says by whom, runs, and ends', async () => {
    expect(await rowAfter(held(), approved('ann'))).toMatchObject({
      state: 'approved',
      decidedBy: 'ann',
      startedAt: null,
    });
    expect(await rowAfter(held(), approved('ann'), started())).toMatchObject({
      state: 'running',
      verdict: 'approved',
      requestedAt: 1_000,
      startedAt: 3_000,
    });
    expect(await rowAfter(held(), approved('ann'), started(), settled())).toMatchObject({
      seq: 1,
      state: 'settled',
      outcome: 'succeeded',
      decidedBy: 'ann',
      settledAt: 4_000,
    });
  });

  it('that is sent again is the same call', async () => {
    expect(await rowAfter(started(), resent(), settled({ outcome: 'tool-error' }))).toMatchObject({
      seq: 1,
      outcome: 'tool-error',
      startedAt: 1_000,
    });
  });

  it.each([
    ['denied', settled({ outcome: 'denied', by: 'ben', reason: 'not today' }), 'ben', 'not today'],
    ['expired', settled({ outcome: 'expired', reason: 'nobody came' }), null, 'nobody came'],
    ['cancelled', settled({ outcome: 'cancelled', by: 'ann' }), 'ann', null],
    ['abandoned', settled({ outcome: 'abandoned' }), null, null],
  ] as const)('that was held can end %s', async (outcome, end, decidedBy, reason) => {
    expect(await rowAfter(held(), end)).toMatchObject({
      state: 'settled',
      outcome,
      decidedBy,
      reason,
      startedAt: null,
      settledAt: 2_000,
    });
  });

  it('keeps who approved it when the end names nobody, and the other when it does', async () => {
    const given = [held(), approved('ann'), started()];
    expect(await rowAfter(...given, settled({ outcome: 'unknown' }))).toMatchObject({ decidedBy: 'ann' });
    expect(await rowAfter(...given, settled({ outcome: 'cancelled', by: 'ben' }))).toMatchObject({ decidedBy: 'ben' });
  });

  it.each(['refused', 'failed'] as const)('that was never let in is there too: %s', async (outcome) => {
    expect(await rowAfter(settled({ outcome, request: request(), reason: 'why' }))).toMatchObject({
      ...asked,
      seq: 1,
      state: 'settled',
      outcome,
      reason: 'why',
      requestedAt: 1_000,
      startedAt: null,
      settledAt: 1_000,
      verdict: null,
    });
  });
});

describe('The ledger', () => {
  async function given() {
    const log = givenLog();
    const story = storyOn(log);
    await story.tell(1_000, 'call-c1', held());
    await story.tell(2_000, 'call-c2', started({ server: 'b' }));
    await story.tell(3_000, 'call-c3', started(), settled());
    await story.tell(4_000, 'call-c1', approved());
    await story.tell(5_000, 'call-c4', held());
    return log.db;
  }
  const ids = (rows: readonly CallRow[]): string[] => rows.map(({ id }) => id);

  it.each([
    [{ limit: 10 }, ['c4', 'c3', 'c2', 'c1']],
    [{ limit: 2 }, ['c4', 'c3']],
    [{ limit: 10, state: 'held' }, ['c4']],
    [{ limit: 10, state: 'approved' }, ['c1']],
    [{ limit: 10, state: 'settled' }, ['c3']],
    [{ limit: 10, server: 'b' }, ['c2']],
    [{ limit: 10, server: 'a', state: 'running' }, []],
    [{ limit: 10, before: 3 }, ['c2', 'c1']],
    [{ limit: 1, before: 3, server: 'a' }, ['c1']],
  ])('answers %j newest first: %j', async (query, expected) => {
    expect(ids(readCalls(await given(), query))).toEqual(expected);
  });

  it('knows which calls a restart has to close', async () => {
    expect(ids(openCalls(await given()))).toEqual(['c1', 'c2', 'c4']);
  });

  it('has no row for a call that never was', async () => {
    expect(readCall(await given(), 'c9')).toBeNull();
  });
});

describe('A call whose end nobody knows', () => {
  const unknown = settled({ outcome: 'unknown', reason: 'The connection ended; it may have run' });

  it('is open until a person says what came of it', async () => {
    const log = givenLog();
    const story = storyOn(log);
    await story.tell(1_000, 'call-c1', started(), unknown);
    await story.tell(2_000, 'call-c2', started(), settled());
    const open = () => readCalls(log.db, { open: true, limit: 10 }).map(({ id }) => id);
    expect(open()).toEqual(['c1']);
    await story.tell(3_000, 'call-c1', closed({ finding: 'ran', note: 'I saw it.' }));
    expect(open()).toEqual([]);
    expect(readCall(log.db, 'c1')).toMatchObject({
      state: 'settled',
      outcome: 'unknown',
      closed: { finding: 'ran', note: 'I saw it.', by: 'ann', at: 3_000 },
    });
  });
});

describe('Whether a tool was called before', () => {
  it('counts calls that were sent, of this tool and this server', async () => {
    const log = givenLog();
    const story = storyOn(log);
    await story.tell(1_000, 'call-c1', settled({ outcome: 'refused', request: request() }));
    expect(calledBefore(log.db, 'a', 'get')).toEqual({ called: false, looked: null });
    await story.tell(2_000, 'call-c2', started({ tool: 'put' }));
    await story.tell(3_000, 'call-c3', started({ server: 'b' }));
    expect(calledBefore(log.db, 'a', 'get').called).toBe(false);
    await story.tell(4_000, 'call-c4', started());
    expect(calledBefore(log.db, 'a', 'get').called).toBe(true);
  });
});
