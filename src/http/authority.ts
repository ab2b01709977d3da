/** Host names with ports, as they stand in `Host` and `Origin`. */

export type Scheme = 'http:' | 'https:';

export interface Authority {
  /** Lower case; IPv6 in brackets. */
  readonly name: string;
  readonly port: number;
}

const loopback: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];
const shape = /^(\[[0-9a-f:.]+\]|[^\s:/?#@[\]\\]+)(?::(\d{1,5}))?$/i;

/** Reads `name` or `name:port`; the port of the scheme stands in for a missing one. Null for anything else. */
export function readAuthority(text: string, scheme: Scheme): Authority | null {
  const found = shape.exec(text);
  if (found === null || found[1] === undefined) return null;
  const usual = scheme === 'https:' ? 443 : 80;
  return { name: found[1].toLowerCase(), port: found[2] === undefined ? usual : Number(found[2]) };
}

export const isLoopbackName = (name: string): boolean => loopback.includes(name);

/** The names the daemon answers for. */
export interface AllowedHosts {
  has(authority: Authority, scheme: Scheme): boolean;
}

/**
 * Loopback names on the daemon's own port over plain HTTP, and what the setting `http.allowedHosts` adds:
 * `name` on every port, `name:port` on that one, either scheme since a proxy may stand in front.
 */
export function allowHosts(port: () => number, names: readonly string[]): AllowedHosts {
  const anyPort = new Set(names.filter((name) => !/:\d+$/.test(name)).map((name) => name.toLowerCase()));
  const onePort = new Set(names.filter((name) => /:\d+$/.test(name)).map((name) => name.toLowerCase()));
  return {
    has: (authority, scheme) =>
      (isLoopbackName(authority.name) && scheme === 'http:' && authority.port === port()) ||
      anyPort.has(authority.name) ||
      onePort.has(`${authority.name}:${authority.port}`),
  };
}
