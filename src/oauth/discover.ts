/** Finding out who logs people in for an MCP server: its own metadata, then that of the authorization server it names. */
import { type AddressRules, checkUrl } from './addresses.ts';
import { type CheckedFetch, statusTrouble } from './checked.fetch.ts';
import {
  bareOf,
  type Read,
  type ResourceMetadata,
  readResourceMetadata,
  readServerMetadata,
  type ServerMetadata,
  usualServer,
} from './metadata.ts';
import { issuerPlaces, resourcePlaces } from './places.ts';
import { LoginError } from './trouble.ts';

export interface Discovered {
  readonly resource: ResourceMetadata | null;
  readonly server: ServerMetadata;
}

const MAX_REDIRECTS = 3;
/** Servers list them by preference; nobody has many. */
const MAX_ISSUERS = 5;

/**
 * `wantsLogin`: the MCP server answered with a challenge; without one, a server that publishes nothing wants no login.
 * Throws a LoginError that says what was looked for and what was wrong with it.
 */
export async function discover(
  serverUrl: URL,
  advertised: string | undefined,
  wantsLogin: boolean,
  rules: AddressRules,
  fetch: CheckedFetch,
): Promise<Discovered> {
  const resource = await findResource(serverUrl, advertised, rules, fetch);
  if (resource === null || resource.authorizationServers.length === 0)
    return { resource, server: await oldServer(serverUrl, wantsLogin, rules, fetch) };
  const faults: string[] = [];
  for (const issuer of resource.authorizationServers.slice(0, MAX_ISSUERS)) {
    const found = await findServer(issuer, rules, fetch);
    if (found.ok) return { resource, server: found.value };
    faults.push(found.reason);
  }
  throw new LoginError(faults.join(' '));
}

/** The metadata of the resource alone. null when there is none anywhere; throws when there is some and it is wrong. */
export async function findResource(
  serverUrl: URL,
  advertised: string | undefined,
  rules: AddressRules,
  fetch: CheckedFetch,
): Promise<ResourceMetadata | null> {
  for (const place of resourcePlaces(serverUrl, advertised)) {
    const checked = checkUrl(place, rules);
    if (!checked.ok) {
      if (place !== advertised) continue;
      throw new LoginError(`The server names an address for its metadata that ${checked.reason} (${bareOf(place)}).`);
    }
    const document = await getJson(place, fetch);
    if (document === undefined) continue;
    const read = readResourceMetadata(document, serverUrl);
    if (!read.ok) throw new LoginError(`The metadata of the server at ${bareOf(place)} ${read.reason}.`);
    return read.value;
  }
  return null;
}

async function findServer(issuer: string, rules: AddressRules, fetch: CheckedFetch): Promise<Read<ServerMetadata>> {
  const checked = checkUrl(issuer, rules);
  if (!checked.ok)
    return {
      ok: false,
      reason: `The server names an authorization server that ${checked.reason} (${bareOf(issuer)}).`,
    };
  for (const place of issuerPlaces(checked.url)) {
    const document = await getJson(place, fetch);
    if (document === undefined) continue;
    const read = readServerMetadata(document, issuer, rules);
    return read.ok
      ? read
      : { ok: false, reason: `The authorization server's metadata at ${bareOf(place)} ${read.reason}.` };
  }
  return { ok: false, reason: `The authorization server ${bareOf(issuer)} publishes no metadata.` };
}

/** Servers of the revision 2025-03-26 are their own authorization server, with or without metadata. */
async function oldServer(
  { origin }: URL,
  wantsLogin: boolean,
  rules: AddressRules,
  fetch: CheckedFetch,
): Promise<ServerMetadata> {
  const found = await findServer(`${origin}/`, rules, fetch);
  if (found.ok) return found.value;
  if (!/publishes no metadata/.test(found.reason)) throw new LoginError(found.reason);
  if (!wantsLogin)
    throw new LoginError('The server did not ask for a login and publishes nothing about one: it may need none.');
  return usualServer(origin);
}

/** undefined where there is no such document. Throws when the server is in trouble or the document is not JSON. */
async function getJson(place: string, fetch: CheckedFetch): Promise<unknown> {
  let at = new URL(place);
  for (let followed = 0; ; followed += 1) {
    const answer = await fetch(at, { headers: { accept: 'application/json', 'mcp-protocol-version': '2025-11-25' } });
    if (answer.status >= 200 && answer.status < 300) {
      try {
        return await answer.json();
      } catch {
        // Pages for everything that is not there are common.
        if (/\bhtml\b/i.test(answer.headers.get('content-type') ?? '')) return undefined;
        throw new LoginError(`${bareOf(at.href)} answered with something that is not JSON.`);
      }
    }
    if (answer.status === 429 || (answer.status >= 500 && answer.status !== 501 && answer.status !== 502))
      throw statusTrouble(bareOf(at.href), answer.status);
    const location = answer.headers.get('location');
    const next =
      answer.status >= 300 && location !== null && URL.canParse(location, at.href) ? new URL(location, at) : null;
    if (next === null || next.origin !== at.origin || followed >= MAX_REDIRECTS) return undefined;
    at = next;
  }
}
