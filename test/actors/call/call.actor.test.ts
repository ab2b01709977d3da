import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { CallEnd, RepeatPolicy } from '../../../src/actors/call/call.actor.ts';
import { isRefusal, type Refusal } from '../../../src/actors/refusal.ts';
import { NotWanted } from '../../../src/mcp/cancel.ts';
import { CallError, type RawResult } from '../../../src/mcp/connection.ts';
import { type CallRow, readCall, readCalls } from '../../../src/projections/calls.projection.ts';
import {
  type Crew,
  type CrewOptions,
  crew,
  type EntryOptions,
  entryOf,
  failureOf,
  toolOf,
  turn,
  WatchedLog,
  wholeServer,
} from '../../support/actors.ts';
import { until } from '../../support/wait.ts';

const get = toolOf('a');
const ask = { mode: 'ask' } as const;

/** A crew with one server, `a`, that is ready. */
async function ready(options: CrewOptions = {}, entry: EntryOptions = {}): Promise<Crew> {
  const made = await crew(options);
  await made.configure(entryOf('a', entry));
  await made.reaches('a', 'ready');
  return made;
}

const rows = ({ log }: Crew): CallRow[] => readCalls(log.real.db, { limit: 1_000 }).reverse();
const row = ({ log }: Crew, id: string): CallRow | null => readCall(log.real.db, id);
const facts = ({ log }: Crew, id: string): string[] => log.read({ stream: `call-${id}` }).map(({ type }) => type);
const ended = (answer: CallEnd | Refusal): CallEnd => {
  if (isRefusal(answer)) throw new Error(answer.detail);
  return answer;
};
/** The call that is held now. */
const heldId = (made: Crew): Promise<string> =>
  until(() => rows(made).find(({ state }) => state === 'held')?.id, { what: 'a held call' });
/** Something the test decides when. */
function gate<T>(): { readonly promise: Promise<T>; readonly open: (value: T) => void } {
  let open!: (value: T) => void;
  const promise = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}

describe('a call that needs nobody', () => {
  it('is two facts: its start, committed before anything is sent, and its end', async () => {
    const made = await ready();
    let written: string[] = [];
    made.server('a').onCall = async () => {
      written = made.log.read({}).map(({ type }) => type);
      return { content: [{ type: 'text', text: 'hello' }] };
    };
    const answer = ended(await made.call(get, { args: { x: 1 } }));
    expect(answer).toMatchObject({
      kind: 'result',
      outcome: 'succeeded',
      result: { content: [{ type: 'text', text: 'hello' }] },
    });
    expect(written.at(-1)).toBe('CallStarted');
    expect(facts(made, answer.id)).toEqual(['CallStarted', 'CallSettled']);
    expect(row(made, answer.id)).toMatchObject({
      state: 'settled',
      outcome: 'succeeded',
      verdict: 'allow-all',
      argsBytes: 7,
      resultBytes: 5,
      truncated: false,
    });
    expect(made.calls.running).toBe(0);
  });

  it('runs because it was granted', async () => {
    const made = await ready();
    made.grants.push(wholeServer('a'));
    const answer = ended(await made.call(get, { mode: 'deny' }));
    expect(row(made, answer.id)).toMatchObject({ outcome: 'succeeded', verdict: 'granted', mode: 'deny' });
  });

  it('is refused in mode deny without a grant, and nothing is sent', async () => {
    const made = await ready();
    const answer = ended(await made.call(get, { mode: 'deny' }));
    expect(answer).toMatchObject({ kind: 'ended', outcome: 'refused', because: 'other' });
    expect(row(made, answer.id)).toMatchObject({ state: 'settled', outcome: 'refused' });
    expect(made.server('a').taken).toEqual([]);
  });

  it('keeps nothing of its result once it is answered', async () => {
    const made = await ready();
    const { id } = ended(await made.call(get));
    expect(made.calls.memory(id)).toEqual({});
  });

  it('waits for a server that is on its way, and not for one that is in trouble', async () => {
    const made = await crew();
    made.server('a').openings.push(40);
    made.server('b').openings.push(failureOf('auth'));
    await made.configure(entryOf('a'), entryOf('b'));
    expect(ended(await made.call(get))).toMatchObject({ kind: 'result' });
    await made.reaches('b', 'auth-required');
    expect(ended(await made.call(toolOf('b')))).toMatchObject({
      kind: 'ended',
      outcome: 'failed',
      reason: 'Server "b" is not connected (auth-required); nothing was sent.',
    });
  });
});

