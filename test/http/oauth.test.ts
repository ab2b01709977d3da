import { describe, expect, it } from 'vitest';
import { clientGiven } from '../../src/http/contract.oauth.ts';
import { givenApp, signedIn } from './given.app.ts';
import { ask as askServer, givenServer } from './given.server.ts';

const json = { ...signedIn, 'content-type': 'application/json' };

async function ask(method: 'GET' | 'HEAD' | 'POST' | 'DELETE', url: string, body?: unknown) {
  const { app, keeper } = await givenApp();
  const response = await app.inject({
    method,
    url,
    headers: body === undefined ? signedIn : json,
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
  return { response, asked: keeper.asked };
}

describe('A login over HTTP', () => {
  it('is a stream of unnamed frames: the address, then the end', async () => {
    const { response, asked } = await ask('GET', '/v1/mcp/oauth?name=remote');
    expect(response.headers['content-type']).toMatch(/^text\/event-stream/);
    const frames = response.body.split('\n\n').filter((part) => !part.startsWith(':') && part !== '');
    expect(frames).toEqual(['data: {"url":"https://as.example/authorize?state=s1"}', 'data: {"done":true,"ok":true}']);
    expect(asked[0]).toEqual(['login', 'remote']);
  });

  it('is kept alive by comments while a person takes their time', async () => {
    const server = await givenServer({ streamLimits: { heartbeatMs: 10, stallMs: 60_000, bufferBytes: 65_536 } });
    let end: (ended: { ok: boolean }) => void = () => {};
    const done = new Promise<{ ok: boolean }>((resolve) => {
      end = resolve;
    });
    const url = Promise.resolve('https://as.example/authorize');
    Object.assign(server.keeper, { login: () => ({ url, done, leave: () => {} }) });
    const answer = await askServer(server, {
      path: '/v1/mcp/oauth?name=remote',
      headers: { authorization: signedIn.authorization },
    });
    answer.setEncoding('utf8');
    let text = '';
    for await (const chunk of answer) {
      text += chunk;
      if ([...text.matchAll(/^: still here$/gm)].length === 3) end({ ok: true });
    }
    expect(text).toMatch(/"url"[\s\S]*: still here[\s\S]*"done":true/);
  });

  it('is left when the stream is over', async () => {
    const { asked } = await ask('GET', '/v1/mcp/oauth?server=remote');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(asked).toContainEqual(['leave', 'remote']);
  });

  it('is not begun by asking for the headers alone', async () => {
    const { response, asked } = await ask('HEAD', '/v1/mcp/oauth?name=remote');
    expect([response.statusCode, asked]).toEqual([405, []]);
  });

  it.each<['GET' | 'POST' | 'DELETE', string, unknown, number, string]>([
    ['GET', '/v1/mcp/oauth', undefined, 400, 'invalid-request'],
    ['GET', '/v1/mcp/oauth?name=a&server=b', undefined, 400, 'invalid-request'],
    ['GET', '/v1/mcp/oauth?name=nobody', undefined, 404, 'unknown-server'],
    ['GET', '/v1/mcp/oauth?name=memory', undefined, 409, 'oauth-not-enabled'],
    ['POST', '/v1/mcp/oauth/callback', { name: 'a' }, 400, 'invalid-request'],
    ['POST', '/v1/mcp/oauth/callback', { name: 'memory', url: 'http://x' }, 409, 'no-login-waiting'],
    ['POST', '/v1/mcp/oauth/client', { name: 'a' }, 400, 'invalid-request'],
    ['POST', '/v1/mcp/oauth/client', { name: 'a', client_id: 'x', secret: 'y' }, 400, 'invalid-request'],
    ['DELETE', '/v1/mcp/oauth', undefined, 400, 'invalid-request'],
    ['DELETE', '/v1/mcp/oauth?name=a', { name: 'b' }, 400, 'invalid-request'],
  ])('%s %s %j is a problem', async (method, url, body, status, code) => {
    const { response } = await ask(method, url, body);
    expect([response.statusCode, response.json().code]).toEqual([status, code]);
  });

  it('takes a pasted address and a client', async () => {
    const pasted = await ask('POST', '/v1/mcp/oauth/callback', { name: 'remote', url: 'http://localhost/?a' });
    expect([pasted.response.json(), pasted.asked]).toEqual([
      { ok: true },
      [['pasteCallback', 'remote', 'http://localhost/?a']],
    ]);
    const given = await ask('POST', '/v1/mcp/oauth/client', { name: 'remote', client_id: 'x' });
    expect(clientGiven.parse(given.response.json())).toEqual({
      ok: true,
      redirect_uri: 'http://localhost:17988/callback',
    });
    expect(given.asked).toEqual([['giveClient', 'remote', { id: 'x', secret: null, redirectUri: undefined }]]);
  });

  it.each<[string, unknown, unknown[]]>([
    ['/v1/mcp/oauth?name=remote', undefined, ['logOut', 'remote', false]],
    ['/v1/mcp/oauth?server=remote&client=true', undefined, ['logOut', 'remote', true]],
    ['/v1/mcp/oauth', { name: 'remote' }, ['logOut', 'remote', false]],
    ['/v1/mcp/oauth', { server: 'remote', client: true }, ['logOut', 'remote', true]],
  ])('ends with DELETE %s %j', async (url, body, call) => {
    const { response, asked } = await ask('DELETE', url, body);
    expect([response.json(), asked]).toEqual([{ ok: true }, [call]]);
  });
});
