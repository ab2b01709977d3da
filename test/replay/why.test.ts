import { describe, expect, it } from 'vitest';
import type { ServerFact } from '../../src/events/server.events.ts';
import { why as shape } from '../../src/http/contract.why.ts';
import { catalogOf } from '../../src/projections/catalog.projection.ts';
import { gather } from '../../src/replay/why.read.ts';
import { explain } from '../../src/replay/why.ts';
import {
  configured,
  connected,
  connectFailed,
  connecting,
  disabled,
  elapsed,
  enabled,
  listed,
  lost,
  notFound,
  pasts,
  process,
  reconnecting,
  removed,
  serverFailed,
  settledDown,
  stopped,
  stopRequested,
} from '../support/server.facts.ts';
import { daemonStarted, givenLog, storyOn } from '../support/story.ts';
import { afternoon, broken, clock, killed, midnight, silent, whyOf } from '../support/why.story.ts';

const factsOf = ({ chain }: { chain: readonly { fact: string }[] }): string[] => chain.map(({ fact }) => fact);

/** A log in which all of these were said of server `one` at nine, and what is said of it a minute later. */
async function having(...facts: ServerFact[]) {
  const log = givenLog();
  const story = storyOn(log);
  await story.tell(clock('09:00'), 'server-one', ...facts);
  return { log, story, why: whyOf(log, { now: clock('09:01') }) };
}

describe('An afternoon of failures', () => {
  it.each<[time: string, state: string, summary: RegExp, chain: string[], changes: string[], next: RegExp | null]>([
    [
      '12:29',
      'ready',
      /^Ready for 3 h 28 m with 1 tool, since the first attempt\. The connection was not lost today\.$/,
      ['ToolsListed', 'Connected', 'ConnectStarted', 'ServerConfigured', 'DaemonStarted'],
      [],
      /why one --at/,
    ],
    [
      '12:30:06.5',
      'backing-off',
      /^It failed; attempt 5 is due in 2 s\. The last failure \(exit\): initialize: the process exited with code 3/,
      ['ConnectFailed', 'SessionLost', 'ToolsListed'],
      [],
      /why one --at/,
    ],
    [
      '12:32',
      'ready',
      /after the connection was lost \(exit\) and attempt 5 succeeded\. The connection was lost once today\.$/,
      ['ToolsListed', 'Connected', 'ReconnectStarted', 'ConnectFailed', 'SessionLost', 'ToolsListed'],
      ['tools', 'sleep'],
      /why one --at/,
    ],
    [
      '13:00:06.5',
      'backing-off',
      /no answer within 5000 ms \(connectTimeoutMs\)\.$/,
      ['ConnectFailed', 'ConnectStarted', 'ServerConfigured'],
      ['config'],
      /why one --at/,
    ],
    [
      '14:10',
      'auth-required',
      /waiting for a person to log in for 10 m/,
      ['LoginRequired', 'ToolsListed'],
      [],
      /why one --at/,
    ],
    [
      '15:05',
      'ready',
      /Its tool list could not be read again \(protocol\): list: no\.$/,
      ['ListFailed', 'ToolsListed', 'Connected', 'ConnectStarted', 'LoginRequired', 'ToolsListed'],
      [],
      /why one --at/,
    ],
    [
      '15:11',
      'backing-off',
      /due now/,
      ['ReconnectDelayed', 'SessionLost', 'ListFailed', 'ToolsListed'],
      [],
      /^watchkeeper reconnect one$/,
    ],
  ])('is told at %s: %s', async (time, state, summary, chain, changes, next) => {
    const { log } = await afternoon();
    const why = whyOf(log, { now: clock('16:00'), at: { time: clock(time) } });
    shape.parse(why);
    expect(why).toMatchObject({ server: 'one', state, at: new Date(clock(time)).toISOString() });
    expect(why.summary).toMatch(summary);
    expect(factsOf(why)).toEqual(chain);
    expect(why.changes.map(({ kind }) => kind)).toEqual(changes);
    if (next) expect(why.next?.command).toMatch(next);
  });

  it('names the place of every link, newest first, and says what is in no other member', async () => {
    const { log } = await afternoon();
    const why = whyOf(log, { now: clock('16:00'), at: { time: clock('12:30:06.5') } });
    const positions = why.chain.map(({ position }) => position);
    expect(positions).toEqual(positions.toSorted((a, b) => b - a));
    for (const { position, at, fact } of why.chain) {
      const [recorded] = log.read({ after: position - 1, limit: 1 });
      expect([recorded?.type, recorded?.at]).toEqual([fact, Date.parse(at)]);
    }
    const [failed, lostLink] = why.chain;
    expect(failed).toMatchObject({
      attempt: 4,
      delayMs: 3_000,
      times: 3,
      failure: { class: 'exit', phase: 'initialize', exitCode: 3, message: broken.message },
    });
    expect(failed?.first?.position).toBeLessThan(failed?.position ?? 0);
    expect(failed?.text).toMatch(/^Attempt 4 failed after 1 s \(exit\): .*The same happened 3 times in a row\.$/);
    expect(lostLink).toMatchObject({ failure: { class: 'exit', signal: 'SIGKILL' } });
    expect(lostLink?.text).toBe(
      'The connection was lost after 3 h 29 m ready (exit): watch: the process was ended by SIGKILL.',
    );
    expect(why.stderr).toMatchObject({ position: failed?.position, text: broken.stderrTail });
    expect(JSON.stringify(why.chain)).not.toContain('stderrTail');
    expect(why.nextAttemptAt).toBe(new Date(clock('12:30:09')).toISOString());
    expect(why.until).toMatchObject({ state: 'reconnecting', fact: 'ReconnectStarted' });
  });

  it('is the same when it is asked about by position', async () => {
    const { log } = await afternoon();
    const { position, at } = whyOf(log, { now: clock('16:00'), at: { time: clock('14:00') } });
    const again = whyOf(log, { now: clock('16:00'), at: { position } });
    expect(again).toMatchObject({ position, at, state: 'auth-required' });
  });

  it('says which words of the entry changed', async () => {
    const { log } = await afternoon();
    const why = whyOf(log, { now: clock('16:00'), at: { time: clock('13:00:06.5') } });
    expect(why.changes[0]?.text).toBe('Its entry in the configuration file changed: connectTimeoutMs 30000 → 5000.');
  });
});

