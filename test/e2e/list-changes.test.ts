import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { FakeEra } from '../support/behaviour.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { type Steered, stdioEntry, steered } from '../support/fixtures.ts';
import { openEventStream } from '../support/raw-http.ts';
import { factsOf, lastPosition } from './asking.ts';

const tool = (name: string, description = `Tool ${name}.`) => ({
  name,
  description,
  inputSchema: { type: 'object', properties: {} },
});
const namesOf = async (daemon: Daemon, server: string) => (await daemon.tools(server)).map((listed) => listed.tool);
const listed = (daemon: Daemon, server: string) => factsOf(daemon, server, 'ToolsListed');

/** Runs one server whose tools are `a` and `b`. */
async function run(fake: Steered, more: Record<string, unknown> = {}): Promise<Daemon> {
  fake.set({ tools: [tool('a'), tool('b')] });
  const daemon = await startDaemon({ servers: { one: stdioEntry(fake.options, more) } });
  await daemon.waitForServer('one', 'ready');
  return daemon;
}

const eras: readonly FakeEra[] = ['legacy', 'modern'];

describe.concurrent('A change of the tool list', { timeout: 60_000 }, () => {
  it.each(eras)('that is announced many times leads to two lists at most and to one fact (%s era)', async (era) => {
    const fake = steered({ era });
    const daemon = await run(fake);
    expect((await daemon.server('one')).era).toBe(era);
    const asked = fake.counted('tools/list');

    // Nothing changed: twelve announcements within a tenth of a second are no news.
    fake.set({ orders: [{ id: 1, do: 'announce', times: 12, overMs: 100 }] });
    await daemon.waitFor(() => fake.counted('tools/list') > asked);
    await pause(700);
    expect(fake.counted('tools/list') - asked).toBeLessThanOrEqual(2);
    expect(await listed(daemon, 'one')).toHaveLength(1);

    fake.set({
      tools: [tool('b', 'Now better.'), tool('c')],
      orders: [{ id: 2, do: 'announce', times: 12, overMs: 100 }],
    });
    await daemon.waitFor(async () => (await namesOf(daemon, 'one')).join() === 'b,c');
    await pause(500);
    expect(fake.counted('tools/list') - asked).toBeLessThanOrEqual(4);
    expect(await listed(daemon, 'one')).toHaveLength(2);
    const { changes } = (await daemon.api('GET', '/v1/mcp/tools/history?server=one')).body;
    expect(
      changes
        .slice(-3)
        .map(({ change, tool: name, before, after }: any) => [change, name, before?.description, after?.description]),
    ).toEqual([
      ['added', 'c', undefined, 'Tool c.'],
      ['removed', 'a', 'Tool a.', undefined],
      ['changed', 'b', 'Tool b.', 'Now better.'],
    ]);
    expect((await daemon.server('one')).state).toBe('ready');
    await daemon.stop();
  });

  it('that is announced while a list is under way is not missed', async () => {
    const fake = steered();
    const daemon = await run(fake);
    fake.set({
      tools: [tool('a')],
      answers: { 'tools/list': { delayMs: 500 } },
      orders: [{ id: 1, do: 'announce' }],
    });
    const asked = fake.counted('tools/list');
    await daemon.waitFor(() => fake.counted('tools/list') > asked);
    fake.set({ tools: [tool('z')], answers: {}, orders: [{ id: 2, do: 'announce' }] });
    await daemon.waitFor(async () => (await namesOf(daemon, 'one')).join() === 'z');
    await daemon.stop();
  });

  it('is believed although the server never declared that it announces any', async () => {
    const fake = steered({ behaviour: { declareListChanged: false } });
    const daemon = await run(fake);
    fake.set({ tools: [tool('a'), tool('b'), tool('c')], orders: [{ id: 1, do: 'announce' }] });
    await daemon.waitFor(async () => (await namesOf(daemon, 'one')).join() === 'a,b,c');
    await daemon.stop();
  });

  it('that nobody announced is found by asking now and then, and asking alone leaves no trace', async () => {
    const fake = steered();
    const daemon = await run(fake, { pollIntervalMs: 400 });
    const before = await lastPosition(daemon);
    const asked = fake.counted('tools/list');
    await daemon.waitFor(() => fake.counted('tools/list') >= asked + 4);
    expect(await lastPosition(daemon)).toBe(before);
    const { lastSeen } = await daemon.server('one');
    await daemon.waitForServer('one', (row) => row.lastSeen > lastSeen);

    fake.set({ tools: [tool('new')] });
    await daemon.waitFor(async () => (await namesOf(daemon, 'one')).join() === 'new');
    expect(await lastPosition(daemon)).toBe(before + 1);
    await daemon.stop();
  });

  it('over a restart of the server is seen, with what was there before', async () => {
    const fake = steered();
    const daemon = await run(fake);
    fake.set({ tools: [tool('a'), tool('other')] });
    const [{ name }] = await daemon.tools('one');
    expect(name).toBe('mcp__one__a');
    process.kill((await daemon.server('one')).pid, 'SIGKILL');
    await daemon.waitFor(async () => (await namesOf(daemon, 'one')).join() === 'a,other');
    const { changes } = (await daemon.api('GET', '/v1/mcp/tools/history?server=one')).body;
    expect(changes.slice(-2).map(({ change, tool: which }: any) => [change, which])).toEqual([
      ['added', 'other'],
      ['removed', 'b'],
    ]);
    await daemon.stop();
  });

  it.each(eras)('is read from the server, whatever it said about how long its list keeps (%s era)', async (era) => {
    const fake = steered({ era, behaviour: { list: { extra: { ttlMs: 86_400_000, cacheScope: 'public' } } } });
    const daemon = await run(fake, { pollIntervalMs: 60_000 });
    fake.set({ tools: [tool('fresh')], orders: [{ id: 1, do: 'announce' }] });
    await daemon.waitFor(async () => (await namesOf(daemon, 'one')).join() === 'fresh');
    fake.set({ tools: [tool('fresher')] });
    const { body } = await daemon.api('POST', '/v1/mcp/reconnect', { name: 'one' });
    expect(body.ok).toBe(true);
    expect(await namesOf(daemon, 'one')).toEqual(['fresher']);
    await daemon.stop();
  });

  it('reaches whoever listens to the facts, once', async () => {
    const fake = steered();
    const daemon = await run(fake);
    const stream = await openEventStream(`${daemon.url}/v1/events?type=ToolsListed`, {
      headers: { authorization: `Bearer ${daemon.token}` },
    });
    fake.set({ tools: [tool('x')], orders: [{ id: 1, do: 'announce', times: 12, overMs: 100 }] });
    await daemon.waitFor(() => stream.events.length > 0);
    await pause(500);
    const heard = stream.events.map((event) => JSON.parse(event));
    expect(heard).toHaveLength(1);
    expect(heard[0]).toMatchObject({ stream: 'server-one', type: 'ToolsListed', data: { count: 1, to: 'ready' } });
    expect(heard[0]).toEqual((await listed(daemon, 'one')).at(-1));
    await stream.close();
    await daemon.stop();
  });

  it('to no tools at all and back is a change like any other', async () => {
    const fake = steered();
    const daemon = await run(fake);
    fake.set({ tools: [], orders: [{ id: 1, do: 'announce' }] });
    await daemon.waitForServer('one', ({ tools }) => tools === 0);
    expect(await namesOf(daemon, 'one')).toEqual([]);
    fake.set({ tools: [tool('a'), tool('b')], orders: [{ id: 2, do: 'announce' }] });
    await daemon.waitForServer('one', ({ tools }) => tools === 2);
    expect(await daemon.server('one')).toMatchObject({ state: 'ready', error: null });
    await daemon.stop();
  });
});