describe('what a call can come to', () => {
  const rejecting =
    (kind: CallError['kind'], detail: Partial<CallError['detail']> = {}) =>
    async () => {
      throw new CallError(kind, `call: ${kind}`, { sent: true, ...detail });
    };

  it('is an error of the tool', async () => {
    const made = await ready();
    const result: RawResult = { content: [{ type: 'text', text: 'no such row' }], isError: true };
    made.server('a').onCall = async () => result;
    expect(ended(await made.call(get))).toMatchObject({ kind: 'result', outcome: 'tool-error', result });
  });

  it('is an answer of the protocol that refuses the arguments: the model can read it', async () => {
    const made = await ready();
    made.server('a').onCall = rejecting('rejected', { code: -32602 });
    const answer = ended(await made.call(get));
    expect(answer).toMatchObject({
      kind: 'result',
      outcome: 'tool-error',
      result: { isError: true, content: [{ type: 'text', text: 'call: rejected' }] },
    });
  });

  it.each([-32700, -32600, -32601])('is surely no run when the server knows no such method (%d)', async (code) => {
    const made = await ready();
    made.server('a').onCall = rejecting('rejected', { code });
    expect(ended(await made.call(get))).toMatchObject({ kind: 'ended', outcome: 'failed', because: 'rejected' });
  });

  it('is unknown when the connection ends before the answer: it may have run', async () => {
    const made = await ready();
    made.server('a').onCall = () => new Promise(() => {});
    const calls = [1, 2, 3].map((n) => made.call(get, { args: { n } }));
    await until(() => made.server('a').taken.length === 3);
    made.server('a').lose();
    for (const answer of await Promise.all(calls)) {
      expect(answer).toMatchObject({ kind: 'ended', outcome: 'unknown', because: 'lost' });
      expect((answer as { reason: string }).reason).toMatch('it may have run');
    }
    // One loss, whoever noticed it, and nothing is sent again.
    await made.reaches('a', 'ready');
    expect(made.story('a').filter((step) => step.startsWith('SessionLost'))).toHaveLength(1);
    expect(made.server('a').taken).toHaveLength(3);
  });

  it('is unknown when there is no answer in time', async () => {
    const made = await ready({}, { limits: { callTimeoutMs: 30 } });
    made.server('a').onCall = () => new Promise(() => {});
    const answer = ended(await made.call(get));
    expect(answer).toMatchObject({ kind: 'ended', outcome: 'unknown', because: 'limit' });
    expect((answer as { reason: string }).reason).toMatch('callTimeoutMs');
  });

  it('is surely no run when the time was over before it was sent', async () => {
    const made = await ready();
    made.server('a').onCall = rejecting('timeout', { sent: false, limit: 'callTimeoutMs' });
    expect(ended(await made.call(get))).toMatchObject({ kind: 'ended', outcome: 'failed', because: 'limit' });
  });

  it.each<[string, number | undefined, { idleMs: number; maxMs: number }]>([
    ['of the entry', undefined, { idleMs: 2_000, maxMs: 4_000 }],
    ['of the caller', 3_000, { idleMs: 2_000, maxMs: 3_000 }],
    ['of the entry, which a caller does not raise', 60_000, { idleMs: 2_000, maxMs: 4_000 }],
  ])('is told to the connection with the limits %s', async (_what, timeoutMs, { idleMs, maxMs }) => {
    const made = await ready();
    await made.call(get, { timeoutMs });
    const options = made.server('a').taken[0]?.options;
    expect(options?.idleMs).toBe(idleMs);
    expect(options?.maxMs).toBeLessThanOrEqual(maxMs);
    expect(options?.maxMs).toBeGreaterThan(maxMs - 1_000);
  });

  it('passes progress on to the caller', async () => {
    const made = await ready();
    const seen: unknown[] = [];
    made.server('a').onCall = async ({ options }) => {
      options.onProgress?.({ progress: 1, total: 2 });
      return { content: [] };
    };
    await made.call(get, { onProgress: (progress) => seen.push(progress) });
    expect(seen).toEqual([{ progress: 1, total: 2 }]);
  });

  it('is unknown when an effect of ours fails: nobody knows how far it came', async () => {
    const made = await ready();
    made.server('a').onCall = async () => {
      throw new TypeError('our own fault');
    };
    expect(ended(await made.call(get))).toMatchObject({ kind: 'ended', outcome: 'unknown' });
  });
});

describe('a session that the server refuses', () => {
  it('is renewed once for five calls, and each is sent once more on the new connection', async () => {
    const made = await ready();
    const first = made.server('a').connection;
    made.server('a').forgetSession();
    const answers = await Promise.all([1, 2, 3, 4, 5].map((n) => made.call(get, { args: { n } })));
    for (const answer of answers) expect(answer).toMatchObject({ kind: 'result', outcome: 'succeeded' });
    expect(made.server('a').opened).toBe(2);
    expect(made.server('a').connection).not.toBe(first);
    expect(made.server('a').taken.map(({ opening }) => opening)).toEqual([2, 2, 2, 2, 2]);
    const number = made.supervisor.find('a')?.actor.head.context.connection;
    for (const { id } of rows(made)) {
      expect(facts(made, id)).toEqual(['CallStarted', 'CallResent', 'CallSettled']);
      expect(made.log.read({ stream: `call-${id}`, type: 'CallResent' })[0]?.data).toMatchObject({
        connection: number,
      });
    }
  });

  it('fails the call when it can not be renewed: it surely did not run', async () => {
    const made = await ready();
    made.server('a').openings.push(failureOf('exit'));
    made.server('a').forgetSession();
    expect(ended(await made.call(get))).toMatchObject({ kind: 'ended', outcome: 'failed' });
    expect(made.server('a').taken).toEqual([]);
  });

  it('is renewed once and not again for the same call', async () => {
    const made = await ready();
    made.server('a').forgetSession();
    made.log.committed$.subscribe((batch) => {
      // The renewed session is refused as well.
      if (batch.some(({ type }) => type === 'CallResent')) made.server('a').forgetSession();
    });
    expect(ended(await made.call(get))).toMatchObject({ kind: 'ended', outcome: 'failed' });
  });

  it('is not taken for a loss of calls that were already taken', async () => {
    const made = await ready();
    const answer = gate<RawResult>();
    made.server('a').onCall = ({ args }) => (args.slow ? answer.promise : Promise.resolve({ content: [] }));
    const slow = made.call(get, { args: { slow: true } });
    await until(() => made.server('a').taken.length === 1);
    made.server('a').forgetSession();
    expect(ended(await made.call(get))).toMatchObject({ outcome: 'succeeded' });
    // Its connection was closed under it: it may have run, and is not sent again.
    expect(ended(await slow)).toMatchObject({ kind: 'ended', outcome: 'unknown' });
    expect(made.server('a').taken.filter(({ args }) => args.slow)).toHaveLength(1);
  });
});

