import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Behaviour, ListMode } from '../support/behaviour.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { type Steered, stdioEntry, steered } from '../support/fixtures.ts';
import { factsOf, textOf, warningsOf } from './asking.ts';

const wanted = ['@many:9'];

describe('The pages of a tool list', { timeout: 60_000 }, () => {
  const modes: readonly ListMode[] = [
    'single',
    'pages',
    'same-cursor',
    'cycle',
    'empty-cursor',
    'null-cursor',
    'page-error',
    'page-never',
    'many-pages',
    'duplicates',
  ];
  const odd: Record<string, Behaviour> = {
    'number-cursor': { answers: { 'tools/list': { result: { nextCursor: 7 } } } },
    'no-list': { answers: { 'tools/list': { replace: { tools: 'none' } } } },
    'no-method': { answers: { 'tools/list': { error: { code: -32601, message: 'Method not found' } } } },
    'no-tools': { capabilities: {} },
  };
  const fakes: Record<string, Steered> = Object.fromEntries([
    ...modes.map((mode) => [mode, steered({ behaviour: { tools: wanted, list: { mode } } })]),
    ...Object.entries(odd).map(([name, behaviour]) => [name, steered({ behaviour: { tools: wanted, ...behaviour } })]),
  ]);
  let daemon: Daemon;

  beforeAll(async () => {
    const servers = Object.fromEntries(
      Object.entries(fakes).map(([name, fake]) => [name, stdioEntry(fake.options, { listTimeoutMs: 2_500 })]),
    );
    daemon = await startDaemon({ servers, settings: { start: { parallel: 20 } } });
    const ended = ['ready', 'backing-off'];
    for (const name of Object.keys(servers)) await daemon.waitForServer(name, ({ state }) => ended.includes(state));
  });
  afterAll(() => daemon.stop());

  const firstList = async (name: string) => (await factsOf(daemon, name, 'ToolsListed'))[0];
  const requests = (name: string) => fakes[name]?.counted('tools/list') ?? 0;

  it.each([
    ['single', 9, 1],
    ['pages', 9, 3],
    ['empty-cursor', 9, 1],
    ['null-cursor', 9, 1],
    ['no-tools', 0, 0],
  ])('(%s) are all read', async (name, tools, asked) => {
    expect(await daemon.server(name)).toMatchObject({ state: 'ready', tools, error: null });
    expect(await daemon.tools(name)).toHaveLength(tools);
    expect(requests(name)).toBe(asked);
    expect((await firstList(name)).data).not.toHaveProperty('warnings');
  });

  it.each([
    ['same-cursor', 9, 2, /circle/],
    ['cycle', 9, 3, /circle/],
    ['many-pages', 64, 64, /more than 64 pages/],
    ['duplicates', 9, 3, /twice|more than once/],
    ['number-cursor', 9, 1, /cursor/],
    ['no-method', 0, 1, /tools\/list/],
  ])(
    '(%s) that do not end well are read as far as they make sense, with a warning',
    async (name, tools, asked, words) => {
      expect(await daemon.server(name)).toMatchObject({ state: 'ready', tools });
      expect(await daemon.tools(name)).toHaveLength(tools);
      expect(requests(name)).toBeLessThanOrEqual(asked + 1);
      const { warnings } = (await firstList(name)).data;
      expect(warnings.join('\n')).toMatch(words);
      expect(warningsOf(daemon, name).some(({ msg }) => words.test(msg))).toBe(true);
    },
  );

  it.each([
    ['page-error', 'protocol', /The second page is broken/],
    ['page-never', 'timeout', /2500 ms/],
    ['no-list', 'protocol', /without a list/],
  ])('(%s) that fail fail the whole list: half a list is never shown', async (name, kind, words) => {
    const row = await daemon.server(name);
    expect(row).toMatchObject({ connected: false, tools: 0 });
    expect(await daemon.tools(name)).toEqual([]);
    const [failed] = await factsOf(daemon, name, 'ConnectFailed');
    expect(failed.data.failure).toMatchObject({ class: kind, phase: 'list' });
    expect(failed.data.failure.message).toMatch(words);
  });

  it('of one server delay no other', async () => {
    const [failed] = await factsOf(daemon, 'page-never', 'ConnectFailed');
    for (const mode of ['single', 'pages', 'cycle'])
      expect((await firstList(mode)).position).toBeLessThan(failed.position);
  });

  it('that fail later leave the list known before, and the error goes with the next good one', async () => {
    const fake = steered({ behaviour: { tools: wanted } });
    const own = await startDaemon({
      servers: { pager: stdioEntry(fake.options, { listTimeoutMs: 700, pollIntervalMs: 30_000 }) },
    });
    await own.waitForServer('pager', 'ready');
    const tools = await own.tools('pager');
    let order = 0;
    for (const mode of ['page-error', 'page-never'] as const) {
      order += 1;
      fake.set({ tools: ['@many:20'], list: { mode }, orders: [{ id: order, do: 'announce' }] });
      const row = await own.waitForServer('pager', ({ error }) => error !== null);
      expect(row).toMatchObject({
        state: 'ready',
        connected: true,
        tools: 9,
        error: { class: mode === 'page-error' ? 'protocol' : 'timeout' },
      });
      expect(row.error.message).toMatch(/^list: /);
      expect(await own.tools('pager')).toEqual(tools);
      // The same trouble again is no further row.
      const { length } = await factsOf(own, 'pager');
      order += 1;
      const asked = fake.counted('tools/list');
      fake.set({ orders: [{ id: order, do: 'announce' }] });
      await own.waitFor(() => fake.counted('tools/list') > asked);
      await pause(900);
      expect(await factsOf(own, 'pager')).toHaveLength(length);

      order += 1;
      fake.set({ tools: wanted, list: { mode: 'single' }, orders: [{ id: order, do: 'announce' }] });
      await own.waitForServer('pager', ({ error }) => error === null);
    }
    expect(await factsOf(own, 'pager', 'SessionLost', 'ConnectFailed')).toEqual([]);
    expect(fake.counted('spawn')).toBe(1);
    await own.stop();
  });
});

