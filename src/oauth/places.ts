/** Where metadata may be found, in the order in which it is looked for. Pure. */

const withoutSlash = (path: string): string => path.replace(/\/+$/, '');

/**
 * Protected resource metadata (RFC 9728 §3, specification 2026-07-28, authorization): where the server says, then under
 * its path, then at the root. `advertised` is not checked here.
 */
export function resourcePlaces(server: URL, advertised: string | undefined): readonly string[] {
  const known = '/.well-known/oauth-protected-resource';
  const path = withoutSlash(server.pathname);
  const places = [
    ...(advertised === undefined ? [] : [advertised]),
    ...(path === '' ? [] : [`${server.origin}${known}${path}${server.search}`]),
    `${server.origin}${known}`,
  ];
  return [...new Set(places)];
}

/**
 * Authorization server metadata (RFC 8414 §3.1, OpenID Connect Discovery §4): for an issuer with a path the path is put
 * behind the well-known part, and for OpenID also before it.
 */
export function issuerPlaces(issuer: URL): readonly string[] {
  const path = withoutSlash(issuer.pathname);
  const at = (suffix: string): string => `${issuer.origin}/.well-known/${suffix}${path}`;
  return [
    at('oauth-authorization-server'),
    at('openid-configuration'),
    ...(path === '' ? [] : [`${issuer.origin}${path}/.well-known/openid-configuration`]),
  ];
}
