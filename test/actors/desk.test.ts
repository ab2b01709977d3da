import { describe, expect, it } from 'vitest';
import { Actor } from '../../src/actors/actor.ts';
import type { Head, Heard, Rules, Stamp } from '../../src/actors/head.ts';
import { refuse } from '../../src/actors/refusal.ts';
import type { ServerFact } from '../../src/events/server.events.ts';
import { type DeskUnderTest, deskUnderTest, turn } from '../support/actors.ts';
import { until } from '../support/wait.ts';

/**
 * The smallest actor that can be refused: it counts what it is told. Facts of the catalogue stand in for its own;
 * `stopped` and `idle` are its two states.
 */
interface Counted {
  readonly seen: readonly number[];
}
type Command = { readonly add: number } | 'look' | 'refuse' | 'break';

const rules: Rules<Counted, ServerFact, Command> = {
  initial: { state: 'stopped', context: { seen: [] } },
  next: (state, type) => (type === 'ProcessStarted' ? (state === 'stopped' ? 'idle' : null) : undefined),
  evolve: ({ seen }, fact) => ({ seen: fact.type === 'ProcessStarted' ? [...seen, fact.data.pid] : seen }),
  decide: (head: Head<Counted>, command: Command, stamp: Stamp) => {
    if (command === 'look') return [];
    if (command === 'refuse') return refuse('too-many', `There are ${head.context.seen.length}.`);
    if (command === 'break') return [{ type: 'ServerEnabled', data: {} }];
    return [{ type: 'ProcessStarted', data: { connection: 0, pid: command.add, startedAt: stamp.at } }];
  },
};

type Counter = Actor<Counted, ServerFact, Command>;
const counter = ({ desk }: DeskUnderTest, name = 'a', keepHead = true): Counter =>
  new Actor({ stream: `server-${name}`, desk, rules, keepHead });
const add = (pid: number): Command => ({ add: pid });

/** Remembers what it hears, as a body that does its work. */
function listen(actor: Counter): number[] {
  const heard: number[] = [];
  actor.embody({
    hear: (fact: Heard<ServerFact>) => {
      if (fact.type === 'ProcessStarted') heard.push(fact.data.pid);
      return 'idle';
    },
    stop: () => {},
  });
  return heard;
}

const pids = ({ log }: DeskUnderTest, name = 'a'): number[] =>
  log.read({ stream: `server-${name}` }).map(({ data }) => (data as { pid: number }).pid);

describe('one tick', () => {
  it('is one transaction, whatever number of actors and commands', async () => {
    const under = deskUnderTest();
    const [a, b] = [counter(under, 'a'), counter(under, 'b')];
    await Promise.all([a.tell(add(1), undefined), b.tell(add(2), undefined), a.tell(add(3), undefined)]);
    expect(under.log.batches.map((batch) => batch.map(({ stream, version }) => `${stream} ${version}`))).toEqual([
      ['server-a 1', 'server-b 1', 'server-a 2'],
    ]);
    await a.tell(add(4), undefined);
    expect(under.log.batches).toHaveLength(2);
  });

  it('lets a later command see what an earlier one decided, before it is written', async () => {
    const under = deskUnderTest();
    const a = counter(under);
    void a.tell(add(1), undefined);
    expect(a.head.context.seen).toEqual([1]);
    expect(a.committedHead.context.seen).toEqual([]);
    expect(await a.tell('refuse', undefined)).toEqual({ refused: 'too-many', detail: 'There are 1.' });
    expect(a.committedHead.context.seen).toEqual([1]);
  });

  it('writes facts, state, cause and head together', async () => {
    const under = deskUnderTest();
    const a = counter(under);
    await a.tell(add(7), undefined, 'why');
    await a.tell(add(8), undefined);
    expect(under.log.read({ stream: 'server-a' })).toMatchObject([
      { version: 1, type: 'ProcessStarted', schema: 1, cause: 'why', data: { pid: 7, to: 'idle' } },
      { version: 2, cause: 'c-2', data: { pid: 8, to: 'idle' } },
    ]);
    expect(under.log.head('server-a')).toEqual({
      stream: 'server-a',
      version: 2,
      state: 'idle',
      context: { seen: [7, 8] },
    });
  });

  it('keeps no head of a stream that ends soon', async () => {
    const under = deskUnderTest();
    await counter(under, 'a', false).tell(add(1), undefined);
    expect(under.log.head('server-a')).toBeNull();
  });

  it('gives times that never go back', async () => {
    const under = deskUnderTest();
    under.desk.startClockAt(9e15);
    expect(under.desk.now()).toBe(9e15);
    await counter(under).tell(add(1), undefined);
    expect(under.log.read({})[0]?.at).toBe(9e15);
  });
});

