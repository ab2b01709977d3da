import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LoginFact } from '../../src/events/login.events.ts';
import { LoginAccount } from '../../src/oauth/account.ts';
import { Logins } from '../../src/oauth/logins.ts';
import { type Vault, VaultError } from '../../src/oauth/store.ts';
import { freePort } from '../e2e/login.ts';
import { type Faults, type OAuthFake, startOAuthFake } from '../fixtures/oauth-server.ts';
import { tempDir } from '../support/temp.ts';
import { until } from '../support/wait.ts';

interface OneDaemon {
  readonly logins: Logins;
  readonly facts: LoginFact[];
  /** ms since the epoch, to be moved. */
  readonly clock: { now: number };
  readonly folder: string;
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
    note: async (fact) => facts.push(fact),
    warn: () => {},
    onStore: () => {},
    reconnect: async () => null,
    now: () => clock.now,
    random: () => 0.5,
  });
  return { logins, facts, clock, folder };
}

async function givenOne(faults: Partial<Faults> = {}) {
  const fake = await startOAuthFake(faults);
  return { fake, one: daemonOn(tempDir(), await freePort()) };
}

/** How a login ends whose browser comes back by itself. */
async function loggedIn(fake: OAuthFake, { logins }: OneDaemon) {
  const login = logins.begin(serverOf(fake));
  await fake.browse(await login.url);
  return login.done;
}

