import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type Faults, type OAuthFake, startOAuthFake } from '../fixtures/oauth-server.ts';
import { atEnd } from '../support/cleanup.ts';
import { type Daemon, type DaemonOptions, runCli, startDaemon } from '../support/daemon.ts';
import { stdioEntry, steered } from '../support/fixtures.ts';
import { findByEnv } from '../support/processes.ts';
import { until } from '../support/wait.ts';
import { warningsOf } from './asking.ts';
import { beginCall, factsOf, meanwhile } from './given.ts';
import { freePort, logIn, loginStream, textOfFiles } from './login.ts';

const entryOf = (fake: OAuthFake, more: Record<string, unknown> = {}) => ({ url: fake.url, auth: 'oauth', ...more });

interface Given {
  readonly fake: OAuthFake;
  readonly daemon: Daemon;
  readonly port: number;
}

/** A daemon with one server that wants a login, and nobody logged in. */
async function given(
  faults: Partial<Faults> = {},
  entry: Record<string, unknown> = {},
  options: DaemonOptions = {},
): Promise<Given> {
  const fake = await startOAuthFake(faults);
  const port = await freePort();
  const daemon = await startDaemon({
    servers: { web: entryOf(fake, entry) },
    settings: { oauth: { callbackPort: port } },
    ...options,
  });
  await daemon.waitForServer('web', 'auth-required');
  return { fake, daemon, port };
}

async function givenLogin(faults: Partial<Faults> = {}, entry: Record<string, unknown> = {}): Promise<Given> {
  const all = await given(faults, entry);
  expect(await logIn(all.daemon, 'web', all.fake)).toEqual({ done: true, ok: true });
  await all.daemon.waitForServer('web', 'ready');
  return all;
}

const loginFacts = (daemon: Daemon, type: string): Promise<any[]> => daemon.events({ stream: 'logins', type });
const hasToken = async (daemon: Daemon): Promise<boolean> => (await daemon.api('GET', '/v1/mcp')).body.oauth.web;

