import { describe, expect, it } from 'vitest';
import type { LoginFact } from '../../src/events/login.events.ts';
import { Logins } from '../../src/oauth/logins.ts';
import { freePort } from '../e2e/login.ts';
import { type Faults, type OAuthFake, startOAuthFake } from '../fixtures/oauth-server.ts';
import { tempDir } from '../support/temp.ts';

interface OneDaemon {
  readonly logins: Logins;
  readonly facts: LoginFact[];
  /** ms since the epoch, to be moved. */
  readonly clock: { now: number };
}

const serverOf = (fake: OAuthFake) => ({
  name: 'web',
  url: fake.url,
  headers: {},
  identity: 'abcdef0123456789',
  clientName: undefined,
  oauth: {},
});

function daemonOn(folder: string, callbackPort: number, clock = { now: Date.now() }): OneDaemon {
  const facts: LoginFact[] = [];
  const logins = new Logins({
    prefer: 'file',
    dataDir: folder,
    sharedDir: folder,
    callbackPort,
    loginMs: 10_000,
    version: '0',
    agenvoyDir: folder,
    ownPorts: () => [],
    ownAddresses: () => [],
    note: (fact) => facts.push(fact),
    warn: () => {},
    onStore: () => {},
    reconnect: async () => null,
    now: () => clock.now,
    random: () => 0.5,
  });
  return { logins, facts, clock };
}

/** Two daemons that share a store, logged in by way of the first. */
async function givenTwo(faults: Partial<Faults> = {}) {
  const fake = await startOAuthFake(faults);
  const folder = tempDir();
  const port = await freePort();
  const [one, two] = [daemonOn(folder, port), daemonOn(folder, port)];
  const login = one.logins.begin(serverOf(fake));
  await fake.browse(await login.url);
  expect(await login.done).toEqual({ ok: true });
  const first = one.logins.credentialsFor(serverOf(fake));
  const second = two.logins.credentialsFor(serverOf(fake));
  expect(await second.authorization()).toBe(await first.authorization());
  return { fake, one, two, first, second };
}

const refusal = (used: string | null) => ({ status: 401, challenge: 'Bearer error="invalid_token"', used });

describe('Two daemons with one login', () => {
  it('renew it once, whoever comes first', async () => {
    const { fake, one, two, first, second } = await givenTwo({ refreshDelayMs: 100 });
    one.clock.now += 3_600_000;
    two.clock.now += 3_600_000;
    const got = await Promise.all([first, second, first, second].map((credentials) => credentials.authorization()));
    expect(new Set(got).size).toBe(1);
    expect(fake.count('/token', 'refresh_token')).toBe(1);
    expect([...one.facts, ...two.facts].filter(({ type }) => type === 'TokenRefreshed')).toHaveLength(1);
  });

  it('use what the other has renewed, also long afterwards, and spend no old refresh token', async () => {
    const { fake, first, second } = await givenTwo();
    const old = await second.authorization();
    expect(await first.refused(refusal(await first.authorization()))).toBe(true);
    expect(await second.refused(refusal(old))).toBe(true);
    expect(await second.authorization()).toBe(await first.authorization());
    expect(fake.count('/token', 'refresh_token')).toBe(1);
  });

  it('find a login the other has made meanwhile', async () => {
    const { fake, one, first, second } = await givenTwo();
    await one.logins.logOut(serverOf(fake), 'person', false);
    expect(await first.authorization()).toBeNull();
    expect(await second.refused(refusal(await second.authorization()))).toBe(false);
    const again = one.logins.begin(serverOf(fake));
    await fake.browse(await again.url);
    await again.done;
    expect(await second.refused(refusal(null))).toBe(true);
    expect(await second.authorization()).toBe(await first.authorization());
  });
});

describe('A login', () => {
  it('is never used for another address', async () => {
    const { fake, one } = await givenTwo();
    const elsewhere = { ...serverOf(fake), url: 'https://evil.example/mcp' };
    expect(await one.logins.credentialsFor(elsewhere).authorization()).toBeNull();
    expect(await one.logins.credentialsFor(serverOf(fake)).authorization()).toMatch(/^Bearer access-/);
  });

  it('that has ended is deleted once, and says why', async () => {
    const { fake, one, first } = await givenTwo();
    fake.endLogins();
    one.clock.now += 3_600_000;
    const ends = await Promise.allSettled([first.authorization(), first.authorization()]);
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(one.facts.filter(({ type }) => type === 'LoginLost')).toHaveLength(1);
    expect(await one.logins.hasToken(serverOf(fake))).toBe(false);
  });

  it('outlives an authorization server that is gone, and is not asked for all the time', async () => {
    const { fake, one, first } = await givenTwo();
    fake.faults.tokenRefusal = { status: 500 };
    // Ahead of the end: the old token still works.
    one.clock.now += 3_600_000 - 60_000;
    for (let n = 0; n < 5; n += 1) {
      expect(await first.authorization()).toMatch(/^Bearer access-/);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    expect(fake.count('/token', 'refresh_token')).toBe(1);
    one.clock.now += 60_000;
    await expect(first.authorization()).rejects.toMatchObject({ observation: { seen: 'status', status: 500 } });
    expect(await one.logins.hasToken(serverOf(fake))).toBe(true);
    fake.faults.tokenRefusal = undefined;
    expect(await first.authorization()).toMatch(/^Bearer access-/);
  });

  it('remembers what a server wants that a login does not allow', async () => {
    const { fake, one, first } = await givenTwo({ scope: 'read' });
    const challenge = 'Bearer error="insufficient_scope", scope="write"';
    expect(await first.refused({ status: 403, challenge, used: await first.authorization() })).toBe(false);
    const login = one.logins.begin(serverOf(fake));
    expect(new URL(await login.url).searchParams.get('scope')).toBe('read write');
    login.leave();
    expect(await login.done).toMatchObject({ ok: false });
  });
});