describe('a call whose caller leaves', () => {
  it('may have run if it was sent', async () => {
    const made = await ready();
    made.server('a').onCall = () => new Promise(() => {});
    const leave = new AbortController();
    const answer = made.call(get, { signal: leave.signal });
    await until(() => made.server('a').taken.length === 1);
    leave.abort();
    expect(ended(await answer)).toMatchObject({ kind: 'ended', outcome: 'unknown', because: 'cancelled' });
  });

  it('is not sent if that was before', async () => {
    const made = await ready();
    const leave = new AbortController();
    const answer = made.call(get, { signal: leave.signal });
    leave.abort();
    expect(ended(await answer)).toMatchObject({ kind: 'ended', outcome: 'cancelled' });
    expect(made.server('a').taken).toEqual([]);
  });

  it('is cancelled by its id as well', async () => {
    const made = await ready();
    made.server('a').onCall = () => new Promise(() => {});
    const answer = made.call(get);
    await until(() => made.server('a').taken.length === 1);
    const id = rows(made)[0]?.id ?? '';
    expect(await made.calls.cancel(id, 'ann')).toBe('done');
    expect(ended(await answer)).toMatchObject({ outcome: 'unknown' });
    expect(await made.calls.cancel(id, 'ann')).toBeNull();
  });
});

