/** Servers that ask back in the middle of a request: either era on either side. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { projectRoot } from '../support/paths.ts';
import { legacyClient, modernClient, nextOf, streamed } from './client.ts';

const fixture = (era: string) => ({
  command: process.execPath,
  args: [join(projectRoot, 'test/conformance/fixture-server.mjs'), '--stdio', '--era', era],
});
const able = { elicitation: { form: {} }, sampling: {}, roots: {} };
const accepted = { action: 'accept', content: { username: 'ada', email: 'ada@example.org' } };

let daemon: Daemon;

beforeAll(async () => {
  daemon = await startDaemon({
    servers: { old: fixture('legacy'), new: fixture('modern') },
    allow: ['mcp__old__*', 'mcp__new__*'],
  });
  await daemon.waitForServer('old', 'ready');
  await daemon.waitForServer('new', 'ready');
});

describe.each(['old', 'new'])('a server of the %s era', (server) => {
  const path = `/mcp/${server}`;
  const elicit = { name: 'test_elicitation', arguments: { message: 'Who are you?' } };

  it('asks a client with a session in the middle of its call', async () => {
    const client = await legacyClient(daemon, path, { capabilities: able });
    const stream = streamed(await client.open({ id: 'call', method: 'tools/call', params: elicit }));
    const asked = await nextOf(stream, ({ method }) => method === 'elicitation/create');
    expect(asked.params).toMatchObject({ message: 'Who are you?' });
    expect((await client.answer(asked.id, accepted)).status).toBe(202);
    const { result } = await nextOf(stream, ({ id }) => id === 'call');
    expect(result.content[0].text).toContain('ada@example.org');
    expect(result.resultType).toBeUndefined();
  });

  it('asks a modern client by the answer, and goes on with the same call', async () => {
    const client = modernClient(daemon, path, able);
    const first = (await client.ask('tools/call', elicit)).body.result;
    expect(first).toMatchObject({ resultType: 'input_required', requestState: expect.stringMatching(/^wk1\./) });
    const [key = '', request] = Object.entries<any>(first.inputRequests)[0] ?? [];
    expect(request).toMatchObject({ method: 'elicitation/create', params: { message: 'Who are you?' } });
    const more = { requestState: first.requestState, inputResponses: { [key]: accepted } };
    const { result } = (await client.ask('tools/call', { ...elicit, ...more })).body;
    expect(result).toMatchObject({ resultType: 'complete' });
    expect(result.content[0].text).toContain('ada@example.org');
    const { calls } = (await daemon.api('GET', `/v1/mcp/calls?server=${server}&limit=1`)).body;
    expect(calls[0]).toMatchObject({ id: result._meta['watchkeeper/call'], outcome: 'succeeded' });
    // What is over can not be gone on with.
    expect((await client.ask('tools/call', { ...elicit, ...more })).body.error.code).toBe(-32602);
  });

  it('asks again for what is missing', async () => {
    const client = modernClient(daemon, path, able);
    const first = (await client.ask('tools/call', elicit)).body.result;
    const more = { requestState: first.requestState, inputResponses: { other: {} } };
    const second = (await client.ask('tools/call', { ...elicit, ...more })).body.result;
    expect(second).toMatchObject({ resultType: 'input_required', inputRequests: first.inputRequests });
    expect(second.requestState).not.toBe(first.requestState);
  });

  it('cannot ask a client that does not do such things', async () => {
    const client = await legacyClient(daemon, path);
    const { body } = await client.ask('tools/call', elicit);
    expect(JSON.stringify(body)).toMatch(/elicitation/);
    expect(body.result?.isError ?? body.error !== undefined).toBe(true);
  });

  it('lets nobody else go on with a call', async () => {
    // The call before this one is still asked something: no other question comes from it now.
    await pause(100);
    const client = modernClient(daemon, path, able);
    const { requestState, inputRequests } = (await client.ask('tools/call', elicit)).body.result;
    const inputResponses = { [Object.keys(inputRequests)[0] ?? '']: accepted };
    const other = { name: 'test_sampling', arguments: { prompt: 'x' }, requestState, inputResponses };
    expect((await client.ask('tools/call', other)).body.error.code).toBe(-32602);
  });
});

describe('an old server with calls of two clients', () => {
  const params = { name: 'test_elicitation', arguments: { message: 'Who?' } };
  const clients = () => Promise.all([1, 2].map(() => legacyClient(daemon, '/mcp/old', { capabilities: able })));

  it('asks each of them for its own call', async () => {
    const [one, two] = await clients();
    if (!one || !two) throw new Error('no clients');
    const first = streamed(await one.open({ id: 1, method: 'tools/call', params }));
    const askedOne = await nextOf(first, ({ method }) => method === 'elicitation/create');
    await pause(200);
    const second = streamed(await two.open({ id: 1, method: 'tools/call', params }));
    const askedTwo = await nextOf(second, ({ method }) => method === 'elicitation/create');
    await two.answer(askedTwo.id, { action: 'accept', content: { username: 'two', email: 'two@example.org' } });
    await one.answer(askedOne.id, accepted);
    expect((await nextOf(first, ({ id }) => id === 1)).result.content[0].text).toContain('ada');
    expect((await nextOf(second, ({ id }) => id === 1)).result.content[0].text).toContain('two@');
  });

  it('asks nobody rather than the wrong one', async () => {
    const [one, two] = await clients();
    if (!one || !two) throw new Error('no clients');
    const busy = two.ask('tools/call', { name: 'test_tool_with_logging' });
    const { messages } = await one.ask('tools/call', params);
    expect(JSON.stringify(messages)).toContain('Several clients');
    await busy;
  });
});

describe('the answer to a call whose connection broke', () => {
  it('is there for the session that comes back for it', async () => {
    const client = await legacyClient(daemon, '/mcp/old', { capabilities: able });
    const leave = new AbortController();
    const params = { name: 'test_elicitation', arguments: { message: 'Who?' } };
    const response = await client.open({ id: 9, method: 'tools/call', params }, { signal: leave.signal });
    let seen = '';
    for await (const chunk of response.body as any) {
      seen += new TextDecoder().decode(chunk);
      if (seen.includes('elicitation/create')) break;
    }
    leave.abort();
    const start = /id: (\S+)/.exec(seen)?.[1];
    const stream = streamed(await client.listen(start));
    const asked = await nextOf(stream, ({ method }) => method === 'elicitation/create');
    await client.answer(asked.id, accepted);
    expect((await nextOf(stream, ({ id }) => id === 9)).result.content[0].text).toContain('ada');
  });
});
