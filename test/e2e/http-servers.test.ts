import { beforeAll, describe, expect, it } from 'vitest';
import { type HttpFake, sessionRefusals } from '../fixtures/http-server.mjs';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { stdioEntry, steered } from '../support/fixtures.ts';
import { factsOf, httpEntry, httpFake, meanwhile, positionOf, requestsOf, textOf, typesOf } from './given.ts';

describe('a server that has forgotten its sessions', () => {
  it('is asked for a new one once, however many calls noticed, and every call comes through', async () => {
    const fake = await httpFake({ behaviour: { tools: ['echo'] } });
    const daemon = await startDaemon({ servers: { web: httpEntry(fake) } });
    await daemon.waitForServer('web', 'ready');
    const pid = daemon.pid;
    const before = await positionOf(daemon);
    const from = fake.log.length;

    fake.control.set({ tools: ['echo', 'add'] });
    fake.control.forget();
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, n) => daemon.call('mcp__web__echo', { text: `call ${n}` })),
    );

    expect(answers.map(({ status, body }) => [status, body.outcome, body.detail])).toEqual(
      Array(5).fill([200, 'succeeded', undefined]),
    );
    expect(answers.map(textOf)).toEqual(['call 0', 'call 1', 'call 2', 'call 3', 'call 4']);
    const added = await daemon.waitFor(async () => (await daemon.tools()).find(({ name }) => name === 'mcp__web__add'));
    expect(added.stale).toBe(false);

    const since = fake.log.slice(from);
    const initializes = since.filter(({ rpc }) => rpc === 'initialize');
    expect(initializes).toHaveLength(1);
    expect(initializes[0]?.session).toBeUndefined();
    const renewed = requestsOf({ log: since.slice(since.indexOf(initializes[0] as never)) }).filter(
      (method) => method !== 'GET' && method !== 'tools/call',
    );
    expect(renewed).toEqual(['initialize', 'notifications/initialized', 'tools/list']);
    // A call that was refused is sent once more and never a third time.
    const accepted = since.filter(({ rpc, status }) => rpc === 'tools/call' && status === 200);
    expect(accepted.map(({ message }) => message.params.arguments.text).sort()).toEqual([
      'call 0',
      'call 1',
      'call 2',
      'call 3',
      'call 4',
    ]);

    const facts = await factsOf(daemon, 'web', before);
    expect(typesOf(facts).filter((type) => type !== 'PushChanged')).toEqual([
      'SessionLost',
      'ReconnectStarted',
      'Connected',
      'ToolsListed',
    ]);
    const { changes } = (await daemon.api('GET', '/v1/mcp/tools/history?server=web')).body;
    expect(changes.filter((change: any) => change.position > before)).toMatchObject([
      { change: 'added', tool: 'add', name: 'mcp__web__add', before: null, after: { name: 'add' } },
    ]);
    expect((await daemon.call('mcp__web__add', { a: 1, b: 2 })).body.outcome).toBe('succeeded');
    expect(daemon.pid).toBe(pid);
  });

  it('is understood in every way servers say so', async () => {
    const fakes = await Promise.all(
      sessionRefusals.map(({ title: _title, ...unknownSession }) =>
        httpFake({ behaviour: { tools: ['echo'], unknownSession } }),
      ),
    );
    const daemon = await startDaemon({
      servers: Object.fromEntries(fakes.map((fake, n) => [`web${n}`, httpEntry(fake)])),
    });
    const found = await Promise.all(
      fakes.map(async (fake, n) => {
        await daemon.waitForServer(`web${n}`, 'ready');
        const from = fake.log.length;
        fake.control.forget();
        const { body } = await daemon.call(`mcp__web${n}__echo`, { text: 'still here' });
        const since = fake.log.slice(from);
        const initializes = since.filter(({ rpc }) => rpc === 'initialize');
        const lost = (await factsOf(daemon, `web${n}`)).filter(({ type }) => type === 'SessionLost');
        return [
          sessionRefusals[n]?.title,
          body.outcome,
          initializes.length,
          initializes[0]?.session,
          lost.map(({ data }) => data.failure.class),
        ];
      }),
    );
    expect(found).toEqual(sessionRefusals.map(({ title }) => [title, 'succeeded', 1, undefined, ['session']]));
  });

  it('is noticed by the next poll when nobody calls', async () => {
    const fake = await httpFake({ behaviour: { tools: ['echo'], get: { mode: 'status', status: 405 } } });
    const daemon = await startDaemon({ servers: { web: httpEntry(fake, { pollIntervalMs: 300 }) } });
    await daemon.waitForServer('web', 'ready');
    fake.control.forget();
    await daemon.waitFor(() => fake.received('initialize') === 2);
    await daemon.waitForServer('web', 'ready');
    expect((await factsOf(daemon, 'web')).filter(({ type }) => type === 'SessionLost')).toHaveLength(1);
  });
});