describe('a server that wants a login', () => {
  it('waits for a person, names the command once, and asks for nothing meanwhile', async () => {
    const { fake, daemon } = await given({}, { pollIntervalMs: 200 });
    const { error, state } = await daemon.server('web');
    expect(error).toMatchObject({ class: 'auth', message: expect.stringMatching(/; log in: watchkeeper login web$/) });
    const asked = fake.seen.length;
    await meanwhile(1_500);
    expect(fake.seen.length).toBe(asked);
    expect(fake.count('/authorize')).toBe(0);
    expect(state).toBe('auth-required');
    expect((await daemon.api('GET', '/v1/mcp/why?name=web')).body.next.command).toBe('watchkeeper login web');
    const { servers } = (await daemon.api('GET', '/v1/mcp/doctor?name=web')).body;
    expect(servers[0]).toMatchObject({
      kind: 'login-wanted',
      advice: [expect.objectContaining({ command: 'watchkeeper login web' })],
    });
    expect((await factsOf(daemon, 'web')).filter(({ type }) => type === 'LoginRequired')).toHaveLength(1);
    expect(warningsOf(daemon, 'web')).toHaveLength(1);
    expect(await hasToken(daemon)).toBe(false);
  });

  it('runs after a login in the browser, without a restart', async () => {
    const { fake, daemon, port } = await given();
    const login = loginStream(daemon, 'web');
    const url = new URL(await login.url);
    expect(url.searchParams.get('redirect_uri')).toBe(`http://localhost:${port}/callback`);
    expect(url.searchParams.get('resource')).toBe(fake.url);
    expect(url.searchParams.get('code_challenge_method')).toBe('S256');

    const page = await fake.browse(url.href);
    expect(page).toEqual({ status: 200, text: expect.stringMatching(/Logged in/) });
    expect(await login.done).toEqual({ done: true, ok: true });
    expect((await daemon.server('web')).state).toBe('ready');
    expect((await daemon.call('mcp__web__echo', { text: 'hello' })).body.outcome).toBe('succeeded');
    expect(await hasToken(daemon)).toBe(true);
    expect((await daemon.api('GET', '/health')).body.credentials).toMatchObject({ store: 'file' });

    const [started] = await loginFacts(daemon, 'LoginStarted');
    expect(started.data).toEqual({ server: 'web', issuer: fake.issuer, client: 'registered', scope: null });
    const [ended] = await loginFacts(daemon, 'LoginEnded');
    expect(ended.data).toMatchObject({ server: 'web', ok: true, reason: null });
  });

  it('is reached with a token in either era', async () => {
    const fake = await startOAuthFake({}, { era: 'modern', behaviour: { tools: ['echo'] } });
    const daemon = await startDaemon({
      servers: { web: entryOf(fake) },
      settings: { oauth: { callbackPort: await freePort() } },
    });
    await daemon.waitForServer('web', 'auth-required');
    await logIn(daemon, 'web', fake);
    expect(await daemon.waitForServer('web', 'ready')).toMatchObject({ era: 'modern' });
    expect((await daemon.call('mcp__web__echo', { text: 'hello' })).body.outcome).toBe('succeeded');
  });

  it('keeps its login over a restart of the daemon', async () => {
    const { fake, daemon } = await givenLogin();
    await daemon.restart();
    await daemon.waitForServer('web', 'ready');
    expect(fake.count('/authorize')).toBe(1);
  });

  it('gets its login by an address that was pasted', async () => {
    const { fake, daemon } = await given();
    const login = loginStream(daemon, 'web');
    const url = await fake.approve(await login.url);
    const paste = (body: Record<string, unknown>) => daemon.api('POST', '/v1/mcp/oauth/callback', body);

    expect((await paste({ name: 'web', url: 'what?' })).status).toBe(400);
    expect((await paste({ name: 'web', url: url.replace(/state=[^&]+/, 'state=forged') })).status).toBe(400);
    expect((await paste({ name: 'web', url: url.replace(/state=[^&]+&/, '') })).status).toBe(400);
    expect((await paste({ name: 'nobody', url })).status).toBe(404);
    expect(await paste({ name: 'web', url })).toMatchObject({ status: 200, body: { ok: true } });
    expect(await login.done).toEqual({ done: true, ok: true });
    const late = await paste({ name: 'web', url });
    expect(late).toMatchObject({ status: 409, body: { code: 'no-login-waiting' } });
  });

  it('is told by a pasted address that the person said no', async () => {
    const { fake, daemon } = await given();
    const login = loginStream(daemon, 'web');
    const url = new URL(await fake.approve(await login.url));
    url.searchParams.delete('code');
    url.searchParams.set('error', 'access_denied');
    const pasted = await daemon.api('POST', '/v1/mcp/oauth/callback', { name: 'web', url: url.href });
    expect(pasted).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/access_denied/) } });
    expect(await login.done).toMatchObject({ ok: false, error: expect.stringMatching(/access_denied/) });
    expect(fake.count('/token')).toBe(0);
  });

  it('ends visibly when nobody comes back, and a logout forgets a client that the page there did not know', async () => {
    const { fake, daemon } = await given({}, {}, { env: { WATCHKEEPER_OAUTH_LOGIN_MS: '3000' } });
    const late = loginStream(daemon, 'web');
    const url = await late.url;
    fake.forgetClients();
    await expect(fake.approve(url)).rejects.toThrow(/unknown client/);
    expect(await late.done).toMatchObject({
      ok: false,
      error: expect.stringMatching(/Nobody came back.*within 3 s.*watchkeeper logout web/),
    });
    expect((await loginFacts(daemon, 'LoginEnded'))[0].data).toMatchObject({ ok: false });
    await daemon.api('DELETE', '/v1/mcp/oauth', { name: 'web' });
    await daemon.restart({ env: {} });
    expect(await logIn(daemon, 'web', fake)).toMatchObject({ ok: true });
    expect(fake.count('/register')).toBe(2);
  });

  it('is not one to log in to unless its entry says so', async () => {
    const { fake, daemon } = await given({}, {}, {});
    await daemon.api('POST', '/v1/mcp', { name: 'plain', server: { url: fake.url } });
    expect(await daemon.api('GET', '/v1/mcp/oauth?name=plain')).toMatchObject({
      status: 409,
      body: { code: 'oauth-not-enabled' },
    });
    expect((await daemon.api('GET', '/v1/mcp/oauth?name=nobody')).status).toBe(404);
    expect((await daemon.api('GET', '/v1/mcp/oauth')).status).toBe(400);
  });
});

