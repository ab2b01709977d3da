/** With a real Secret Service: a private session bus and a GNOME keyring of its own. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { type OAuthFake, startOAuthFake } from '../fixtures/oauth-server.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { type Keyring, startKeyring } from '../support/keyring.ts';
import { needs } from '../support/needs.ts';
import { tempDir } from '../support/temp.ts';
import { freePort, logIn, loginStream, textOfFiles } from './login.ts';

interface Given {
  readonly keyring: Keyring;
  readonly fake: OAuthFake;
  readonly daemon: Daemon;
}

async function given(
  context: TestContext,
  { empty = false, store = 'auto', more = {} }: { empty?: boolean; store?: string; more?: Record<string, string> } = {},
): Promise<Given> {
  needs(context, 'keyring');
  const keyring = await startKeyring({ empty });
  const fake = await startOAuthFake();
  const daemon = await startDaemon({
    servers: { web: { url: fake.url, auth: 'oauth' } },
    settings: { oauth: { callbackPort: await freePort(), store } },
    env: { ...keyring.env, ...more },
  });
  return { keyring, fake, daemon };
}

async function givenLogin(context: TestContext): Promise<Given> {
  const all = await given(context);
  await all.daemon.waitForServer('web', 'auth-required');
  expect(await logIn(all.daemon, 'web', all.fake)).toEqual({ done: true, ok: true });
  await all.daemon.waitForServer('web', 'ready');
  return all;
}

const echo = async (daemon: Daemon): Promise<string> =>
  (await daemon.call('mcp__web__echo', { text: 'x' })).body.outcome;
const storeOf = async (daemon: Daemon): Promise<unknown> => (await daemon.api('GET', '/health')).body.credentials;
const inClear = (fake: OAuthFake, ...folders: string[]): string[] => {
  const texts = folders.flatMap(textOfFiles);
  return fake.secrets.filter((secret) => texts.some((text) => text.includes(secret)));
};

describe('Where a Secret Service answers', () => {
  it('tokens are there and nothing of them is on disk, over a restart and until the logout', async (context) => {
    const { keyring, fake, daemon } = await givenLogin(context);
    expect(await storeOf(daemon)).toMatchObject({ store: 'keychain', why: null });
    const kept = () => keyring.look({ service: 'watchkeeper' });
    const newest = () => fake.secrets.filter((secret) => /^(?:access|refresh)-/.test(secret)).slice(-2);
    for (const secret of newest()) expect(kept()).toContain(secret);

    await daemon.restart();
    await daemon.waitForServer('web', 'ready');
    expect(fake.count('/authorize')).toBe(1);
    fake.expireAll();
    expect(await echo(daemon)).toBe('succeeded');
    for (const secret of newest()) expect(kept()).toContain(secret);

    // With the database, its write-ahead log, and what the keyring itself has written.
    expect(existsSync(join(daemon.dir, 'watchkeeper.db-wal'))).toBe(true);
    expect(existsSync(join(daemon.dir, 'credentials'))).toBe(false);
    expect(fake.secrets.length).toBeGreaterThan(4);
    expect(inClear(fake, daemon.home, keyring.home)).toEqual([]);

    await daemon.api('DELETE', '/v1/mcp/oauth', { name: 'web' });
    expect(kept()).toBeNull();
    await daemon.restart();
    await daemon.waitForServer('web', 'auth-required');
    expect((await daemon.api('GET', '/v1/mcp')).body.oauth).toEqual({ web: false });
  });

  it('a locked one is named before anybody is sent to a browser, and nothing goes into a file', async (context) => {
    const { keyring, fake, daemon } = await given(context);
    await daemon.waitForServer('web', 'auth-required');
    keyring.lock();
    const login = loginStream(daemon, 'web');
    expect(await login.done).toMatchObject({ ok: false, error: expect.stringMatching(/keychain.*locked; unlock it/) });
    expect(login.text()).not.toMatch(/"url"/);
    expect(fake.count('/register')).toBe(0);
    expect(existsSync(join(daemon.dir, 'credentials'))).toBe(false);
    await keyring.unlock();
    expect(await logIn(daemon, 'web', fake)).toEqual({ done: true, ok: true });
  });

  it('a login in one that is locked at the start is named, not lost, and there when it is opened', async (context) => {
    const { keyring, fake, daemon } = await givenLogin(context);
    await daemon.stop();
    await keyring.vanish();
    await keyring.comeBack('locked');
    await daemon.restart();
    const row = await daemon.waitForServer('web', (server) => server.error !== null);
    expect(row.error.message).toMatch(/keychain.*locked; unlock it/);
    expect(row.state).not.toBe('auth-required');
    expect((await daemon.api('GET', '/v1/mcp')).body.oauth).toEqual({ web: false });
    expect(existsSync(join(daemon.dir, 'credentials'))).toBe(false);
    await keyring.unlock();
    await daemon.waitForServer('web', 'ready', 30_000);
    expect(fake.count('/authorize')).toBe(1);
  });

  it('one that vanishes while the daemon runs costs no login', async (context) => {
    const { keyring, fake, daemon } = await givenLogin(context);
    await keyring.vanish();
    // What is held in memory is good for as long as it lasts.
    expect(await echo(daemon)).toBe('succeeded');
    fake.expireAll();
    expect(await echo(daemon)).not.toBe('succeeded');
    const row = await daemon.waitForServer('web', (server) => server.state !== 'ready');
    expect(row.error.message).toMatch(/keychain/);
    // The refresh token is not spent on something that could not be kept.
    expect(fake.count('/token', 'refresh_token')).toBe(0);
    await keyring.comeBack();
    await daemon.waitForServer('web', 'ready', 30_000);
    expect(await echo(daemon)).toBe('succeeded');
    expect(fake.count('/authorize')).toBe(1);
    expect(inClear(fake, daemon.home)).toEqual([]);
  });

  it('one that nobody has ever opened is left alone, and the file is used and named', async (context) => {
    const { fake, daemon } = await given(context, { empty: true });
    await daemon.waitForServer('web', 'auth-required');
    expect(await logIn(daemon, 'web', fake)).toEqual({ done: true, ok: true });
    expect(await storeOf(daemon)).toMatchObject({ store: 'file', why: expect.stringMatching(/no keyring/) });
    await daemon.restart();
    await daemon.waitForServer('web', 'ready');
    fake.expireAll();
    expect(await echo(daemon)).toBe('succeeded');
    expect(inClear(fake, daemon.home)).toEqual([]);
  });

  it('one that nobody has ever opened is an error where the setting wants a keychain', async (context) => {
    const { daemon } = await given(context, { empty: true, store: 'keychain' });
    await daemon.waitForServer('web', 'auth-required');
    const login = loginStream(daemon, 'web');
    expect(await login.done).toMatchObject({ ok: false, error: expect.stringMatching(/no keyring/) });
    expect(login.text()).not.toMatch(/"url"/);
    expect(existsSync(join(daemon.dir, 'credentials'))).toBe(false);
  });

  it('two daemons that share one renew a login once, and log out together', async (context) => {
    const shared = { XDG_DATA_HOME: tempDir() };
    const { keyring, fake, daemon: one } = await given(context, { more: shared });
    await one.waitForServer('web', 'auth-required');
    await logIn(one, 'web', fake);
    const two = await startDaemon({
      servers: { web: { url: fake.url, auth: 'oauth' } },
      settings: { oauth: { callbackPort: await freePort() } },
      env: { ...keyring.env, ...shared },
    });
    await two.waitForServer('web', 'ready');
    expect(fake.count('/authorize')).toBe(1);
    fake.faults.refreshDelayMs = 200;
    fake.expireAll();
    const outcomes = await Promise.all(Array.from({ length: 10 }, (_, n) => echo(n % 2 === 0 ? one : two)));
    expect(outcomes).toEqual(outcomes.map(() => 'succeeded'));
    expect(fake.count('/token', 'refresh_token')).toBe(1);
    await one.api('DELETE', '/v1/mcp/oauth', { name: 'web' });
    await echo(two);
    await two.waitForServer('web', 'auth-required');
    expect(keyring.look({ service: 'watchkeeper' })).toBeNull();
  });

  it('a login that Agenvoy keeps there is taken over, and stays there', async (context) => {
    const { keyring, fake, daemon } = await given(context);
    await daemon.waitForServer('web', 'auth-required');
    const { client, tokens } = await fake.loginOfAnother();
    const entry = JSON.stringify({ client_id: client, token_url: `${fake.origin}/token`, auth_style: 0, ...tokens });
    keyring.put({ service: 'agenvoy', account: 'MCP_OAUTH_WEB' }, entry);
    expect((await daemon.api('POST', '/v1/mcp/oauth/adopt', { name: 'web' })).body).toEqual({ ok: true });
    await daemon.waitForServer('web', 'ready');
    expect(keyring.look({ service: 'agenvoy' })).toBe(entry);
    expect(keyring.look({ service: 'watchkeeper' })).toContain(client);
  });
});