describe('the stream a server may offer for announcements', () => {
  const withoutPush = {
    'answers 405': { get: { mode: 'status', status: 405 } },
    'answers 404': { get: { mode: 'status', status: 404 } },
    'answers 400': { get: { mode: 'status', status: 400, body: { error: 'Bad Request' } } },
    'answers 406': { get: { mode: 'status', status: 406 } },
    'answers 500': { get: { mode: 'status', status: 500 } },
    'answers with JSON': { get: { mode: 'json' } },
    'opens and closes at once': { get: { mode: 'close' } },
    'is reset': { get: { mode: 'reset' } },
    'is cut again and again': { get: { mode: 'cut', afterMs: 60 } },
    'never answers': { get: { mode: 'hang' } },
    'has no sessions and answers 405': { sessions: false, get: { mode: 'status', status: 405 } },
  } as const;
  const names = Object.keys(withoutPush) as (keyof typeof withoutPush)[];

  it('decides nothing about the server, and is not asked for every second', async () => {
    const fakes = await Promise.all(
      names.map((name) => httpFake({ behaviour: { tools: ['echo'], ...withoutPush[name] } })),
    );
    const daemon = await startDaemon({
      servers: Object.fromEntries(fakes.map((fake, n) => [`web${n}`, httpEntry(fake, { pollIntervalMs: 1000 })])),
    });
    for (const n of names.keys()) await daemon.waitForServer(`web${n}`, 'ready');
    // Nobody announces anything, so the poll has to find the change.
    for (const fake of fakes) fake.control.set({ tools: ['echo', 'add'] });
    await meanwhile(6000);

    const rows = await daemon.status();
    const seen = await Promise.all(
      fakes.map(async (fake, n) => {
        const called = await daemon.call(`mcp__web${n}__echo`, { text: 'x' });
        const lost = (await factsOf(daemon, `web${n}`)).filter(({ type }) => type === 'SessionLost').length;
        const opened = fake.log.filter(({ http }) => http === 'GET').map(({ at }) => at);
        const pauses = opened.slice(1).map((at, k) => at - (opened[k] ?? 0));
        // Each pause is twice as long as the one before; timers may be late and never early.
        const patient = pauses.every((pause, k) => pause >= 950 * 2 ** k);
        return { mode: names[n], called: called.body.outcome, lost, patient };
      }),
    );
    expect(seen).toEqual(names.map((mode) => ({ mode, called: 'succeeded', lost: 0, patient: true })));
    const silent = `web${names.indexOf('never answers')}`;
    expect(rows.map(({ name, state, tools, push, error }) => ({ name, state, tools, push, error }))).toEqual(
      rows.map(({ name }) => ({ name, state: 'ready', tools: 2, push: name === silent ? null : false, error: null })),
    );
  });

  it('brings a fresh list when it is back, since announcements may have been missed', async () => {
    const fake = await httpFake({
      behaviour: { tools: ['echo'], status: { GET: { status: 503, times: 2 } }, get: { mode: 'stream' } },
    });
    const daemon = await startDaemon({ servers: { web: httpEntry(fake) } });
    await daemon.waitForServer('web', (row) => row.state === 'ready' && row.push === false);
    fake.control.set({ tools: ['echo', 'add'] });
    await daemon.waitForServer('web', (row) => row.push === true);
    await daemon.waitForServer('web', (row) => row.tools === 2);
    expect(fake.received('initialize')).toBe(1);
  });

  it('brings a fresh list after it broke and was opened again', async () => {
    const fake = await httpFake({ behaviour: { tools: ['echo'] } });
    const daemon = await startDaemon({ servers: { web: httpEntry(fake) } });
    await daemon.waitForServer('web', (row) => row.state === 'ready' && fake.control.streams() === 1);
    fake.control.set({ tools: ['echo', 'add'] });
    fake.control.cutStreams();
    await daemon.waitForServer('web', (row) => row.tools === 2 && row.push !== false);
    expect((await factsOf(daemon, 'web')).filter(({ type }) => type === 'SessionLost')).toHaveLength(0);
  });
});

