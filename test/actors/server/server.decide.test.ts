import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Heard, step } from '../../../src/actors/head.ts';
import { isRefusal } from '../../../src/actors/refusal.ts';
import { backoffMs } from '../../../src/actors/server/backoff.ts';
import type { ServerCommand } from '../../../src/actors/server/server.commands.ts';
import { decideServer } from '../../../src/actors/server/server.decide.ts';
import { serverRules } from '../../../src/actors/server/server.rules.ts';
import type { ServerContext } from '../../../src/actors/server/server.state.ts';
import { type ServerFact, serverFacts } from '../../../src/events/server.events.ts';
import { type Failure, failureClass } from '../../../src/events/shapes.ts';
import { specifyRules } from '../../given.ts';
import {
  agreement,
  configuration,
  configured,
  connected,
  connectFailed,
  connecting,
  delayed,
  died,
  disabled,
  elapsed,
  enabled,
  headAfter,
  listed,
  listFailed,
  listRefused,
  loginRequired,
  lost,
  notFound,
  one,
  pasts,
  process,
  pushChanged,
  type Resting,
  reconnecting,
  refused401,
  removed,
  serverFailed,
  settledDown,
  stopped,
  stopRequested,
} from '../../support/server.facts.ts';

const { given } = specifyRules(serverRules);

const configure = (over: Parameters<typeof configuration>[0] = {}): ServerCommand => ({
  type: 'ConfigureServer',
  configuration: configuration(over),
});
const reconnect: ServerCommand = { type: 'ReconnectServer' };
const start: ServerCommand = { type: 'StartServer' };
const stop: ServerCommand = { type: 'StopServer' };
const remove: ServerCommand = { type: 'RemoveServer' };
const stoppedNow = (connection = 1): ServerCommand => ({ type: 'ReportStopped', connection });
const failure = (over: Partial<Failure> & Pick<Failure, 'class'>): Failure => ({ ...died, ...over });

const RESTING = Object.keys(pasts) as Resting[];
const LINKED: readonly Resting[] = ['connecting', 'reconnecting', 'listing', 'ready'];
const AT_REST: readonly Resting[] = ['stopped', 'disabled'];
const WAITING: readonly Resting[] = ['idle', 'backing-off', 'auth-required', 'failed'];
const connectionIn = (state: Resting): number => headAfter(pasts[state]).context.connection;

it.each(RESTING)('the past called "%s" leads there', (state) => {
  expect(headAfter(pasts[state]).state).toBe(state);
});