describe('What is said of a server', () => {
  it.each<[state: string, facts: readonly ServerFact[], summary: RegExp, command: string | null]>([
    [
      'stopped',
      [...pasts.ready, stopRequested('daemon-stopping'), stopped('daemon-stopping')],
      /^Stopped for 1 m, because the daemon was stopped\.$/,
      'watchkeeper up --detach',
    ],
    [
      'stopped',
      [...pasts.ready, removed, stopRequested('removed'), stopped('removed')],
      /its entry was taken out/,
      'watchkeeper add one -- <command> [args…]',
    ],
    [
      'disabled',
      pasts.disabled,
      /^Disabled in the configuration file for 1 m: it is known and not run\.$/,
      'watchkeeper enable one',
    ],
    [
      'disabled',
      [
        ...pasts.ready,
        configured({ revision: 'r2', wanted: 'off' }),
        stopRequested('disabled'),
        stopped('disabled'),
        disabled,
      ],
      /^Disabled/,
      'watchkeeper enable one',
    ],
    ['idle', pasts.idle, /^It has been waiting for its turn to start for 1 m\.$/, null],
    [
      'idle',
      [configured({ lazy: true }), enabled],
      /its entry is lazy, so the first use starts it/,
      'watchkeeper reconnect one',
    ],
    [
      'idle',
      [...pasts.ready, stopRequested('idle'), stopped('idle'), enabled],
      /^Asleep for 1 m, because nobody had used it .*idleStopMs/,
      'watchkeeper reconnect one',
    ],
    ['connecting', pasts.connecting, /^Attempt 1 began 1 m ago and may take 30 s\.$/, null],
    [
      'reconnecting',
      pasts.reconnecting,
      /^Attempt 2 began 1 m ago and may take 30 s\. The last failure \(exit\)/,
      null,
    ],
    ['listing', pasts.listing, /^Connected; its tool list was asked for 1 m ago\.$/, null],
    ['ready', pasts.ready, /^Ready for 1 m with 1 tool, since the first attempt\./, null],
    [
      'backing-off',
      pasts['backing-off'],
      /^It failed; attempt 2 is due now\. The last failure \(exit\): watch: it exited with code 1\.$/,
      'watchkeeper reconnect one',
    ],
    ['auth-required', pasts['auth-required'], /waiting for a person to log in for 1 m/, 'watchkeeper reconnect one'],
    [
      'failed',
      pasts.failed,
      /^For 1 m now it has not been tried, because it cannot work as it is configured\..*spawn: "nope" is not there\.$/,
      'watchkeeper reconnect one',
    ],
    [
      'failed',
      [
        configured({ transport: null, problem: { field: 'env.TOKEN', message: 'env.TOKEN needs the variable TOKEN' } }),
        enabled,
        serverFailed(0, { class: 'config', phase: 'config', message: 'env.TOKEN needs the variable TOKEN' }),
      ],
      /\(config\): env\.TOKEN needs the variable TOKEN\.$/,
      'watchkeeper config check',
    ],
    ['stopping', pasts.stopping, /^It began to close 1 m ago, because somebody asked for a reconnect\.$/, null],
  ])('that is %s', async (state, facts, summary, command) => {
    const { why } = await having(...facts);
    shape.parse(why);
    expect(why.state).toBe(state);
    expect(why.summary).toMatch(summary);
    expect(why.next?.command ?? null).toBe(command);
    expect(why.since).toBe(new Date(clock('09:00')).toISOString());
    expect(why.chain.length).toBeGreaterThan(0);
  });

  it.each<[why: string, facts: readonly ServerFact[]]>([
    ['its entry is in the configuration file', pasts.connecting],
    [
      'its entry in the configuration file had changed',
      [
        ...pasts.ready,
        configured({ revision: 'r2' }),
        stopRequested('config-changed'),
        stopped('config-changed'),
        enabled,
        connecting(2),
      ],
    ],
    [
      'somebody asked for a reconnect',
      [...pasts.ready, stopRequested('reconnect'), stopped('reconnect'), enabled, connecting(2)],
    ],
    ['it was used again', [...pasts.ready, stopRequested('idle'), stopped('idle'), enabled, connecting(2)]],
    ['it was used for the first time', [configured({ lazy: true }), enabled, connecting()]],
    ['the daemon started again', [...pasts.ready, stopped('daemon-ended', 900), enabled, connecting(2)]],
    ['somebody asked for one', [...pasts.failed, connecting(2)]],
    ['it was enabled', [...pasts.disabled, configured(), enabled, connecting()]],
  ])('that was started because %s', async (reason, facts) => {
    const { why } = await having(...facts);
    const which = reason === 'somebody asked for one' ? 'A new' : 'The first';
    expect(why.chain.find(({ fact }) => fact === 'ConnectStarted')?.text).toBe(
      `${which} attempt began, because ${reason}.`,
    );
  });
});

