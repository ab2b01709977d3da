import { beforeAll, describe, expect, it } from 'vitest';
import { interop } from '../support/paths.ts';
import { modernHeaders, openSession, rpc } from '../support/raw-http.ts';
import { modernMeta, rawStdio } from '../support/raw-stdio.ts';
import { until } from '../support/wait.ts';

const echo = { name: 'echo', arguments: { text: 'hi' } };
const hi = { content: [{ type: 'text', text: 'hi' }] };

describe('servers built on the SDK, over stdio', () => {
  it.each([
    ['1.x', [interop.sdk1Stdio]],
    ['2.x, serving both eras', [interop.sdk2Stdio, '--dual']],
  ])('SDK %s answers the handshake and a call', async (_title, args) => {
    const server = rawStdio(args);
    expect((await server.handshake()).result.protocolVersion).toBe('2025-11-25');
    expect((await server.request('tools/call', echo)).result).toMatchObject(hi);
  });

  it('SDK 2.x answers a modern call and refuses the handshake', async () => {
    const server = rawStdio([interop.sdk2Stdio]);
    expect((await server.request('initialize', { protocolVersion: '2025-11-25' })).error.code).toBe(-32022);
    const { result } = await server.request('tools/call', { ...echo, ...modernMeta() });
    expect(result).toMatchObject({ ...hi, resultType: 'complete' });
  });
});

describe('servers built on the SDK, over HTTP', () => {
  const start = async (script: string) => {
    const server = rawStdio([script]);
    return until(() => server.lines[0], { what: `the address of ${script}` });
  };
  const urls = { legacy: '', modern: '' };

  beforeAll(async () => {
    [urls.legacy, urls.modern] = await Promise.all([start(interop.sdk1Http), start(interop.sdk2Http)]);
  });

  it('SDK 1.x opens a session and answers a call', async () => {
    const session = await openSession(urls.legacy);
    expect(session.opened.session).toEqual(expect.any(String));
    expect((await session.request('tools/call', echo)).messages[0].result).toMatchObject(hi);
  });

  it('SDK 2.x answers a call without a session', async () => {
    const message = { id: 1, method: 'tools/call', params: { ...echo, ...modernMeta() } };
    const reply = await rpc(urls.modern, message, modernHeaders('tools/call', 'echo'));
    expect(reply).toMatchObject({ status: 200, session: null });
    expect(reply.messages[0].result).toMatchObject(hi);
  });
});
