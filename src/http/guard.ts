/**
 * Who may ask at all. Checked before anything else, for every request, known route or not: a web page must reach
 * nothing here, neither through a rebound name nor by a form, and a local program needs the token.
 */
import { timingSafeEqual } from 'node:crypto';
import type { PermissionMode } from '../events/call.events.ts';
import { type AllowedHosts, readAuthority } from './authority.ts';
import type { Caller } from './keeper.ts';
import { Problem } from './problem.ts';

/** What the guard looks at, taken from the request before its body is read. */
export interface Seen {
  readonly method: string;
  /** The request target as it came. */
  readonly url: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  /** `Watchkeeper-Client`: for whom the caller speaks, who could come in by itself. */
  readonly client?: string | undefined;
  readonly hasBody: boolean;
  /** Came through the Unix socket, whose file mode already says who may use it. */
  readonly local: boolean;
}

/** An AI client and the permission mode of its calls, which is also the most they may ask for. */
export interface KnownClient {
  readonly id: string;
  readonly permission: PermissionMode;
}

export interface KnownClients {
  byToken(token: string): KnownClient | null;
  byName(name: string): KnownClient | null;
}

export interface Policy {
  readonly clients: KnownClients;
  readonly hosts: AllowedHosts;
  readonly token: () => string;
}

const tokenCaller: Caller = { client: 'main', door: 'http', defaultMode: 'ask', ceiling: 'allow-all' };
const socketCaller: Caller = { client: 'socket', door: 'socket', defaultMode: 'ask', ceiling: 'allow-all' };

/** The caller, or null for somebody without a token on a route that is open to all. Throws a Problem. */
export function admit(seen: Seen, policy: Policy): Caller | null {
  if (seen.local) checkSocket(seen);
  else {
    checkHost(seen, policy.hosts);
    checkOrigin(seen, policy.hosts);
  }
  const caller = callerOf(seen, policy);
  if (caller === null && !isOpen(seen)) throw unauthorized(seen);
  checkMediaType(seen);
  return caller;
}

function callerOf(seen: Seen, policy: Policy): Caller | null {
  const given = tokenIn(seen.authorization);
  const own = seen.local ? socketCaller : isMain(given, policy.token()) ? tokenCaller : null;
  const client = clientOf(seen, own !== null, given, policy);
  if (client === null) return own;
  if (!isOpen(seen) && !isForClients(seen))
    throw new Problem('forbidden-client', `The token of a client (${client.id}) opens the tools and nothing else.`);
  const { id, permission } = client;
  return { client: id, door: seen.local ? 'socket' : 'http', defaultMode: permission, ceiling: permission };
}

/** A client by its token, or by the name that somebody says who may do everything and wants to do less. */
function clientOf(
  { client: name }: Seen,
  trusted: boolean,
  given: string | undefined,
  { clients }: Policy,
): KnownClient | null {
  if (!trusted) return given === undefined ? null : clients.byToken(given);
  if (name === undefined) return null;
  const client = clients.byName(name);
  if (client === null)
    throw new Problem('unauthorized', `No client ${quote(name)} is connected; connect it: watchkeeper clients`);
  return client;
}

/** What an agent needs to use tools, and to take back a call of its own. Whether its calls may run is decided by others. */
function isForClients({ method, url }: Seen): boolean {
  const path = url.split('?', 1)[0] ?? '';
  if (/^\/mcp(?:\/[\w-]+)?$/.test(path)) return true;
  if (method === 'POST') return path === '/v1/mcp/call' || /^\/v1\/mcp\/calls\/[\w-]+\/cancel$/.test(path);
  if (method !== 'GET' && method !== 'HEAD') return false;
  return /^\/v1\/mcp\/(?:status|tools|instructions|calls\/[\w-]+)$/.test(path);
}

function checkSocket({ origin }: Seen): void {
  if (origin !== undefined) throw new Problem('forbidden-origin', 'No web page may use the local socket.');
}

function checkHost({ host, url }: Seen, hosts: AllowedHosts): void {
  // A target with a scheme and a host would take precedence over the Host header.
  if (!url.startsWith('/') && url !== '*')
    throw new Problem('forbidden-host', 'The request target must be a path, not an address.');
  const authority = host === undefined ? null : readAuthority(host, 'http:');
  if (authority === null || !hosts.has(authority, 'http:'))
    throw new Problem('forbidden-host', `The daemon does not answer for the host ${quote(host)}.`);
}

function checkOrigin({ origin }: Seen, hosts: AllowedHosts): void {
  if (origin === undefined) return;
  const found = /^(https?:)\/\/(.+)$/i.exec(origin);
  const scheme = found?.[1]?.toLowerCase() === 'https:' ? 'https:' : 'http:';
  const authority = found === null ? null : readAuthority(found[2] ?? '', scheme);
  if (authority === null || !hosts.has(authority, scheme))
    throw new Problem('forbidden-origin', `Pages of the origin ${quote(origin)} may not use the daemon.`);
}

const tokenIn = (authorization: string | undefined): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];

const isMain = (given: string | undefined, token: string): boolean =>
  given !== undefined && token !== '' && isSame(given, token);

/** Takes the same time wherever two texts of one length differ; how long the token is, is no secret. */
function isSame(one: string, other: string): boolean {
  const [given, own] = [Buffer.from(one), Buffer.from(other)];
  return given.length === own.length && timingSafeEqual(given, own);
}

function unauthorized({ authorization }: Seen): Problem {
  return new Problem(
    'unauthorized',
    authorization === undefined
      ? 'The request carries no token.'
      : 'The request carries a token that is not the one of this daemon.',
  );
}

/** Health, and files that hold no data. */
function isOpen({ method, url }: Seen): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const path = url.split('?', 1)[0] ?? '';
  return ['/', '/health', '/docs', '/openapi.json'].includes(path) || /^\/docs\/errors\/[a-z-]+$/.test(path);
}

/** A page can send any body without asking first, but not as JSON. */
function checkMediaType({ contentType, hasBody }: Seen): void {
  if (!hasBody && contentType === undefined) return;
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json')
    throw new Problem('unsupported-media-type', `A body must be application/json, not ${quote(contentType)}.`);
}

const quote = (value: string | undefined): string =>
  value === undefined || value === '' ? '(none given)' : JSON.stringify(value.slice(0, 100));