/** Two daemons that share a store, logged in by way of the first. */
async function givenTwo(faults: Partial<Faults> = {}) {
  const fake = await startOAuthFake(faults);
  const folder = tempDir();
  const port = await freePort();
  const [one, two] = [daemonOn(folder, port), daemonOn(folder, port)];
  expect(await loggedIn(fake, one)).toEqual({ ok: true });
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

describe('An answer with tokens', () => {
  const soon = (s: number) => (now: number) => now + s * 1_000;
  it.each<[string, Record<string, unknown>, (now: number) => number | null]>([
    ['whose life is a text', { expires_in: '60' }, soon(60)],
    ['whose life is a word', { expires_in: 'soon' }, () => null],
    ['whose life is null', { expires_in: null }, () => null],
    ['whose life is over', { expires_in: -5 }, () => null],
    ['whose life is nothing', { expires_in: 0 }, () => null],
    ['whose life has no end to speak of', { expires_in: 1e300 }, () => null],
    ['whose life is an object', { expires_in: {} }, () => null],
    ['without a type', { token_type: undefined }, soon(3_600)],
    ['of a type in other letters', { token_type: 'bEARER' }, soon(3_600)],
    ['with members that are null', { refresh_token: null, scope: null, id_token: null }, soon(3_600)],
    ['with members nobody knows', { sub: { a: 1 }, scope: 'read  write' }, soon(3_600)],
  ])('%s is good for a login', async (_what, tokenPatch, end) => {
    const { fake, one } = await givenOne({ tokenPatch });
    expect(await loggedIn(fake, one)).toEqual({ ok: true });
    const ended = one.facts.find(({ type }) => type === 'LoginEnded');
    expect(ended?.data).toMatchObject({ expiresAt: end(one.clock.now) });
    const header = await one.logins.credentialsFor(serverOf(fake)).authorization();
    expect(header).toBe(`Bearer ${fake.secrets.findLast((secret) => secret.startsWith('access-'))}`);
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['of another type', { token_type: 'mac' }, /kind this program cannot use/],
    ['of a type that is none', { token_type: 7 }, /no token/],
    ['without a token', { access_token: undefined }, /no token/],
    ['with an empty token', { access_token: '' }, /no token/],
    ['with a number for a token', { access_token: 12345678 }, /no token/],
    ['with a token that would break a header', { access_token: 'access-x\r\nX-Evil: 1' }, /no header can hold/],
    ['with a token outside of ASCII', { access_token: 'access-ü' }, /no header can hold/],
    ['with a refresh token that is none', { refresh_token: ['refresh-x'] }, /no token/],
  ])('%s ends the login, in words that hold nothing of it', async (_what, tokenPatch, reason) => {
    const { fake, one } = await givenOne({ tokenPatch });
    const end = await loggedIn(fake, one);
    expect(end).toEqual({ ok: false, error: expect.stringMatching(reason) });
    expect(JSON.stringify([end, one.facts])).not.toMatch(/access-|refresh-|Evil|12345678/);
    expect(await one.logins.hasToken(serverOf(fake))).toBe(false);
  });
});

describe('A clock that is set back', () => {
  it('keeps no login from being renewed', async () => {
    const { fake, one, first } = await givenTwo();
    expect(await first.refused(refusal(await first.authorization()))).toBe(true);
    one.clock.now -= 7_200_000;
    fake.expireAll();
    expect(await first.refused(refusal(await first.authorization()))).toBe(true);
    expect(fake.count('/token', 'refresh_token')).toBe(2);
  });
});

describe('A store that takes nothing', () => {
  /** A store in memory whose writes can be made to fail. */
  function shaky() {
    const texts = new Map<string, string>();
    const state = { fails: false };
    const vault: Vault = {
      kind: 'file',
      read: async (account) => texts.get(account) ?? null,
      write: async (account, text) => {
        if (state.fails) throw new VaultError('the disk is full');
        texts.set(account, text);
      },
      erase: async (account) => texts.delete(account),
      check: async () => {},
    };
    return { texts, state, vault };
  }

  it('does not cost a login whose token was just renewed; it is written when that is possible again', async () => {
    const fake = await startOAuthFake();
    const folder = tempDir();
    const { texts, state, vault } = shaky();
    const clock = { now: Date.now() };
    const warnings: string[] = [];
    const make = () =>
      new LoginAccount({
        name: 'web',
        identity: 'abcdef0123456789',
        vault: async () => ({ vault, where: 'here', why: null, lockOf: (account) => join(folder, account) }),
        ownPorts: () => [],
        ownAddresses: () => [],
        note: async () => {},
        warn: (_server, message) => warnings.push(message),
        now: () => clock.now,
        random: () => 0.5,
      }).at(fake.url);
    const account = make();
    const { client, tokens } = await fake.loginOfAnother();
    await account.keep(
      {
        issuer: fake.issuer,
        tokenEndpoint: `${fake.origin}/token`,
        revocationEndpoint: null,
        authMethods: null,
        client: { id: client, secret: null, authMethod: null, kind: 'registered' },
        resource: fake.url,
        scope: null,
        access: String(tokens.access_token),
        refresh: String(tokens.refresh_token),
        expiresAt: clock.now + 3_600_000,
        obtainedAt: clock.now,
      },
      null,
    );
    const old = await account.authorization();
    state.fails = true;
    expect(await account.refused(refusal(old))).toBe(true);
    const fresh = await account.authorization();
    expect(fresh).not.toBe(old);
    expect(warnings).toEqual([expect.stringMatching(/could not be kept yet: the disk is full/)]);
    expect([...texts.values()].join()).not.toContain(String(fresh).slice(7));
    // A request that is refused meanwhile does not fall back to what the store still holds.
    expect(await account.refused(refusal(old))).toBe(true);

    state.fails = false;
    clock.now += 31_000;
    expect(await account.authorization()).toBe(fresh);
    await until(() => [...texts.values()].join().includes(String(fresh).slice(7)), {
      what: 'the renewed token in the store',
    });
    expect(await make().authorization()).toBe(fresh);
    expect(fake.count('/token', 'refresh_token')).toBe(1);
  });
});

describe('The client that a login was made as', () => {
  it('goes when the server has forgotten it, and a newer one of another daemon stays', async () => {
    const { fake, one, two } = await givenTwo();
    const late = one.logins.begin(serverOf(fake));
    const back = await fake.approve(await late.url);
    // The other daemon registers anew and logs in before this one comes back.
    fake.forgetClients();
    await two.logins.logOut(serverOf(fake), 'person', false);
    const port = await freePort();
    const third = daemonOn(one.folder, port);
    expect(await loggedIn(fake, third)).toEqual({ ok: true });
    expect((await fetch(back)).status).toBe(400);
    expect(await late.done).toMatchObject({ ok: false, error: expect.stringMatching(/forgotten the client/) });
    expect(await third.logins.hasToken(serverOf(fake))).toBe(true);
    const fourth = daemonOn(one.folder, port);
    expect(await fourth.logins.hasToken(serverOf(fake))).toBe(true);
  });
});