describe('a held call', () => {
  it('runs when a person approves it while the caller waits', async () => {
    const made = await ready();
    const answer = made.call(get, { ...ask, args: { x: 1 } });
    const id = await heldId(made);
    expect(made.calls.memory(id)).toEqual({ arguments: { x: 1 } });
    expect(made.server('a').taken).toEqual([]);
    expect(await made.calls.approve(id, 'ann', 'once')).toMatchObject({
      request: { name: get.name, definition: get.definition },
      outdated: false,
    });
    expect(ended(await answer)).toMatchObject({ kind: 'result', id, outcome: 'succeeded' });
    expect(facts(made, id)).toEqual(['CallHeld', 'CallApproved', 'CallStarted', 'CallSettled']);
    expect(row(made, id)).toMatchObject({ outcome: 'succeeded', verdict: 'approved', decidedBy: 'ann' });
  });

  it('keeps its result to be fetched, but not its arguments', async () => {
    const made = await ready();
    const answer = made.call(get, ask);
    const id = await heldId(made);
    await made.calls.approve(id, 'ann', 'once');
    await answer;
    expect(made.calls.memory(id)).toEqual({ result: { content: [{ type: 'text', text: 'get' }] } });
  });

  it('is answered at once when the caller does not want to wait, and runs when it is approved', async () => {
    const made = await ready();
    const answer = ended(await made.call(get, { ...ask, wait: false }));
    expect(answer).toMatchObject({ kind: 'held', name: 'mcp__a__get', expiresAt: expect.any(Number) });
    await made.calls.approve(answer.id, 'ann', 'once');
    await until(() => row(made, answer.id)?.state === 'settled');
    expect(made.calls.memory(answer.id).result).toBeDefined();
    expect(made.server('a').taken).toHaveLength(1);
  });

  it('ends without a run when a person denies it', async () => {
    const made = await ready();
    const answer = made.call(get, ask);
    const id = await heldId(made);
    expect(await made.calls.deny(id, 'ann', 'not on a Friday')).toBe('done');
    expect(ended(await answer)).toMatchObject({ kind: 'ended', outcome: 'denied', reason: 'not on a Friday' });
    expect(row(made, id)).toMatchObject({ outcome: 'denied', decidedBy: 'ann' });
    expect(made.server('a').taken).toEqual([]);
  });

  it('expires when nobody answers', async () => {
    const made = await ready({ holdMs: 40 });
    expect(ended(await made.call(get, ask))).toMatchObject({ kind: 'ended', outcome: 'expired' });
    expect(made.calls.running).toBe(0);
  });

  it('is cancelled by its id without having been sent', async () => {
    const made = await ready();
    const answer = made.call(get, ask);
    const id = await heldId(made);
    expect(await made.calls.cancel(id, 'ann')).toBe('done');
    expect(ended(await answer)).toMatchObject({ kind: 'ended', outcome: 'cancelled' });
  });

  it('is decided by the first of two who approve; the other is told that there is nothing to decide', async () => {
    const made = await ready();
    const answer = made.call(get, ask);
    const id = await heldId(made);
    const [first, second] = await Promise.all([
      made.calls.approve(id, 'ann', 'once'),
      made.calls.approve(id, 'bob', 'once'),
    ]);
    expect(first).toMatchObject({ outdated: false });
    expect(second).toMatchObject({ refused: 'call-not-held' });
    expect(ended(await answer)).toMatchObject({ outcome: 'succeeded' });
    expect(made.server('a').taken).toHaveLength(1);
    expect(row(made, id)?.decidedBy).toBe('ann');
  });

  it('is decided once between one who approves and one who denies', async () => {
    const made = await ready();
    const answer = made.call(get, ask);
    const id = await heldId(made);
    const [denied, approved] = await Promise.all([
      made.calls.deny(id, 'ann', undefined),
      made.calls.approve(id, 'bob', 'once'),
    ]);
    expect(denied).toBe('done');
    expect(approved).toMatchObject({ refused: 'call-not-held' });
    expect(ended(await answer)).toMatchObject({ outcome: 'denied' });
    expect(await made.calls.deny(id, 'ann', undefined)).toBeNull();
    expect(await made.calls.approve('nobody', 'ann', 'once')).toBeNull();
  });

  it('does not run what is no longer what was asked for', async () => {
    const made = await ready();
    const answer = made.call(get, ask);
    const id = await heldId(made);
    made.definitions.set('a/get', 'another');
    expect(await made.calls.approve(id, 'ann', 'once')).toMatchObject({ outdated: true });
    expect(ended(await answer)).toMatchObject({ kind: 'ended', outcome: 'refused' });

    const other = made.call(get, { ...ask, args: { x: 2 } });
    const second = await heldId(made);
    await made.configure(entryOf('a', { identity: 'another server' }));
    await until(() => made.server('a').opened === 2);
    await made.reaches('a', 'ready');
    expect(await made.calls.approve(second, 'ann', 'once')).toMatchObject({ outdated: true });
    expect(ended(await other)).toMatchObject({ kind: 'ended', outcome: 'refused' });
    expect(made.server('a').taken).toEqual([]);
  });

  it('waits, once approved, for a server that is on its way', async () => {
    const made = await ready();
    const answer = made.call(get, ask);
    const id = await heldId(made);
    made.server('a').openings.push(60);
    made.server('a').lose();
    await made.reaches('a', 'reconnecting');
    await made.calls.approve(id, 'ann', 'once');
    expect(ended(await answer)).toMatchObject({ kind: 'result', outcome: 'succeeded' });
    expect(facts(made, id)).toEqual(['CallHeld', 'CallApproved', 'CallStarted', 'CallSettled']);
  });

  it('surely did not run if its server is in trouble by then', async () => {
    const made = await ready();
    const answer = made.call(get, ask);
    const id = await heldId(made);
    made.server('a').lose(failureOf('auth'));
    await made.reaches('a', 'auth-required');
    await made.calls.approve(id, 'ann', 'once');
    expect(ended(await answer)).toMatchObject({ kind: 'ended', outcome: 'failed' });
  });
});

