/** Tasks (experimental in 2025-11-25, an extension in 2026-07-28) end at the hub: neither side is told that there are any. */
import { beforeAll, describe, expect, it } from 'vitest';
import { runsOnlyAsTask, untasked, withoutTasks } from '../../src/hub/tasks.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { type Steered, stdioEntry, steered } from '../support/fixtures.ts';
import { legacyClient, modernClient, nextOf, streamed } from './client.ts';

const extension = 'io.modelcontextprotocol/tasks';

describe('what is declared', () => {
  it.each([
    [{ tools: {} }, { tools: {} }],
    [{ tools: {}, tasks: { list: {} } }, { tools: {} }],
    [{ extensions: { [extension]: {} } }, {}],
    [{ extensions: { [extension]: {}, other: {} } }, { extensions: { other: {} } }],
    [{ extensions: { other: {} } }, { extensions: { other: {} } }],
    [{ tasks: {}, extensions: { other: {} } }, { extensions: { other: {} } }],
  ])('of %j goes on as %j', (declared, passed) => {
    expect(withoutTasks(declared)).toEqual(passed);
  });
});

describe('a tool', () => {
  it.each([
    [{ name: 'a' }, { name: 'a' }],
    [{ name: 'a', execution: { taskSupport: 'optional' } }, { name: 'a' }],
    [
      { name: 'a', execution: { taskSupport: 'required', other: 1 } },
      { name: 'a', execution: { other: 1 } },
    ],
  ])('%j is listed as %j', (definition, listed) => {
    expect(untasked(definition)).toEqual(listed);
  });

  const declared = { tasks: { requests: { tools: { call: {} } } } };
  it.each([
    ['required', declared, true],
    ['optional', declared, false],
    ['forbidden', declared, false],
    // Whatever tools say, it counts only where the server declares tasks for calls.
    ['required', { tasks: { list: {} } }, false],
    ['required', {}, false],
    ['required', null, false],
  ])('for which a task is %s at a server that declares %j runs in no other way: %s', (taskSupport, server, only) => {
    expect(runsOnlyAsTask({ execution: { taskSupport } }, server)).toBe(only);
  });
});

const inputSchema = { type: 'object' };
const withTask = (name: string, taskSupport: string) => ({ name, inputSchema, execution: { taskSupport } });
let daemon: Daemon;
let old: Steered;

beforeAll(async () => {
  const tools = [withTask('heard', 'optional'), withTask('echo', 'required'), 'ask'];
  old = steered({
    behaviour: { tools, capabilities: { tools: {}, tasks: { list: {}, requests: { tools: { call: {} } } } } },
  });
  const recent = { tools: ['heard', 'add'], capabilities: { tools: {}, extensions: { [extension]: {}, other: {} } } };
  const answers = { 'tools/call': { id: 'task', after: 1, result: { resultType: 'task', taskId: 't-1' } } };
  daemon = await startDaemon({
    servers: {
      old: stdioEntry(old.options),
      recent: stdioEntry({ era: 'modern', behaviour: { ...recent, answers } }),
    },
    allow: ['mcp__old__heard', 'mcp__old__ask', 'mcp__recent__*'],
  });
  await daemon.waitForServer('old', 'ready');
  await daemon.waitForServer('recent', 'ready');
});

describe('an endpoint', () => {
  it.each(['/mcp', '/mcp/old', '/mcp/recent'])('%s declares no tasks', async (path) => {
    const { capabilities } = (await legacyClient(daemon, path)).greeting;
    expect(capabilities.tools).toBeDefined();
    expect(capabilities.tasks).toBeUndefined();
    const discovered = (await modernClient(daemon, path).ask('server/discover')).body.result.capabilities;
    expect(discovered.tasks).toBeUndefined();
    expect(discovered.extensions ?? {}).toEqual(path === '/mcp/recent' ? { other: {} } : {});
  });

  it('lists tools without what they say of tasks', async () => {
    const { tools } = (await (await legacyClient(daemon, '/mcp/old')).ask('tools/list')).body.result;
    expect(tools.map(({ name }: any) => name)).toEqual(['ask', 'echo', 'heard']);
    expect(tools.filter((tool: any) => 'execution' in tool)).toEqual([]);
  });

  it.each(['tasks/list', 'tasks/get', 'tasks/result', 'tasks/cancel'])('knows no %s', async (method) => {
    const { body } = await (await legacyClient(daemon)).ask(method, { taskId: 't-1' });
    expect(body.error).toEqual({ code: -32601, message: `Method not found: ${method}` });
    expect((await modernClient(daemon).ask(method, { taskId: 't-1' })).body.error.code).toBe(-32601);
  });
});

describe('a call', () => {
  it('that asks for a task is answered as usual, and its server hears of no task', async () => {
    const client = await legacyClient(daemon, '/mcp/old', { capabilities: { tasks: { list: {} } } });
    const { body } = await client.ask('tools/call', { name: 'heard', arguments: {}, task: { ttl: 60_000 } });
    expect(body.result.task).toBeUndefined();
    const heard = JSON.parse(body.result.content[0].text);
    expect(Object.keys(heard).toSorted()).toEqual(['_meta', 'arguments', 'name']);
  });

  it('of a tool that runs only as a task is refused before anybody is asked about it', async () => {
    const before = old.counted('tools/call');
    const { body } = await (await legacyClient(daemon)).ask('tools/call', { name: 'old__echo', arguments: {} });
    expect(body.error).toMatchObject({ code: -32601, message: expect.stringContaining('runs only as a task') });
    expect(old.counted('tools/call')).toBe(before);
    expect((await daemon.api('GET', '/v1/mcp/calls?state=held')).body.calls).toEqual([]);
  });

  it('tells a server of no tasks its client could follow, and is unknown where one is made all the same', async () => {
    const able = { extensions: { [extension]: {}, other: {} } };
    const client = modernClient(daemon, '/mcp/recent', able);
    const heard = (await client.ask('tools/call', { name: 'heard', arguments: {} })).body.result;
    const meta = JSON.parse(heard.content[0].text)._meta;
    expect(meta['io.modelcontextprotocol/clientCapabilities']).toEqual({ extensions: { other: {} } });
    const made = (await client.ask('tools/call', { name: 'add', arguments: { a: 1, b: 2 } })).body.result;
    expect(made).toMatchObject({ resultType: 'complete', isError: true, _meta: { 'watchkeeper/outcome': 'unknown' } });
    expect(made.content[0].text).toContain('made a task of the call');
  });
});

it('A client that can run tasks is asked by a server without one', async () => {
  const capabilities = { sampling: {}, tasks: { requests: { sampling: { createMessage: {} } } } };
  const client = await legacyClient(daemon, '/mcp/old', { capabilities });
  const params = { messages: [], maxTokens: 1, task: { ttl: 1_000 } };
  const call = { name: 'ask', arguments: { method: 'sampling/createMessage', params } };
  const stream = streamed(await client.open({ id: 'call', method: 'tools/call', params: call }));
  const asked = await nextOf(stream, ({ method }) => method === 'sampling/createMessage');
  expect(asked.params).toEqual({ messages: [], maxTokens: 1 });
  const sampled = { role: 'assistant', model: 'none', content: { type: 'text', text: 'yes' } };
  await client.answer(asked.id, sampled);
  expect((await nextOf(stream, ({ id }) => id === 'call')).result.isError).toBeFalsy();
});