describe('the address the browser comes back to', () => {
  it('takes nothing that does not know the state: neither strays nor forgeries nor repeats', async () => {
    const { fake, daemon, port } = await given();
    const login = loginStream(daemon, 'web');
    const back = new URL(await fake.approve(await login.url));
    const hit = async (change: (url: URL) => void, headers: Record<string, string> = {}) => {
      const url = new URL(back);
      change(url);
      const answer = await fetch(url, { headers });
      return [answer.status, await answer.text()];
    };
    const strays = [
      await hit((url) => url.searchParams.delete('state')),
      await hit((url) => url.searchParams.set('state', 'forged')),
      await hit((url) => url.searchParams.append('state', 'twice')),
      await hit((url) => url.searchParams.append('code', 'twice')),
      await hit((url) => url.searchParams.delete('code')),
      await hit((url) => {
        url.search = '?error=access_denied';
      }),
    ];
    expect(strays.map(([status]) => status)).toEqual(strays.map(() => 400));
    expect(
      (
        await hit((url) => {
          url.pathname = '/elsewhere';
        })
      )[0],
    ).toBe(404);
    expect((await fetch(back, { method: 'POST' })).status).toBe(404);
    expect(fake.count('/token')).toBe(0);

    for (const host of ['127.0.0.1', '[::1]'])
      expect((await fetch(`http://${host}:${port}/callback?state=x`)).status).toBe(400);
    expect((await hit(() => {}))[0]).toBe(200);
    expect(await login.done).toEqual({ done: true, ok: true });
    expect(fake.count('/token')).toBe(1);
    // Nobody listens there any more once no login waits.
    await expect(fetch(back)).rejects.toThrow();
    expect((await daemon.server('web')).state).toBe('ready');
  });

  it('does not believe an answer of another authorization server', async () => {
    const { fake, daemon } = await given({ iss: 'https://evil.example' });
    expect(await logIn(daemon, 'web', fake)).toMatchObject({
      ok: false,
      error: expect.stringMatching(/another issuer/),
    });
    fake.faults.iss = 'none';
    expect(await logIn(daemon, 'web', fake)).toMatchObject({ ok: false, error: expect.stringMatching(/lacks `iss`/) });
    expect(fake.count('/token')).toBe(0);
    fake.faults.iss = 'right';
    expect(await logIn(daemon, 'web', fake)).toMatchObject({ ok: true });
  });

  it('says at once that its port is taken, and by which setting it can be another', async () => {
    const { fake, daemon, port } = await given();
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(port, '127.0.0.1', resolve));
    atEnd(() => void squatter.close());
    const login = loginStream(daemon, 'web');
    const { ok, error } = await login.done;
    expect([ok, error]).toEqual([false, expect.stringMatching(new RegExp(`Port ${port}.*oauth\\.callbackPort`))]);
    expect(login.text()).not.toMatch(/"url"/);
    expect(fake.count('/register')).toBe(0);
    expect((await daemon.api('GET', '/health')).body.status).toBe('ok');
    await new Promise((resolve) => squatter.close(resolve));
    expect(await logIn(daemon, 'web', fake)).toMatchObject({ ok: true });
  });

  it('is shared by all logins that wait', async () => {
    const one = await startOAuthFake();
    const two = await startOAuthFake({ iss: 'right' });
    const daemon = await startDaemon({
      servers: { one: entryOf(one), two: entryOf(two) },
      settings: { oauth: { callbackPort: await freePort() } },
    });
    await daemon.waitForServer('one', 'auth-required');
    await daemon.waitForServer('two', 'auth-required');
    const [first, second] = [loginStream(daemon, 'one'), loginStream(daemon, 'two')];
    await two.browse(await second.url);
    expect(await second.done).toMatchObject({ ok: true });
    await one.browse(await first.url);
    expect(await first.done).toMatchObject({ ok: true });
  });

  it('is joined by whoever wants the same login, and closes when nobody waits', async () => {
    const { fake, daemon, port } = await given();
    const [first, second] = [loginStream(daemon, 'web'), loginStream(daemon, 'web')];
    expect(await first.url).toBe(await second.url);
    first.leave();
    await meanwhile(100);
    expect((await fetch(`http://localhost:${port}/callback`)).status).toBe(400);
    second.leave();
    await daemon.waitFor(async () =>
      fetch(`http://localhost:${port}/callback`).then(
        () => false,
        () => true,
      ),
    );
    expect(fake.count('/token')).toBe(0);
    expect((await loginFacts(daemon, 'LoginEnded'))[0].data).toMatchObject({ ok: false });
  });

  it('moves with the setting, and the client with it', async () => {
    const { fake, daemon } = await givenLogin();
    const port = await freePort();
    await daemon.restart({ env: { WATCHKEEPER_OAUTH_CALLBACK_PORT: String(port) } });
    await daemon.waitForServer('web', 'ready');
    fake.endLogins();
    await daemon.api('POST', '/v1/mcp/reconnect', { name: 'web' });
    expect(await logIn(daemon, 'web', fake)).toMatchObject({ ok: true });
    expect(fake.count('/register')).toBe(2);
  });
});