describe('a held call whose caller no longer waits', () => {
  const short = { windowMs: 30 };

  it('stays open after the window, and says so', async () => {
    const made = await ready(short);
    const answer = ended(await made.call(get, ask));
    expect(answer).toMatchObject({ kind: 'held', name: 'mcp__a__get' });
    expect(row(made, answer.id)?.state).toBe('held');
    expect(facts(made, answer.id)).toEqual(['CallHeld', 'CallerLeft']);
  });

  it('runs, once approved, only when the same call comes again, and that once', async () => {
    const made = await ready(short);
    const args = { a: 1, b: [2, { c: 3 }] };
    const { id } = ended(await made.call(get, { ...ask, args }));
    await made.calls.approve(id, 'ann', 'once');
    await turn(5);
    expect(made.server('a').taken).toEqual([]);
    expect(row(made, id)?.state).toBe('approved');

    // The order of keys does not count.
    const again = ended(await made.call(get, { ...ask, args: { b: [2, { c: 3 }], a: 1 } }));
    expect(again).toMatchObject({ kind: 'result', id, outcome: 'succeeded' });
    expect(made.server('a').taken).toHaveLength(1);

    // The approval is used up.
    expect(ended(await made.call(get, { ...ask, args }))).toMatchObject({ kind: 'held' });
    expect(made.server('a').taken).toHaveLength(1);
  });

  it('runs once though the same call comes twice at the same time', async () => {
    const made = await ready(short);
    const { id } = ended(await made.call(get, ask));
    await made.calls.approve(id, 'ann', 'once');
    const answers = await Promise.all([made.call(get, ask), made.call(get, ask)]);
    for (const answer of answers) expect(answer).toMatchObject({ kind: 'result', id });
    expect(made.server('a').taken).toHaveLength(1);
  });

  it.each<[string, Parameters<Crew['call']>[1]]>([
    ['other arguments', { args: { x: 2 } }],
    ['another token', { client: 'other' }],
  ])('does not run for a call with %s', async (_what, other) => {
    const made = await ready(short);
    const { id } = ended(await made.call(get, { ...ask, args: { x: 1 } }));
    await made.calls.approve(id, 'ann', 'once');
    const answer = ended(await made.call(get, { ...ask, args: { x: 1 }, ...other }));
    expect(answer).toMatchObject({ kind: 'held' });
    expect(answer.id).not.toBe(id);
    expect(made.server('a').taken).toEqual([]);
  });

  it('expires if nobody comes back for it', async () => {
    const made = await ready({ windowMs: 20, holdMs: 1_000 });
    const { id } = ended(await made.call(get, ask));
    await made.calls.approve(id, 'ann', 'once');
    await until(() => row(made, id)?.state === 'settled');
    expect(row(made, id)).toMatchObject({ outcome: 'expired', decidedBy: 'ann' });
    expect(made.server('a').taken).toEqual([]);
  });

  it('is joined by the same call while it is held, and runs for that one', async () => {
    const made = await ready({ windowMs: 5_000 });
    const leave = new AbortController();
    const first = made.call(get, { ...ask, signal: leave.signal });
    const id = await heldId(made);
    leave.abort();
    expect(ended(await first)).toMatchObject({ kind: 'held', id });
    const second = made.call(get, ask);
    await until(() => facts(made, id).includes('CallerReturned'));
    await made.calls.approve(id, 'ann', 'once');
    expect(ended(await second)).toMatchObject({ kind: 'result', id });
    expect(made.server('a').taken).toHaveLength(1);
  });

  it('is not left as long as one of two who ask for the same still waits', async () => {
    const made = await ready({ windowMs: 3_000 });
    const leave = new AbortController();
    const first = made.call(get, { ...ask, signal: leave.signal });
    const id = await heldId(made);
    const second = made.call(get, ask);
    await turn(3);
    leave.abort();
    await first;
    await made.calls.approve(id, 'ann', 'once');
    expect(ended(await second)).toMatchObject({ kind: 'result', id, outcome: 'succeeded' });
  });

  it('is cancelled, and gone from those that wait, when its caller says that it is not wanted any more', async () => {
    const made = await ready({ windowMs: 5_000 });
    const leave = new AbortController();
    const answer = made.call(get, { ...ask, signal: leave.signal });
    const id = await heldId(made);
    leave.abort(new NotWanted('Never mind.'));
    expect(ended(await answer)).toMatchObject({ kind: 'ended', id, outcome: 'cancelled' });
    expect(row(made, id)).toMatchObject({ state: 'settled', outcome: 'cancelled', decidedBy: 'main' });
    expect(facts(made, id)).toEqual(['CallHeld', 'CallSettled']);
    expect(await made.calls.approve(id, 'ann', 'once')).toBeNull();
    expect(made.server('a').taken).toEqual([]);
  });

  it('is not cancelled by one of two who wait for it', async () => {
    const made = await ready({ windowMs: 5_000 });
    const leave = new AbortController();
    const first = made.call(get, { ...ask, signal: leave.signal });
    const id = await heldId(made);
    const second = made.call(get, ask);
    await turn(3);
    leave.abort(new NotWanted('Never mind.'));
    expect(ended(await first)).toMatchObject({ kind: 'held', id });
    await made.calls.approve(id, 'ann', 'once');
    expect(ended(await second)).toMatchObject({ kind: 'result', id, outcome: 'succeeded' });
  });

  it('is approved as what the person was shown, whatever definition the one who came again had seen', async () => {
    const made = await ready(short);
    const shown = ended(await made.call(get, ask));
    const definition = row(made, shown.id)?.definition;
    await made.call({ ...get, definition: 'another' }, ask);
    const approved = await made.calls.approve(shown.id, 'ann', 'tool');
    expect(approved).toMatchObject({ request: { definition, name: get.name }, outdated: false });
  });

  it('is one of so many that can wait for one caller; another caller is not kept from asking', async () => {
    const made = await ready();
    const some = { ...ask, wait: false };
    for (let n = 0; n < 1_000; n += 100)
      await Promise.all(Array.from({ length: 100 }, (_, at) => made.call(get, { ...some, args: { n: n + at } })));
    const one = ended(await made.call(get, { ...some, args: { n: 1_000 } }));
    expect(one).toMatchObject({ kind: 'ended', outcome: 'refused', because: 'barred' });
    expect(row(made, one.id)?.reason).toMatch(/1000 calls of "main" wait for a person already/);
    // One that waits already is joined all the same.
    expect(ended(await made.call(get, { ...some, args: { n: 5 } }))).toMatchObject({ kind: 'held' });
    expect(ended(await made.call(get, { ...some, client: 'other' }))).toMatchObject({ kind: 'held' });
  });

  it('is refused when the arguments of those that wait already take too much memory', async () => {
    const made = await ready();
    const text = 'x'.repeat(16 * 1024 * 1024);
    const asked = (n: number) => made.call(get, { ...ask, wait: false, args: { n, text } });
    for (const n of [1, 2, 3]) expect(ended(await asked(n))).toMatchObject({ kind: 'held' });
    expect(ended(await asked(4))).toMatchObject({ kind: 'ended', outcome: 'refused' });
  });

  it('does not keep the same call from running when that needs nobody', async () => {
    const made = await ready(short);
    const { id } = ended(await made.call(get, ask));
    const answer = ended(await made.call(get, { mode: 'allow-all' }));
    expect(answer).toMatchObject({ kind: 'result', outcome: 'succeeded' });
    expect(answer.id).not.toBe(id);
    expect(row(made, id)?.state).toBe('held');
  });
});