describe('looking for the older SSE transport', () => {
  const fakes = {} as Record<'reset' | 'forbidden' | 'broken' | 'neither' | 'named' | 'sse', HttpFake>;
  let daemon: Daemon;

  beforeAll(async () => {
    const tools = ['echo'];
    fakes.reset = await httpFake({ behaviour: { status: { POST: { reset: true } } } });
    fakes.forbidden = await httpFake({ behaviour: { status: { POST: { status: 403, body: 'not for you' } } } });
    fakes.broken = await httpFake({ behaviour: { tools, status: { POST: { status: 500, times: 3 } } } });
    fakes.neither = await httpFake({ behaviour: { status: { POST: { status: 404 }, GET: { status: 410 } } } });
    fakes.named = await httpFake({ behaviour: { tools, transport: 'sse' } });
    fakes.sse = await httpFake({ behaviour: { tools, transport: 'both' } });
    daemon = await startDaemon({
      servers: {
        reset: httpEntry(fakes.reset),
        forbidden: httpEntry(fakes.forbidden),
        broken: httpEntry(fakes.broken),
        neither: httpEntry(fakes.neither),
        named: httpEntry(fakes.named, { type: 'http' }),
        sse: { url: fakes.sse.url.replace(/\/mcp$/, '/sse'), type: 'sse' },
      },
    });
  });

  it('does not begin when the connection is reset: the network error is what is shown', async () => {
    const row = await daemon.waitForServer('reset', 'backing-off');
    expect(row.error).toMatchObject({ class: 'transport', message: expect.stringMatching(/reset/) });
    expect(row.error.message).not.toMatch(/SSE/);
    expect(fakes.reset.received('GET')).toBe(0);
  });

  it('does not begin at a 403: the status is what is shown', async () => {
    const row = await daemon.waitForServer('forbidden', 'backing-off');
    expect(row.error).toMatchObject({ class: 'http-status', message: expect.stringMatching(/403.*not for you/) });
    expect(fakes.forbidden.received('GET')).toBe(0);
  });

  it('does not begin at a 500: the POST is tried again until it works', async () => {
    await daemon.waitForServer('broken', 'ready');
    const { log } = fakes.broken;
    const good = log.findIndex(({ rpc, status }) => rpc === 'initialize' && status === 200);
    expect(requestsOf({ log: log.slice(0, good) })).not.toContain('GET');
    const [failure] = (await factsOf(daemon, 'broken')).filter(({ type }) => type === 'ConnectFailed');
    expect(failure.data.failure).toMatchObject({ class: 'http-status', httpStatus: 500 });
  });

  it('says what became of both when neither works', async () => {
    const { error } = await daemon.waitForServer('neither', 'backing-off');
    expect(error.message).toMatch(/404.*SSE.*410/);
  });

  it('does not begin when the entry names the transport', async () => {
    expect((await daemon.waitForServer('named', 'backing-off')).error.message).toMatch(/405/);
    expect(fakes.named.received('GET')).toBe(0);
    expect(await daemon.waitForServer('sse', 'ready')).toMatchObject({ transport: 'sse' });
    expect(requestsOf(fakes.sse)[0]).toBe('GET');
    expect(fakes.sse.log.filter(({ http, path }) => http === 'POST' && !path.startsWith('/messages'))).toEqual([]);
  });

  it('finds it after a 400, 404 or 405, and remembers the choice for later connections', async () => {
    const statuses = [400, 404, 405];
    const olds = await Promise.all(
      statuses.map((status) =>
        httpFake({ behaviour: { transport: 'sse', tools: ['echo'], status: { POST: { status } } } }),
      ),
    );
    const own = await startDaemon({
      servers: Object.fromEntries(olds.map((fake, n) => [`old${statuses[n]}`, httpEntry(fake)])),
    });
    const posts = () =>
      olds.map(({ log }) => log.filter(({ http, path }) => http === 'POST' && path === '/mcp').length);
    const usable = async (text: string) => {
      for (const status of statuses) {
        expect(await own.waitForServer(`old${status}`, 'ready')).toMatchObject({ transport: 'sse', era: 'legacy' });
        expect(textOf(await own.call(`mcp__old${status}__echo`, { text }))).toBe(text);
      }
    };
    await usable('found');
    const before = posts();
    for (const fake of olds) fake.control.cutStreams();
    await own.waitFor(() => olds.every((fake) => fake.received('initialize') === 2));
    await usable('connected again');
    await own.restart();
    await usable('started again');
    expect(posts()).toEqual(before);
  });
});

