/** One login from the question whether one is wanted to tokens in the store. */
import { randomBytes } from 'node:crypto';
import { Exchanger } from '../mcp/exchange.ts';
import { Fault } from '../mcp/failure.ts';
import type { LoginAccount } from './account.ts';
import { checkUrl } from './addresses.ts';
import type { Verdict } from './callback.verdict.ts';
import { type Challenge, readChallenge } from './challenge.ts';
import { type CheckedFetch, checkedFetch } from './checked.fetch.ts';
import { type ClientChoice, chooseClient, clientAdvice } from './client.choice.ts';
import { type Discovered, discover } from './discover.ts';
import { authorization, exchangeCode, register } from './endpoint.ts';
import type { CallbackListener, Lease } from './listener.ts';
import type { ServerMetadata } from './metadata.ts';
import type { StoredClient, StoredTokens } from './record.ts';
import { usualRedirect } from './redirect.ts';
import { chooseScope } from './scopes.ts';
import type { LoginServer, Note } from './settings.ts';
import { tokensOf } from './tokens.ts';
import { LoginError, Refused } from './trouble.ts';

const PROBE_MS = 30_000;
const CLIENT_NAME = 'Watchkeeper';

export interface FlowOptions {
  readonly server: LoginServer;
  readonly account: LoginAccount;
  readonly listener: CallbackListener;
  readonly callbackPort: number;
  readonly version: string;
  readonly note: Note;
  readonly now: () => number;
  /** Ends the login: nobody waits for it any more, or its time is over. */
  readonly signal: AbortSignal;
  /** The address a person has to open; and the state by which the answer is known. */
  readonly onUrl: (url: string, state: string) => void;
}

/** A client that is chosen, with what is to be kept of it. */
interface Chosen {
  readonly client: StoredTokens['client'];
  readonly redirectUri: string;
  readonly stored: StoredClient | null;
}

/** Resolves when the tokens are kept. Rejects with a LoginError, a VaultError, or the signal's reason. */
export async function logIn(options: FlowOptions): Promise<StoredTokens> {
  const { server, account, listener, signal } = options;
  const url = new URL(server.url);
  const encrypted = checkUrl(server.url, { ...account.rules, ownPorts: [] });
  if (!encrypted.ok) throw new LoginError(`The address of the server ${encrypted.reason}; a login needs https.`);
  const fetch = checkedFetch(account.rules, signal);
  const kept = await account.kept();
  const challenge = account.challenge ?? (await askServer(server, options.version, signal));
  signal.throwIfAborted();
  const found = await discover(url, challenge?.resourceMetadata, challenge !== null, account.rules, fetch);
  const scope = scopeFor(server, challenge, kept.tokens, found);
  const choice = chooseClient({
    stored: kept.client,
    clientId: server.oauth.clientId,
    documentUrl: server.oauth.clientMetadataUrl,
    metadata: found.server,
    redirectUri: usualRedirect(options.callbackPort),
    now: options.now(),
  });
  if (choice.kind === 'none') {
    const redirectUri = usualRedirect(options.callbackPort);
    throw new LoginError(`${choice.reason}. ${clientAdvice(server.name, redirectUri)}`);
  }
  // Before anything is registered or shown: a login that cannot come back is none.
  const lease = await listener.open(choice.redirectUri);
  try {
    const chosen = await clientFor(choice, kept.client, options, found.server, scope, fetch);
    return await withBrowser(options, found, chosen, scope, lease, fetch);
  } catch (error) {
    if (signal.aborted && choice.kind === 'registered') await doubt(account);
    throw error;
  } finally {
    lease.close();
  }
}

/**
 * A browser that does not come back may have been told that the client is not known any more: authorization servers say
 * that on a page of their own, to the person alone. So a registration from an earlier login is not relied on twice.
 */
async function doubt(account: LoginAccount): Promise<void> {
  try {
    const { client, tokens } = await account.kept();
    if (client?.kind === 'registered' && tokens === null) await account.dropClient(client.id);
  } catch {
    // What cannot be deleted now is used once more.
  }
}

/** Asks the server as anybody would, to be told what it wants. null when it asks for nothing. */
async function askServer(server: LoginServer, version: string, signal: AbortSignal): Promise<Challenge | null> {
  const http = new Exchanger(server.url, server.headers);
  const message = {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'watchkeeper', version } },
  };
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS)]);
  try {
    const { body } = await http.send('POST', headers, JSON.stringify(message), limit);
    body.destroy();
    return null;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const { observation } = error;
    if (observation.seen === 'status') {
      const said = readChallenge(observation.challenge);
      return observation.status === 401
        ? (said ?? { resourceMetadata: undefined, scope: undefined, error: undefined })
        : said;
    }
    signal.throwIfAborted();
    const why = observation.seen === 'network' ? ` (${observation.code})` : '';
    throw new LoginError(`${http.target} does not answer${why}; nobody can log in to it now.`);
  } finally {
    http.close();
  }
}