describe('an entry that is read', () => {
  const problem = { field: 'env.TOKEN', message: 'TOKEN is not set' };
  const itsFailure: Failure = { class: 'config', phase: 'config', message: 'env.TOKEN: TOKEN is not set' };

  it('enables a new server', () => {
    given().when(configure()).then(configured(), enabled);
  });

  it('disables a new server that is not wanted', () => {
    given()
      .when(configure({ wanted: 'off' }))
      .then(configured({ wanted: 'off' }), disabled);
  });

  it('fails a new server with an error before anything is tried', () => {
    given().when(configure({ problem })).then(configured({ problem }), enabled, serverFailed(0, itsFailure));
  });

  it('names the field of the error once', () => {
    const [, , failed] = given().when(configure({ problem: { field: 'url', message: 'url is not an address' } }))
      .answer as ServerFact[];
    expect(failed?.data).toMatchObject({ failure: { message: 'url is not an address' } });
  });

  it.each(RESTING.filter((state) => state !== 'disabled' && state !== 'stopped'))(
    'is no news to a server that is %s when it did not change',
    (state) => {
      given(...pasts[state])
        .when(configure())
        .thenNothing();
    },
  );

  it('is no news to a disabled server either', () => {
    given(...pasts.disabled)
      .when(configure({ wanted: 'off' }))
      .thenNothing();
  });

  it('enables a server that rests in its file after a restart, without a word about the entry', () => {
    given(...pasts.ready, stopped('daemon-ended', 900))
      .when(configure())
      .then(enabled);
    given(...pasts.ready, stopRequested('daemon-stopping'), stopped('daemon-stopping'))
      .when(configure())
      .then(enabled);
    given(...pasts.disabled, stopped('daemon-ended'))
      .when(configure({ wanted: 'off' }))
      .then(disabled);
  });

  it.each(LINKED)('closes what runs when it changed while %s; the rest follows when that is over', (state) => {
    const changed = configured({ revision: 'r2' });
    given(...pasts[state])
      .when(configure({ revision: 'r2' }))
      .then(changed, stopRequested('config-changed'));
    given(...pasts[state], changed, stopRequested('config-changed'))
      .when(stoppedNow(connectionIn(state)))
      .then(stopped('config-changed'), enabled);
  });

  it.each(['backing-off', 'auth-required', 'failed'] as const)(
    'starts anew at once when it changed while %s',
    (state) => {
      given(...pasts[state])
        .when(configure({ revision: 'r2' }))
        .then(configured({ revision: 'r2' }), stopped('config-changed'), enabled);
    },
  );

  it('is remembered by a server that waits for its start', () => {
    given(...pasts.idle)
      .when(configure({ revision: 'r2' }))
      .then(configured({ revision: 'r2' }));
    given(...pasts.idle)
      .when(configure({ problem }))
      .then(configured({ problem }), serverFailed(0, itsFailure));
  });

  it('waits for the end of what is being closed', () => {
    const changed = configured({ revision: 'r2' });
    given(...pasts.stopping)
      .when(configure({ revision: 'r2' }))
      .then(changed);
    given(...pasts.stopping, changed)
      .when(stoppedNow())
      .then(stopped('reconnect'), enabled, connecting(2));
  });

  it.each(LINKED)('closes a server that is to be disabled while %s', (state) => {
    const off = configured({ wanted: 'off' });
    given(...pasts[state])
      .when(configure({ wanted: 'off' }))
      .then(off, stopRequested('disabled'));
    given(...pasts[state], off, stopRequested('disabled'))
      .when(stoppedNow(connectionIn(state)))
      .then(stopped('disabled'), disabled);
  });

  it.each(WAITING)('disables a server at once while it is %s', (state) => {
    given(...pasts[state])
      .when(configure({ wanted: 'off' }))
      .then(configured({ wanted: 'off' }), stopped('disabled'), disabled);
  });

  it('enables a disabled server', () => {
    given(...pasts.disabled)
      .when(configure())
      .then(configured(), enabled);
    given(...pasts.disabled)
      .when(configure({ problem }))
      .then(configured({ problem }), enabled, serverFailed(0, itsFailure));
  });

  it('remembers a change of a server that stays disabled', () => {
    const changed = { wanted: 'off', revision: 'r2' } as const;
    given(...pasts.disabled)
      .when(configure(changed))
      .then(configured(changed));
  });

  it('enables a server again that was to be disabled and is still being closed', () => {
    const past = [...pasts.ready, configured({ wanted: 'off' }), stopRequested('disabled'), configured()];
    given(...past.slice(0, -1))
      .when(configure())
      .then(configured());
    given(...past)
      .when(stoppedNow())
      .then(stopped('disabled'), enabled);
  });

  it('with an error ends in failed once what ran is closed', () => {
    given(...pasts.ready, configured({ problem, revision: 'r2' }), stopRequested('config-changed'))
      .when(stoppedNow())
      .then(stopped('config-changed'), enabled, {
        type: 'ServerFailed',
        data: { connection: 1, revision: 'r2', failure: itsFailure },
      });
  });

  it('counts as changed when only its error changed: a variable was set, or is missing now', () => {
    const past = [configured({ problem }), enabled, serverFailed(0, itsFailure)];
    given(...past)
      .when(configure())
      .then(configured(), stopped('config-changed'), enabled);
    given(...past)
      .when(configure({ problem }))
      .thenNothing();
  });

  it('is asked for its protocol anew when it is another server, and not when only a limit changed', () => {
    const verdict = { era: 'legacy', transport: 'stdio', at: 1_000 };
    expect(headAfter([...pasts.ready, configured({ revision: 'r2' })]).context.verdict).toEqual(verdict);
    expect(headAfter([...pasts.ready, configured({ revision: 'r2', identity: 'i2' })]).context.verdict).toBeNull();
  });
});

describe('an entry that is removed', () => {
  it.each(LINKED)('closes a server that is %s, and nothing follows', (state) => {
    given(...pasts[state])
      .when(remove)
      .then(removed, stopRequested('removed'));
    given(...pasts[state], removed, stopRequested('removed'))
      .when(stoppedNow(connectionIn(state)))
      .then(stopped('removed'));
  });

  it.each([...WAITING, 'disabled'] as const)('stops a server at once while it is %s', (state) => {
    given(...pasts[state])
      .when(remove)
      .then(removed, stopped('removed'));
  });

  it('needs no stop where nothing runs or a stop is under way', () => {
    given().when(remove).then(removed);
    given(...pasts.stopping)
      .when(remove)
      .then(removed);
    given(...pasts.stopping, removed)
      .when(stoppedNow())
      .then(stopped('removed'));
  });

  it('is removed once', () => {
    given(...pasts.idle, removed, stopped('removed'))
      .when(remove)
      .thenNothing();
    given(...pasts.stopping, removed)
      .when(remove)
      .thenNothing();
  });

  it('comes back at once: the old connection is closed first', () => {
    const past = [...pasts.ready, removed, stopRequested('removed')];
    given(...past)
      .when(configure())
      .then(configured());
    given(...past, configured())
      .when(stoppedNow())
      .then(stopped('removed'), enabled);
    given(...past, configured({ wanted: 'off' }))
      .when(stoppedNow())
      .then(stopped('removed'), disabled);
  });

  it('comes back later as a new server', () => {
    given(...pasts.ready, removed, stopRequested('removed'), stopped('removed'))
      .when(configure())
      .then(configured(), enabled);
  });

  it('takes the tool list with it: the next list is all new, even if it is the same', () => {
    const back = [...pasts.idle, connecting(), connected(), listed(1, 's1')];
    const again = [
      removed,
      stopRequested('removed'),
      stopped('removed'),
      configured(),
      enabled,
      connecting(2),
      connected(2),
    ];
    given(...back, ...again)
      .when({ type: 'ReportTools', connection: 2, signature: 's1', tools: [one], warnings: [], tookMs: 3 })
      .then(listed(2, 's1', [one]));
  });
});

