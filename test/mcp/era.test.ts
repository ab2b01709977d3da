import { describe, expect, it } from 'vitest';
import { startHttpFake } from '../fixtures/http-server.mjs';
import { atEnd } from '../support/cleanup.ts';
import { steered } from '../support/fixtures.ts';
import { interop, npmServers } from '../support/paths.ts';
import { isAlive } from '../support/processes.ts';
import { rawServer } from './interop-http.ts';
import {
  call,
  fakeEntry,
  httpEntry,
  list,
  open,
  openFailure,
  programEntry,
  remembered,
  scriptEntry,
  textOf,
} from './opening.ts';

describe('the era of a server over a pipe', () => {
  it.each([
    ['legacy', 'legacy', '2025-11-25'],
    ['modern', 'modern', '2026-07-28'],
    ['both', 'modern', '2026-07-28'],
  ] as const)('%s: it is asked in place, by one process', async (era, agreed, protocolVersion) => {
    const fake = steered({ era });
    const { connection, processes } = await open(fakeEntry(fake.options));
    expect(connection.agreement).toMatchObject({ era: agreed, eraFrom: 'probed', protocolVersion });
    expect(processes).toHaveLength(1);
    expect(fake.counted('server/discover')).toBe(1);
    expect(fake.counted('initialize')).toBe(agreed === 'legacy' ? 1 : 0);
    expect(textOf(await call(connection, 'echo', { text: 'x' }))).toBe('x');
  });

  it('is not asked of a server known to be legacy', async () => {
    const fake = steered();
    const { connection } = await open(fakeEntry(fake.options), { verdict: remembered('legacy', 'stdio') });
    expect(connection.agreement).toMatchObject({ era: 'legacy', eraFrom: 'remembered' });
    expect(fake.counted('server/discover')).toBe(0);
  });

  it.each([
    ['legacy, but is modern now', 'legacy', 'modern', 2],
    ['modern, but is legacy now', 'modern', 'legacy', 1],
    ['modern, and still is', 'modern', 'modern', 1],
  ] as const)('is asked again of a server remembered as %s', async (_, before, now, starts) => {
    const fake = steered({ era: now });
    const { connection, processes } = await open(fakeEntry(fake.options), { verdict: remembered(before, 'stdio') });
    expect(connection.agreement).toMatchObject({ era: now, eraFrom: 'probed' });
    expect(processes).toHaveLength(starts);
    expect(processes.map(({ pid }) => isAlive(pid))).toEqual([...Array(starts - 1).fill(false), true]);
  });

  it('is legacy for a server that leaves at the first request it does not know; the next process is asked nothing', async () => {
    const fake = steered({
      behaviour: { answers: { 'server/discover': { exit: { code: 1, stderr: 'expected initialize' } } } },
    });
    const { connection, processes } = await open(fakeEntry(fake.options));
    expect(connection.agreement).toMatchObject({ era: 'legacy', eraFrom: 'probed' });
    expect(processes).toHaveLength(2);
    expect(isAlive(processes[0]?.pid ?? 0)).toBe(false);
    expect(textOf(await call(connection, 'echo', { text: 'x' }))).toBe('x');
  });

  it('is legacy for a server that says nothing to a request it does not know', async () => {
    const fake = steered({ behaviour: { answers: { 'server/discover': { never: true } } } });
    const { connection, processes } = await open(fakeEntry(fake.options));
    expect(connection.agreement.era).toBe('legacy');
    expect(processes).toHaveLength(1);
  });

  it.each([
    ['modern', 'modern'],
    // It has answered both questions, and settled on what it was asked last.
    ['both', 'legacy'],
  ] as const)('is found without another start when a server (%s) is slow to come up', async (era, agreed) => {
    const fake = steered({ era, behaviour: { start: { delayMs: 2_300 } } });
    const { connection, processes } = await open(fakeEntry(fake.options));
    expect(connection.agreement.era).toBe(agreed);
    expect(processes).toHaveLength(1);
    expect(textOf(await call(connection, 'echo', { text: 'x' }))).toBe('x');
  });

  it('names the versions of a server that speaks none of ours', async () => {
    const fake = steered({
      behaviour: {
        answers: { '*': { error: { code: -32022, message: 'Unsupported', data: { supported: ['2031-01-01'] } } } },
      },
    });
    const failure = await openFailure(fakeEntry(fake.options));
    expect(failure).toMatchObject({ class: 'handshake', phase: 'initialize' });
    expect(failure.message).toContain('2031-01-01');
    expect(fake.counted('initialize')).toBe(0);
  });

  it.each([
    ['2024-11-05', '2024-11-05'],
    ['2025-03-26', '2025-03-26'],
    ['2025-06-18', '2025-06-18'],
  ])('takes an older version: %s', async (protocolVersion, agreed) => {
    const { connection } = await open(fakeEntry({ behaviour: { protocolVersion } }));
    expect(connection.agreement).toMatchObject({ era: 'legacy', protocolVersion: agreed });
  });

  it('names a version that nobody can speak', async () => {
    const failure = await openFailure(fakeEntry({ behaviour: { protocolVersion: '1999-01-01' } }));
    expect(failure).toMatchObject({ class: 'handshake', phase: 'initialize' });
    expect(failure.message).toContain('1999-01-01');
  });

  it('names an answer to initialize that cannot be understood', async () => {
    const failure = await openFailure(
      fakeEntry({ behaviour: { answers: { initialize: { replace: { hello: 'world' } } } } }),
    );
    expect(failure).toMatchObject({ class: 'handshake', phase: 'initialize' });
  });

  it('passes on instructions and what the server says of itself', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const { connection } = await open(
        fakeEntry({ era, behaviour: { instructions: 'Be kind.', info: { name: 'kind', version: '3' } } }),
      );
      expect(connection.agreement).toMatchObject({
        instructions: 'Be kind.',
        serverInfo: { name: 'kind', version: '3' },
        capabilities: { tools: { listChanged: true } },
      });
    }
  });

  it('reads messages that come in one batch', async () => {
    const { connection } = await open(
      programEntry(`
        import { createInterface } from 'node:readline';
        const send = (...all) => process.stdout.write(JSON.stringify(all.map((m) => ({ jsonrpc: '2.0', ...m }))) + '\\n');
        createInterface({ input: process.stdin }).on('line', (line) => {
          const { id, method, params } = JSON.parse(line);
          const note = { method: 'notifications/message', params: { level: 'info', data: 'x' } };
          if (method === 'initialize') send(note, { id, result: { protocolVersion: '2025-03-26', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } } });
          else if (method === 'tools/list') send(note, { id, result: { tools: [{ name: 'one' }] } });
          else if (id !== undefined) send({ id, error: { code: -32601, message: 'no' } });
        });`),
    );
    expect((await list(connection)).tools).toEqual([{ name: 'one' }]);
  });
});

