import { beforeEach, describe, expect, it } from 'vitest';
import type { SqliteLog } from '../../src/events/sqlite.ts';
import { replayed } from '../../src/http/contract.replay.ts';
import { Problem } from '../../src/http/problem.ts';
import { answerReplay } from '../../src/keeper/replay.ts';
import { again, configure, connects, cut, fails, lists, lived, start } from '../support/lives.ts';
import * as fact from '../support/server.facts.ts';
import { givenLog, storyOn } from '../support/story.ts';

const asks = { name: 'a', from: undefined, to: undefined, fast: false, set: undefined };

/** Facts of one server as they stand in a log with its head. */
async function logOf(facts: ReturnType<typeof lived>): Promise<SqliteLog> {
  const log = givenLog();
  const story = storyOn(log);
  for (const { at, type, data } of facts) {
    const { to: _, ...members } = data;
    await story.tell(at, 'server-a', { type, data: members } as never);
  }
  return log;
}

describe('What is answered about the past', () => {
  let log: SqliteLog;
  beforeEach(async () => {
    log = await logOf(
      lived([0, configure()], [0, start], [30_000, cut()], [30_375, again], [31_375, connects()], [31_400, lists()]),
    );
  });

  it('has the shape of the contract, with a question of what if and without', async () => {
    expect(replayed.strict().parse(await answerReplay(log, asks, 100_000))).toEqual({
      ok: true,
      by: 'machine',
      facts: 8,
      streams: 1,
      heads: true,
    });
    const answer = await answerReplay(log, { ...asks, fast: true, set: { connectTimeoutMs: 5_000 } }, 100_000);
    expect(replayed.strict().parse(answer)).toEqual(answer);
    expect(answer).toMatchObject({
      ok: true,
      by: 'table',
      whatIf: {
        from: '1970-01-01T00:00:00.000Z',
        until: '1970-01-01T00:01:40.000Z',
        set: { connectTimeoutMs: 5_000 },
        was: { connectTimeoutMs: 30_000 },
        recorded: { availability: 0.686 },
        changed: { attempts: 6, assumed: [{ kind: 'attempt', count: 5 }] },
        atBest: { attempts: 2 },
      },
    });
  });

  it('is clipped to a stretch: by times and by positions', async () => {
    const ofTimes = await answerReplay(
      log,
      { ...asks, from: { time: 10_000 }, to: { time: 31_390 }, set: {} },
      100_000,
    );
    expect(ofTimes.whatIf).toMatchObject({ recorded: { upMs: 0, downMs: 21_390 } });
    const ofPositions = await answerReplay(
      log,
      { ...asks, from: { position: 5 }, to: { position: 8 }, set: {} },
      100_000,
    );
    expect(ofPositions).toMatchObject({ facts: 8, heads: true, whatIf: { recorded: { downMs: 1_025 } } });
    const early = await answerReplay(log, { ...asks, to: { position: 4 }, set: {} }, 100_000);
    expect(early).toMatchObject({ facts: 4, heads: false, whatIf: { recorded: { downMs: 30_000 } } });
  });

  it('is the place where the log says something else, and then nothing is asked of it', async () => {
    log.db.exec("update events set data = json_set(data, '$.to', 'ready') where position = 7");
    const answer = await answerReplay(log, { ...asks, set: {} }, 100_000);
    expect(replayed.strict().parse(answer)).toMatchObject({
      ok: false,
      divergence: { position: 7, recorded: 'ready', folded: 'listing', kind: 'state' },
    });
    expect(answer.whatIf).toBeUndefined();
  });

  it('is the place where the rules of today decide otherwise, when they are asked what if', async () => {
    log.db.exec("update events set data = json_set(data, '$.delayMs', 7) where position = 4");
    log.db.exec("update heads set context = json_set(context, '$.delayMs', 0)");
    expect(await answerReplay(log, asks, 100_000)).toMatchObject({ ok: true });
    expect(await answerReplay(log, { ...asks, set: {} }, 100_000)).toMatchObject({
      ok: false,
      divergence: { position: 4, kind: 'rules', recorded: 'ConnectFailed with delayMs 7' },
    });
  });

  it.each([
    [{ ...asks, set: { luck: 1 } }, 'In the body: set: "luck" cannot be changed. What can: connectTimeoutMs'],
    [{ ...asks, name: undefined, set: {} }, 'In the body: name: which server is to have other limits?'],
  ])('is a problem for %j', async (query, detail) => {
    const refused = await answerReplay(log, query, 1).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Problem);
    expect(refused).toMatchObject({ status: 400, detail: expect.stringContaining(detail) });
  });
});

describe('A long log', () => {
  it('is verified beside everything else: whoever waits for a turn gets it again and again', async () => {
    const log = givenLog();
    const story = storyOn(log);
    await story.tell(1, 'server-a', fact.configured(), fact.enabled, fact.connecting());
    const turns = Array.from({ length: 4_000 }, (_, index) => [
      fact.connected(index + 1),
      fact.listed(index + 1),
      fact.lost(index + 1),
      fact.reconnecting(index + 2, 1),
    ]);
    await story.tell(2, 'server-a', ...turns.flat());
    let others = 0;
    let over = false;
    const other = (): void => {
      others += 1;
      if (!over) setImmediate(other);
    };
    setImmediate(other);
    const answer = await answerReplay(log, asks, 3);
    over = true;
    expect(answer).toMatchObject({ ok: true, facts: 16_003 });
    expect(others).toBeGreaterThan(5);
  });
});

it('A failure that was not the last word is no reason to stop asking', async () => {
  const log = await logOf(lived([0, configure()], [0, start], [10, fails()]));
  const answer = await answerReplay(log, { ...asks, set: { backoffBaseMs: 10 } }, 60_000);
  expect(answer.whatIf?.changed.attempts).toBeGreaterThan(10);
});