describe('a server that wants a login', () => {
  it('waits for a person, and nothing is tried again', async () => {
    const fake = await httpFake({ behaviour: { bearer: 'right', tools: ['echo'] } });
    const daemon = await startDaemon({
      servers: { web: httpEntry(fake, { headers: { Authorization: '${WEB_TOKEN}' } }) },
      variables: { WEB_TOKEN: 'wrong' },
    });
    const row = await daemon.waitForServer('web', 'auth-required');
    expect(row).toMatchObject({ connected: false, nextAttemptAt: null, error: { class: 'auth' } });
    const asked = fake.log.length;
    expect(fake.received('GET')).toBe(0);
    await meanwhile(2500);
    expect(fake.log).toHaveLength(asked);

    // A person helped: the server accepts the token now.
    fake.control.set({ bearer: 'wrong' });
    const again = await daemon.api('POST', '/v1/mcp/reconnect', { name: 'web' });
    expect(again.body).toEqual({ ok: true, servers: [{ name: 'web', ok: true, state: 'ready', error: null }] });

    // The login ends in the middle of a session.
    fake.control.set({ bearer: 'another' });
    const { status, body } = await daemon.call('mcp__web__echo', { text: 'x' });
    expect([status, body.outcome, body.code]).toEqual([502, 'failed', 'call-rejected']);
    expect(body.detail).toMatch(/401/);
    expect((await daemon.waitForServer('web', 'auth-required')).error.class).toBe('auth');
    await meanwhile(1200);
    expect(fake.received('tools/call')).toBe(1);
  });
});

describe('a server that goes away', () => {
  it('is found again on the same port without anybody’s help', async () => {
    const fake = await httpFake({ behaviour: { tools: ['echo'] } });
    const daemon = await startDaemon({ servers: { web: httpEntry(fake) } });
    await daemon.waitForServer('web', 'ready');
    await fake.control.stop();
    const lost = await daemon.call('mcp__web__echo', { text: 'x' });
    expect([lost.status, lost.body.outcome, lost.body.code]).toEqual([503, 'failed', 'server-not-connected']);
    const row = await daemon.waitForServer('web', 'backing-off');
    expect(row).toMatchObject({ connected: false, error: { class: 'transport' }, nextAttemptAt: expect.any(String) });
    expect((await daemon.tools())[0]).toMatchObject({ name: 'mcp__web__echo', stale: true });

    fake.control.set({ tools: ['echo', 'add'] });
    await fake.control.start();
    await daemon.waitForServer('web', (now) => now.state === 'ready' && now.tools === 2);
    expect(textOf(await daemon.call('mcp__web__echo', { text: 'back' }))).toBe('back');
    expect((await daemon.server('web')).error).toBeNull();
  });

  it('is listed again when it comes back with other tools, though it has no session to lose', async () => {
    const modern = await httpFake({ era: 'modern', behaviour: { tools: ['echo'] } });
    const daemon = await startDaemon({ servers: { web: httpEntry(modern) } });
    await daemon.waitForServer('web', (row) => row.state === 'ready' && modern.control.streams() === 1);
    await modern.control.stop();
    modern.control.set({ tools: ['echo', 'add'] });
    await modern.control.start();
    await daemon.waitForServer('web', (row) => row.state === 'ready' && row.tools === 2);
    expect(textOf(await daemon.call('mcp__web__echo', { text: 'x' }))).toBe('x');
  });

  it('is left alone for as long as it asks when it is overloaded', async () => {
    const statuses = [429, 503];
    const fakes = await Promise.all(
      statuses.map((status) =>
        httpFake({
          behaviour: { tools: ['echo'], status: { POST: { status, headers: { 'retry-after': '2' }, body: 'busy' } } },
        }),
      ),
    );
    const daemon = await startDaemon({
      servers: Object.fromEntries(fakes.map((fake, n) => [`busy${statuses[n]}`, httpEntry(fake)])),
    });
    for (const [n, fake] of fakes.entries()) {
      const name = `busy${statuses[n]}`;
      const row = await daemon.waitForServer(name, 'backing-off');
      expect(row.error).toMatchObject({ class: 'overload', message: expect.stringContaining(String(statuses[n])) });
      const lastAsked = fake.log.at(-1)?.at ?? 0;
      expect(Date.parse(row.nextAttemptAt) - lastAsked).toBeGreaterThanOrEqual(1900);
      fake.control.set({ status: {} });
      await daemon.waitForServer(name, 'ready');
      const next = fake.log.find(({ at }) => at > lastAsked);
      expect((next?.at ?? 0) - lastAsked).toBeGreaterThanOrEqual(1900);
    }
  });
});