describe('starting', () => {
  it('begins the first attempt of a server that waits for it', () => {
    given(...pasts.idle)
      .when(start)
      .then(connecting(1, 1));
  });

  it.each(RESTING.filter((state) => state !== 'idle'))('is nothing to a server that is %s', (state) => {
    given(...pasts[state])
      .when(start)
      .thenNothing();
  });
});

describe('reconnecting', () => {
  it.each(LINKED)('closes first, then connects, lists and registers: %s', (state) => {
    const connection = connectionIn(state);
    given(...pasts[state])
      .when(reconnect)
      .then(stopRequested('reconnect'));
    given(...pasts[state], stopRequested('reconnect'))
      .when(stoppedNow(connection))
      .then(stopped('reconnect'), enabled, connecting(connection + 1));
  });

  it.each(WAITING)('connects at once while it is %s', (state) => {
    given(...pasts[state])
      .when(reconnect)
      .then(connecting(connectionIn(state) + 1, 1));
  });

  it('is refused for a server that is disabled or gone, with the next step', () => {
    expect(
      given(...pasts.disabled)
        .when(reconnect)
        .thenRefused('server-disabled'),
    ).toMatch('watchkeeper enable');
    given(...pasts.idle, removed, stopped('removed'))
      .when(reconnect)
      .thenRefused('unknown-server');
  });

  it('of a server with an error in its entry tries nothing', () => {
    const problem = { field: 'url', message: 'url is not an address' };
    given(configured({ problem }), enabled, serverFailed(0)).when(reconnect).thenNothing();
  });

  it('is already so while the server is being closed to be reconnected, and replaces a stop for another reason', () => {
    const closing = [...pasts.ready, configured({ revision: 'r2' }), stopRequested('config-changed')];
    given(...closing)
      .when(reconnect)
      .then(stopRequested('reconnect'));
    given(...closing, stopRequested('reconnect'))
      .when(stoppedNow())
      .then(stopped('reconnect'), enabled, connecting(2));
  });

  it.each<[string, ServerFact[]]>([
    ['the daemon stops', [...pasts.ready, stopRequested('daemon-stopping')]],
    ['the server is to be disabled', [...pasts.ready, configured({ wanted: 'off' }), stopRequested('disabled')]],
    ['the server is to be removed', [...pasts.ready, removed, stopRequested('removed')]],
  ])('brings nothing back while %s', (_what, past) => {
    given(...past)
      .when(reconnect)
      .thenNothing();
  });

  it('begins with a clean count of failures', () => {
    expect(headAfter([...pasts['backing-off'], connecting(2)]).context).toMatchObject({ failures: 0, delayMs: 0 });
  });

  it('ends as disabled if the server was disabled meanwhile, and as failed if its entry broke', () => {
    given(...pasts.stopping, configured({ wanted: 'off' }))
      .when(stoppedNow())
      .then(stopped('reconnect'), disabled);
    const problem = { field: 'url', message: 'url is not an address' };
    given(...pasts.stopping, configured({ problem }))
      .when(stoppedNow())
      .then(
        stopped('reconnect'),
        enabled,
        serverFailed(1, { class: 'config', phase: 'config', message: problem.message }),
      );
  });
});

