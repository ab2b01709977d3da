import { describe, expect, it } from 'vitest';
import type { KnownClients } from '../../src/http/guard.ts';
import { givenApp, host, signedIn } from './given.app.ts';

const known = { id: 'codex', permission: 'ask' as const };
const clients: KnownClients = {
  byToken: (token) => (token === 'wk_codex' ? known : null),
  byName: (name) => (name === 'codex' ? known : null),
};
const asClient = { host, authorization: 'Bearer wk_codex' };

async function ask(
  method: 'GET' | 'POST' | 'DELETE',
  url: string,
  headers: Record<string, string> = asClient,
  body?: object,
) {
  const { app, keeper } = await givenApp({ clients });
  const response = await app.inject({ method, url, headers, ...(body === undefined ? {} : { payload: body }) });
  return { status: response.statusCode, code: response.json().code, keeper };
}

describe('The token of a client', () => {
  it.each<['GET' | 'POST', string]>([
    ['GET', '/v1/mcp/tools'],
    ['GET', '/v1/mcp/tools?server=memory'],
    ['GET', '/v1/mcp/status'],
    ['GET', '/v1/mcp/instructions'],
    ['GET', '/v1/mcp/calls/c7'],
    ['GET', '/health'],
  ])('opens what is needed to use tools: %s %s', async (method, url) => {
    expect((await ask(method, url)).status).toBe(200);
  });

  const others: ['GET' | 'POST' | 'DELETE', string, object?][] = [
    ['GET', '/v1/mcp'],
    ['GET', '/v1/clients'],
    ['GET', '/v1/events'],
    ['GET', '/v1/allowlist'],
    ['GET', '/v1/mcp/calls'],
    ['GET', '/metrics'],
    ['POST', '/v1/mcp', { name: 'a', server: { command: 'x' } }],
    ['POST', '/v1/mcp/remove', { name: 'a' }],
    ['POST', '/v1/allowlist', { tool: { prefix: 'mcp__a__', entries: [] } }],
    ['POST', '/v1/mcp/calls/c1/approve', {}],
    ['POST', '/v1/mcp/calls/c1/deny', {}],
    ['POST', '/v1/shutdown'],
    ['GET', '/v1/mcp/tools/../calls/c1/approve'],
    ['GET', '/%761/clients'],
    ['GET', '//v1/clients'],
  ];
  it.each(others)('opens nothing else: %s %s', async (method, url, body) => {
    const { status, code, keeper } = await ask(method, url, asClient, body);
    expect({ status, code }).toEqual({ status: 403, code: 'forbidden-client' });
    expect(keeper.asked).toEqual([]);
  });

  it('makes its calls in its own name, in its mode, and never above it', async () => {
    const call = (mode?: string) =>
      ask('POST', '/v1/mcp/call', asClient, { tool: 't', arguments: {}, ...(mode ? { permission_mode: mode } : {}) });
    const { keeper, status } = await call();
    expect(status).toBe(200);
    expect(keeper.asked.at(-1)).toMatchObject(['call', { mode: 'ask', caller: { client: 'codex', door: 'http' } }]);
    expect(await call('allow-all')).toMatchObject({ status: 403, code: 'mode-above-ceiling' });
    expect((await call('deny')).status).toBe(200);
  });

  it('cancels its own calls and no others', async () => {
    expect(await ask('POST', '/v1/mcp/calls/c1/cancel', asClient, {})).toMatchObject({
      status: 404,
      code: 'unknown-call',
    });
    // The keeper is asked, and says what it has to say.
    expect(await ask('POST', '/v1/mcp/calls/c7/cancel', asClient, {})).toMatchObject({ code: 'call-not-held' });
  });

  it('shows its own calls and no others', async () => {
    expect(await ask('GET', '/v1/mcp/calls/c1')).toMatchObject({ status: 404, code: 'unknown-call' });
  });

  it('is as wrong as any other once it has ended', async () => {
    expect(await ask('GET', '/v1/mcp/tools', { host, authorization: 'Bearer wk_ended' })).toMatchObject({
      status: 401,
    });
  });
});

describe('Speaking for a client', () => {
  it('lowers what the daemon’s own token may do', async () => {
    const headers = { ...signedIn, 'watchkeeper-client': 'codex' };
    expect((await ask('GET', '/v1/mcp/tools', headers)).status).toBe(200);
    expect(await ask('GET', '/v1/clients', headers)).toMatchObject({ status: 403, code: 'forbidden-client' });
  });

  it('is refused for a client that is not connected', async () => {
    const headers = { ...signedIn, 'watchkeeper-client': 'nobody' };
    expect(await ask('GET', '/v1/mcp/tools', headers)).toMatchObject({ status: 401, code: 'unauthorized' });
  });

  it('counts for nothing from somebody without a token', async () => {
    expect(await ask('GET', '/v1/mcp/tools', { host, 'watchkeeper-client': 'codex' })).toMatchObject({ status: 401 });
  });
});