describe('What changed around a trouble', () => {
  it('is that the server is another version, or speaks another protocol', async () => {
    const other = connected(2);
    const info = { ...other.data, serverInfo: { name: 'one', version: '2' }, protocolVersion: '2025-06-18' };
    const { why } = await having(
      ...pasts.ready,
      lost(1, killed),
      reconnecting(2, 2),
      { type: 'Connected', data: info } as ServerFact,
      listed(2, 's1', null),
    );
    expect(why.changes).toMatchObject([
      {
        kind: 'version',
        text: 'The server is another one: it calls itself one 2, before one 1 and it speaks protocol 2025-06-18, before 2025-11-25.',
      },
    ]);
  });

  it('is a daemon that died: nobody watched meanwhile, and nobody knows how it was', async () => {
    const { log, story } = await having(...pasts.ready);
    const back = clock('11:00');
    await story.batch(
      back,
      ['daemon', daemonStarted(clock('09:30'))],
      ['server-one', stopped('daemon-ended', clock('09:30'))],
    );
    await story.tell(back + 1, 'server-one', enabled, connecting(2));
    await story.tell(back + 2, 'server-one', connectFailed(2, 1, 600, broken));

    const then = whyOf(log, { now: back + 10, at: { time: clock('10:00') } });
    expect(then).toMatchObject({ state: 'unobserved', since: new Date(clock('09:30')).toISOString() });
    expect(then.summary).toBe(
      'No daemon ran, so nobody knows how it was. When it was last seen it was ready. One came back after 1 h 30 m.',
    );
    const now = whyOf(log, { now: back + 10 });
    expect(factsOf(now)).toEqual(['ConnectFailed', 'ConnectStarted', 'DaemonStarted']);
    expect(now.changes).toMatchObject([{ kind: 'unobserved', text: 'For 1 h 30 m before that no daemon watched.' }]);
  });

  it('is that no daemon runs now, when the log is read without one', async () => {
    const { log } = await having(...pasts.ready);
    const why = whyOf(log, { now: clock('12:00'), deadSince: clock('10:00') });
    expect(why).toMatchObject({ state: 'unobserved', next: { command: 'watchkeeper up --detach' } });
    expect(whyOf(log, { now: clock('12:00'), deadSince: clock('10:00'), at: { time: clock('09:30') } }).state).toBe(
      'ready',
    );
  });

  it('is a machine that slept through a pause', async () => {
    const { log, story } = await having(...pasts['backing-off']);
    await story.tell(clock('13:00'), 'server-one', elapsed, reconnecting());
    const why = whyOf(log, { now: clock('13:00:01') });
    expect(why.changes).toMatchObject([{ kind: 'sleep', text: expect.stringContaining('ended 3 h 59 m late') }]);
  });

  it('is that others failed at the same time', async () => {
    const { log, story } = await having(...pasts.ready);
    for (const other of ['server-b', 'server-a']) await story.tell(clock('09:00:30'), other, ...pasts.ready, lost());
    // Of these one cannot work at all, and the other has not worked for long.
    await story.tell(clock('09:00:30'), 'server-c', ...pasts.failed);
    await story.tell(clock('09:00:30'), 'server-d', ...pasts['backing-off']);
    await story.tell(clock('09:00:31'), 'server-one', lost(1, killed), reconnecting());
    const why = whyOf(log, { now: clock('09:00:32') });
    expect(why.changes.find(({ kind }) => kind === 'others')?.text).toMatch(
      /^2 other servers failed within 10 s of it: a and b\./,
    );
  });

  it('is not what lies long before it', async () => {
    const { log, story } = await having(...pasts.ready);
    await story.tell(clock('09:10'), 'server-one', listed(1, 's2', [{ name: 'put' }]));
    await story.tell(clock('12:00'), 'server-one', lost(1, killed), reconnecting());
    expect(whyOf(log, { now: clock('12:00:01') }).changes).toEqual([]);
  });
});