describe('the end of the daemon', () => {
  it.each(LINKED)('closes a server that is %s', (state) => {
    given(...pasts[state])
      .when(stop)
      .then(stopRequested('daemon-stopping'));
    given(...pasts[state], stopRequested('daemon-stopping'))
      .when(stoppedNow(connectionIn(state)))
      .then(stopped('daemon-stopping'));
  });

  it.each(WAITING)('stops a server at once while it is %s', (state) => {
    given(...pasts[state])
      .when(stop)
      .then(stopped('daemon-stopping'));
  });

  it.each(AT_REST)('is nothing to a server that is %s', (state) => {
    given(...pasts[state])
      .when(stop)
      .thenNothing();
  });

  it('takes over from a stop for another reason, once', () => {
    given(...pasts.stopping)
      .when(stop)
      .then(stopRequested('daemon-stopping'));
    given(...pasts.stopping, stopRequested('daemon-stopping'))
      .when(stop)
      .thenNothing();
    given(...pasts.stopping, stopRequested('daemon-stopping'))
      .when(stoppedNow())
      .then(stopped('daemon-stopping'));
  });

  it.each(WAITING)('is not remembered: the daemon after that one stops a server that is %s as well', (state) => {
    const lastDaemon = [...pasts.ready, stopRequested('daemon-stopping'), stopped('daemon-stopping')];
    const more = pasts[state].slice(1).map((fact) => withConnection(fact, 2));
    given(...lastDaemon, ...more)
      .when(stop)
      .then(stopped('daemon-stopping'));
  });
});

const withConnection = (fact: ServerFact, connection: number): ServerFact =>
  'connection' in fact.data ? ({ ...fact, data: { ...fact.data, connection } } as ServerFact) : fact;

describe('what a dead daemon left open', () => {
  const close: ServerCommand = { type: 'CloseOpenEnds', lastAlive: 900 };

  it.each(RESTING.filter((state) => state !== 'stopped' && state !== 'disabled'))(
    'is closed at the time it was last known alive: %s',
    (state) => {
      given(...pasts[state])
        .when(close)
        .then(stopped('daemon-ended', 900));
    },
  );

  it.each(AT_REST)('is nothing where the server is %s', (state) => {
    given(...pasts[state])
      .when(close)
      .thenNothing();
  });

  it('leaves a server that was to be removed gone', () => {
    const past = [...pasts.ready, removed, stopRequested('removed'), stopped('daemon-ended', 900)];
    expect(headAfter(past)).toMatchObject({ state: 'stopped', context: { wanted: 'gone' } });
  });
});

describe('reports of a connection', () => {
  const reports = (connection: number): ServerCommand[] => [
    { type: 'ReportProcess', connection, pid: 42, startedAt: 7 },
    { type: 'ReportConnected', connection, agreement, tookMs: 5 },
    { type: 'ReportFailure', connection, failure: died },
    { type: 'ReportTimeout', connection, of: 'connect' },
    { type: 'ReportTimeout', connection, of: 'list' },
    { type: 'ReportTools', connection, signature: 's9', tools: [], warnings: [], tookMs: 3 },
    { type: 'ReportListFailed', connection, failure: listRefused },
    { type: 'ReportPush', connection, push: false },
    { type: 'ReportBackoffElapsed', connection },
    { type: 'ReportStable', connection },
    { type: 'ReportUnused', connection },
    { type: 'ReportStopped', connection },
  ];

  it.each(RESTING)('that is not the present one are dropped, whatever they say: %s', (state) => {
    const present = connectionIn(state);
    for (const command of [...reports(present - 1), ...reports(present + 1)]) {
      given(...pasts[state])
        .when(command)
        .thenNothing();
    }
  });

  /** Where each report of the present connection leads to facts; everywhere else it comes too late or is no news. */
  it.each<[string, Resting[]]>([
    ['ReportProcess', ['connecting', 'reconnecting']],
    ['ReportConnected', ['connecting', 'reconnecting']],
    ['ReportFailure', ['connecting', 'reconnecting', 'listing', 'ready']],
    ['ReportTimeout connect', ['connecting', 'reconnecting']],
    ['ReportTimeout list', ['listing']],
    ['ReportTools', ['listing', 'ready']],
    ['ReportListFailed', ['ready']],
    ['ReportPush', ['listing', 'ready']],
    ['ReportBackoffElapsed', ['backing-off']],
    ['ReportStable', []],
    ['ReportUnused', ['ready']],
    ['ReportStopped', ['stopping']],
  ])('matter in these states and no other: %s %j', (name, states) => {
    const heard = RESTING.filter((state) => {
      const command = reports(connectionIn(state)).find((report) => nameOf(report) === name) as ServerCommand;
      const answer = given(...pasts[state]).when(command).answer as readonly ServerFact[];
      return answer.length > 0;
    });
    expect(heard.sort()).toEqual([...states].sort());
  });
  const nameOf = (command: ServerCommand): string =>
    command.type === 'ReportTimeout' ? `${command.type} ${command.of}` : command.type;

  it('become facts: the process, the agreement, the tools', () => {
    given(...pasts.connecting)
      .when({ type: 'ReportProcess', connection: 1, pid: 42, startedAt: 7 })
      .then(process());
    given(...pasts.connecting)
      .when({ type: 'ReportConnected', connection: 1, agreement, tookMs: 5 })
      .then(connected());
    given(...pasts.listing)
      .when({ type: 'ReportTools', connection: 1, signature: 's1', tools: [one], warnings: ['odd'], tookMs: 3 })
      .then({
        type: 'ToolsListed',
        data: { connection: 1, signature: 's1', count: 1, tools: [one], warnings: ['odd'], tookMs: 3 },
      });
  });

  it('that nobody used it close it, and it waits for its next use', () => {
    given(...pasts.ready)
      .when({ type: 'ReportUnused', connection: 1 })
      .then(stopRequested('idle'));
    given(...pasts.ready, stopRequested('idle'))
      .when(stoppedNow())
      .then(stopped('idle'), enabled);
    const asleep = [...pasts.ready, stopRequested('idle'), stopped('idle'), enabled];
    expect(headAfter(asleep).context.stopReason).toBe('idle');
    expect(headAfter([...asleep, connecting(2)]).context.stopReason).toBeNull();
    expect(headAfter([...asleep, configured({ revision: 'r2' })]).context.stopReason).toBeNull();
  });

  it('that nobody used it, and then a changed entry, start it anew once it is closed', () => {
    given(...pasts.ready, stopRequested('idle'), configured({ revision: 'r2' }))
      .when(stoppedNow())
      .then(stopped('config-changed'), enabled);
  });
});

