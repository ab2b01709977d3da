/** As which client a login is made (specification 2026-07-28, client registration approaches): the order is fixed. Pure. */
import type { ServerMetadata } from './metadata.ts';
import type { StoredClient } from './record.ts';

export interface ClientSources {
  /** The client that is kept for this server, whoever made it. */
  readonly stored: StoredClient | null;
  /** `oauth.clientId` and `oauth.clientMetadataUrl` of the entry. */
  readonly clientId: string | undefined;
  readonly documentUrl: string | undefined;
  readonly metadata: Pick<ServerMetadata, 'issuer' | 'registrationEndpoint' | 'documentsAsClients'>;
  /** Where logins come back to unless the client says otherwise. */
  readonly redirectUri: string;
  /** ms since the epoch. */
  readonly now: number;
}

export type ClientChoice =
  | {
      readonly kind: 'given' | 'document' | 'registered';
      readonly id: string;
      readonly secret: string | null;
      readonly authMethod: string | null;
      readonly redirectUri: string;
    }
  | { readonly kind: 'register'; readonly redirectUri: string }
  /** Only a person can help. */
  | { readonly kind: 'none'; readonly reason: string };

/** Pre-registered, then a metadata document, then the one registered before, then a new one, then the person. */
export function chooseClient(sources: ClientSources): ClientChoice {
  const { stored, clientId, documentUrl, metadata, redirectUri, now } = sources;
  if (stored?.kind === 'given') {
    if (stored.issuer !== null && stored.issuer !== metadata.issuer) {
      const reason = `the client that was given belongs to another authorization server (${stored.issuer}) than the one in charge now (${metadata.issuer})`;
      return { kind: 'none', reason };
    }
    return { kind: 'given', id: stored.id, secret: stored.secret, authMethod: null, redirectUri: stored.redirectUri };
  }
  if (clientId !== undefined) return { kind: 'given', id: clientId, secret: null, authMethod: null, redirectUri };
  if (metadata.documentsAsClients && isDocumentUrl(documentUrl))
    return { kind: 'document', id: documentUrl, secret: null, authMethod: null, redirectUri };
  if (stored !== null && fits(stored, metadata.issuer, redirectUri, now))
    return { kind: 'registered', id: stored.id, secret: stored.secret, authMethod: stored.authMethod, redirectUri };
  if (metadata.registrationEndpoint !== null) return { kind: 'register', redirectUri };
  return { kind: 'none', reason: 'the authorization server takes only clients that were registered with it before' };
}

/** A registration counts for one issuer and one redirect address, and while its secret does. */
const fits = (client: StoredClient, issuer: string, redirectUri: string, now: number): boolean =>
  client.issuer === issuer &&
  client.redirectUri === redirectUri &&
  (client.secretExpiresAt === null || client.secretExpiresAt > now);

/** https, with a path: what an authorization server can fetch. */
function isDocumentUrl(text: string | undefined): text is string {
  if (text === undefined || !URL.canParse(text)) return false;
  const { protocol, pathname } = new URL(text);
  return protocol === 'https:' && pathname !== '/';
}

/** How a client of ours proves who it is: without a secret wherever that is allowed, since a program on a desk keeps none. */
export function authMethodFor(supported: readonly string[] | null): string {
  if (supported === null || supported.includes('none')) return 'none';
  return ['client_secret_basic', 'client_secret_post'].find((method) => supported.includes(method)) ?? 'none';
}

/** What a person can do about a client that is missing; a sentence for the end of an error. */
export const clientAdvice = (name: string, redirectUri: string): string =>
  `Register a client there with the redirect address ${redirectUri}, then give its id: watchkeeper login ${name} --client-id <id> (or "oauth": {"clientId": …} in its entry)`;
