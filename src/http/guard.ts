/**
 * Who may ask at all. Checked before anything else, for every request, known route or not: a web page must reach
 * nothing here, neither through a rebound name nor by a form, and a local program needs the token.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
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
  readonly hasBody: boolean;
  /** Came through the Unix socket, whose file mode already says who may use it. */
  readonly local: boolean;
}

export interface Policy {
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
  const caller = seen.local ? socketCaller : bearer(seen.authorization, policy.token());
  if (caller === null && !isOpen(seen)) throw unauthorized(seen);
  checkMediaType(seen);
  return caller;
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

function bearer(authorization: string | undefined, token: string): Caller | null {
  const given = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  return given !== undefined && token !== '' && isSame(given, token) ? tokenCaller : null;
}

/** Hashed first, so that the comparison takes the same time whatever the lengths. */
const isSame = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other));
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

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