describe('a list', () => {
  const tools = (signature: string, connection = 1): ServerCommand => ({
    type: 'ReportTools',
    connection,
    signature,
    tools: [one],
    warnings: [],
    tookMs: 3,
  });

  it('that brings nothing new is no fact', () => {
    given(...pasts.ready)
      .when(tools('s1'))
      .thenNothing();
  });

  it('that differs is one', () => {
    given(...pasts.ready)
      .when(tools('s2'))
      .then(listed(1, 's2'));
  });

  it('that brings nothing new on a new connection leads to ready without the tools in the log', () => {
    given(...pasts.ready, lost(), reconnecting(2, 2), connected(2))
      .when(tools('s1', 2))
      .then(listed(2, 's1', null));
  });

  it('that fails keeps the one known before, and a failure that stays the same is one fact', () => {
    const report: ServerCommand = { type: 'ReportListFailed', connection: 1, failure: listRefused };
    given(...pasts.ready)
      .when(report)
      .then(listFailed());
    given(...pasts.ready, listFailed())
      .when(report)
      .thenNothing();
    const other = { ...listRefused, message: 'list: something else' };
    given(...pasts.ready, listFailed())
      .when({ ...report, failure: other })
      .then(listFailed(1, other));
    expect(headAfter([...pasts.ready, listFailed()])).toMatchObject({
      state: 'ready',
      context: { signature: 's1', count: 1, error: { class: 'protocol', message: 'list: no', at: 1_000 } },
    });
  });

  it('that works again after that is a fact though it brings nothing new, and ends the trouble', () => {
    given(...pasts.ready, listFailed())
      .when(tools('s1'))
      .then(listed(1, 's1', null));
    expect(headAfter([...pasts.ready, listFailed(), listed(1, 's1', null)]).context.error).toBeNull();
  });
});

describe('announcements of changes', () => {
  const report = (push: boolean, reason?: string): ServerCommand => ({
    type: 'ReportPush',
    connection: 1,
    push,
    ...(reason ? { reason } : {}),
  });

  it('are taken for granted until it is known that there are none', () => {
    given(...pasts.ready)
      .when(report(true))
      .thenNothing();
    given(...pasts.ready)
      .when(report(false, 'no stream'))
      .then({ type: 'PushChanged', data: { connection: 1, push: false, reason: 'no stream' } });
  });

  it('that stop and come back are two facts, each once', () => {
    given(...pasts.ready, pushChanged(false))
      .when(report(false))
      .thenNothing();
    given(...pasts.ready, pushChanged(false))
      .when(report(true))
      .then(pushChanged(true));
    given(...pasts.ready, pushChanged(false), pushChanged(true))
      .when(report(true))
      .thenNothing();
  });
});