function scopeFor(
  { oauth }: LoginServer,
  challenge: Challenge | null,
  tokens: StoredTokens | null,
  { resource, server }: Discovered,
): string | null {
  return chooseScope({
    configured: oauth.scopes,
    challenged: challenge?.scope,
    insufficient: challenge?.error === 'insufficient_scope',
    granted: tokens?.scope ?? null,
    ofResource: resource?.scopes,
    ofServer: server.scopes,
  });
}

async function clientFor(
  choice: Exclude<ClientChoice, { kind: 'none' }>,
  stored: StoredClient | null,
  { server, account }: FlowOptions,
  metadata: ServerMetadata,
  scope: string | null,
  fetch: CheckedFetch,
): Promise<Chosen> {
  const { redirectUri } = choice;
  if (choice.kind === 'register') {
    const clientName = server.clientName ?? CLIENT_NAME;
    const made = await register(metadata, { clientName, redirectUri, scope }, fetch).catch((error: unknown) => {
      if (!(error instanceof Refused)) throw error;
      throw new LoginError(`${error.message}. ${clientAdvice(server.name, redirectUri)}`);
    });
    await account.keepClient(made);
    return { client: clientOf(made, 'registered'), redirectUri, stored: made };
  }
  const mine = choice.kind === 'document' || stored?.id !== choice.id ? null : { ...stored, issuer: metadata.issuer };
  return { client: clientOf(choice, choice.kind), redirectUri, stored: mine };
}

const clientOf = (
  { id, secret, authMethod }: Pick<StoredClient, 'id' | 'secret' | 'authMethod'>,
  kind: StoredTokens['client']['kind'],
): StoredTokens['client'] => ({ id, secret, authMethod, kind });

/** Shows the address, waits for what comes back, and redeems it. */
async function withBrowser(
  options: FlowOptions,
  found: Discovered,
  chosen: Chosen,
  scope: string | null,
  lease: Lease,
  fetch: CheckedFetch,
): Promise<StoredTokens> {
  const { server, account, note, signal } = options;
  const metadata = found.server;
  // As the server spells it, else as configured; what follows `?` is nobody's business.
  const resource = found.resource?.resource ?? server.url.replace(/[?#].*$/, '');
  const state = randomBytes(32).toString('base64url');
  const { client, redirectUri } = chosen;
  const { url, verifier } = await authorization(metadata, { client, redirectUri, scope, state, resource });

  const back = new Promise<StoredTokens>((resolve, reject) => {
    const redeem = async (verdict: Exclude<Verdict, { kind: 'stray' }>, iss: string | undefined) => {
      if (verdict.kind !== 'code') throw new LoginError(endingOf(verdict));
      const { code } = verdict;
      const answer = await exchangeCode(metadata, { client, code, verifier, redirectUri, resource, iss }, fetch);
      const tokens = tokensOf(answer, { metadata, client, resource, asked: scope }, options.now());
      signal.throwIfAborted();
      await account.keep(tokens, chosen.stored);
      return tokens;
    };
    lease.expect(state, new URL(redirectUri).pathname, {
      issuer: metadata.issuer,
      sendsIssuer: metadata.sendsIssuer,
      take: async (verdict, iss) => {
        try {
          resolve(await redeem(verdict, iss));
          return 'done';
        } catch (error) {
          reject(await explained(error, options, client));
          return 'failed';
        }
      },
    });
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  back.catch(() => {});
  signal.throwIfAborted();
  await note({
    type: 'LoginStarted',
    data: { server: server.name, issuer: metadata.issuer, client: client.kind, scope },
  });
  options.onUrl(url.href, state);
  return back;
}

/** What an answer that carries no code means, for a person. */
export const endingOf = (verdict: Extract<Verdict, { kind: 'refused' | 'mixed-up' }>): string =>
  verdict.kind === 'refused'
    ? `The authorization server did not let you in (${verdict.error}).`
    : `The login was broken off: ${verdict.why}.`;

/** A registration that is not known any more is deleted, so that the next login makes a new one. */
async function explained(
  error: unknown,
  { server, account }: FlowOptions,
  client: StoredTokens['client'],
): Promise<unknown> {
  if (!(error instanceof Refused)) return error;
  const forgotten = error.code === 'invalid_client' || error.code === 'unauthorized_client';
  if (!forgotten)
    return new LoginError(`The code was not taken: ${error.message}. Log in again: watchkeeper login ${server.name}`);
  if (client.kind !== 'registered')
    return new LoginError(
      `The authorization server does not know the client, or its secret is wrong: ${error.message}.`,
    );
  await account.dropClient(client.id);
  return new LoginError(
    `The authorization server has forgotten the client of this daemon (${error.message}). Log in again, it will be registered anew: watchkeeper login ${server.name}`,
  );
}
