/** What is asked of an authorization server, by way of the SDK; its answers and errors without anything secret. */

import { errorCode } from './callback.verdict.ts';
import type { CheckedFetch } from './checked.fetch.ts';
import { statusTrouble, trouble } from './checked.fetch.ts';
import { authMethodFor } from './client.choice.ts';
import { bareOf, type ServerMetadata } from './metadata.ts';
import type { StoredClient, StoredTokens } from './record.ts';
import { loadSdk } from './sdk.ts';
import { type TokenAnswer, tidied, tokenFault } from './tokens.ts';
import { LoginError, Refused } from './trouble.ts';

type ClientOf = StoredTokens['client'];

/** The address to open, and the verifier that must come with the code. */
export async function authorization(
  metadata: ServerMetadata,
  of: { client: { id: string }; redirectUri: string; scope: string | null; state: string; resource: string },
): Promise<{ url: URL; verifier: string }> {
  const { startAuthorization } = await loadSdk();
  const { authorizationUrl, codeVerifier } = await startAuthorization(metadata.issuer, {
    metadata: forSdk(metadata),
    clientInformation: { client_id: of.client.id },
    redirectUrl: of.redirectUri,
    ...(of.scope === null ? {} : { scope: of.scope }),
    state: of.state,
    resource: of.resource,
  });
  // Google gives a token that can be renewed only to those who ask for it in its own words.
  if (authorizationUrl.hostname === 'accounts.google.com') {
    authorizationUrl.searchParams.set('access_type', 'offline');
    authorizationUrl.searchParams.set('prompt', 'consent');
  }
  return { url: authorizationUrl, verifier: codeVerifier };
}

/** Code for tokens. */
export async function exchangeCode(
  metadata: ServerMetadata,
  of: {
    client: ClientOf;
    code: string;
    verifier: string;
    redirectUri: string;
    resource: string;
    iss: string | undefined;
  },
  fetch: CheckedFetch,
): Promise<TokenAnswer> {
  const { exchangeAuthorization } = await loadSdk();
  return answered(metadata.tokenEndpoint, fetch, (watched) =>
    exchangeAuthorization(metadata.issuer, {
      metadata: forSdk(metadata),
      clientInformation: information(of.client),
      authorizationCode: of.code,
      codeVerifier: of.verifier,
      redirectUri: of.redirectUri,
      resource: of.resource,
      ...(of.iss === undefined ? {} : { iss: of.iss }),
      fetchFn: watched,
    }),
  );
}

/** New tokens for a refresh token. */
export async function renew(tokens: StoredTokens & { refresh: string }, fetch: CheckedFetch): Promise<TokenAnswer> {
  const { refreshAuthorization } = await loadSdk();
  return answered(tokens.tokenEndpoint, fetch, (watched) =>
    refreshAuthorization(tokens.issuer, {
      metadata: {
        issuer: tokens.issuer,
        authorization_endpoint: tokens.tokenEndpoint,
        token_endpoint: tokens.tokenEndpoint,
        response_types_supported: ['code'],
        ...(tokens.authMethods === null ? {} : { token_endpoint_auth_methods_supported: tokens.authMethods }),
      },
      clientInformation: information(tokens.client),
      refreshToken: tokens.refresh,
      resource: tokens.resource,
      fetchFn: watched,
    }),
  );
}