describe('a loss', () => {
  const loss = (connection = 1, over: Partial<Failure> = {}): ServerCommand => ({
    type: 'ReportFailure',
    connection,
    failure: { ...died, ...over },
  });

  it('is renewed at once', () => {
    given(...pasts.ready)
      .when(loss())
      .then(lost(), reconnecting(2, 2));
  });

  it('is one loss, however many report it', () => {
    given(...pasts.ready, lost(), reconnecting(2, 2))
      .when(loss())
      .thenNothing();
    given(...pasts.ready, lost(), reconnecting(2, 2), connected(2), listed(2))
      .when(loss())
      .thenNothing();
  });

  it.each(failureClass.options.filter((kind) => kind !== 'auth'))('of class %s is renewed like any other', (kind) => {
    const of = { class: kind };
    given(...pasts.ready)
      .when(loss(1, of))
      .then(lost(1, failure(of)), reconnecting(2, 2));
  });

  it('for want of a login waits for a person', () => {
    given(...pasts.ready)
      .when({ type: 'ReportFailure', connection: 1, failure: refused401 })
      .then(loginRequired());
  });

  it('with a pause the server asked for waits that long', () => {
    given(...pasts.ready)
      .when(loss(1, { class: 'overload', retryAfterMs: 7_000 }))
      .then(lost(1, failure({ class: 'overload', retryAfterMs: 7_000 })), delayed(2, 7_000));
  });

  it('of what is being closed is no loss', () => {
    given(...pasts.stopping)
      .when(loss())
      .thenNothing();
  });

  it('soon after an earlier one waits, longer each time', () => {
    let head = headAfter(pasts.ready);
    const waits: number[] = [];
    for (let connection = 1; connection <= 10; connection += 1) {
      // Ready for no time at all: the server leaves right after its handshake.
      const [seen, next] = decideServer(head, loss(connection), { at: 1_000, id: 'c', random: 0 }) as ServerFact[];
      if (!seen || !next) throw new Error('A loss leads to two facts.');
      waits.push(next.type === 'ReconnectDelayed' ? next.data.delayMs : 0);
      const back =
        next.type === 'ReconnectDelayed' ? [next, elapsed, reconnecting(connection + 1, connection + 1)] : [next];
      head = [seen, ...back, connected(connection + 1), listed(connection + 1)].reduce(
        (before, fact) => step(serverRules, before, { ...fact, at: 1_000 } as Heard<ServerFact>),
        head,
      );
    }
    expect(waits).toEqual([0, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  });

  it('is tried at once after a while that the connection held, though the count goes on', () => {
    const flapped = [...pasts.ready, lost(), reconnecting(2, 2), connected(2)];
    const nextAfter = (upMs: number): ServerFact => {
      const head = headAfter([...flapped.map((fact) => [1_000, fact] as const), [2_000, listed(2)]]);
      const [, next] = decideServer(head, loss(2), { at: 2_000 + upMs, id: 'c', random: 0 }) as ServerFact[];
      return next as ServerFact;
    };
    expect(nextAfter(0)).toEqual(delayed(3, 500));
    expect(nextAfter(200)).toEqual(delayed(3, 300));
    expect(nextAfter(500)).toEqual(reconnecting(3, 3));
    expect(nextAfter(20_000)).toEqual(reconnecting(3, 3));
  });

  it('is forgotten only once a connection held long enough', () => {
    const flapped = [...pasts.ready, lost(), reconnecting(2, 2), connected(2), listed(2)];
    given(...flapped)
      .when({ type: 'ReportStable', connection: 2 })
      .then(settledDown(2));
    given(...pasts.ready)
      .when({ type: 'ReportStable', connection: 1 })
      .thenNothing();
    expect(headAfter(flapped).context.failures).toBe(1);
    expect(headAfter([...flapped, settledDown(2)]).context.failures).toBe(0);
    given(...flapped, settledDown(2))
      .when(loss(2))
      .then(lost(2), reconnecting(3, 2));
  });
});

describe('an attempt that fails', () => {
  const fails = (of: Failure, connection = 1): ServerCommand => ({ type: 'ReportFailure', connection, failure: of });

  it.each(failureClass.options.filter((kind) => !['auth', 'config', 'spawn'].includes(kind)))(
    'with class %s is tried again after a pause',
    (kind) => {
      const of = failure({ class: kind });
      // 500 ms, of which half of a half is taken off by the dice.
      given(...pasts.connecting)
        .when(fails(of))
        .then(connectFailed(1, 1, 375, of));
      given(...pasts.listing)
        .when(fails(of))
        .then(connectFailed(1, 1, 375, of));
    },
  );

  it.each(['connecting', 'reconnecting', 'listing'] as const)('for want of a login waits for a person: %s', (state) => {
    const connection = connectionIn(state);
    given(...pasts[state])
      .when(fails(refused401, connection))
      .then(loginRequired(connection));
  });

  it.each(['config', 'spawn'] as const)('with class %s waits for a change of the entry', (kind) => {
    const of = { ...notFound, class: kind };
    for (const state of ['connecting', 'reconnecting', 'listing'] as const) {
      const connection = connectionIn(state);
      given(...pasts[state])
        .when(fails(of, connection))
        .then(serverFailed(connection, of));
    }
  });

  it('waits at least as long as the server asked for', () => {
    const busy = failure({ class: 'overload', retryAfterMs: 30_000 });
    given(...pasts.connecting)
      .when(fails(busy))
      .then(connectFailed(1, 1, 30_000, busy));
    const soon = failure({ class: 'overload', retryAfterMs: 10 });
    given(...pasts.connecting)
      .when(fails(soon))
      .then(connectFailed(1, 1, 375, soon));
  });

  it('waits longer each time and goes on for ever', () => {
    let head = headAfter(pasts.connecting);
    const waits: number[] = [];
    const attempts: number[] = [];
    for (let connection = 1; connection <= 12; connection += 1) {
      const [failed] = decideServer(head, fails(died, connection), { at: 1, id: 'c', random: 0 }) as ServerFact[];
      if (failed?.type !== 'ConnectFailed') throw new Error('An attempt that fails is one fact.');
      waits.push(failed.data.delayMs);
      attempts.push(failed.data.attempt);
      head = step(serverRules, head, { ...failed, at: 1 });
      const again = decideServer(head, { type: 'ReportBackoffElapsed', connection }, { at: 1, id: 'c', random: 0 });
      expect(again).toEqual([elapsed, reconnecting(connection + 1, connection + 1)]);
      for (const fact of again as ServerFact[]) head = step(serverRules, head, { ...fact, at: 1 } as Heard<ServerFact>);
    }
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, ...Array(5).fill(60_000)]);
    expect(attempts).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });

  it('for want of an answer names the limit', () => {
    const late = (phase: Failure['phase'], message: string): Failure => ({
      class: 'timeout',
      phase,
      message,
      stderrTail: 'starting…',
    });
    given(...pasts.connecting)
      .when({ type: 'ReportTimeout', connection: 1, of: 'connect', stderrTail: 'starting…' })
      .then(connectFailed(1, 1, 375, late('initialize', 'initialize: no answer within 30000 ms (connectTimeoutMs)')));
    given(...pasts.listing)
      .when({ type: 'ReportTimeout', connection: 1, of: 'list', stderrTail: 'starting…' })
      .then(connectFailed(1, 1, 375, late('list', 'list: no answer within 30000 ms (listTimeoutMs)')));
  });
});