describe('who logs people in is found', () => {
  it.each<[string, Partial<Faults>]>([
    ['where the challenge says', {}],
    ['under the path of the server', { resourceMetadata: 'path', path: '/team/mcp' }],
    ['at the root', { resourceMetadata: 'root', path: '/team/mcp' }],
    ['by OpenID alone', { serverMetadata: 'openid' }],
    ['by OpenID with a path in the issuer', { serverMetadata: 'openid', issuerPath: '/tenant' }],
    ['with a path in the issuer', { issuerPath: '/tenant' }],
    ['at the server itself, as in older revisions', { resourceMetadata: 'none' }],
  ])('%s', async (_where, faults) => {
    const { daemon, fake } = await given(faults);
    expect(await logIn(daemon, 'web', fake)).toEqual({ done: true, ok: true });
  });

  it('without metadata at the fixed places of the first revision with logins', async () => {
    const { daemon, fake } = await given({ resourceMetadata: 'none', serverMetadata: 'none' });
    expect(await logIn(daemon, 'web', fake)).toEqual({ done: true, ok: true });
  });

  it.each<[string, Partial<Faults>, RegExp]>([
    ['metadata of another resource', { resourcePatch: { resource: 'https://other.example/mcp' } }, /another resource/],
    ['another issuer', { serverPatch: { issuer: 'https://evil.example' } }, /another issuer/],
    ['no PKCE', { serverPatch: { code_challenge_methods_supported: undefined } }, /PKCE/],
    [
      'an issuer that is not encrypted',
      { resourcePatch: { authorization_servers: ['http://as.example'] } },
      /not encrypted/,
    ],
    ['a link-local issuer', { resourcePatch: { authorization_servers: ['https://169.254.169.254/'] } }, /link-local/],
    [
      'an issuer with user info',
      { resourcePatch: { authorization_servers: ['https://a:b@as.example/'] } },
      /user name/,
    ],
    ['a page of javascript', { serverPatch: { authorization_endpoint: 'javascript:alert(1)' } }, /javascript:/],
    ['a file', { serverPatch: { authorization_endpoint: 'file:///etc/passwd' } }, /file:/],
    [
      'a token endpoint that is not encrypted',
      { serverPatch: { token_endpoint: 'http://as.example/token' } },
      /not encrypted/,
    ],
    ['metadata somewhere link-local', { challenge: 'Bearer resource_metadata="https://[fe80::1]/meta"' }, /link-local/],
  ])('and refused with the reason: %s', async (_what, faults, reason) => {
    const { daemon, fake } = await given(faults);
    const login = loginStream(daemon, 'web');
    expect(await login.done).toMatchObject({ ok: false, error: expect.stringMatching(reason) });
    expect(login.text()).not.toMatch(/"url"/);
    expect([fake.count('/register'), fake.count('/token')]).toEqual([0, 0]);
  });

  it('never at the daemon itself', async () => {
    const { daemon, fake } = await given();
    fake.faults.serverPatch = { registration_endpoint: `${daemon.url}/v1/shutdown` };
    expect(await loginStream(daemon, 'web').done).toMatchObject({
      ok: false,
      error: expect.stringMatching(/leads to this daemon itself/),
    });
  });
});

