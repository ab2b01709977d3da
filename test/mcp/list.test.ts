import { describe, expect, it } from 'vitest';
import type { Behaviour } from '../support/behaviour.ts';
import { steered } from '../support/fixtures.ts';
import { fakeEntry, list, listFailure, open, programEntry } from './opening.ts';

const names = ['a', 'b', 'c', 'd', 'e', 'f'];
const tools = names.map((name) => ({ name, inputSchema: { type: 'object' } }));

async function listed(behaviour: Behaviour, era: 'legacy' | 'modern' = 'legacy') {
  const fake = steered({ era, behaviour: { tools, ...behaviour } });
  const { connection } = await open(fakeEntry(fake.options));
  const { tools: got, warnings } = await list(connection);
  return { names: got.map(({ name }) => name), got, warnings, requests: fake.counted('tools/list'), connection, fake };
}

describe.each(['legacy', 'modern'] as const)('the tool list (%s)', (era) => {
  it.each([
    ['one page', 'single', names, 0, 1],
    ['three pages', 'pages', names, 0, 3],
    ['an empty cursor ends it', 'empty-cursor', names, 0, 1],
    ['a null cursor ends it', 'null-cursor', names, 0, 1],
    ['a cursor that stays the same', 'same-cursor', names, 2, 2],
    ['cursors that go round', 'cycle', names, 2, 3],
    ['the same tool on several pages', 'duplicates', names, 1, 3],
  ] as const)('%s', async (_, mode, expected, warnings, requests) => {
    const result = await listed({ list: { mode } }, era);
    expect(result.names).toEqual(expected);
    expect(result.requests).toBe(requests);
    expect(result.warnings.length > 0).toBe(warnings > 0);
  });

  it('stops a list of a thousand pages and says so', async () => {
    const result = await listed({ list: { mode: 'many-pages' } }, era);
    expect(result.names).toHaveLength(64);
    expect(result.requests).toBe(64);
    expect(result.warnings).toEqual(['the list has more than 64 pages; the rest is left out']);
  });

  it('fails as a whole when one page fails', async () => {
    const fake = steered({ era, behaviour: { list: { mode: 'page-error' } } });
    const { connection } = await open(fakeEntry(fake.options));
    expect(await listFailure(connection)).toMatchObject({
      class: 'protocol',
      phase: 'list',
      message: 'list: the server answered with error -32603: The second page is broken',
    });
  });

  it('fails as a whole when one page never comes, and the connection goes on', async () => {
    const fake = steered({ era, behaviour: { tools, list: { mode: 'page-never' } } });
    const { connection } = await open(fakeEntry(fake.options));
    expect(await listFailure(connection, 300)).toMatchObject({ class: 'timeout', phase: 'list' });
    fake.set({ list: { mode: 'single' } });
    expect((await list(connection)).tools).toHaveLength(6);
    expect(fake.counted('notifications/cancelled')).toBe(1);
  });

  it('keeps what it does not know, in tools, annotations and schemas', async () => {
    const odd = {
      name: 'odd',
      inputSchema: { type: 'object', 'x-vendor': { a: [1] } },
      annotations: { readOnlyHint: true, vendorHint: 'yes' },
      execution: { taskSupport: 'optional' },
      _meta: { 'vendor/key': { deep: [null, 1] } },
      vendor: 5,
    };
    const { got } = await listed({ tools: [odd] }, era);
    expect(got).toEqual([odd]);
  });

  it('loses no tool because another is malformed', async () => {
    const { names: got, warnings } = await listed({ tools: ['@bad-schemas', ...tools] }, era);
    expect(got).toEqual(expect.arrayContaining(names));
    expect(got.length).toBeGreaterThan(12);
    expect(warnings).toEqual(['1 entry without a name left out']);
  });

  it('always asks the server, whatever the server says of caching', async () => {
    const { connection, fake } = await listed(
      { answers: { 'tools/list': { result: { ttlMs: 86_400_000, cacheScope: 'public' } } } },
      era,
    );
    fake.set({ tools: tools.slice(0, 1) });
    expect((await list(connection)).tools).toHaveLength(1);
  });
});

describe('a list that is none', () => {
  it('is empty for a server that declares no tools, without asking', async () => {
    const result = await listed({ capabilities: { prompts: {} } });
    expect(result).toMatchObject({ names: [], warnings: [], requests: 0 });
  });

  it('is empty, with a warning, for a server that declares tools and does not know the request', async () => {
    const result = await listed({
      answers: { 'tools/list': { error: { code: -32601, message: 'Method not found' } } },
    });
    expect(result.names).toEqual([]);
    expect(result.warnings).toHaveLength(1);
  });

  it.each([
    ['no list of tools', { replace: { things: [] } }],
    ['something else in its place', { replace: { tools: 'many' } }],
  ])('fails when the answer holds %s', async (_, answer) => {
    const { connection } = await open(fakeEntry({ behaviour: { answers: { 'tools/list': answer } } }));
    expect(await listFailure(connection)).toMatchObject({
      class: 'protocol',
      message: 'list: the server answered tools/list without a list of tools',
    });
  });

  it('ends, with a warning, at a cursor that is not text', async () => {
    const result = await listed({ answers: { 'tools/list': { result: { nextCursor: 5 } } } });
    expect(result).toMatchObject({
      names,
      requests: 1,
      warnings: ['the cursor of the next page is not text; the list ends there'],
    });
  });
});

describe('a list that cannot be had', () => {
  it('rejects once the connection is closed', async () => {
    const { connection } = await open(fakeEntry());
    await connection.close();
    expect(await listFailure(connection)).toMatchObject({ phase: 'list', message: 'list: the connection is closed' });
  });

  it('rejects when the server dies meanwhile, with the reason', async () => {
    const { connection } = await open(
      fakeEntry({ behaviour: { answers: { 'tools/list': { exit: { code: 9, stderr: 'out of memory' } } } } }),
    );
    expect(await listFailure(connection)).toMatchObject({ class: 'exit', exitCode: 9 });
    expect(await connection.lost).toMatchObject({ class: 'exit', exitCode: 9 });
  });

  it('rejects when it is called off before', async () => {
    const { connection } = await open(fakeEntry());
    await expect(connection.listTools(AbortSignal.abort())).rejects.toThrow(/^list: no answer within the time limit$/);
  });
});

it('understands answers whose id comes back as text', async () => {
  const { connection } = await open(
    programEntry(`
      import { createInterface } from 'node:readline';
      const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
      createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method, params } = JSON.parse(line);
        if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } } });
        else if (method === 'tools/list') send({ id: String(id), result: { tools: [{ name: 'one' }] } });
        else if (id !== undefined) send({ id, error: { code: -32601, message: 'no' } });
      });`),
  );
  expect((await list(connection)).tools).toEqual([{ name: 'one' }]);
});