describe('calls at once', () => {
  const busy = async (made: Crew) => {
    let now = 0;
    let most = 0;
    made.server('a').onCall = async () => {
      now += 1;
      most = Math.max(most, now);
      await pause(5);
      now -= 1;
      return { content: [] };
    };
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => made.call(get, { args: { n } })));
    for (const answer of answers) expect(answer).toMatchObject({ outcome: 'succeeded' });
    return most;
  };

  it('are as many as come', async () => {
    expect(await busy(await ready())).toBe(12);
  });

  it('are no more than the entry allows, in the order in which they came', async () => {
    const made = await ready({}, { limits: { maxConcurrency: 3 } });
    expect(await busy(made)).toBe(3);
    expect(made.server('a').taken.map(({ args }) => args.n)).toEqual(Array.from({ length: 12 }, (_, n) => n));
  });

  it.each([true, false])('count those that a person approved (the caller waits: %s)', async (wait) => {
    const made = await ready({}, { limits: { maxConcurrency: 1 } });
    const answers = new Map<unknown, ReturnType<typeof gate<RawResult>>>();
    made.server('a').onCall = ({ args }) => {
      const answer = gate<RawResult>();
      answers.set(args.n, answer);
      return answer.promise;
    };
    const taken = () => made.server('a').taken.map(({ args }) => args.n);
    const first = made.call(get, { args: { n: 1 } });
    await until(() => taken().length === 1);
    const ids: string[] = [];
    const held = [2, 3].map((n) =>
      made.call(get, { args: { n }, mode: 'ask', wait, onHeld: ({ id }: { id: string }) => ids.push(id) }),
    );
    if (!wait) for (const call of held) ids.push(((await call) as { id: string }).id);
    await until(() => ids.length === 2);
    for (const id of ids) expect(await made.calls.approve(id, 'ann', 'once')).toMatchObject({ outdated: false });
    await turn();
    expect(taken()).toEqual([1]);
    for (const n of [1, 2, 3]) {
      await until(() => answers.has(n));
      expect(taken()).toEqual([1, 2, 3].slice(0, n));
      answers.get(n)?.open({ content: [] });
    }
    expect(ended(await first)).toMatchObject({ outcome: 'succeeded' });
    if (wait) for (const call of held) expect(ended(await call)).toMatchObject({ outcome: 'succeeded' });
    await until(() => made.calls.running === 0);
  });

  it('that were approved and are no longer waited for leave the queue, and the approval stays', async () => {
    const made = await ready({}, { limits: { maxConcurrency: 1 } });
    const answer = gate<RawResult>();
    made.server('a').onCall = ({ args }) => (args.n === 1 ? answer.promise : Promise.resolve({ content: [] }));
    const first = made.call(get, { args: { n: 1 } });
    await until(() => made.server('a').taken.length === 1);
    const leave = new AbortController();
    const second = made.call(get, { args: { n: 2 }, mode: 'ask', wait: true, signal: leave.signal });
    const id = await heldId(made);
    await made.calls.approve(id, 'ann', 'once');
    leave.abort();
    expect(await second).toMatchObject({ kind: 'held', id });
    answer.open({ content: [] });
    expect(ended(await first)).toMatchObject({ outcome: 'succeeded' });
    expect(made.server('a').taken).toHaveLength(1);
    expect(ended(await made.call(get, { args: { n: 2 }, mode: 'ask', wait: true }))).toMatchObject({
      outcome: 'succeeded',
    });
  });

  it('let one who no longer waits out of the queue', async () => {
    const made = await ready({}, { limits: { maxConcurrency: 1 } });
    const answer = gate<RawResult>();
    made.server('a').onCall = ({ args }) => (args.n === 1 ? answer.promise : Promise.resolve({ content: [] }));
    const first = made.call(get, { args: { n: 1 } });
    await until(() => made.server('a').taken.length === 1);
    const leave = new AbortController();
    const second = made.call(get, { args: { n: 2 }, signal: leave.signal });
    const third = made.call(get, { args: { n: 3 } });
    await turn();
    leave.abort();
    expect(ended(await second)).toMatchObject({ kind: 'ended', outcome: 'cancelled' });
    answer.open({ content: [] });
    expect(ended(await first)).toMatchObject({ outcome: 'succeeded' });
    expect(ended(await third)).toMatchObject({ outcome: 'succeeded' });
    expect(made.server('a').taken.map(({ args }) => args.n)).toEqual([1, 3]);
  });

  it('on one server do not wait for those on another', async () => {
    const made = await crew();
    await made.configure(
      entryOf('a', { limits: { maxConcurrency: 1 } }),
      entryOf('b', { limits: { maxConcurrency: 1 } }),
    );
    for (const name of ['a', 'b']) await made.reaches(name, 'ready');
    made.server('a').onCall = () => new Promise(() => {});
    const leave = new AbortController();
    const stuck = made.call(get, { signal: leave.signal });
    await until(() => made.server('a').taken.length === 1);
    expect(ended(await made.call(toolOf('b')))).toMatchObject({ outcome: 'succeeded' });
    leave.abort();
    await stuck;
  });
});

