import { describe, expect, it } from 'vitest';
import { readChallenge } from '../../src/oauth/challenge.ts';
import { coversServer, readResourceMetadata, readServerMetadata, usualServer } from '../../src/oauth/metadata.ts';
import { issuerPlaces, resourcePlaces } from '../../src/oauth/places.ts';

describe('A challenge', () => {
  it.each<[string, object | null]>([
    ['Bearer', { resourceMetadata: undefined, scope: undefined, error: undefined }],
    ['bearer realm="x", scope="a b"', { scope: 'a b' }],
    [
      'Bearer resource_metadata="https://x/meta", error="invalid_token"',
      { resourceMetadata: 'https://x/meta', error: 'invalid_token' },
    ],
    ['Bearer error=insufficient_scope,scope=read', { error: 'insufficient_scope', scope: 'read' }],
    ['Basic realm="x, Bearer scope=no", Bearer scope="yes"', { scope: 'yes' }],
    ['Negotiate, Bearer scope="yes", Digest scope="no"', { scope: 'yes' }],
    ['Bearer error_description="a \\"quoted\\" thing", scope="s"', { scope: 's' }],
    ['Bearer scope="first", scope="second"', { scope: 'first' }],
    ['Bearer scope=""', { scope: undefined }],
    ['Bearer realm="a, b=c, Basic d", scope="s t"', { scope: 's t' }],
    ['Bearer scope="a" , Bearer scope="b"', { scope: 'a' }],
    ['Negotiate YWJjZA==, Bearer scope="s"', { scope: 's' }],
    ['DPoP algs="ES256", Bearer resource_metadata="https://x/meta"', { resourceMetadata: 'https://x/meta' }],
    ['BEARER SCOPE="s", Error="invalid_token"', { scope: 's', error: 'invalid_token' }],
    ['Bearer scope = "s"', { scope: 's' }],
    ['Bearer scope="never closed', { scope: undefined }],
    ['Bearer , , scope="s",', { scope: 's' }],
    ['Basic realm="Bearer"', null],
    ['Basic realm="x"', null],
    ['', null],
  ])('%s', (header, read) => {
    if (read === null) expect(readChallenge(header)).toBeNull();
    else expect(readChallenge(header)).toMatchObject(read);
  });

  it('of many megabytes is read as far as makes sense', () => {
    expect(readChallenge(`Bearer ${'a="b", '.repeat(500_000)}scope="far"`)).toMatchObject({ scope: undefined });
  });
});

describe('Metadata is looked for', () => {
  it.each<[string, string | undefined, string[]]>([
    ['https://a.example', undefined, ['https://a.example/.well-known/oauth-protected-resource']],
    ['https://a.example/', undefined, ['https://a.example/.well-known/oauth-protected-resource']],
    [
      'https://a.example/team/mcp/',
      undefined,
      [
        'https://a.example/.well-known/oauth-protected-resource/team/mcp',
        'https://a.example/.well-known/oauth-protected-resource',
      ],
    ],
    [
      'https://a.example/mcp?tenant=1',
      'https://b.example/meta',
      [
        'https://b.example/meta',
        'https://a.example/.well-known/oauth-protected-resource/mcp?tenant=1',
        'https://a.example/.well-known/oauth-protected-resource',
      ],
    ],
  ])('for the resource %s (said to be at %s)', (url, advertised, places) => {
    expect(resourcePlaces(new URL(url), advertised)).toEqual(places);
  });

  it.each([
    [
      'https://as.example',
      [
        'https://as.example/.well-known/oauth-authorization-server',
        'https://as.example/.well-known/openid-configuration',
      ],
    ],
    [
      'https://as.example/tenant/1',
      [
        'https://as.example/.well-known/oauth-authorization-server/tenant/1',
        'https://as.example/.well-known/openid-configuration/tenant/1',
        'https://as.example/tenant/1/.well-known/openid-configuration',
      ],
    ],
  ])('for the issuer %s', (issuer, places) => {
    expect(issuerPlaces(new URL(issuer))).toEqual(places);
  });
});

describe('Metadata of a resource', () => {
  it.each([
    ['https://a.example', 'https://a.example/mcp', true],
    ['https://a.example/', 'https://a.example/mcp', true],
    ['https://a.example/mcp', 'https://a.example/mcp', true],
    ['https://a.example/mcp/', 'https://a.example/mcp', true],
    ['https://a.example/mcp', 'https://a.example/mcp2', false],
    ['https://a.example/mcp/deeper', 'https://a.example/mcp', false],
    ['https://b.example/mcp', 'https://a.example/mcp', false],
    ['http://a.example/mcp', 'https://a.example/mcp', false],
  ])('%s covers %s: %s', (resource, server, covers) => {
    expect(coversServer(resource, new URL(server))).toBe(covers);
  });

  it('keeps the resource as it is spelled', () => {
    const read = readResourceMetadata({ resource: 'https://A.example' }, new URL('https://a.example/mcp'));
    expect(read).toEqual({
      ok: true,
      value: { resource: 'https://A.example', authorizationServers: [], scopes: undefined },
    });
  });

  it.each([[null], [[]], ['x'], [{}], [{ resource: 7 }], [{ resource: 'nowhere' }]])('%j is none', (document) => {
    expect(readResourceMetadata(document, new URL('https://a.example'))).toMatchObject({ ok: false });
  });
});

describe('Metadata of an authorization server', () => {
  const rules = { local: false, ownPorts: [], ownAddresses: [], server: 'a.example' };
  const good = {
    issuer: 'https://as.example',
    authorization_endpoint: 'https://as.example/authorize',
    token_endpoint: 'https://as.example/token',
    code_challenge_methods_supported: ['plain', 'S256'],
  };

  it('is read with what may be missing', () => {
    expect(readServerMetadata(good, 'https://as.example', rules)).toEqual({
      ok: true,
      value: {
        issuer: 'https://as.example',
        authorizationEndpoint: 'https://as.example/authorize',
        tokenEndpoint: 'https://as.example/token',
        registrationEndpoint: null,
        revocationEndpoint: null,
        authMethods: null,
        scopes: null,
        documentsAsClients: false,
        sendsIssuer: false,
      },
    });
  });

  it.each<[string, object, RegExp]>([
    ['https://as.example/', {}, /^$/],
    ['https://other.example', {}, /another issuer/],
    ['https://as.example/tenant', {}, /another issuer/],
    ['https://AS.example', {}, /another issuer/],
    ['https://as.example', { issuer: 'https://as.example/' }, /another issuer/],
    ['https://as.example', { issuer: undefined }, /no issuer/],
    ['https://as.example', { code_challenge_methods_supported: ['plain'] }, /PKCE/],
    ['https://as.example', { response_types_supported: ['token'] }, /by code/],
    ['https://as.example', { token_endpoint: undefined }, /lacks/],
    ['https://as.example', { registration_endpoint: 'http://as.example/r' }, /registration_endpoint .*not encrypted/],
    ['https://as.example', { revocation_endpoint: 'https://169.254.0.1' }, /revocation_endpoint .*link-local/],
  ])('asked for as %s with %j', (issuer, more, reason) => {
    const read = readServerMetadata({ ...good, ...more }, issuer, rules);
    expect(read.ok ? '' : read.reason).toMatch(reason);
  });

  it('may be missing altogether with servers of the first revision', () => {
    expect(usualServer('https://a.example')).toMatchObject({
      authorizationEndpoint: 'https://a.example/authorize',
      tokenEndpoint: 'https://a.example/token',
      registrationEndpoint: 'https://a.example/register',
    });
  });
});
