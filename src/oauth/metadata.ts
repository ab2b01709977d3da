/** Reading what servers publish about themselves: every member is foreign until it has been checked. Pure. */
import { type AddressRules, checkUrl } from './addresses.ts';

export interface ResourceMetadata {
  /** As written: it is sent back byte for byte. */
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopes: readonly string[] | undefined;
}

/** What a login needs to know of an authorization server. All addresses have been checked. */
export interface ServerMetadata {
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly registrationEndpoint: string | null;
  readonly revocationEndpoint: string | null;
  readonly authMethods: readonly string[] | null;
  readonly scopes: readonly string[] | null;
  /** It takes the address of a metadata document as client id. */
  readonly documentsAsClients: boolean;
  /** Its answers carry `iss` (RFC 9207). */
  readonly sendsIssuer: boolean;
}

export type Read<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly reason: string };

const no = (reason: string): { readonly ok: false; readonly reason: string } => ({ ok: false, reason });
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textIn = (document: Readonly<Record<string, unknown>>, key: string): string | undefined => {
  const value = document[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
};
const textsIn = (document: Readonly<Record<string, unknown>>, key: string): string[] | undefined => {
  const value = document[key];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : undefined;
};

/** `server`: the address of the MCP server as configured. */
export function readResourceMetadata(document: unknown, server: URL): Read<ResourceMetadata> {
  if (!isObject(document)) return no('is not a JSON object');
  const resource = textIn(document, 'resource');
  if (resource === undefined || !URL.canParse(resource)) return no('names no resource');
  if (!coversServer(resource, server)) return no(`speaks of another resource (${bareOf(resource)})`);
  return {
    ok: true,
    value: {
      resource,
      authorizationServers: textsIn(document, 'authorization_servers') ?? [],
      scopes: textsIn(document, 'scopes_supported'),
    },
  };
}

/** Whether a server's address lies at or below a resource, on the same origin. */
export function coversServer(resource: string, server: URL): boolean {
  const { origin, pathname } = new URL(resource);
  const closed = (path: string): string => (path.endsWith('/') ? path : `${path}/`);
  return origin === server.origin && closed(server.pathname).startsWith(closed(pathname));
}

/** `issuer`: by which the document was looked for; it has to name itself the same (RFC 8414 §3.3). */
export function readServerMetadata(document: unknown, issuer: string, rules: AddressRules): Read<ServerMetadata> {
  if (!isObject(document)) return no('is not a JSON object');
  const own = textIn(document, 'issuer');
  if (own === undefined) return no('names no issuer');
  if (!sameIssuer(own, issuer)) return no(`names another issuer (${bareOf(own)}) than the one asked for`);
  const methods = textsIn(document, 'code_challenge_methods_supported');
  if (methods === undefined || !methods.includes('S256'))
    return no('does not say that it protects logins with PKCE (code_challenge_methods_supported: S256)');
  const types = textsIn(document, 'response_types_supported');
  if (types !== undefined && !types.includes('code')) return no('offers no login by code (response_types_supported)');

  const endpoints = new Map<string, string>();
  for (const key of ['authorization_endpoint', 'token_endpoint', 'registration_endpoint', 'revocation_endpoint']) {
    const address = textIn(document, key);
    if (address === undefined) continue;
    const checked = checkUrl(address, rules);
    if (!checked.ok) return no(`has a ${key} that ${checked.reason}`);
    endpoints.set(key, address);
  }
  const authorizationEndpoint = endpoints.get('authorization_endpoint');
  const tokenEndpoint = endpoints.get('token_endpoint');
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined)
    return no('lacks authorization_endpoint or token_endpoint');
  return {
    ok: true,
    value: {
      issuer: own,
      authorizationEndpoint,
      tokenEndpoint,
      registrationEndpoint: endpoints.get('registration_endpoint') ?? null,
      revocationEndpoint: endpoints.get('revocation_endpoint') ?? null,
      authMethods: textsIn(document, 'token_endpoint_auth_methods_supported') ?? null,
      scopes: textsIn(document, 'scopes_supported') ?? null,
      documentsAsClients: document.client_id_metadata_document_supported === true,
      sendsIssuer: document.authorization_response_iss_parameter_supported === true,
    },
  };
}

/** Equal texts; a slash at the end of the one asked for may be missing, since URLs without a path cannot be told apart by it. */
const sameIssuer = (own: string, asked: string): boolean =>
  own === asked || (asked.endsWith('/') && own === asked.slice(0, -1));

/** What servers of the revision 2025-03-26 have when they publish nothing: fixed paths at their root. */
export function usualServer(origin: string): ServerMetadata {
  return {
    issuer: origin,
    authorizationEndpoint: `${origin}/authorize`,
    tokenEndpoint: `${origin}/token`,
    registrationEndpoint: `${origin}/register`,
    revocationEndpoint: null,
    authMethods: null,
    scopes: null,
    documentsAsClients: false,
    sendsIssuer: false,
  };
}

/** A foreign address as it may be shown. */
export function bareOf(address: string): string {
  if (!URL.canParse(address)) return 'not an address';
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname}`.slice(0, 200);
}