describe('What is said', () => {
  const told = async (...facts: ServerFact[]) => {
    const { why } = await having(...facts);
    return [why.summary, ...why.chain.map(({ text }) => text)];
  };

  it('of an entry that changed is what differs, in the chain as among the changes', async () => {
    const changed = configured({ revision: 'r2', wanted: 'off' });
    const { why } = await having(...pasts.ready, changed, stopRequested('disabled'), stopped('disabled'), disabled);
    const words = 'Its entry in the configuration file changed: disabled.';
    expect(why.chain.find(({ fact }) => fact === 'ServerConfigured')?.text).toBe(words);
    expect(why.changes.find(({ kind }) => kind === 'config')?.text).toBe(words);
  });

  it('of a failure that names its phase does not name it twice', async () => {
    const texts = await told(...pasts.failed);
    expect(texts[0]).toMatch(/The last failure: spawn: "nope" is not there\.$/);
    expect(texts[1]).toMatch(/^It cannot be started: "nope" is not there\. It is not tried again until/);
  });

  it('of the built-in server speaks of its setting and of no file', async () => {
    const own = configured({ transport: 'builtin' });
    const texts = await told(own, enabled, connecting(), connected(), listed());
    expect(texts.join('\n')).toContain('because the setting `self` is on.');
    expect(texts.join('\n')).not.toContain('file');
  });

  it.each<[about: string, facts: readonly ServerFact[], said: string]>([
    ['one that waits', pasts.idle, 'It waits for its turn to start.'],
    ['a lazy one', [configured({ lazy: true }), enabled], 'The next use starts it.'],
    [
      'one asleep',
      [...pasts.ready, stopRequested('idle'), stopped('idle'), enabled],
      'It was closed, because nobody had used it for as long as `idleStopMs` says.',
    ],
    ['one whose entry went', [...pasts.ready, removed, stopRequested('removed'), stopped('removed')], 'It was closed.'],
    [
      'one that was left',
      [...pasts.ready, stopped('daemon-ended', 900)],
      'Nobody watched it any more: the daemon had ended without stopping it.',
    ],
  ])('of %s fits it', async (_about, facts, said) => {
    expect(await told(...facts)).toContain(said);
  });
});