describe('the client of a login', () => {
  it('that was registered by hand is used with its own redirect address, byte for byte, and never registered', async () => {
    const { fake, daemon } = await given({ serverPatch: { registration_endpoint: undefined } });
    const own = `http://127.0.0.1:${await freePort()}/back?from=as`;
    fake.addClient('by-hand', 'by-hand-secret', own);
    expect(await loginStream(daemon, 'web').done).toMatchObject({
      ok: false,
      error: expect.stringMatching(/http:\/\/localhost:\d+\/callback.*watchkeeper login web --client-id/),
    });
    const give = (more: Record<string, unknown>) =>
      daemon.api('POST', '/v1/mcp/oauth/client', { name: 'web', client_id: 'by-hand', ...more });
    for (const redirect_uri of ['https://localhost:1/cb', 'http://192.0.2.1:1/cb', 'http://localhost/cb', 'nonsense'])
      expect((await give({ redirect_uri })).status).toBe(400);
    expect((await give({ client_secret: 'by-hand-secret', redirect_uri: own })).body).toEqual({
      ok: true,
      redirect_uri: own,
    });
    const login = loginStream(daemon, 'web');
    const url = await login.url;
    expect(url).toContain(`redirect_uri=${encodeURIComponent(own)}`);
    await fake.browse(url);
    expect(await login.done).toEqual({ done: true, ok: true });
    expect(fake.count('/register')).toBe(0);

    await daemon.api('DELETE', '/v1/mcp/oauth', { name: 'web' });
    expect(await logIn(daemon, 'web', fake)).toMatchObject({ ok: true });
    expect((await daemon.api('DELETE', '/v1/mcp/oauth?name=web&client=true')).body).toEqual({ ok: true });
    expect(await loginStream(daemon, 'web').done).toMatchObject({ ok: false });
  });

  it('has the usual redirect address when none is said', async () => {
    const { daemon, port } = await given();
    const answer = await daemon.api('POST', '/v1/mcp/oauth/client', { name: 'web', client_id: 'x' });
    expect(answer.body).toEqual({ ok: true, redirect_uri: `http://localhost:${port}/callback` });
  });

  it('stands in the entry', async () => {
    const { fake, daemon, port } = await given({ registrationStatus: 403 }, { oauth: { clientId: 'written' } });
    fake.addClient('written', null, `http://localhost:${port}/callback`);
    expect(await logIn(daemon, 'web', fake)).toEqual({ done: true, ok: true });
    expect(fake.count('/register')).toBe(0);
  });

  it('that the server refuses to register is asked for by name of the setting', async () => {
    const { daemon } = await given({ registrationStatus: 403 });
    expect(await loginStream(daemon, 'web').done).toMatchObject({
      ok: false,
      error: expect.stringMatching(/does not register clients by itself \(HTTP 403, access_denied\).*--client-id/),
    });
  });

  it.each([
    ['401', { status: 401, error: 'invalid_client' }],
    ['400', { status: 400, error: 'invalid_client' }],
    ['422', { status: 422, error: 'invalid_client' }],
    ['400 under another name', { status: 400, error: 'unauthorized_client' }],
    ['401 without a word', { status: 401 }],
  ])('that the server has forgotten (%s) is registered anew, once, by the next login', async (_how, tokenRefusal) => {
    const { fake, daemon } = await givenLogin();
    fake.forgetClients();
    fake.expireAll();
    fake.faults.tokenRefusal = tokenRefusal;
    await daemon.call('mcp__web__echo', { text: 'x' });
    const { error } = await daemon.waitForServer('web', 'auth-required');
    expect(error.message).toMatch(/watchkeeper login web/);
    fake.faults.tokenRefusal = undefined;
    expect([fake.count('/register'), fake.count('/authorize')]).toEqual([1, 1]);
    expect(await logIn(daemon, 'web', fake)).toMatchObject({ ok: true });
    expect(fake.count('/register')).toBe(2);
  });
});

describe('a client that was forgotten while nobody was logged in', () => {
  it('is registered anew after one login that could not come back', async () => {
    const { fake, daemon } = await givenLogin();
    // The login ends, the registration is kept; then that is gone, too, and only the browser is told.
    fake.endLogins();
    await daemon.call('mcp__web__echo', { text: 'x' });
    await daemon.waitForServer('web', 'auth-required');
    fake.forgetClients();
    const first = loginStream(daemon, 'web');
    await expect(fake.browse(await first.url)).rejects.toThrow(/unknown client/);
    first.leave();
    await until(
      async () => {
        const login = loginStream(daemon, 'web');
        const answered = await fake.browse(await login.url).catch(() => null);
        if (answered === null) login.leave();
        return answered !== null && (await login.done);
      },
      { what: 'a login with a new client' },
    );
    expect(fake.count('/register')).toBe(2);
    await daemon.waitForServer('web', 'ready');
  });
});

