import { describe, expect, it } from 'vitest';
import { accountOf } from '../../src/oauth/account.ts';
import { authMethodFor, type ClientSources, chooseClient } from '../../src/oauth/client.choice.ts';
import type { StoredClient, StoredTokens } from '../../src/oauth/record.ts';
import { readRecord, secretsOf } from '../../src/oauth/record.ts';
import { redirectFault, usualRedirect } from '../../src/oauth/redirect.ts';
import { chooseScope, type ScopeSources } from '../../src/oauth/scopes.ts';
import { dueAt, renewed } from '../../src/oauth/tokens.ts';

const client: StoredClient = {
  id: 'stored',
  secret: null,
  authMethod: 'none',
  redirectUri: 'http://localhost:17988/callback',
  kind: 'registered',
  issuer: 'https://as.example',
  secretExpiresAt: null,
};
const tokens: StoredTokens = {
  issuer: 'https://as.example',
  tokenEndpoint: 'https://as.example/token',
  revocationEndpoint: null,
  authMethods: null,
  client: { id: 'stored', secret: 'client-secret', authMethod: null, kind: 'registered' },
  resource: 'https://a.example/mcp',
  scope: 'read',
  access: 'access-1',
  refresh: 'refresh-1',
  expiresAt: 3_600_000,
  obtainedAt: 0,
};

describe('The client of a login', () => {
  const nothing: ClientSources = {
    stored: null,
    clientId: undefined,
    documentUrl: undefined,
    metadata: {
      issuer: 'https://as.example',
      registrationEndpoint: 'https://as.example/register',
      documentsAsClients: false,
    },
    redirectUri: 'http://localhost:17988/callback',
    now: 1_000,
  };
  const given = { ...client, id: 'given', kind: 'given', issuer: null, redirectUri: 'http://127.0.0.1:9/cb' } as const;
  const documents = { ...nothing.metadata, documentsAsClients: true };
  const documentUrl = 'https://me.example/client.json';

  it.each<[string, Partial<ClientSources>, object]>([
    ['nothing but a place to register', {}, { kind: 'register' }],
    ['nowhere to register', { metadata: { ...nothing.metadata, registrationEndpoint: null } }, { kind: 'none' }],
    ['one registered before', { stored: client }, { kind: 'registered', id: 'stored' }],
    [
      'one registered with another issuer',
      { stored: { ...client, issuer: 'https://old.example' } },
      { kind: 'register' },
    ],
    ['one registered for another port', { stored: { ...client, redirectUri: usualRedirect(9) } }, { kind: 'register' }],
    ['one whose secret has expired', { stored: { ...client, secretExpiresAt: 999 } }, { kind: 'register' }],
    ['one whose secret has not', { stored: { ...client, secretExpiresAt: 1_001 } }, { kind: 'registered' }],
    ['a document nobody asks for', { documentUrl }, { kind: 'register' }],
    ['a document', { documentUrl, metadata: documents }, { kind: 'document', id: documentUrl }],
    [
      'a document that cannot be fetched',
      { documentUrl: 'http://me.example/c', metadata: documents },
      { kind: 'register' },
    ],
    [
      'a document and one registered before',
      { documentUrl, metadata: documents, stored: client },
      { kind: 'document' },
    ],
    [
      'an id in the entry',
      { clientId: 'written', documentUrl, metadata: documents, stored: client },
      { kind: 'given', id: 'written' },
    ],
    [
      'one that was given',
      { stored: given, clientId: 'written' },
      { kind: 'given', id: 'given', redirectUri: 'http://127.0.0.1:9/cb' },
    ],
    ['one given and used here', { stored: { ...given, issuer: 'https://as.example' } }, { kind: 'given' }],
    [
      'one given and used elsewhere',
      { stored: { ...given, issuer: 'https://old.example' } },
      { kind: 'none', reason: expect.stringMatching(/another authorization server/) },
    ],
  ])('with %s', (_what, more, choice) => {
    expect(chooseClient({ ...nothing, ...more })).toMatchObject(choice);
  });

  it.each([
    [null, 'none'],
    [['client_secret_basic', 'none'], 'none'],
    [['client_secret_post', 'client_secret_basic'], 'client_secret_basic'],
    [['client_secret_post'], 'client_secret_post'],
    [['private_key_jwt'], 'none'],
  ])('proves itself, where %j is known, by %s', (supported, method) => {
    expect(authMethodFor(supported)).toBe(method);
  });
});

describe('The address to come back to', () => {
  it.each([
    ['http://localhost:17988/callback', null],
    ['http://localhost:17988', null],
    ['http://127.0.0.1:3000/cb?x=1', null],
    ['http://[::1]:3000/cb', null],
    ['https://localhost:17988/callback', /http:/],
    ['http://localhost/callback', /port/],
    ['http://localhost:80/callback', /port/],
    ['http://10.0.0.1:17988/callback', /this machine/],
    ['http://127.0.0.2:17988/callback', /this machine/],
    ['http://me@localhost:17988/', /user name/],
    ['http://localhost:17988/#x', /fragment/],
    ['http://localhost:17988/a b', /not an address/],
    ['nonsense', /not an address/],
  ])('%s', (address, fault) => {
    if (fault === null) expect(redirectFault(address)).toBeNull();
    else expect(redirectFault(address)).toMatch(fault);
  });
});