describe('an answer', () => {
  it.each<[string, Command]>([
    ['facts', add(2)],
    ['a refusal', 'refuse'],
    ['"already so"', 'look'],
  ])('that is %s waits for the commit of what it stands on', async (_what, command) => {
    const under = deskUnderTest();
    const a = counter(under);
    const release = under.log.hold();
    void a.tell(add(1), undefined);
    let answered = false;
    const answer = a.tell(command, undefined).then(() => {
      answered = true;
    });
    await turn(3);
    expect(answered).toBe(false);
    release();
    await answer;
    expect(pids(under)[0]).toBe(1);
  });

  it('comes after the body has heard', async () => {
    const under = deskUnderTest();
    const a = counter(under);
    const heard = listen(a);
    await a.tell(add(1), undefined);
    expect(heard).toEqual([1]);
  });

  it('of a command that came while an earlier batch was being written waits for its own', async () => {
    const under = deskUnderTest();
    const a = counter(under);
    const release = under.log.hold();
    const first = a.tell(add(1), undefined);
    await turn();
    const second = a.tell(add(2), undefined);
    await turn();
    expect(under.log.attempts).toBe(1);
    release();
    await first;
    expect(a.head.context.seen).toEqual([1, 2]);
    expect(a.committedHead.context.seen).toEqual([1]);
    await second;
    expect(under.log.batches.map((batch) => batch.length)).toEqual([1, 1]);
  });
});