describe('a token', () => {
  it('that has ended is renewed once, however many calls need it', async () => {
    const { fake, daemon } = await givenLogin({ refreshDelayMs: 300 });
    fake.expireAll();
    const calls = Array.from({ length: 10 }, (_, n) => daemon.call('mcp__web__echo', { text: `${n}` }));
    const outcomes = (await Promise.all(calls)).map(({ body }) => body.outcome);
    expect(outcomes).toEqual(Array(10).fill('succeeded'));
    expect(fake.count('/token', 'refresh_token')).toBe(1);
    const asked = fake.seen.find(({ params }) => params.get('grant_type') === 'refresh_token');
    expect(asked?.params.get('resource')).toBe(fake.url);
    // Whether the server has moved is looked up once, not by each of them.
    expect(fake.seen.filter(({ path }) => path.includes('oauth-protected-resource')).length).toBeLessThanOrEqual(2);
    const facts = await loginFacts(daemon, 'TokenRefreshed');
    expect(facts.map(({ data }) => data.because)).toEqual(['refused']);
    expect((await daemon.server('web')).state).toBe('ready');
  });

  it('is renewed before it ends, while the old one works', async () => {
    const { fake, daemon } = await givenLogin({ lifeSeconds: 4 }, { pollIntervalMs: 100 });
    await daemon.waitFor(() => fake.count('/token', 'refresh_token') >= 2);
    const facts = await loginFacts(daemon, 'TokenRefreshed');
    expect(new Set(facts.map(({ data }) => data.because))).toEqual(new Set(['expiring']));
    const unsigned = fake.seen.filter(({ path, headers }) => path === '/mcp' && !headers.authorization);
    expect(unsigned).toHaveLength(1);
    expect((await factsOf(daemon, 'web')).filter(({ type }) => type === 'LoginRequired')).toHaveLength(1);
  });

  it('that is refused although it is new ends in a login that is wanted, without a loop', async () => {
    const { fake, daemon } = await givenLogin();
    fake.faults.refusesAll = true;
    const { body } = await daemon.call('mcp__web__echo', { text: 'x' });
    // It did not run, and may be repeated after a login.
    expect(body).toMatchObject({
      outcome: 'failed',
      code: 'server-not-connected',
      detail: expect.stringMatching(/watchkeeper login web/),
    });
    await daemon.waitForServer('web', 'auth-required');
    expect(fake.count('/token', 'refresh_token')).toBe(1);
    const asked = fake.seen.length;
    await meanwhile(700);
    expect(fake.seen.length).toBe(asked);
  });

  it('whose login was ended elsewhere ends in a login that is wanted', async () => {
    const { fake, daemon } = await givenLogin();
    fake.endLogins();
    await daemon.call('mcp__web__echo', { text: 'x' });
    await daemon.waitForServer('web', 'auth-required');
    expect(await hasToken(daemon)).toBe(false);
    expect((await loginFacts(daemon, 'LoginLost')).map(({ data }) => data.reason)).toEqual([
      expect.stringMatching(/invalid_grant/),
    ]);
    expect(fake.count('/authorize')).toBe(1);
    expect(await logIn(daemon, 'web', fake)).toMatchObject({ ok: true });
  });

  it('survives an authorization server in trouble', async () => {
    const { fake, daemon } = await givenLogin();
    fake.expireAll();
    fake.faults.tokenRefusal = { status: 503 };
    const call = beginCall(daemon, { tool: 'mcp__web__echo', arguments: { text: 'x' }, permission_mode: 'allow-all' });
    await daemon.waitForServer('web', (row) => row.state !== 'ready');
    await meanwhile(300);
    expect(await hasToken(daemon)).toBe(true);
    expect((await daemon.server('web')).state).not.toBe('auth-required');
    fake.faults.tokenRefusal = undefined;
    await daemon.api('POST', '/v1/mcp/reconnect', { name: 'web' });
    await daemon.waitForServer('web', 'ready');
    expect((await call.answer).body.outcome).toBe('failed');
    expect(fake.count('/authorize')).toBe(1);
  });

  it('without an end is sent until it is refused', async () => {
    const { fake, daemon } = await givenLogin({ lifeSeconds: undefined, refreshTokens: false });
    fake.endLogins();
    await daemon.call('mcp__web__echo', { text: 'x' });
    const { error } = await daemon.waitForServer('web', 'auth-required');
    expect(error.message).not.toContain('access-');
    expect(fake.count('/token', 'refresh_token')).toBe(0);
  });
});

describe('what a login allows', () => {
  it('is widened by the next login when a tool needs more, and other tools go on', async () => {
    const { fake, daemon } = await givenLogin({ scope: 'read', needs: { add: 'write' } });
    const refused = await daemon.call('mcp__web__add', { a: 1, b: 2 });
    expect(refused.body).toMatchObject({
      outcome: 'failed',
      detail: expect.stringMatching(/scopes: write.*watchkeeper login web/),
    });
    expect((await daemon.server('web')).state).toBe('ready');
    expect((await daemon.call('mcp__web__echo', { text: 'x' })).body.outcome).toBe('succeeded');

    const login = loginStream(daemon, 'web');
    const url = new URL(await login.url);
    expect(url.searchParams.get('scope')).toBe('read write');
    await fake.browse(url.href);
    expect(await login.done).toMatchObject({ ok: true });
    expect((await daemon.call('mcp__web__add', { a: 1, b: 2 })).body.outcome).toBe('succeeded');
  });

  it('is what the entry says, before anything the server wishes', async () => {
    const { daemon } = await given({ scope: 'everything' }, { oauth: { scopes: ['a', 'b'] } });
    const login = loginStream(daemon, 'web');
    expect(new URL(await login.url).searchParams.get('scope')).toBe('a b');
  });
});

