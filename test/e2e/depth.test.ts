/** JSON that nothing can write again, because it is nested so deeply: it costs whoever sent it an answer, and nobody the daemon. */
import { beforeAll, describe, expect, it } from 'vitest';
import { legacyClient, modernClient } from '../hub/client.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { deepServer } from '../support/paths.ts';
import { callsOf } from './given.ts';

let daemon: Daemon;

beforeAll(async () => {
  daemon = await startDaemon({
    servers: { deep: { command: process.execPath, args: [deepServer] } },
    allow: ['mcp__deep__*'],
  });
  await daemon.waitForServer('deep', 'ready');
});

const lives = async () => expect((await daemon.api('GET', '/health')).body.status).toBe('ok');
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const raw = (path: string, body: string): Promise<Response> =>
  fetch(`${daemon.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${daemon.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body,
  });

describe('What a server nests too deeply', () => {
  it.each(['structured', 'meta', 'error'])('in its answer (%s) is an error the model can read', async (tool) => {
    const { body } = await daemon.call(`mcp__deep__${tool}`, {});
    expect(body).toMatchObject({ isError: true, outcome: 'tool-error' });
    expect(body.content[0].text).toMatch(/nested more than 256 levels deep/);
    const [call] = await callsOf(daemon, '?limit=1');
    expect(call).toMatchObject({ tool, outcome: 'tool-error' });
    await lives();
  });

  it.each(['structured', 'meta', 'error', 'log', 'progress', 'elicit', 'plain'])(
    'reaches no client and ends no daemon (%s), in either era',
    async (tool) => {
      const legacy = await legacyClient(daemon, '/mcp', { capabilities: { elicitation: {} } });
      const params = { name: `deep__${tool}`, arguments: {}, _meta: { progressToken: 5 } };
      for (const answer of [
        await legacy.ask('tools/call', params),
        await modernClient(daemon, '/mcp').ask('tools/call', params),
      ]) {
        const told = JSON.stringify(answer.body);
        expect(told).toMatch(['log', 'progress', 'elicit', 'plain'].includes(tool) ? /"ran"/ : /nested more than 256/);
      }
      await lives();
    },
  );

  it('as a prompt or a resource is an error of the protocol', async () => {
    const client = await legacyClient(daemon, '/mcp');
    for (const [method, params] of [
      ['prompts/get', { name: 'deep__p' }],
      ['resources/read', { uri: 'deep://r' }],
    ] as const)
      expect((await client.ask(method, params)).body.error.message).toMatch(/nested more than 256 levels deep/);
    await lives();
  });
});

describe('What a caller nests too deeply', () => {
  it.each([257, 5_000, 100_000])(
    'is refused as it comes in (%d levels), so that no list of calls breaks',
    async (levels) => {
      const args = `{"a":${nested(levels)}}`;
      const refused = await raw('/v1/mcp/call', `{"tool":"mcp__deep__plain","arguments":${args},"wait":false}`);
      expect(refused.status).toBe(400);
      expect(((await refused.json()) as any).detail).toMatch(/nested more than 256 levels deep; send it flatter/);
      const rpc = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deep__plain","arguments":${args}}}`;
      const answer = await raw('/mcp', rpc);
      expect(answer.status).toBe(400);
      expect(((await answer.json()) as any).error).toMatchObject({ code: -32600 });
      expect((await daemon.api('GET', '/v1/mcp/calls?state=held')).status).toBe(200);
      await lives();
    },
  );

  it('runs where it is as deep as may be', async () => {
    const taken = await raw('/v1/mcp/call', `{"tool":"mcp__deep__plain","arguments":{"a":${nested(250)}}}`);
    expect(((await taken.json()) as any).outcome).toBe('succeeded');
  });
});
