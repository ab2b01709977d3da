import { describe, expect, it } from 'vitest';
import { problem } from '../../src/http/contract.ts';
import { givenApp, host, port, signedIn, token } from './given.app.ts';

const refused = (status: number, code: string) => ({ status, code });

async function ask(request: {
  method?: string;
  url?: string;
  headers?: Record<string, string>;
  payload?: string;
  allowedHosts?: readonly string[];
}) {
  const { app, keeper } = await givenApp({ allowedHosts: request.allowedHosts ?? [] });
  const response = await app.inject({
    method: (request.method ?? 'GET') as 'GET',
    url: request.url ?? '/v1/mcp/status',
    headers: request.headers ?? {},
    ...(request.payload === undefined ? {} : { payload: request.payload }),
  });
  return { response, keeper };
}

describe('The Host header', () => {
  it.each([
    ['127.0.0.1 with our port', `127.0.0.1:${port}`],
    ['localhost with our port', `localhost:${port}`],
    ['localhost in capitals', `LOCALHOST:${port}`],
    ['IPv6 loopback with our port', `[::1]:${port}`],
    ['a name that was allowed on any port', 'box.lan:8080'],
    ['a name that was allowed, without a port', 'box.lan'],
    ['a name that was allowed on this port', 'other.lan:444'],
  ])('is taken: %s', async (_what, name) => {
    const { response } = await ask({
      headers: { ...signedIn, host: name },
      allowedHosts: ['box.lan', 'Other.lan:444'],
    });
    expect(response.statusCode).toBe(200);
  });

  it.each([
    ['a name of the web', 'evil.example'],
    ['a name of the web with our port', `evil.example:${port}`],
    ['another port', '127.0.0.1:80'],
    ['no port', 'localhost'],
    ['another loopback address', `127.0.0.2:${port}`],
    ['any address', `0.0.0.0:${port}`],
    ['a name that begins like ours', `localhost.evil.example:${port}`],
    ['user info in front', `localhost:${port}@evil.example`],
    ['a trailing dot', `localhost.:${port}`],
    ['two names', `localhost:${port}, evil.example`],
    ['an allowed name on another port', 'other.lan:445'],
    ['nothing', ''],
  ])('is refused: %s', async (_what, name) => {
    const { response, keeper } = await ask({ headers: { ...signedIn, host: name }, allowedHosts: ['other.lan:444'] });
    expect({ status: response.statusCode, code: response.json().code }).toEqual(refused(403, 'forbidden-host'));
    expect(keeper.asked).toEqual([]);
  });
});

describe('The Origin header', () => {
  it.each([
    ['our own page', `http://127.0.0.1:${port}`],
    ['our own page by name', `http://localhost:${port}`],
    ['a page of an allowed host', 'https://box.lan'],
    ['a page of an allowed host on a port', 'http://box.lan:3000'],
  ])('is taken: %s', async (_what, origin) => {
    const { response } = await ask({ headers: { ...signedIn, origin }, allowedHosts: ['box.lan'] });
    expect(response.statusCode).toBe(200);
  });

  it.each([
    ['another site', 'https://evil.example'],
    ['another site on our port', `http://evil.example:${port}`],
    ['a page without an origin', 'null'],
    ['another port of this machine', 'http://localhost:3000'],
    ['our address over a protocol we do not speak', `https://127.0.0.1:${port}`],
    ['an extension', 'chrome-extension://abcdef'],
    ['a file', 'file://'],
    ['our address with a path', `http://127.0.0.1:${port}/x`],
    ['nothing', ''],
  ])('is refused: %s', async (_what, origin) => {
    const { response, keeper } = await ask({ headers: { ...signedIn, origin } });
    expect({ status: response.statusCode, code: response.json().code }).toEqual(refused(403, 'forbidden-origin'));
    expect(keeper.asked).toEqual([]);
  });
});