describe('logging out', () => {
  it('takes the token away at once, tells the authorization server, and brings nothing back', async () => {
    const { fake, daemon } = await givenLogin();
    expect((await daemon.api('DELETE', '/v1/mcp/oauth', { name: 'web' })).body).toEqual({ ok: true });
    expect(fake.count('/revoke')).toBe(2);
    expect(await hasToken(daemon)).toBe(false);
    await daemon.waitForServer('web', 'auth-required');
    const signed = fake.seen.filter(({ path, headers }) => path === '/mcp' && headers.authorization);
    const count = signed.length;
    await daemon.api('POST', '/v1/mcp/reconnect', { name: 'web' });
    expect(fake.seen.filter(({ path, headers }) => path === '/mcp' && headers.authorization)).toHaveLength(count);
    expect((await loginFacts(daemon, 'CredentialsDeleted'))[0].data).toEqual({
      server: 'web',
      by: 'person',
      revoked: true,
      client: 'deleted',
    });
    expect((await daemon.api('DELETE', '/v1/mcp/oauth', { name: 'nobody' })).status).toBe(404);
  });

  it('while a token is being renewed leaves none behind', async () => {
    const { fake, daemon } = await givenLogin({ refreshDelayMs: 500 });
    fake.expireAll();
    const call = daemon.call('mcp__web__echo', { text: 'x' });
    await daemon.waitFor(() => fake.count('/token', 'refresh_token') === 1);
    await daemon.api('DELETE', '/v1/mcp/oauth', { name: 'web' });
    await call;
    expect(await hasToken(daemon)).toBe(false);
    await daemon.restart();
    await daemon.waitForServer('web', 'auth-required');
    expect(await hasToken(daemon)).toBe(false);
  });

  it('comes with the removal of the server', async () => {
    const { fake, daemon } = await givenLogin();
    await daemon.api('POST', '/v1/mcp/remove', { name: 'web' });
    await daemon.api('POST', '/v1/mcp', { name: 'web', server: entryOf(fake) });
    await daemon.waitForServer('web', 'auth-required');
    expect(await hasToken(daemon)).toBe(false);
    expect(fake.count('/revoke')).toBe(2);
  });

  it('comes with the removal of the server also while no daemon runs, for every address it ever had', async () => {
    const { fake, daemon } = await givenLogin();
    const other = await startOAuthFake();
    daemon.writeConfig({ web: entryOf(other) });
    await daemon.waitForServer('web', 'auth-required');
    await logIn(daemon, 'web', other);
    await daemon.stop();
    daemon.writeConfig({});
    await daemon.restart();
    await daemon.waitFor(async () => (await loginFacts(daemon, 'CredentialsDeleted')).length === 2);
    daemon.writeConfig({ web: entryOf(fake) });
    await daemon.waitForServer('web', 'auth-required');
    expect(await hasToken(daemon)).toBe(false);
  });

  it('happens by itself where the address becomes another one', async () => {
    const { fake, daemon } = await givenLogin();
    const other = await startOAuthFake();
    await daemon.api('POST', '/v1/mcp', { name: 'web', server: entryOf(other) });
    await daemon.waitForServer('web', 'auth-required');
    expect(other.seen.some(({ headers }) => headers.authorization)).toBe(false);
    expect(fake.secrets.length).toBeGreaterThan(0);
  });
});

describe('a login that Agenvoy has', () => {
  it('is taken over when a person asks for it, and only for the authorization server it came from', async () => {
    const { fake, daemon } = await given();
    const { client, tokens } = await fake.loginOfAnother();
    const write = (token_url: string) =>
      writeFileSync(
        join(dirname(daemon.config), '.secrets'),
        `OTHER=1\nMCP_OAUTH_WEB=${JSON.stringify({ client_id: client, token_url, auth_style: 0, ...tokens, expiry: '0001-01-01T00:00:00Z' })}\nMCP_OAUTH_CLIENT_WEB=${JSON.stringify({ client_id: client, dynamic: true })}\n`,
      );
    const adopt = () => daemon.api('POST', '/v1/mcp/oauth/adopt', { name: 'web' });
    expect((await adopt()).body.detail).toMatch(/keeps no login of "web"/);
    write('https://elsewhere.example/token');
    expect((await adopt()).body.detail).toMatch(/another authorization server/);
    expect(await hasToken(daemon)).toBe(false);
    write(`${fake.origin}/token`);
    expect((await adopt()).body).toEqual({ ok: true });
    expect((await daemon.server('web')).state).toBe('ready');
    fake.expireAll();
    expect((await daemon.call('mcp__web__echo', { text: 'x' })).body.outcome).toBe('succeeded');
  });
});

