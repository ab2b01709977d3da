import { describe, expect, it } from 'vitest';
import { replayBody, replayed, whatIf } from '../../src/http/contract.replay.ts';
import * as contract from '../../src/http/contract.ts';
import { changeable } from '../../src/replay/changes.ts';
import { time } from './fake.keeper.ts';
import { givenApp, signedIn } from './given.app.ts';

async function ask(body: unknown) {
  const { app, keeper } = await givenApp();
  const headers = { ...signedIn, 'content-type': 'application/json' };
  const response = await app.inject({ method: 'POST', url: '/v1/mcp/replay', headers, payload: JSON.stringify(body) });
  return { response, asked: keeper.asked };
}

const nothing = { name: undefined, from: undefined, to: undefined, fast: false, set: undefined };

describe('POST /v1/mcp/replay', () => {
  it.each<[object, object]>([
    [{}, nothing],
    [{ name: 'a' }, { ...nothing, name: 'a' }],
    [
      { server: 'a', fast: true },
      { ...nothing, name: 'a', fast: true },
    ],
    [
      { name: 'a', from: 12, to: '40' },
      { ...nothing, name: 'a', from: { position: 12 }, to: { position: 40 } },
    ],
    [
      { name: 'a', from: time },
      { ...nothing, name: 'a', from: { time: Date.parse(time) } },
    ],
    [
      { name: 'a', set: { stableMs: 5 } },
      { ...nothing, name: 'a', set: { stableMs: 5 } },
    ],
    // What is not among the limits is refused by its name, by whoever knows them.
    [
      { name: 'a', set: { luck: 'more' } },
      { ...nothing, name: 'a', set: { luck: 'more' } },
    ],
  ])('asks for what %j says', async (body, asked) => {
    const answer = await ask(body);
    expect(answer.response.statusCode).toBe(200);
    expect(replayed.parse(answer.response.json())).toMatchObject({ ok: true });
    expect(answer.asked.at(-1)).toEqual(['replay', asked]);
  });

  it.each<[unknown, RegExp]>([
    [{ name: 'a', from: 'teatime' }, /from: expected a log position or a time/],
    [{ name: 'a', from: -1 }, /from/],
    [{ name: 'a', from: 9, to: 3 }, /`from` is after `to`/],
    [{ name: 'a', server: 'b' }, /mean the same/],
    [{ name: 'a', set: { stableMs: 'long' } }, /set\.stableMs/],
    [{ name: 'a', set: { stableMs: 0 } }, /set\.stableMs/],
    [{ name: 'a', set: 5 }, /set/],
    [{ nmae: 'a' }, /nmae/],
  ])('refuses %j', async (body, detail) => {
    const { response, asked } = await ask(body);
    expect(response.statusCode).toBe(400);
    expect(contract.problem.parse(response.json()).detail).toMatch(detail);
    expect(asked).toEqual([]);
  });

  it('names the limits that can be changed, and no other', () => {
    const { set } = replayBody.parse({ set: Object.fromEntries(changeable.map((key) => [key, 1])) });
    expect(Object.keys(set ?? {})).toEqual([...changeable]);
    expect(Object.keys(whatIf.shape.was.shape)).toEqual([...changeable]);
  });
});