describe('The token', () => {
  it.each([
    ['missing', undefined],
    ['empty', ''],
    ['wrong', 'Bearer wrong'],
    ['a part of it', `Bearer ${token.slice(0, -1)}`],
    ['longer', `Bearer ${token}x`],
    ['of another scheme', `Basic ${token}`],
    ['without a scheme', token],
    ['in other letters', `Bearer ${token.toUpperCase()}`],
  ])('lets nobody in when it is %s', async (_what, authorization) => {
    const { response, keeper } = await ask({
      headers: { host, ...(authorization === undefined ? {} : { authorization }) },
    });
    expect({ status: response.statusCode, code: response.json().code }).toEqual(refused(401, 'unauthorized'));
    expect(response.headers['www-authenticate']).toContain('Bearer');
    expect(response.body).not.toContain(token);
    expect(keeper.asked).toEqual([]);
  });

  it('lets nobody in while the daemon has none', async () => {
    const { app } = await givenApp({ token: () => '' });
    const response = await app.inject({ url: '/v1/mcp/status', headers: { host, authorization: 'Bearer ' } });
    expect(response.statusCode).toBe(401);
  });

  it('counts as it is now, so an old one ends with its rotation', async () => {
    let now = 'first';
    const { app } = await givenApp({ token: () => now });
    const status = async (given: string) =>
      (await app.inject({ url: '/v1/mcp/status', headers: { host, authorization: `Bearer ${given}` } })).statusCode;
    expect(await status('first')).toBe(200);
    now = 'second';
    expect(await status('first')).toBe(401);
    expect(await status('second')).toBe(200);
  });

  it.each(['/health', '/', '/docs', '/openapi.json', '/docs/errors/not-found'])('is not needed for %s', async (url) => {
    const { response } = await ask({ url, headers: { host } });
    expect(response.statusCode).toBeLessThan(400);
  });

  it.each([
    ['POST', '/health'],
    ['GET', '/health/x'],
    ['GET', '//health'],
    ['GET', '/docs/errors/../../v1/mcp'],
    ['GET', '/docs/errors/not%2dfound'],
    ['GET', '/nothing/here'],
    ['GET', '/metrics'],
    ['GET', '/%zz'],
    ['DELETE', '/v1/mcp'],
    ['OPTIONS', '/v1/mcp'],
    ['HEAD', '/v1/mcp/status'],
  ])('is needed for %s %s', async (method, url) => {
    const { response } = await ask({ method, url, headers: { host } });
    expect(response.statusCode).toBe(401);
  });
});

describe('A web page', () => {
  const routes = [
    ['GET', '/v1/mcp'],
    ['GET', '/v1/events'],
    ['GET', '/health'],
    ['GET', '/nothing/here'],
    ['GET', '/%zz'],
    ['HEAD', '/v1/mcp/status'],
    ['POST', '/v1/mcp'],
    ['POST', '/v1/mcp/call'],
    ['DELETE', '/v1/mcp'],
    ['PUT', '/v1/mcp'],
    ['OPTIONS', '/v1/mcp/call'],
  ] as const;

  it.each(routes)('of another origin gets nothing from %s %s, even with the token', async (method, url) => {
    const { response, keeper } = await ask({ method, url, headers: { ...signedIn, origin: 'https://evil.example' } });
    expect(response.statusCode).toBe(403);
    expect(keeper.asked).toEqual([]);
  });

  it.each(routes)('under a rebound name gets nothing from %s %s, even with the token', async (method, url) => {
    const { response, keeper } = await ask({ method, url, headers: { ...signedIn, host: `evil.example:${port}` } });
    expect(response.statusCode).toBe(403);
    expect(keeper.asked).toEqual([]);
  });

  it.each([
    ['of another origin', 'https://evil.example', 403],
    ['of our own origin', `http://127.0.0.1:${port}`, 405],
  ])(
    '%s is answered the same before and with the request, and never with CORS headers',
    async (_what, origin, status) => {
      const preflight = await ask({
        method: 'OPTIONS',
        headers: { ...signedIn, origin, 'access-control-request-method': 'POST' },
      });
      const real = await ask({ headers: { ...signedIn, origin } });
      expect(preflight.response.statusCode).toBe(status);
      expect(real.response.statusCode === 403).toBe(status === 403);
      for (const { response } of [preflight, real])
        expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    },
  );
});

describe('A body', () => {
  const body = JSON.stringify({ name: 'evil', server: { command: 'sh' } });

  it.each([
    'text/plain',
    'text/plain;charset=UTF-8',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'text/json',
    'application/json-patch+json',
    'text/plain; application/json',
  ])('that says it is %s is not read', async (type) => {
    const { response, keeper } = await ask({
      method: 'POST',
      url: '/v1/mcp',
      headers: { ...signedIn, 'content-type': type },
      payload: body,
    });
    expect({ status: response.statusCode, code: response.json().code }).toEqual(refused(415, 'unsupported-media-type'));
    expect(keeper.asked).toEqual([]);
  });

  it('that does not say what it is is not read', async () => {
    const { app, keeper } = await givenApp();
    const headers = { ...signedIn, 'content-length': String(body.length) };
    const response = await app.inject({ method: 'POST', url: '/v1/mcp', headers, payload: Buffer.from(body) });
    expect(response.statusCode).toBe(415);
    expect(keeper.asked).toEqual([]);
  });

  it('is JSON with or without a character set', async () => {
    const types = ['application/json', 'application/json; charset=utf-8', 'Application/JSON'];
    const statuses = types.map(async (type) => {
      const headers = { ...signedIn, 'content-type': type };
      return (await ask({ method: 'POST', url: '/v1/mcp', headers, payload: body })).response.statusCode;
    });
    expect(await Promise.all(statuses)).toEqual([200, 200, 200]);
  });
});

it('A refusal is a problem like any other', async () => {
  const { response } = await ask({ headers: { host: 'evil.example' } });
  expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
  expect(problem.parse(response.json())).toMatchObject({
    type: '/docs/errors/forbidden-host',
    status: 403,
    error: response.json().detail,
  });
});