describe('the two eras of the protocol', () => {
  it('live side by side, and the verdict is remembered when the daemon starts again', async () => {
    const legacy = await httpFake({ era: 'legacy', behaviour: { tools: ['echo'] } });
    const modern = await httpFake({ era: 'modern', behaviour: { tools: ['echo'] } });
    const both = await httpFake({ era: 'both', behaviour: { tools: ['echo'] } });
    const pipe = steered({ era: 'legacy', behaviour: { tools: ['echo'] } });
    const newPipe = steered({ era: 'modern', behaviour: { tools: ['echo'] } });
    const daemon = await startDaemon({
      servers: {
        both: httpEntry(both),
        legacy: httpEntry(legacy),
        modern: httpEntry(modern),
        newpipe: stdioEntry(newPipe.options),
        pipe: stdioEntry(pipe.options),
      },
    });
    const eras = async () => {
      for (const name of ['both', 'legacy', 'modern', 'newpipe', 'pipe']) await daemon.waitForServer(name, 'ready');
      return (await daemon.status()).map(({ name, era, protocolVersion }) => [name, era, protocolVersion]);
    };
    const expected = [
      ['both', 'modern', '2026-07-28'],
      ['legacy', 'legacy', '2025-11-25'],
      ['modern', 'modern', '2026-07-28'],
      ['newpipe', 'modern', '2026-07-28'],
      ['pipe', 'legacy', '2025-11-25'],
    ];
    expect(await eras()).toEqual(expected);
    expect(modern.received('initialize')).toBe(0);
    expect(both.received('initialize')).toBe(0);
    for (const [name] of expected) {
      expect(textOf(await daemon.call(`mcp__${name}__echo`, { text: `from ${name}` }))).toBe(`from ${name}`);
    }
    const probes = () => [legacy.received('server/discover'), pipe.counted('server/discover')];
    expect(probes()).toEqual([1, 1]);

    await daemon.restart();
    expect(await eras()).toEqual(expected);
    expect(probes()).toEqual([1, 1]);
    const [, again] = (await factsOf(daemon, 'legacy')).filter(({ type }) => type === 'Connected');
    expect(again.data.eraFrom).toBe('remembered');
  });

  it('are asked for again when the address changes', async () => {
    const legacy = await httpFake({ era: 'legacy', behaviour: { tools: ['echo'] } });
    const modern = await httpFake({ era: 'modern', behaviour: { tools: ['echo'] } });
    const daemon = await startDaemon({ servers: { web: httpEntry(legacy) } });
    await daemon.waitForServer('web', (row) => row.state === 'ready' && row.era === 'legacy');
    daemon.writeConfig({ web: httpEntry(modern) });
    await daemon.waitForServer('web', (row) => row.state === 'ready' && row.era === 'modern');
    expect(modern.received('initialize')).toBe(0);
  });

  it('both tell of changed tools, each in its own way', async () => {
    const legacy = await httpFake({ era: 'legacy', behaviour: { tools: ['echo'] } });
    const modern = await httpFake({ era: 'modern', behaviour: { tools: ['echo'] } });
    const daemon = await startDaemon({ servers: { legacy: httpEntry(legacy), modern: httpEntry(modern) } });
    for (const [name, fake] of [
      ['legacy', legacy],
      ['modern', modern],
    ] as const) {
      await daemon.waitForServer(name, (row) => row.state === 'ready' && fake.control.streams() === 1);
      fake.control.set({ tools: ['echo', 'add'] });
      fake.control.announce(12, 100);
      await daemon.waitForServer(name, (row) => row.tools === 2);
    }
    await meanwhile(500);
    // The first list, and at most two for the burst.
    expect(legacy.received('tools/list')).toBeLessThanOrEqual(3);
    expect(modern.received('tools/list')).toBeLessThanOrEqual(3);
  });
});
