import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { isRefusal } from '../../src/actors/refusal.ts';
import type { Settled } from '../../src/actors/supervisor.ts';
import { type Crew, crew, entryOf, failureOf, toolOf, turn, WatchedLog } from '../support/actors.ts';
import { until } from '../support/wait.ts';

const names = (count: number, prefix = 's'): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(2, '0')}`);

const opened = ({ servers }: Crew): string[] =>
  [...servers.values()].filter((server) => server.opened > 0).map(({ name }) => name);

/** The crew whose servers `hang` never answer, until they are told to end. */
async function crewWithHanging(hanging: readonly string[], options: Parameters<typeof crew>[0]): Promise<Crew> {
  const made = await crew(options);
  for (const name of hanging) made.server(name).openings.push('hang');
  return made;
}

describe('starting', () => {
  it('brings a server from its entry to ready, a fact a step', async () => {
    const { configure, reaches, story } = await crew();
    await configure(entryOf('a'));
    await reaches('a', 'ready');
    expect(story('a')).toEqual([
      'ServerConfigured → stopped',
      'ServerEnabled → idle',
      'ConnectStarted → connecting',
      'ProcessStarted → connecting',
      'Connected → listing',
      'ToolsListed → ready',
    ]);
  });

  it('lets only so many processes start at once', async () => {
    const all = names(9);
    const made = await crewWithHanging(all, { parallel: 3 });
    await made.configure(...all.map((name) => entryOf(name)));
    await until(() => opened(made).length === 3);
    await turn(5);
    expect(opened(made)).toHaveLength(3);
    expect(all.filter((name) => made.state(name) === 'idle')).toHaveLength(6);
  });

  it('lets the first few begin alone until one of them came through', async () => {
    const all = names(6);
    const made = await crewWithHanging(all.slice(1), { parallel: 4, ahead: { starts: 2, ms: 60_000 } });
    made.server(all[0] as string).openings.push(60);
    await made.configure(...all.map((name) => entryOf(name)));
    await until(() => opened(made).length === 2);
    await turn(5);
    expect(opened(made)).toHaveLength(2);
    await made.reaches(all[0] as string, 'ready');
    // Of four places one is free again, and none waits any more.
    await until(() => opened(made).length === 5);
  });

  it('lets the others begin a little later where none of the first comes through', async () => {
    const all = names(4);
    const made = await crewWithHanging(all, { parallel: 4, ahead: { starts: 1, ms: 20 } });
    await made.configure(...all.map((name) => entryOf(name)));
    await until(() => opened(made).length === 4);
  });

  it('gives the place of a server that is ready to the next one', async () => {
    const all = names(12);
    let most = 0;
    const made = await crew({ parallel: 2 });
    for (const name of all) made.server(name).openings.push(5);
    made.log.committed$.subscribe(() => {
      const under = all.filter((name) => ['connecting', 'listing'].includes(made.state(name) ?? ''));
      most = Math.max(most, under.length);
    });
    await made.configure(...all.map((name) => entryOf(name)));
    for (const name of all) await made.reaches(name, 'ready');
    expect(most).toBeLessThanOrEqual(2);
  });

  it('does not let servers that never answer hold the others up for longer than their place', async () => {
    const silent = names(4, 'a-silent');
    const good = names(8, 'good');
    const made = await crewWithHanging(silent, { parallel: 2 });
    const limits = { connectTimeoutMs: 60_000 };
    await made.configure(...[...silent, ...good].map((name) => entryOf(name, { limits })));
    // Sorted first, the silent ones take every place there is; each gives it up long before its own limit.
    for (const name of good) await made.reaches(name, 'ready');
    expect(silent.map((name) => made.state(name))).toEqual(silent.map(() => 'connecting'));
  });

  it('waits for no place where no process is started', async () => {
    const far = names(6, 'far');
    const made = await crewWithHanging(far, { parallel: 1 });
    await made.configure(...far.map((name) => entryOf(name, { transport: 'streamable-http' })));
    await until(() => opened(made).length === far.length);
  });

  it('keeps no connection waiting behind processes that never answer', async () => {
    const silent = names(3, 'a-silent');
    const made = await crewWithHanging(silent, { parallel: 1 });
    await made.configure(
      ...silent.map((name) => entryOf(name, { limits: { connectTimeoutMs: 60_000 } })),
      entryOf('far', { transport: 'streamable-http' }),
    );
    const begun = () => made.log.read({ type: 'ConnectStarted' }).map(({ stream }) => stream);
    await until(() => begun().length === 4);
    expect(begun().slice(0, 2).sort()).toEqual(['server-a-silent00', 'server-far']);
  });

  it('fails an entry with an error by itself, and starts the others', async () => {
    const made = await crew();
    const problem = { field: 'url', message: 'url is not an address' };
    await made.configure(entryOf('a'), entryOf('b', { problem }));
    await made.reaches('a', 'ready');
    expect(made.state('b')).toBe('failed');
    expect(made.server('b').opened).toBe(0);
  });

  it('fails an entry whose placeholder has no value, and tries it again when variables changed', async () => {
    const made = await crew();
    made.server('a').openings.push(failureOf('config', 'env.TOKEN: TOKEN is not set'));
    await made.configure(entryOf('a'));
    await made.reaches('a', 'failed');
    await made.supervisor.retryConfigErrors();
    await made.reaches('a', 'ready');
  });
});

describe('a changed configuration', () => {
  it('restarts the entries that changed and touches no other', async () => {
    const made = await crew();
    const all = ['a', 'b', 'c'];
    await made.configure(...all.map((name) => entryOf(name)));
    for (const name of all) await made.reaches(name, 'ready');
    const before = made.log.lastPosition();
    await made.configure(entryOf('a'), entryOf('b', { edition: 2 }), entryOf('c'));
    await until(() => made.server('b').opened === 2);
    await made.reaches('b', 'ready');
    expect(new Set(made.log.read({ after: before }).map(({ stream }) => stream))).toEqual(new Set(['server-b']));
    expect(all.map((name) => made.server(name).opened)).toEqual([1, 2, 1]);
  });

  it('closes the old connection before it opens the new one', async () => {
    const made = await crew();
    made.server('a').closeMs = 40;
    await made.configure(entryOf('a'));
    await made.reaches('a', 'ready');
    await made.configure(entryOf('a', { edition: 2 }));
    expect(made.state('a')).toBe('stopping');
    await made.reaches('a', 'ready');
    expect(made.server('a')).toMatchObject({ opened: 2, overlaps: 0, alive: 1 });
  });

  it('is no news when nothing changed', async () => {
    const made = await crew();
    await made.configure(entryOf('a'), entryOf('b', { disabled: true }));
    await made.reaches('a', 'ready');
    const before = made.log.lastPosition();
    await made.configure(entryOf('a'), entryOf('b', { disabled: true }));
    await turn(3);
    expect(made.log.lastPosition()).toBe(before);
  });

  it('disables and enables a server', async () => {
    const made = await crew();
    await made.configure(entryOf('a'));
    await made.reaches('a', 'ready');
    await made.configure(entryOf('a', { disabled: true }));
    await made.reaches('a', 'disabled');
    expect(made.server('a').alive).toBe(0);
    await made.configure(entryOf('a'));
    await made.reaches('a', 'ready');
  });

  it('that disables a server in its pause starts nothing more', async () => {
    const made = await crew();
    made.server('a').openings.push(failureOf('exit'));
    await made.configure(entryOf('a'));
    await made.reaches('a', 'backing-off');
    await made.configure(entryOf('a', { disabled: true }));
    await pause(700);
    expect(made.state('a')).toBe('disabled');
    expect(made.server('a').opened).toBe(1);
  });

  it('forgets a server that was removed, once nothing of it is left', async () => {
    const made = await crew();
    made.server('a').closeMs = 30;
    await made.configure(entryOf('a'), entryOf('b'));
    await made.reaches('a', 'ready');
    await made.configure(entryOf('b'));
    expect(made.supervisor.entry('a')).toBeUndefined();
    expect(made.state('a')).toBe('stopping');
    await until(() => made.supervisor.find('a') === undefined);
    expect(made.server('a').alive).toBe(0);
    expect(made.supervisor.names).toEqual(['b']);
    expect(made.story('a').slice(-3)).toEqual([
      'ServerRemoved → ready',
      'StopRequested → stopping',
      'ServerStopped → stopped',
    ]);
  });

  it('brings a removed server back with its tools: at once, or later', async () => {
    const made = await crew();
    const registered = (): number =>
      (made.log.real.db.prepare("select count(*) as n from registry where server = 'a'").get() as { n: number }).n;
    made.server('a').closeMs = 20;
    await made.configure(entryOf('a'));
    await made.reaches('a', 'ready');

    await made.configure();
    await made.configure(entryOf('a'));
    await made.reaches('a', 'ready');
    expect(made.server('a')).toMatchObject({ opened: 2, overlaps: 0 });
    expect(registered()).toBe(1);

    await made.configure();
    await until(() => made.supervisor.find('a') === undefined);
    expect(registered()).toBe(0);
    await made.configure(entryOf('a'));
    await made.reaches('a', 'ready');
    expect(registered()).toBe(1);
  });

  it.each([0, 1, 5])(
    'takes a server that goes and comes back in no time for one and the same (closing: %d ms)',
    async (closeMs) => {
      const made = await crew();
      made.server('a').closeMs = closeMs;
      await made.configure(entryOf('a'));
      await made.reaches('a', 'ready');
      for (let n = 0; n < 5; n += 1) {
        await made.configure();
        await made.configure(entryOf('a'));
      }
      await made.reaches('a', 'ready');
      expect(made.desk.trouble).toBeNull();
      expect(made.fatal).toEqual([]);
      expect(made.server('a')).toMatchObject({ overlaps: 0, alive: 1 });
    },
  );
});

describe('a server that is removed while an attempt of it is still being closed', () => {
  /** Its first list failed, and its process takes its time to end. */
  const closing = async (): Promise<Crew> => {
    const made = await crew();
    made.server('a').closeMs = 150;
    made.server('a').lists.push(failureOf('protocol', 'list: no'));
    await made.configure(entryOf('a'));
    await made.reaches('a', 'backing-off');
    await made.configure();
    await until(() => made.supervisor.find('a') === undefined);
    expect(made.server('a').alive).toBe(1);
    return made;
  };

  it('is not started again before that is over', async () => {
    const made = await closing();
    await made.configure(entryOf('a'));
    await made.reaches('a', 'ready');
    expect(made.server('a')).toMatchObject({ opened: 2, closed: 1, overlaps: 0 });
  });

  it('is waited for when the daemon stops', async () => {
    const made = await closing();
    await made.supervisor.stop();
    expect(made.server('a').alive).toBe(0);
  });
});

describe('a server that starts on first use', () => {
  it('waits idle until then', async () => {
    const made = await crew();
    await made.configure(entryOf('a', { lazy: true }), entryOf('b'));
    await made.reaches('b', 'ready');
    expect(made.state('a')).toBe('idle');
    expect(made.server('a').opened).toBe(0);
    const head = await made.supervisor.whenReady('a', AbortSignal.timeout(5_000));
    expect(head?.state).toBe('ready');
  });

  it('is started by a call', async () => {
    const made = await crew();
    await made.configure(entryOf('a', { lazy: true }));
    expect(await made.call(toolOf('a'))).toMatchObject({ kind: 'result', outcome: 'succeeded' });
  });

  it('starts by itself once its entry says so', async () => {
    const made = await crew();
    await made.configure(entryOf('a', { lazy: true }));
    await turn();
    expect(made.state('a')).toBe('idle');
    await made.configure(entryOf('a', { lazy: false }));
    await made.reaches('a', 'ready');
  });
});

describe('a server that nobody uses', () => {
  const limits = { idleStopMs: 60 };

  it.each([true, false])('is stopped and waits for its next use (lazy: %s)', async (lazy) => {
    const made = await crew();
    await made.configure(entryOf('a', { lazy, limits }));
    await made.supervisor.whenReady('a', AbortSignal.timeout(5_000));
    await until(() => made.server('a').closed === 1 && made.state('a') === 'idle');
    await pause(100);
    expect(made.state('a')).toBe('idle');
    expect(made.server('a').opened).toBe(1);
    expect(await made.call(toolOf('a'))).toMatchObject({ kind: 'result' });
    expect(made.server('a').opened).toBe(2);
  });

  it('starts anew when its entry changes', async () => {
    const made = await crew();
    await made.configure(entryOf('a', { limits }));
    await until(() => made.server('a').closed === 1 && made.state('a') === 'idle');
    await made.configure(entryOf('a', { limits: { idleStopMs: null } }));
    await made.reaches('a', 'ready');
  });

  it('goes on as long as it is used', async () => {
    const made = await crew();
    await made.configure(entryOf('a', { limits: { idleStopMs: 800 } }));
    await made.reaches('a', 'ready');
    for (let n = 0; n < 24; n += 1) {
      await pause(50);
      await made.call(toolOf('a'));
    }
    expect(made.server('a').opened).toBe(1);
  });

  it('is not taken to be unused while a call runs on it', async () => {
    const made = await crew();
    await made.configure(entryOf('a', { limits }));
    await made.reaches('a', 'ready');
    made.server('a').onCall = async () => {
      await pause(400);
      return { content: [] };
    };
    expect(await made.call(toolOf('a'))).toMatchObject({ kind: 'result', outcome: 'succeeded' });
    await until(() => made.state('a') === 'idle');
  });
});

describe('reconnecting', () => {
  const settled = async (made: Crew, name: string): Promise<Settled> => {
    const answer = await made.supervisor.reconnect(name, 5_000);
    if (isRefusal(answer)) throw new Error(answer.detail);
    return answer;
  };

  it('answers when the server is ready again, on a new connection', async () => {
    const made = await crew();
    made.server('a').closeMs = 20;
    await made.configure(entryOf('a'), entryOf('b'));
    await made.reaches('a', 'ready');
    made.server('a').openings.push(30);
    expect(await settled(made, 'a')).toEqual({ name: 'a', ok: true, state: 'ready', error: null });
    expect(made.server('a')).toMatchObject({ opened: 2, closed: 1, overlaps: 0 });
    expect(made.server('b').opened).toBe(1);
  });

  it('answers what went wrong when it did', async () => {
    const made = await crew();
    await made.configure(entryOf('a'));
    await made.reaches('a', 'ready');
    made.server('a').openings.push(failureOf('exit', 'connect: it exited with code 3'));
    expect(await settled(made, 'a')).toMatchObject({
      ok: false,
      state: 'backing-off',
      error: { class: 'exit', message: 'connect: it exited with code 3' },
    });
  });

  it('does not wait longer than it was asked to', async () => {
    const made = await crewWithHanging(['a'], {});
    await made.configure(entryOf('a', { limits: { connectTimeoutMs: 60_000 } }));
    await made.reaches('a', 'connecting');
    made.server('a').openings.push('hang');
    const answer = (await made.supervisor.reconnect('a', 30)) as Settled;
    expect(answer.ok).toBe(false);
    expect(['stopping', 'connecting']).toContain(answer.state);
  });

  it('tries at once what waits for its pause, a login, or a mended entry', async () => {
    const made = await crew();
    const waiting = {
      'backing-off': failureOf('exit'),
      'auth-required': failureOf('auth'),
      failed: failureOf('spawn'),
    };
    for (const [state, failure] of Object.entries(waiting)) made.server(state).openings.push(failure);
    await made.configure(...Object.keys(waiting).map((name) => entryOf(name)));
    for (const state of Object.keys(waiting)) {
      await made.reaches(state, state);
      expect(await settled(made, state)).toMatchObject({ ok: true, state: 'ready' });
    }
  });

  it('of several at once answers for each when it has settled', async () => {
    const all = names(6);
    const made = await crew();
    await made.configure(...all.map((name) => entryOf(name)));
    for (const name of all) await made.reaches(name, 'ready');
    made.server('s03').openings.push(failureOf('exit'));
    const answers = await Promise.all(all.map((name) => settled(made, name)));
    expect(answers.map(({ name, ok }) => [name, ok])).toEqual(all.map((name) => [name, name !== 's03']));
  });

  it('is refused where it makes no sense', async () => {
    const made = await crew();
    await made.configure(entryOf('off', { disabled: true }));
    expect(await made.supervisor.reconnect('nobody', 100)).toMatchObject({ refused: 'unknown-server' });
    expect(await made.supervisor.reconnect('off', 100)).toMatchObject({ refused: 'server-disabled' });
  });
});

describe('watching', () => {
  it('takes a lost connection up again at once, and then after a pause', async () => {
    const made = await crew();
    await made.configure(entryOf('a'));
    await made.reaches('a', 'ready');
    made.server('a').lose();
    await until(() => made.server('a').opened === 2 && made.state('a') === 'ready');
    expect(made.story('a').slice(6)).toEqual([
      'SessionLost → session-lost',
      'ReconnectStarted → reconnecting',
      'ProcessStarted → reconnecting',
      'Connected → listing',
      'ToolsListed → ready',
    ]);
    made.server('a').lose();
    await until(() => made.story('a').includes('ReconnectDelayed → backing-off'));
    await made.reaches('a', 'ready');
    expect(made.server('a')).toMatchObject({ opened: 3, overlaps: 0 });
  });

  it('does not storm when a server connects and leaves, and stops trying when it is disabled', async () => {
    const made = await crew();
    let leaving = true;
    made.log.committed$.subscribe((facts) => {
      if (leaving && facts.some(({ data }) => data.to === 'ready')) setImmediate(() => made.server('a').lose());
    });
    await made.configure(entryOf('a'));
    const began = performance.now();
    await pause(1_200);
    await until(() => made.server('a').opened >= 2);
    // The second start is free, the others are paid for: 0.25 s at least, then double that, and so on.
    const paid = Math.log2((2 * (performance.now() - began)) / 250 + 1);
    expect(made.server('a').opened).toBeLessThanOrEqual(2 + paid);
    await until(() => made.state('a') === 'backing-off');
    leaving = false;
    await made.configure(entryOf('a', { disabled: true }));
    const { opened: before } = made.server('a');
    await pause(1_200);
    expect(made.server('a').opened).toBe(before);
  });

  const signatureIn = (made: Crew) => made.supervisor.find('a')?.actor.committedHead.context.signature;

  it('reads the list anew when the server says so, a burst of announcements at most twice', async () => {
    const made = await crew();
    await made.configure(entryOf('a'));
    await made.reaches('a', 'ready');
    const server = made.server('a');
    const first = signatureIn(made);
    server.tools = [{ name: 'get' }, { name: 'put' }];
    const { listed } = server;
    server.lists.push(50);
    for (let n = 0; n < 12; n += 1) server.announce();
    await until(() => server.listed === listed + 1);
    // While the list is on its way: what it shows may be older than these.
    for (let n = 0; n < 12; n += 1) server.announce();
    await until(() => signatureIn(made) !== first && server.listed === listed + 2);
    await pause(300);
    expect(server.listed).toBe(listed + 2);
  });

  it('polls for what nobody announced, and writes down only what is new', async () => {
    const made = await crew();
    await made.configure(entryOf('a', { limits: { pollIntervalMs: 30 } }));
    await made.reaches('a', 'ready');
    const server = made.server('a');
    const first = signatureIn(made);
    server.tools = [{ name: 'put' }];
    await until(() => signatureIn(made) !== first);
    const position = made.log.lastPosition();
    const { listed } = server;
    await until(() => server.listed >= listed + 3);
    expect(made.log.lastPosition()).toBe(position);
  });

  it('keeps the list known before when a later one fails, and says so once', async () => {
    const made = await crew();
    await made.configure(entryOf('a', { limits: { pollIntervalMs: 20, listTimeoutMs: 400 } }));
    await made.reaches('a', 'ready');
    const context = () => made.supervisor.find('a')?.actor.committedHead.context;
    made.server('a').lists.push(failureOf('protocol', 'list: no'), failureOf('protocol', 'list: no'), 'hang');
    await until(() => context()?.error?.class === 'timeout');
    expect(context()).toMatchObject({ count: 1, error: { message: expect.stringContaining('listTimeoutMs') } });
    expect(made.state('a')).toBe('ready');
    await until(() => context()?.error === null);
    expect(made.story('a').slice(6)).toEqual(['ListFailed → ready', 'ListFailed → ready', 'ToolsListed → ready']);
    expect(made.server('a').opened).toBe(1);
  });

  it('ends a connection whose first list does not come', async () => {
    const made = await crew();
    made.server('a').lists.push('hang');
    await made.configure(entryOf('a', { limits: { listTimeoutMs: 30 } }));
    await made.reaches('a', 'backing-off');
    expect(made.supervisor.find('a')?.actor.committedHead.context.error).toMatchObject({
      class: 'timeout',
      message: 'list: no answer within 30 ms (listTimeoutMs)',
    });
    await made.reaches('a', 'ready');
    expect(made.server('a').overlaps).toBe(0);
  });
});

describe('stopping', () => {
  it('ends everything at once, and in parallel', async () => {
    const made = await crew();
    const all = names(6);
    for (const name of all) made.server(name).closeMs = 150;
    await made.configure(
      ...all.map((name) => entryOf(name)),
      entryOf('off', { disabled: true }),
      entryOf('lazy', { lazy: true }),
    );
    for (const name of all) await made.reaches(name, 'ready');
    const stopped = made.supervisor.stop();
    await until(() => all.some((name) => made.server(name).closed > 0));
    // None waited for the end of another.
    expect(all.map((name) => made.server(name).closing)).toEqual(all.map(() => 1));
    await stopped;
    expect(all.map((name) => made.server(name).alive)).toEqual(all.map(() => 0));
    expect([...all, 'lazy'].map((name) => made.state(name))).toEqual([...all, 'lazy'].map(() => 'stopped'));
    expect(made.state('off')).toBe('disabled');
  });

  it('ends what is only just starting, waits for its turn, or waits for something', async () => {
    const made = await crewWithHanging(['starting'], { parallel: 1 });
    made.server('a-waiting').openings.push(failureOf('auth'));
    await made.configure(
      entryOf('a-waiting', { transport: 'streamable-http' }),
      entryOf('starting', { limits: { connectTimeoutMs: 60_000 } }),
      entryOf('z-last'),
    );
    await made.reaches('a-waiting', 'auth-required');
    await made.reaches('starting', 'connecting');
    await made.supervisor.stop();
    const all = ['a-waiting', 'starting', 'z-last'];
    expect(all.map((name) => made.state(name))).toEqual(all.map(() => 'stopped'));
    expect(made.server('starting').alive).toBe(0);
    expect(made.server('z-last').opened).toBe(0);
  });

  it('ends everything though the log takes nothing', async () => {
    const made = await crew();
    made.server('a').closeMs = 30;
    await made.configure(entryOf('a'), entryOf('b'));
    await made.reaches('a', 'ready');
    await made.reaches('b', 'ready');
    made.log.fail();
    await made.supervisor.stop();
    expect([made.server('a').alive, made.server('b').alive]).toEqual([0, 0]);
    expect(made.fatal).toEqual([]);
  });
});

describe('the next daemon', () => {
  it('goes on where the last one stopped in good order, and stops again', async () => {
    const log = new WatchedLog();
    const first = await crew({ log });
    await first.configure(entryOf('a'), entryOf('lazy', { lazy: true }), entryOf('off', { disabled: true }));
    await first.reaches('a', 'ready');
    await first.supervisor.stop();

    const second = await crew({ log });
    await second.configure(entryOf('a'), entryOf('lazy', { lazy: true }), entryOf('off', { disabled: true }));
    await second.reaches('a', 'ready');
    expect(['lazy', 'off'].map((name) => second.state(name))).toEqual(['idle', 'disabled']);
    await second.supervisor.stop();
    expect(['a', 'lazy', 'off'].map((name) => second.state(name))).toEqual(['stopped', 'stopped', 'disabled']);
  });

  it('closes what the last one left open when it was killed, and tries each enabled server once', async () => {
    const log = new WatchedLog();
    const first = await crew({ log });
    first.server('broken').openings.push(failureOf('auth'));
    await first.configure(entryOf('a'), entryOf('broken'), entryOf('gone'));
    for (const name of ['a', 'gone']) await first.reaches(name, 'ready');
    await first.reaches('broken', 'auth-required');
    await first.kill();
    const position = log.lastPosition();

    const second = await crew({ log });
    const [start, ...ends] = log.read({ after: position });
    expect(start).toMatchObject({ type: 'DaemonStarted' });
    expect(ends.map(({ stream, type, data }) => [stream, type, data])).toEqual(
      ['a', 'broken', 'gone'].map((name) => [
        `server-${name}`,
        'ServerStopped',
        { reason: 'daemon-ended', endedAt: expect.any(Number), to: 'stopped' },
      ]),
    );
    await second.configure(entryOf('a'), entryOf('broken'));
    for (const name of ['a', 'broken']) await second.reaches(name, 'ready');
    expect(second.supervisor.names).toEqual(['a', 'broken']);
    expect(second.story('gone').at(-1)).toBe('ServerRemoved → stopped');
  });

  it('closes what the last one left open before anything starts, even if its first commit fails', async () => {
    const log = new WatchedLog();
    const first = await crew({ log });
    await first.configure(entryOf('a'));
    await first.reaches('a', 'ready');
    await first.kill();
    const position = log.lastPosition();
    log.fail(2);
    const second = await crew({ log });
    expect(log.refused).toBe(2);
    expect(log.read({ after: position }).map(({ type }) => type)).toEqual(['DaemonStarted', 'ServerStopped']);
    await second.configure(entryOf('a'));
    await second.reaches('a', 'ready');
    expect(second.fatal).toEqual([]);
  });
});

describe('a log that takes nothing for a while', () => {
  it('delays what the configuration says, and loses none of it', async () => {
    const made = await crew({ retryMs: 5 });
    await made.configure(entryOf('a'), entryOf('b'), entryOf('c'));
    for (const name of ['a', 'b', 'c']) await made.reaches(name, 'ready');
    made.log.fail(6);
    await made.configure(entryOf('a', { disabled: true }), entryOf('b', { edition: 2 }), entryOf('d'));
    expect(made.log.refused).toBe(6);
    await made.reaches('a', 'disabled');
    await until(() => made.server('b').opened === 2);
    await made.reaches('b', 'ready');
    await made.reaches('d', 'ready');
    await until(() => made.supervisor.find('c') === undefined);
  });

  it('delays a start and does not forget it', async () => {
    const made = await crew({ retryMs: 5 });
    const enabled = new Promise<void>((resolve) => {
      made.log.committed$.subscribe((facts) => {
        if (facts.some(({ type }) => type === 'ServerEnabled')) {
          made.log.fail(5);
          resolve();
        }
      });
    });
    void made.configure(entryOf('a'));
    await enabled;
    await made.reaches('a', 'ready');
    expect(made.log.refused).toBe(5);
  });

  it('loses no loss: the server is taken up again when it takes facts', async () => {
    const made = await crew({ retryMs: 5 });
    await made.configure(entryOf('a'));
    await made.reaches('a', 'ready');
    made.log.fail(4);
    made.server('a').lose();
    await until(() => made.server('a').opened === 2);
    await made.reaches('a', 'ready');
    expect(made.story('a').filter((step) => step.startsWith('SessionLost'))).toHaveLength(1);
    expect(made.server('a').overlaps).toBe(0);
  });
});