describe('nothing secret', () => {
  it('stands in any file, log, event or answer', async () => {
    const { fake, daemon, port } = await given({ registrationStatus: 403 });
    fake.addClient('by-hand', 'by-hand-secret-value', `http://localhost:${port}/callback`);
    await daemon.api('POST', '/v1/mcp/oauth/client', {
      name: 'web',
      client_id: 'by-hand',
      client_secret: 'by-hand-secret-value',
    });
    const login = await logIn(daemon, 'web', fake);
    await daemon.waitForServer('web', 'ready');
    fake.expireAll();
    await daemon.call('mcp__web__echo', { text: 'x' });
    // The server quotes what it was sent.
    fake.endLogins();
    await daemon.call('mcp__web__echo', { text: 'x' });
    await daemon.waitForServer('web', 'auth-required');
    const answers = [];
    for (const path of [
      '/v1/mcp',
      '/v1/mcp/status',
      '/v1/events',
      '/v1/mcp/history',
      '/v1/mcp/why?name=web',
      '/health',
    ])
      answers.push(JSON.stringify((await daemon.api('GET', path)).body));
    const told = [JSON.stringify(login), ...answers, daemon.stderr(), daemon.stdout(), ...textOfFiles(daemon.home)];
    expect(fake.secrets.length).toBeGreaterThan(5);
    expect(fake.secrets.filter((secret) => told.some((text) => text.includes(secret)))).toEqual([]);
    expect(statSync(join(daemon.dir, 'credentials')).mode & 0o777).toBe(0o600);
    expect(statSync(join(daemon.dir, 'credentials.key')).mode & 0o777).toBe(0o600);
  });

  it('goes to a child, into a recording or a bundle, or to whoever looks at the processes', async () => {
    const fake = await startOAuthFake();
    const daemon = await startDaemon({
      servers: { web: entryOf(fake), child: stdioEntry(steered()) },
      settings: { oauth: { callbackPort: await freePort() } },
    });
    await daemon.waitForServer('child', 'ready');
    await daemon.waitForServer('web', 'auth-required');
    for (const name of ['web', 'child']) await daemon.api('POST', '/v1/mcp/record', { name, on: true });
    await logIn(daemon, 'web', fake);
    await daemon.call('mcp__web__echo', { text: 'x' });
    fake.expireAll();
    await daemon.call('mcp__web__echo', { text: 'x' });
    fake.faults.refusesAll = true;
    await daemon.call('mcp__web__echo', { text: 'x' });
    await daemon.waitForServer('web', 'auth-required');
    await daemon.api('POST', '/v1/mcp/reconnect', { name: 'child' });
    await daemon.waitForServer('child', 'ready');

    const processes = findByEnv('HOME', daemon.home).flatMap(({ pid }) =>
      ['cmdline', 'environ'].map((file) => readFileSync(`/proc/${pid}/${file}`, 'latin1')),
    );
    expect(processes.length).toBeGreaterThanOrEqual(4);
    const written: string[] = [];
    for (const args of [
      ['bundle', 'web', 'web.tar.gz'],
      ['fixture', 'export', 'web', 'web.fixture.json'],
      ['doctor', 'web', '--json'],
      ['why', 'web'],
      ['status', 'web'],
    ]) {
      const { code, stdout, stderr } = await runCli(daemon, args);
      expect([args[0], code === 0 || args[0] === 'doctor' ? 0 : stderr]).toEqual([args[0], 0]);
      written.push(stdout, stderr);
    }
    written.push(gunzipSync(readFileSync(join(daemon.home, 'web.tar.gz'))).toString('latin1'));
    const recorded = textOfFiles(join(daemon.dir, 'recordings'));
    expect(recorded.join('')).toContain('tools/call');
    const told = [...processes, ...written, ...textOfFiles(daemon.home)];
    expect(fake.secrets.length).toBeGreaterThan(4);
    expect(fake.secrets.filter((secret) => told.some((text) => text.includes(secret)))).toEqual([]);
  });
});