describe('A list with tools whose schemas are broken', { timeout: 60_000 }, () => {
  it('loses none that has a name, flags each by itself, fetches nothing, and is one fact however often it is polled', async () => {
    let fetched = 0;
    const elsewhere = createServer((_request, response) => {
      fetched += 1;
      response.end('{"type":"object"}');
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    const { port } = elsewhere.address() as { port: number };
    const behaviour: Behaviour = {
      tools: ['@many:20', '@bad-schemas'],
      remoteRef: `http://127.0.0.1:${port}/schema.json`,
    };
    const fake = steered({ behaviour });
    const daemon = await startDaemon({ servers: { mixed: stdioEntry(fake.options, { pollIntervalMs: 300 }) } });
    await daemon.waitForServer('mixed', 'ready');

    const tools = await daemon.tools('mixed');
    expect(tools).toHaveLength(30);
    expect(tools.every(({ parameters }) => parameters.type === 'object')).toBe(true);
    expect(
      tools.every(({ parameters }) => parameters.required === undefined || Array.isArray(parameters.required)),
    ).toBe(true);
    const replies = await Promise.all(tools.map(({ name }) => daemon.call(name, { n: 1 })));
    expect(replies.map((reply) => JSON.parse(textOf(reply)).tool)).toEqual(tools.map(({ tool }) => tool));

    const [listed] = await factsOf(daemon, 'mixed', 'ToolsListed');
    const { warnings } = listed.data;
    for (const name of ['no_type', 'string_type', 'required_null', 'no_schema', 'deep', 'bad_output', 'remote_ref']) {
      expect
        .soft(
          warnings.some((warning: string) => warning.includes(`"${name}"`)),
          name,
        )
        .toBe(true);
    }
    expect(warnings.some((warning: string) => warning.includes('name'))).toBe(true);
    expect(warnings.some((warning: string) => warning.includes('tool_01'))).toBe(false);

    const asked = fake.counted('tools/list');
    await daemon.waitFor(() => fake.counted('tools/list') >= asked + 4);
    expect(await factsOf(daemon, 'mixed', 'ToolsListed')).toHaveLength(1);
    await daemon.restart();
    await daemon.waitForServer('mixed', 'ready');
    expect(await daemon.tools('mixed')).toEqual(tools);
    expect((await factsOf(daemon, 'mixed', 'ToolsListed')).filter(({ data }) => 'tools' in data)).toHaveLength(1);
    expect(fetched).toBe(0);
    await daemon.stop();
    elsewhere.close();
  });
});

describe('Names', { timeout: 60_000 }, () => {
  const forbidden = [
    'a.b',
    'foo__bar',
    'tail_',
    '_head',
    '-dash',
    'with space',
    'a/b',
    '工具',
    '',
    'n'.repeat(41),
    '__proto__',
  ];
  const allowed = ['a_b', 'a-b', 'foo', 'foo-bar', 'foo_bar', 'constructor', 'n'.repeat(40), '9'];
  const slowAtFirst = steered({ behaviour: { tools: ['@odd-names'], start: { delayMs: 700 } } });
  const slowLater = steered({ behaviour: { tools: ['@odd-names'] } });
  let daemon: Daemon;

  beforeAll(async () => {
    const entry = stdioEntry({
      behaviour: { tools: ['echo', 'x.y', 'x_y'].map((name) => ({ name, inputSchema: { type: 'object' } })) },
    });
    const text = (names: readonly string[]) => names.map((name) => `${JSON.stringify(name)}: ${JSON.stringify(entry)}`);
    const configText = `{"mcpServers": {${[
      ...text(forbidden),
      ...text(allowed),
      `"one": ${JSON.stringify(stdioEntry(slowAtFirst.options))}`,
      `"two": ${JSON.stringify(stdioEntry(slowLater.options))}`,
    ].join(',\n')}}}`;
    daemon = await startDaemon({ configText, settings: { start: { parallel: 20 } } });
    for (const name of [...allowed, 'one', 'two']) await daemon.waitForServer(name, 'ready');
  });
  afterAll(() => daemon.stop());

  it('of servers that could be mistaken are errors of their entries, which suggest another one', async () => {
    const rows = await daemon.status();
    for (const name of forbidden) {
      const row = rows.find((one) => one.name === name);
      expect.soft(row, name).toMatchObject({ state: 'failed', transport: null, error: { class: 'config' } });
      expect.soft(row?.error.message, name).toContain('rename it to');
    }
    expect(rows).toHaveLength(forbidden.length + allowed.length + 2);
    expect((await daemon.tools()).some(({ server }) => forbidden.includes(server))).toBe(false);
  });

  it('of tools are fit for every model, all different, and never hide which tool is meant', async () => {
    const tools = await daemon.tools();
    const names = tools.map(({ name }) => name);
    for (const name of names) expect.soft(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual([...names].sort());
    // Twelve were listed: one has no name, one came twice.
    expect(await daemon.tools('one')).toHaveLength(10);
    for (const { name, tool, server } of tools.filter(({ tool: own }) => own !== 'echo')) {
      const said = JSON.parse(textOf(await daemon.call(name, { from: server })));
      expect.soft(said, name).toEqual({ tool, arguments: { from: server } });
    }
  });

  it('of servers that begin alike lead to the right one', async () => {
    const pids = new Set<number>();
    for (const server of ['foo', 'foo-bar', 'foo_bar', 'a_b', 'a-b']) {
      const said = JSON.parse(textOf(await daemon.call(`mcp__${server}__x_y`, { server })));
      // Of two names that are cleaned to the same the first in order keeps it.
      expect(said).toEqual({ tool: 'x.y', arguments: { server } });
      pids.add((await daemon.server(server)).pid);
    }
    expect(pids.size).toBe(5);
  });

  it('that fell on one are told apart by a suffix of their own, and the log speaks of what was left out', async () => {
    const tools = await daemon.tools('foo');
    expect(tools.map(({ tool }) => tool).sort()).toEqual(['echo', 'x.y', 'x_y']);
    expect(tools.filter(({ name }) => /^mcp__foo__x_y(_[0-9a-f]{8})?$/.test(name))).toHaveLength(2);
    const [listed] = await factsOf(daemon, 'one', 'ToolsListed');
    expect(listed.data.warnings.join('\n')).toMatch(/"?twice"?/);
  });

  it('are the same after a restart, whoever connects first', async () => {
    const before = (await daemon.tools()).map(({ name, server, tool }) => [name, server, tool]);
    slowAtFirst.set({ start: {} });
    slowLater.set({ start: { delayMs: 700 } });
    await daemon.restart();
    for (const name of [...allowed, 'one', 'two']) await daemon.waitForServer(name, 'ready');
    expect((await daemon.tools()).map(({ name, server, tool }) => [name, server, tool])).toEqual(before);
  });

  it('of the others stay when a server whose name begins alike goes', async () => {
    const before = await daemon.tools('foo-bar');
    const { pid } = await daemon.server('foo-bar');
    expect((await daemon.api('POST', '/v1/mcp/remove', { name: 'foo' })).status).toBe(200);
    expect(await daemon.tools('foo-bar')).toEqual(before);
    expect(await daemon.tools('foo_bar')).toHaveLength(3);
    expect((await daemon.tools()).some(({ server }) => server === 'foo')).toBe(false);
    expect(await daemon.server('foo-bar')).toMatchObject({ state: 'ready', pid });
    // The entry whose name is forbidden can be removed as well.
    expect((await daemon.api('POST', '/v1/mcp/remove', { name: 'foo__bar' })).status).toBe(200);
    expect((await daemon.status()).some(({ name }) => name === 'foo__bar')).toBe(false);
  });
});