/** A new client of the authorization server (RFC 7591). */
export async function register(
  metadata: ServerMetadata,
  of: { clientName: string; redirectUri: string; scope: string | null },
  fetch: CheckedFetch,
): Promise<StoredClient> {
  const { registerClient, RegistrationRejectedError } = await loadSdk();
  try {
    const made = await registerClient(metadata.issuer, {
      metadata: forSdk(metadata),
      clientMetadata: {
        client_name: of.clientName,
        redirect_uris: [of.redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: authMethodFor(metadata.authMethods),
        application_type: 'native',
      },
      ...(of.scope === null ? {} : { scope: of.scope }),
      fetchFn: fetch,
    });
    const expires = made.client_secret_expires_at;
    return {
      id: made.client_id,
      secret: made.client_secret ?? null,
      authMethod: made.token_endpoint_auth_method ?? null,
      redirectUri: of.redirectUri,
      kind: 'registered',
      issuer: metadata.issuer,
      secretExpiresAt: expires === undefined || expires === 0 ? null : expires * 1_000,
    };
  } catch (error) {
    if (error instanceof LoginError) throw error;
    const target = bareOf(metadata.registrationEndpoint ?? metadata.issuer);
    if (RegistrationRejectedError.isInstance(error)) {
      if (error.status === 429 || error.status >= 500) throw statusTrouble(target, error.status);
      const said = codeIn(error.body);
      throw new Refused(
        'registration',
        `${target} does not register clients by itself (HTTP ${error.status}${said === null ? '' : `, ${said}`})`,
      );
    }
    throw new LoginError(`${target} answered a registration with something that cannot be used.`);
  }
}

/** Tells the authorization server that a token is not needed any more (RFC 7009). Resolves with whether it took note. */
export async function revoke(
  tokens: StoredTokens,
  kind: 'access_token' | 'refresh_token',
  fetch: CheckedFetch,
): Promise<boolean> {
  const token = kind === 'access_token' ? tokens.access : tokens.refresh;
  if (tokens.revocationEndpoint === null || token === null) return false;
  const { id, secret } = tokens.client;
  const body = new URLSearchParams({ token, token_type_hint: kind });
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' };
  const inBody = secret === null || tokens.client.authMethod === 'client_secret_post';
  if (inBody) {
    body.set('client_id', id);
    if (secret !== null) body.set('client_secret', secret);
  } else {
    const pair = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`;
    headers.authorization = `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`;
  }
  try {
    return (await fetch(tokens.revocationEndpoint, { method: 'POST', headers, body })).ok;
  } catch {
    return false;
  }
}

/**
 * Runs one exchange with a token endpoint. What the SDK says of an answer may quote all of it, so its words are never
 * passed on: status and error code are read here, beside it.
 */
async function answered(
  endpoint: string,
  fetch: CheckedFetch,
  run: (watched: CheckedFetch) => Promise<TokenAnswer>,
): Promise<TokenAnswer> {
  const target = bareOf(endpoint);
  let status = 0;
  const watched: CheckedFetch = async (url, init) => {
    const answer = await fetch(url, init);
    status = answer.status;
    return answer.ok ? withTidyBody(answer) : answer;
  };
  const { OAuthError } = await loadSdk();
  let answer: TokenAnswer;
  try {
    answer = await run(watched);
  } catch (error) {
    if (error instanceof LoginError) throw error;
    if (status === 429 || status >= 500) throw statusTrouble(target, status);
    if (OAuthError.isInstance(error) && error.code !== 'server_error') {
      const code = errorCode(error.code);
      if (code === 'temporarily_unavailable' || code === 'slow_down') throw statusTrouble(target, 503);
      throw new Refused(code, `${target} refused (${code})`);
    }
    // Servers that have forgotten a client say so by the status alone.
    if (status === 401) throw new Refused('invalid_client', `${target} refused (HTTP 401)`);
    if (status === 0) throw trouble(target, 'UNKNOWN');
    if (status >= 400) throw statusTrouble(target, status);
    throw new LoginError(`${target} answered with something that is no token.`);
  }
  const fault = tokenFault(answer);
  if (fault !== null) throw new LoginError(`${target} ${fault}.`);
  return answer;
}

async function withTidyBody(answer: Response): Promise<Response> {
  const text = await answer.text();
  const { status, headers } = answer;
  try {
    return new Response(JSON.stringify(tidied(JSON.parse(text))), { status, headers });
  } catch {
    return new Response(text, { status, headers });
  }
}

const information = ({ id, secret, authMethod }: ClientOf) => ({
  client_id: id,
  ...(secret === null ? {} : { client_secret: secret }),
  ...(authMethod === null ? {} : { token_endpoint_auth_method: authMethod }),
});

/** The metadata in the words of the specification. */
function forSdk(metadata: ServerMetadata) {
  return {
    issuer: metadata.issuer,
    authorization_endpoint: metadata.authorizationEndpoint,
    token_endpoint: metadata.tokenEndpoint,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: metadata.sendsIssuer,
    ...(metadata.registrationEndpoint === null ? {} : { registration_endpoint: metadata.registrationEndpoint }),
    ...(metadata.authMethods === null ? {} : { token_endpoint_auth_methods_supported: [...metadata.authMethods] }),
  };
}

function codeIn(body: string): string | null {
  try {
    const { error } = JSON.parse(body) as { error?: unknown };
    return typeof error === 'string' ? errorCode(error) : null;
  } catch {
    return null;
  }
}