describe('the pause before an attempt', () => {
  it('is none without a failure, doubles up to a minute, and is shortened at most by half', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (n, random) => {
        const full = Math.min(60_000, 500 * 2 ** (n - 1));
        expect(backoffMs(n, random)).toBeLessThanOrEqual(full);
        expect(backoffMs(n, random)).toBeGreaterThanOrEqual(Math.floor(full / 2));
        expect(Number.isInteger(backoffMs(n, random))).toBe(true);
      }),
    );
    expect(backoffMs(0, 0.3)).toBe(0);
  });

  it('can be asked for with another first and longest pause', () => {
    const backoff = { baseMs: 10, maxMs: 35 };
    expect([1, 2, 3, 9].map((failures) => backoffMs(failures, 0, 0, backoff))).toEqual([10, 20, 35, 35]);
    const head = headAfter(pasts.connecting);
    const [failed] = decideServer(
      head,
      { type: 'ReportFailure', connection: 1, failure: died },
      { at: 1, id: 'c', random: 0 },
      backoff,
    ) as ServerFact[];
    expect(failed).toEqual(connectFailed(1, 1, 10));
  });

  it('lets time that the connection was up count, and is never negative', () => {
    expect(backoffMs(3, 0, 500)).toBe(1_500);
    expect(backoffMs(3, 0, 2_000)).toBe(0);
    expect(backoffMs(3, 0, 1e9)).toBe(0);
  });
});

// --- any sequence at all ---------------------------------------------------------------------------------------------

const failures = fc.record(
  {
    class: fc.constantFrom(...failureClass.options),
    phase: fc.constantFrom('connect', 'list', 'watch' as const),
    message: fc.constantFrom('one', 'two'),
    retryAfterMs: fc.constantFrom(0, 5_000),
  },
  { requiredKeys: ['class', 'phase', 'message'] },
) as fc.Arbitrary<Failure>;

/** A command, made for the connection that is present when it arrives, or for the one before. */
type Make = (connection: number) => ServerCommand;
const report = (make: Make): fc.Arbitrary<Make> =>
  fc.constantFrom(0, 0, 0, 1).map((older) => (connection) => make(Math.max(0, connection - older)));
const plain = (command: ServerCommand): fc.Arbitrary<Make> => fc.constant(() => command);