describe('the era of a server over HTTP', () => {
  it.each([
    ['legacy', 'legacy'],
    ['modern', 'modern'],
    ['both', 'modern'],
  ] as const)('%s', async (era, agreed) => {
    const fake = await startHttpFake({ era });
    atEnd(() => fake.close());
    const { connection } = await open(httpEntry(fake.url));
    expect(connection.agreement).toMatchObject({ era: agreed, eraFrom: 'probed' });
  });

  it.each([
    ['legacy', 'legacy', 'remembered', 0],
    ['legacy', 'modern', 'probed', 1],
    ['modern', 'legacy', 'probed', 1],
  ] as const)('remembered as %s, is %s', async (before, now, eraFrom, asked) => {
    const fake = await startHttpFake({ era: now });
    atEnd(() => fake.close());
    const { connection } = await open(httpEntry(fake.url), { verdict: remembered(before, 'streamable-http') });
    expect(connection.agreement).toMatchObject({ era: now, eraFrom });
    expect(fake.received('server/discover')).toBe(asked);
  });
});

describe('servers built on the official packages', () => {
  it.each([
    ['1.x over a pipe', interop.sdk1Stdio, [], 'legacy', 'sdk1'],
    ['2.x over a pipe, modern only', interop.sdk2Stdio, [], 'modern', 'sdk2'],
    ['2.x over a pipe, both eras', interop.sdk2Stdio, ['--dual'], 'modern', 'sdk2'],
  ] as const)('%s', async (_, script, args, era, name) => {
    const { connection, processes } = await open(scriptEntry([script, ...args]));
    expect(connection.agreement).toMatchObject({ era, serverInfo: { name }, instructions: 'Echoes text.' });
    expect(processes).toHaveLength(1);
    expect((await list(connection)).tools).toMatchObject([{ name: 'echo', annotations: { readOnlyHint: true } }]);
    expect(textOf(await call(connection, 'echo', { text: 'x' }))).toBe('x');
  });

  it.each([
    ['2.x over a pipe, both eras, remembered as legacy', ['--dual'], 'legacy'],
    ['2.x over a pipe, modern only, remembered as legacy', [], 'modern'],
  ] as const)('%s', async (_, args, era) => {
    const { connection } = await open(scriptEntry([interop.sdk2Stdio, ...args]), {
      verdict: remembered('legacy', 'stdio'),
    });
    expect(connection.agreement.era).toBe(era);
    expect(textOf(await call(connection, 'echo', { text: 'x' }))).toBe('x');
  });

  it.each([
    ['1.x over HTTP', interop.sdk1Http, [], 'legacy', true],
    ['2.x over HTTP, modern only', interop.sdk2Http, [], 'modern', false],
    ['2.x over HTTP, both eras', interop.sdk2Http, ['--dual'], 'modern', false],
  ] as const)('%s', async (_, script, args, era, session) => {
    const url = await rawServer(script, args);
    const { connection } = await open(httpEntry(url));
    expect(connection.agreement).toMatchObject({ era, session, transport: 'streamable-http' });
    expect((await list(connection)).tools).toMatchObject([{ name: 'echo' }]);
    expect(textOf(await call(connection, 'echo', { text: 'x' }))).toBe('x');
    await connection.close();
  });

  it('server-everything', async () => {
    const { connection, processes } = await open(scriptEntry([npmServers.everything, 'stdio']));
    expect(connection.agreement).toMatchObject({ era: 'legacy', eraFrom: 'probed' });
    expect(processes).toHaveLength(1);
    expect((await list(connection)).tools.length).toBeGreaterThan(8);
    expect(textOf(await call(connection, 'echo', { message: 'x' }))).toContain('x');
  });
});