describe('A long trouble', () => {
  const attempts = 3_000;

  /** Ready, killed, and then attempts that fail the same way, all day. */
  async function dayOfFailures() {
    const log = givenLog();
    const story = storyOn(log);
    await story.tell(clock('00:10'), 'server-one', ...pasts.ready, settledDown());
    await story.tell(clock('01:00'), 'server-one', lost(1, killed), reconnecting(2, 2));
    for (let n = 2; n < attempts; n += 1) {
      await story.batch(
        clock('01:00') + n * 1_000,
        ['server-one', process(n), connectFailed(n, n, 400, silent), elapsed, reconnecting(n + 1, n + 1)],
        ['server-two', ...(n === 2 ? pasts.ready : [])],
      );
    }
    return log;
  }

  it('is told from its beginning without reading all of it', async () => {
    const log = await dayOfFailures();
    let rows = 0;
    const counted = {
      ...log,
      read: (query: Parameters<typeof log.read>[0]) => {
        const found = log.read(query);
        rows += found.length;
        return found;
      },
    };
    const evidence = gather(counted, {
      server: 'one',
      at: undefined,
      now: clock('02:00'),
      dayStart: () => midnight,
      listAt: (server, position) => catalogOf(log.db, server, position),
    });
    const why = explain(evidence ?? expect.fail('nothing is known'));
    expect(log.read({ stream: 'server-one' }).length).toBeGreaterThan(11_000);
    expect(rows).toBeLessThan(3_000);
    expect(factsOf(why)).toEqual(['ReconnectStarted', 'ConnectFailed', 'SessionLost', 'ToolsListed']);
    expect(why.chain[1]).toMatchObject({
      times: attempts - 2,
      first: { at: new Date(clock('01:00:02')).toISOString() },
    });
    expect(why.summary).toMatch(new RegExp(`^Attempt ${attempts} began`));
    expect(why.losses).toEqual({ today: 1, atLeast: true });
  });

  it('is told in few lines, however many ways it failed in', async () => {
    const log = givenLog();
    const story = storyOn(log);
    await story.tell(clock('09:00'), 'server-one', configured(), enabled, connecting());
    for (let n = 1; n <= 40; n += 1) {
      const failure = n % 2 === 0 ? silent : broken;
      await story.tell(
        clock('09:00') + n,
        'server-one',
        connectFailed(n, n, 1, failure),
        elapsed,
        reconnecting(n + 1, n + 1),
      );
    }
    const why = whyOf(log, { now: clock('09:01') });
    expect(why.chain).toHaveLength(18);
    expect(why.omitted).toBe(25);
    expect(why.chain.at(-1)?.fact).toBe('ServerConfigured');
  });
});

describe('A server nobody knows', () => {
  it('has no evidence, and one that is known has none before its first fact', async () => {
    const { log } = await having(...pasts.ready);
    const ask = { now: clock('10:00'), dayStart: () => midnight, listAt: () => null };
    expect(gather(log, { ...ask, server: 'two', at: undefined })).toBeNull();
    expect(gather(log, { ...ask, server: 'one', at: { time: clock('08:00') } })).toBeNull();
  });
});

describe('A failure of a command that is not there', () => {
  it('names what to do', async () => {
    const { why } = await having(...pasts.connecting, serverFailed(1, notFound));
    expect(why.next).toEqual({
      text: 'Install the command or correct the entry, then try again.',
      command: 'watchkeeper reconnect one',
    });
  });
});
