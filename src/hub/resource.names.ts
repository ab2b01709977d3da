/**
 * Resource URIs where servers meet. A URI only one server has stays as it is; one that several have gets a fragment that
 * names the server, so that it keeps its scheme and path and can be mapped back without a table. Pure.
 */

const MARK = 'watchkeeper=';
const MARKED = /^(.*)[#&]watchkeeper=([A-Za-z0-9][A-Za-z0-9_-]*)$/s;

/** The URI of one server among others. */
export const markUri = (uri: string, server: string): string =>
  `${uri}${uri.includes('#') ? '&' : '#'}${MARK}${server}`;

/** Takes a marked URI apart; null for any other. */
export function unmarkUri(uri: string): { readonly uri: string; readonly server: string } | null {
  const found = MARKED.exec(uri);
  const [, plain, server] = found ?? [];
  return plain === undefined || server === undefined ? null : { uri: plain, server };
}

/** What more than one server has. */
export function sharedUris(servers: Iterable<Iterable<string>>): ReadonlySet<string> {
  const seen = new Set<string>();
  const shared = new Set<string>();
  for (const uris of servers) {
    for (const uri of new Set(uris)) {
      if (seen.has(uri)) shared.add(uri);
      seen.add(uri);
    }
  }
  return shared;
}

/** Whether a URI could come from a template (RFC 6570): literal parts must match, an expression stands for anything. */
export function fitsTemplate(template: string, uri: string): boolean {
  const parts = template.split(/\{[^{}]*\}/);
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const found = index === 0 ? (uri.startsWith(part) ? 0 : -1) : uri.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  const last = parts.at(-1) ?? '';
  return uri.endsWith(last) && uri.length >= at;
}

export const schemeOf = (uri: string): string => /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(uri)?.[1]?.toLowerCase() ?? '';