describe('a log that takes nothing', () => {
  it('lets no call run, and says so', async () => {
    const made = await ready({ retryMs: 5 });
    made.log.fail();
    for (const mode of ['allow-all', 'ask', 'deny'] as const) {
      expect(await made.call(get, { mode })).toMatchObject({ refused: 'log-unavailable' });
    }
    expect(made.server('a').taken).toEqual([]);
    expect(made.calls.running).toBe(0);
    made.log.mend();
    await until(() => made.desk.trouble === null);
    expect(ended(await made.call(get))).toMatchObject({ outcome: 'succeeded' });
  });

  it('answers a call that ran only once its end is written', async () => {
    const made = await ready({ retryMs: 5 });
    made.server('a').onCall = async () => {
      made.log.fail();
      return { content: [] };
    };
    let answered = false;
    const answer = made.call(get).then((end) => {
      answered = true;
      return end;
    });
    await until(() => made.log.refused >= 3);
    expect(answered).toBe(false);
    made.log.mend();
    const end = ended(await answer);
    expect(end).toMatchObject({ outcome: 'succeeded' });
    expect(row(made, end.id)).toMatchObject({ outcome: 'succeeded' });
  });

  it('leaves a held call held: its approval is refused, and counts when it is given again', async () => {
    const made = await ready({ retryMs: 5 });
    const answer = made.call(get, ask);
    const id = await heldId(made);
    made.log.fail();
    expect(await made.calls.approve(id, 'ann', 'once')).toMatchObject({ refused: 'log-unavailable' });
    expect(made.server('a').taken).toEqual([]);
    made.log.mend();
    await until(() => made.desk.trouble === null);
    await made.calls.approve(id, 'ann', 'once');
    expect(ended(await answer)).toMatchObject({ outcome: 'succeeded' });
  });

  it('does not keep one who comes for an approved call waiting: it can be asked for again', async () => {
    const made = await ready({ windowMs: 20, retryMs: 5 });
    const { id } = ended(await made.call(get, ask));
    await made.calls.approve(id, 'ann', 'once');
    // The return is written, the start is not.
    const failing = made.log.committed$.subscribe((batch) => {
      if (batch.some(({ type }) => type === 'CallerReturned')) made.log.fail();
    });
    expect(await made.call(get, ask)).toMatchObject({ refused: 'log-unavailable' });
    failing.unsubscribe();
    made.log.mend();
    await until(() => made.desk.trouble === null);
    expect(ended(await made.call(get, ask))).toMatchObject({ kind: 'result', id });
    expect(made.server('a').taken).toHaveLength(1);
  });
});

describe('the end of the daemon', () => {
  it('abandons what waits for a person and cancels what runs', async () => {
    const made = await ready();
    made.server('a').onCall = () => new Promise(() => {});
    const running = made.call(get);
    await until(() => made.server('a').taken.length === 1);
    const held = made.call(get, { ...ask, args: { x: 1 } });
    await heldId(made);
    await made.calls.abandon();
    expect(ended(await held)).toMatchObject({ kind: 'ended', outcome: 'abandoned' });
    expect(ended(await running)).toMatchObject({ kind: 'ended', outcome: 'unknown' });
    expect(rows(made).map(({ state }) => state)).toEqual(['settled', 'settled']);
    expect(made.calls.running).toBe(0);
  });

  it('does not wait for a log that takes nothing', async () => {
    const made = await ready();
    void made.call(get, ask);
    await heldId(made);
    made.log.fail();
    await made.calls.abandon();
    made.log.mend();
  });

  it('is made good by the next one: held calls were abandoned, running ones may have run', async () => {
    const log = new WatchedLog();
    const first = await ready({ log });
    first.server('a').onCall = () => new Promise(() => {});
    void first.call(get);
    await until(() => first.server('a').taken.length === 1);
    void first.call(get, { ...ask, args: { x: 1 } });
    await heldId(first);
    await first.kill();
    const position = log.lastPosition();

    const second = await crew({ log });
    await until(() => rows(second).every(({ state }) => state === 'settled'));
    expect(rows(second).map(({ outcome }) => outcome)).toEqual(['unknown', 'abandoned']);
    // In the transaction that records the start, before anything else.
    const batch = log.batches.find((facts) => facts[0]?.type === 'DaemonStarted' && facts[0].position > position);
    expect(batch?.map(({ type }) => type)).toEqual(['DaemonStarted', 'ServerStopped', 'CallSettled', 'CallSettled']);
  });

  it('is made good even if the first commit of the next one fails', async () => {
    const log = new WatchedLog();
    const first = await ready({ log });
    void first.call(get, ask);
    await heldId(first);
    await first.kill();
    log.fail(2);
    const second = await crew({ log });
    expect(log.refused).toBe(2);
    expect(rows(second).map(({ outcome }) => outcome)).toEqual(['abandoned']);
  });
});