const commands: fc.Arbitrary<Make> = fc.oneof(
  fc
    .record({
      revision: fc.constantFrom('r1', 'r2', 'r3'),
      wanted: fc.constantFrom('on', 'on', 'on', 'off'),
      problem: fc.constantFrom(null, null, { field: 'url', message: 'wrong' }),
      lazy: fc.boolean(),
    })
    .map((over) => () => configure(over as Parameters<typeof configuration>[0])),
  plain(remove),
  plain(start),
  plain(start),
  plain(reconnect),
  plain(stop),
  plain({ type: 'CloseOpenEnds', lastAlive: 1 }),
  report((connection) => ({ type: 'ReportProcess', connection, pid: 1, startedAt: 1 })),
  report((connection) => ({ type: 'ReportConnected', connection, agreement, tookMs: 1 })),
  report((connection) => ({ type: 'ReportConnected', connection, agreement, tookMs: 1 })),
  failures.chain((of) => report((connection) => ({ type: 'ReportFailure', connection, failure: of }))),
  failures.chain((of) => report((connection) => ({ type: 'ReportListFailed', connection, failure: of }))),
  fc
    .constantFrom('connect', 'list' as const)
    .chain((of) => report((connection) => ({ type: 'ReportTimeout', connection, of }))),
  fc
    .constantFrom('s1', 's2')
    .chain((signature) =>
      report((connection) => ({ type: 'ReportTools', connection, signature, tools: [one], warnings: [], tookMs: 1 })),
    ),
  fc.boolean().chain((push) => report((connection) => ({ type: 'ReportPush', connection, push }))),
  report((connection) => ({ type: 'ReportBackoffElapsed', connection })),
  report((connection) => ({ type: 'ReportStable', connection })),
  report((connection) => ({ type: 'ReportUnused', connection })),
  report((connection) => ({ type: 'ReportStopped', connection })),
  report((connection) => ({ type: 'ReportStopped', connection })),
);

describe('any sequence of commands', () => {
  it('leads only to facts that are heard and fit the catalogue, and their fold is the head', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(commands, fc.double({ min: 0, max: 0.999, noNaN: true }), fc.nat(5_000)), { maxLength: 60 }),
        (sequence) => {
          let head = headAfter([]);
          let at = 1_000;
          const log: Heard<ServerFact>[] = [];
          for (const [make, random, passed] of sequence) {
            at += passed;
            const before = head;
            const answer = decideServer(head, make(head.context.connection), { at, id: 'c', random });
            if (isRefusal(answer)) continue;
            for (const fact of answer) {
              const heard = { ...fact, at } as Heard<ServerFact>;
              // Throws for a fact that is not heard where the head stands.
              head = step(serverRules, head, heard);
              log.push(heard);
              serverFacts[fact.type].data.parse(fact.data);
            }
            expectSound(before.context, head.context);
            // Something has been lost only until the same batch says what comes next.
            expect(head.state).not.toBe('session-lost');
          }
          expect(log.reduce((folded, fact) => step(serverRules, folded, fact), headAfter([]))).toEqual(head);
        },
      ),
      { numRuns: 4_000 },
    );
  }, 120_000);

  function expectSound(before: ServerContext, after: ServerContext): void {
    expect(after.connection - before.connection).toBeGreaterThanOrEqual(0);
    expect(after.connection - before.connection).toBeLessThanOrEqual(1);
    expect(after.delayMs).toBeLessThanOrEqual(60_000);
    expect(after.failures).toBeGreaterThanOrEqual(0);
  }

  it('ends in rest when the server is removed and its connection closed', () => {
    fc.assert(
      fc.property(fc.array(commands, { maxLength: 40 }), (sequence) => {
        let head = headAfter([]);
        const tell = (command: ServerCommand): void => {
          const answer = decideServer(head, command, { at: 1, id: 'c', random: 0.5 });
          if (isRefusal(answer)) return;
          head = answer.reduce((next, fact) => step(serverRules, next, { ...fact, at: 1 } as Heard<ServerFact>), head);
        };
        for (const make of sequence) tell(make(head.context.connection));
        tell(remove);
        tell({ type: 'ReportStopped', connection: head.context.connection });
        expect(head).toMatchObject({ state: 'stopped', context: { wanted: 'gone' } });
      }),
      { numRuns: 2_000 },
    );
  }, 60_000);

  it('leaves no server closing for ever: the end of the connection always leads on', () => {
    fc.assert(
      fc.property(fc.array(commands, { maxLength: 40 }), (sequence) => {
        let head = headAfter([]);
        const tell = (command: ServerCommand): void => {
          const answer = decideServer(head, command, { at: 1, id: 'c', random: 0.5 });
          if (isRefusal(answer)) return;
          head = answer.reduce((next, fact) => step(serverRules, next, { ...fact, at: 1 } as Heard<ServerFact>), head);
        };
        for (const make of sequence) tell(make(head.context.connection));
        tell({ type: 'ReportStopped', connection: head.context.connection });
        expect(head.state).not.toBe('stopping');
      }),
      { numRuns: 2_000 },
    );
  }, 60_000);
});