describe('waiting for a state', () => {
  const seen = (count: number) => (head: Head<Counted>) => head.context.seen.length >= count;

  it('ends with a committed head and never with one that is not', async () => {
    const under = deskUnderTest();
    const a = counter(under);
    const release = under.log.hold();
    void a.tell(add(1), undefined);
    let reached = false;
    const wait = a.until(seen(1), AbortSignal.timeout(5_000)).then((head) => {
      reached = true;
      return head;
    });
    await turn(2);
    expect(a.head.context.seen).toEqual([1]);
    expect(reached).toBe(false);
    release();
    expect(await wait).toMatchObject({ state: 'idle', version: 1 });
  });

  it('ends at once when it is so already, and with the reason of its signal', async () => {
    const under = deskUnderTest();
    const a = counter(under);
    await a.tell(add(1), undefined);
    expect(await a.until(seen(1), AbortSignal.abort())).toMatchObject({ version: 1 });
    await expect(a.until(seen(2), AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
    const abort = new AbortController();
    const wait = a.until(seen(2), abort.signal);
    abort.abort(new Error('no more'));
    await expect(wait).rejects.toThrow('no more');
  });
});

describe('a commit that fails', () => {
  it('takes every head of the batch back, tells no body, and refuses what stood on it', async () => {
    const under = deskUnderTest();
    const [a, b] = [counter(under, 'a'), counter(under, 'b')];
    const heard = [listen(a), listen(b)];
    await a.tell(add(1), undefined);
    under.log.fail();
    const answers = await Promise.all([
      a.tell(add(2), undefined),
      b.tell(add(3), undefined),
      a.tell('look', undefined),
      a.tell('refuse', undefined),
    ]);
    for (const answer of answers) expect(answer).toMatchObject({ refused: 'log-unavailable' });
    expect(a.head).toEqual(a.committedHead);
    expect(a.head.context.seen).toEqual([1]);
    expect(b.head.version).toBe(0);
    expect(heard).toEqual([[1], []]);
    expect(pids(under)).toEqual([1]);
  });

  it('refuses commands until the log takes facts again', async () => {
    const under = deskUnderTest({ retryMs: 5 });
    const a = counter(under);
    under.log.fail();
    await a.tell(add(1), undefined);
    const attempts = under.log.attempts;
    for (const command of [add(2), 'look', 'refuse'] as const) {
      expect(await a.tell(command, undefined)).toMatchObject({ refused: 'log-unavailable' });
    }
    // Nothing was even tried for them.
    expect(under.log.attempts).toBe(attempts);
    under.log.mend();
    await until(() => under.desk.trouble === null, { what: 'the log to be found mended' });
    expect(await a.tell(add(3), undefined)).toHaveLength(1);
    expect(pids(under)).toEqual([3]);
  });

  it('takes back what was decided while it was under way, too', async () => {
    const under = deskUnderTest();
    const [a, b] = [counter(under, 'a'), counter(under, 'b')];
    const heard = listen(a);
    const release = under.log.hold();
    const first = a.tell(add(1), undefined);
    await turn();
    const later = [a.tell(add(2), undefined), b.tell(add(3), undefined), b.tell('refuse', undefined)];
    expect(a.head.context.seen).toEqual([1, 2]);
    under.log.fail();
    release();
    for (const answer of await Promise.all([first, ...later])) {
      expect(answer).toMatchObject({ refused: 'log-unavailable' });
    }
    expect([a.head.version, b.head.version]).toEqual([0, 0]);
    expect(heard).toEqual([]);
    under.log.mend();
    await until(() => under.desk.trouble === null);
    await a.tell(add(4), undefined);
    expect(pids(under)).toEqual([4]);
    expect(a.head.version).toBe(1);
  });

  it('says that it is degraded once, and once that it is no longer', async () => {
    const under = deskUnderTest({ retryMs: 2 });
    const a = counter(under);
    under.log.fail(6);
    // Tried six times in vain, and then written.
    await a.report(add(1), undefined);
    expect(under.log.refused).toBe(6);
    expect(under.degraded).toEqual([expect.any(Error), null]);
    expect(String(under.degraded[0])).toMatch('disk is full');
    under.log.fail(1);
    await a.tell(add(2), undefined);
    expect(under.degraded).toHaveLength(3);
    await until(() => under.desk.trouble === null);
    expect(under.degraded.map((error) => error === null)).toEqual([false, true, false, true]);
  });

  it('is got over without any report or command', async () => {
    const under = deskUnderTest({ retryMs: 2 });
    under.log.fail(4);
    await counter(under).tell(add(1), undefined);
    await until(() => under.desk.trouble === null);
    expect(under.log.refused).toBe(4);
    expect(under.log.lastPosition()).toBe(0);
  });

  it('ends no wait for a state', async () => {
    const under = deskUnderTest({ retryMs: 2 });
    const a = counter(under);
    let reached = false;
    void a
      .until(({ version }) => version > 0, AbortSignal.timeout(5_000))
      .then(() => {
        reached = true;
      });
    under.log.fail(1);
    await a.tell(add(1), undefined);
    await turn();
    expect(reached).toBe(false);
    await until(() => under.desk.trouble === null);
    await a.tell(add(2), undefined);
    expect(reached).toBe(true);
  });
});

describe('a report', () => {
  it('is kept when its commit fails, and decided again', async () => {
    const under = deskUnderTest({ retryMs: 2 });
    const a = counter(under);
    const heard = listen(a);
    under.log.fail(5);
    expect(await a.report(add(1), undefined)).toMatchObject([{ type: 'ProcessStarted', data: { pid: 1 } }]);
    expect(under.log.refused).toBe(5);
    expect(heard).toEqual([1]);
    expect(pids(under)).toEqual([1]);
  });

  it('is answered by nothing before it is committed', async () => {
    const under = deskUnderTest({ retryMs: 2 });
    const a = counter(under);
    under.log.fail();
    let answered = false;
    const report = a.report(add(1), undefined).then(() => {
      answered = true;
    });
    await until(() => under.log.refused >= 3);
    expect(answered).toBe(false);
    expect(a.committedHead.version).toBe(0);
    under.log.mend();
    await report;
  });

  it('keeps its place: what is kept is decided again in the order in which it happened', async () => {
    const under = deskUnderTest({ retryMs: 200 });
    const a = counter(under);
    const heard = listen(a);
    under.log.fail(1);
    const reports = [1, 2, 3].map((n) => a.report(add(n), undefined));
    await until(() => under.desk.trouble !== null);
    reports.push(a.report(add(4), undefined), a.report(add(5), undefined));
    await Promise.all(reports);
    expect(heard).toEqual([1, 2, 3, 4, 5]);
    expect(pids(under)).toEqual([1, 2, 3, 4, 5]);
  });

  it('keeps its place when the log fails again and again and more is reported meanwhile', async () => {
    const under = deskUnderTest({ retryMs: 1 });
    const [a, b] = [counter(under, 'a'), counter(under, 'b')];
    under.log.fail(12);
    const reports: Promise<unknown>[] = [];
    for (let n = 1; n <= 60; n += 1) {
      reports.push((n % 3 === 0 ? b : a).report(add(n), undefined));
      await new Promise((resolve) => setImmediate(resolve));
      if (n % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await Promise.all(reports);
    const numbers = Array.from({ length: 60 }, (_, index) => index + 1);
    expect(pids(under, 'a')).toEqual(numbers.filter((n) => n % 3 !== 0));
    expect(pids(under, 'b')).toEqual(numbers.filter((n) => n % 3 === 0));
    expect(under.log.read({}).map(({ data }) => (data as { pid: number }).pid)).toEqual(numbers);
  });

  it('that comes while kept ones are being written again waits behind them', async () => {
    const under = deskUnderTest({ retryMs: 200 });
    const a = counter(under);
    under.log.fail(1);
    const first = a.report(add(1), undefined);
    await until(() => under.desk.trouble !== null);
    const release = under.log.hold();
    // The probe is under way: it fails, and what came meanwhile must not overtake it.
    await until(() => under.log.attempts === 2);
    const second = a.report(add(2), undefined);
    under.log.fail(1);
    release();
    await Promise.all([first, second]);
    expect(pids(under)).toEqual([1, 2]);
  });

  it('that comes after the log is mended waits behind those that were kept', async () => {
    const under = deskUnderTest({ retryMs: 200 });
    const a = counter(under);
    under.log.fail(1);
    const first = a.report(add(1), undefined);
    await until(() => under.desk.trouble !== null);
    const release = under.log.hold();
    await until(() => under.log.attempts === 2);
    const second = a.report(add(2), undefined);
    release();
    await first;
    expect(under.desk.trouble).toBeNull();
    const third = a.report(add(3), undefined);
    await Promise.all([second, third]);
    expect(pids(under)).toEqual([1, 2, 3]);
  });

  it('that leads to no fact waits for what it stands on, and is kept with it', async () => {
    const under = deskUnderTest({ retryMs: 2 });
    const a = counter(under);
    under.log.fail(2);
    const [facts, none] = await Promise.all([a.report(add(1), undefined), a.report('look', undefined)]);
    expect([facts.length, none.length]).toEqual([1, 0]);
    expect(under.log.refused).toBe(2);
  });

  it('names the fact its actor heard last as its cause', async () => {
    const under = deskUnderTest();
    const a = counter(under);
    listen(a);
    const [first] = await a.report(add(1), undefined);
    const [second] = await a.report(add(2), undefined);
    expect(second?.cause).toBe(String(first?.position));
  });
});

describe('a product that contradicts itself', () => {
  it('stops loudly when the body is elsewhere than the log says', async () => {
    const under = deskUnderTest();
    const a = counter(under);
    a.embody({ hear: () => 'ready', stop: () => {} });
    await a.tell(add(1), undefined);
    expect(under.fatal.map(String)).toEqual([
      'Error: server-a: after ProcessStarted (position 1) the log says "idle", the machine "ready".',
    ]);
  });

  it('stops loudly when somebody else wrote the stream: there is no second actor of one', async () => {
    const under = deskUnderTest();
    const [one, two] = [counter(under), counter(under)];
    await one.tell(add(1), undefined);
    await two.tell(add(2), undefined);
    expect(under.fatal.map(String)).toEqual(['VersionConflict: Version 1 of stream "server-a" is already in the log.']);
    expect(pids(under)).toEqual([1]);
  });

  it('refuses to write a fact its own machine does not hear', async () => {
    const under = deskUnderTest();
    const a = counter(under);
    await expect(a.tell('break', undefined)).rejects.toThrow('ServerEnabled is not heard in state "stopped"');
    expect(under.log.attempts).toBe(0);
    expect(a.head.version).toBe(0);
    // A report has nobody who would hear of it: the daemon stops.
    void a.report('break', undefined);
    await until(() => under.fatal.length > 0);
    expect(String(under.fatal[0])).toMatch('NotHeard');
  });
});

describe('closing', () => {
  it('waits for what is under way', async () => {
    const under = deskUnderTest();
    const a = counter(under);
    const told = a.tell(add(1), undefined);
    await under.desk.close();
    expect(await told).toHaveLength(1);
    expect(pids(under)).toEqual([1]);
  });

  it('takes nothing more, and may be asked for twice', async () => {
    const under = deskUnderTest();
    const a = counter(under);
    await under.desk.close();
    expect(await a.tell(add(1), undefined)).toMatchObject({ refused: 'log-unavailable' });
    void a.report(add(2), undefined);
    await turn();
    await under.desk.close();
    expect(under.log.attempts).toBe(0);
    expect(under.degraded).toEqual([]);
  });

  it('ends though the log takes nothing', async () => {
    const under = deskUnderTest({ retryMs: 1 });
    const a = counter(under);
    under.log.fail();
    void a.report(add(1), undefined);
    await turn();
    await under.desk.close();
    const { attempts } = under.log;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(under.log.attempts).toBe(attempts);
  });
});