describe('The scopes of a login', () => {
  const nothing: ScopeSources = {
    configured: undefined,
    challenged: undefined,
    insufficient: false,
    granted: null,
    ofResource: undefined,
    ofServer: null,
  };
  it.each<[string, Partial<ScopeSources>, string | null]>([
    ['nobody wants any', {}, null],
    ['the server offers offline access and nothing is asked for', { ofServer: ['offline_access'] }, null],
    ['the challenge names them', { challenged: 'a  b', ofResource: ['c'] }, 'a b'],
    ['the resource lists them', { ofResource: ['c', 'd'] }, 'c d'],
    ['the entry says', { configured: ['e'], challenged: 'a', ofResource: ['c'] }, 'e'],
    ['offline access is known', { challenged: 'a', ofServer: ['a', 'offline_access'] }, 'a offline_access'],
    [
      'offline access is asked for already',
      { challenged: 'a offline_access', ofServer: ['offline_access'] },
      'a offline_access',
    ],
    ['more is wanted', { challenged: 'write', insufficient: true, granted: 'read' }, 'read write'],
    [
      'more is wanted than the entry says',
      { configured: ['read'], challenged: 'write', insufficient: true, granted: 'read' },
      'read write',
    ],
    ['an old token was given others', { challenged: 'a', granted: 'z' }, 'a'],
  ])('when %s', (_when, more, scope) => {
    expect(chooseScope({ ...nothing, ...more })).toBe(scope);
  });
});

describe('A token is renewed', () => {
  it.each<[string, Partial<StoredTokens>, number, number, string]>([
    ['long before its end', {}, 0, 0, 'no'],
    ['ahead, with the most of luck', {}, 3_600_000 - 10_000 - 300_000, 1, 'soon'],
    ['not yet, with the least', {}, 3_600_000 - 10_000 - 300_000, 0, 'no'],
    ['ahead, with the least', {}, 3_600_000 - 10_000 - 150_000, 0, 'soon'],
    ['before anything is sent, when it is about to end', {}, 3_600_000 - 10_000, 0, 'now'],
    ['when it has ended', {}, 9_999_999, 0, 'now'],
    ['never without a refresh token', { refresh: null }, 9_999_999, 0, 'no'],
    ['never when its end is not known', { expiresAt: null }, 9_999_999, 0, 'no'],
    ['not all the time when its life is short', { expiresAt: 4_000 }, 1_000, 1, 'no'],
    ['in time when its life is short', { expiresAt: 4_000 }, 3_000, 0, 'now'],
  ])('%s', (_when, more, now, random, due) => {
    expect(dueAt({ ...tokens, ...more }, now, random)).toBe(due);
  });

  it('and keeps what the answer leaves out', () => {
    const answer = { access_token: 'access-2', token_type: 'Bearer', expires_in: 60 };
    expect(renewed(tokens, answer, 5_000)).toEqual({
      ...tokens,
      access: 'access-2',
      obtainedAt: 5_000,
      expiresAt: 65_000,
    });
    expect(renewed(tokens, { ...answer, refresh_token: 'refresh-2', scope: 'x', expires_in: -1 }, 5_000)).toMatchObject(
      {
        refresh: 'refresh-2',
        scope: 'x',
        expiresAt: null,
      },
    );
  });
});

describe('The account under which a login is kept', () => {
  it('is another one for every name and every address, also where case does not count', () => {
    const names = ['web', 'Web', 'WEB', 'wEb', 'web-1', 'web_1'];
    const identities = ['0123456789abcdef0', 'fedcba98765432100'];
    const accounts = names.flatMap((name) => identities.map((identity) => accountOf(name, identity).toLowerCase()));
    expect(new Set(accounts).size).toBe(names.length * identities.length);
    expect(accountOf('web', identities[0] ?? '')).toBe('web.0123456789abcdef');
  });
});

describe('What is kept', () => {
  const record = { version: 1, server: 'h', client, tokens };
  it('is read again as it was written', () => {
    expect(readRecord(JSON.stringify(record))).toEqual(record);
  });
  it.each([null, '', '{', '[]', '{"version":2}', JSON.stringify({ ...record, tokens: { access: '' } })])(
    '%j is as good as nothing',
    (text) => {
      expect(readRecord(text)).toBeNull();
    },
  );
  it('tells what must not be shown', () => {
    const shown = secretsOf({ version: 1, server: 'h', client: { ...client, secret: 'own' }, tokens });
    expect(shown).toEqual(['access-1', 'refresh-1', 'client-secret', 'own']);
  });
});