describe('what may be sent again when a connection ends', () => {
  const idempotent = { ...get, idempotent: true };
  /** The connection ends under the first call; whoever comes second is answered. */
  const losing = async (policy: RepeatPolicy): Promise<Crew> => {
    const made = await ready({ rules: { repeats: () => policy } });
    let calls = 0;
    made.server('a').onCall = async () => {
      calls += 1;
      if (calls > 1) return { content: [] };
      made.server('a').lose();
      throw new CallError('lost', 'The connection ended before the answer', { sent: true });
    };
    return made;
  };

  it.each<[RepeatPolicy, boolean, string, number]>([
    ['unsent', true, 'unknown', 1],
    ['never', true, 'unknown', 1],
    ['idempotent', false, 'unknown', 1],
    ['idempotent', true, 'succeeded', 2],
  ])(
    'policy %s, tool that may be repeated: %s: a call that was lost is %s, sent %d times',
    async (policy, may, outcome, times) => {
      const made = await losing(policy);
      const answer = ended(await made.call(may ? idempotent : get));
      expect(answer).toMatchObject({ outcome });
      expect(made.server('a').taken).toHaveLength(times);
      expect(facts(made, answer.id).filter((type) => type === 'CallResent')).toHaveLength(times - 1);
    },
  );

  it('is nothing at all where the entry says so, not even what surely never left', async () => {
    const made = await ready({ rules: { repeats: () => 'never' } });
    made.server('a').forgetSession();
    expect(ended(await made.call(idempotent))).toMatchObject({ kind: 'ended', outcome: 'failed' });
    expect(made.server('a').taken).toEqual([]);
  });
});

describe('a client with limits', () => {
  it('calls nothing it may not see, whatever the mode and the grants', async () => {
    const made = await ready({ rules: { sees: (client) => client !== 'narrow' } });
    made.grants.push(wholeServer('a'));
    expect(ended(await made.call(get, { client: 'narrow' }))).toMatchObject({ kind: 'ended', outcome: 'refused' });
    expect(ended(await made.call(get, { client: 'wide' }))).toMatchObject({ kind: 'result' });
    expect(made.server('a').taken).toHaveLength(1);
  });

  it('is refused what is too much, in words, and the refusal is in the ledger', async () => {
    let left = 1;
    const made = await ready({ rules: { overRate: () => (left-- > 0 ? null : 'It is too much.') } });
    expect(ended(await made.call(get))).toMatchObject({ kind: 'result' });
    const refused = ended(await made.call(get));
    expect(refused).toMatchObject({ kind: 'ended', outcome: 'refused', reason: 'It is too much.', because: 'barred' });
    expect(row(made, refused.id)).toMatchObject({ state: 'settled', outcome: 'refused', reason: 'It is too much.' });
    expect(made.server('a').taken).toHaveLength(1);
  });
});

describe('what is worth a look', () => {
  it('is asked for held calls only, and stands with them', async () => {
    const asked: string[] = [];
    const remarksOn = ({ name }: { name: string }) => {
      asked.push(name);
      return ['It is new.'];
    };
    const made = await ready({ rules: { remarksOn } });
    await made.call(get);
    expect(asked).toEqual([]);
    const held = ended(await made.call(get, { ...ask, wait: false }));
    expect(asked).toEqual(['mcp__a__get']);
    expect(row(made, held.id)?.unusual).toEqual(['It is new.']);
  });
});

describe('a call whose end nobody knows', () => {
  const lost = async (): Promise<{ made: Crew; id: string }> => {
    const made = await ready();
    made.server('a').onCall = async () => {
      throw new CallError('lost', 'The connection ended before the answer', { sent: true });
    };
    return { made, id: ended(await made.call(get)).id };
  };
  const ran = { finding: 'ran', note: 'I looked.' } as const;

  it('is closed by a person, once', async () => {
    const { made, id } = await lost();
    expect(await made.calls.close(id, 'ann', ran)).toBe('done');
    expect(row(made, id)?.closed).toMatchObject({ finding: 'ran', note: 'I looked.', by: 'ann' });
    expect(await made.calls.close(id, 'bob', { finding: 'not-run', note: undefined })).toMatchObject({
      refused: 'call-not-open',
    });
    expect(facts(made, id)).toEqual(['CallStarted', 'CallSettled', 'CallClosed']);
  });

  it('is closed by the first of two who do so at the same moment', async () => {
    const { made, id } = await lost();
    const answers = await Promise.all(['ann', 'bob'].map((by) => made.calls.close(id, by, ran)));
    expect(answers.filter((answer) => answer === 'done')).toHaveLength(1);
    expect(row(made, id)?.closed?.by).toBe('ann');
  });

  it('is no other than one that was sent and not answered', async () => {
    const made = await ready();
    const answered = ended(await made.call(get));
    expect(await made.calls.close(answered.id, 'ann', ran)).toMatchObject({ refused: 'call-not-open' });
    const held = ended(await made.call(get, { ...ask, wait: false }));
    expect(await made.calls.close(held.id, 'ann', ran)).toMatchObject({ refused: 'call-not-open' });
    expect(await made.calls.close('nobody', 'ann', ran)).toBeNull();
  });
});
