/** Which members of `_meta` travel from the caller to the server, and which belong to one hop alone. Pure. */

export const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

/** Each hop says these for itself (specification 2026-07-28, `_meta` of requests). */
const OF_ONE_HOP: readonly string[] = [
  'progressToken',
  'io.modelcontextprotocol/protocolVersion',
  'io.modelcontextprotocol/clientInfo',
  CLIENT_CAPABILITIES,
  'io.modelcontextprotocol/subscriptionId',
];
const OF_ONE_LEGACY_HOP: readonly string[] = [...OF_ONE_HOP, LOG_LEVEL];

type Meta = Readonly<Record<string, unknown>>;

/** The caller's `_meta` as it goes on; undefined when nothing is left. Only the modern era knows a log level of one request. */
export function forwarded(meta: Meta | undefined, modern: boolean): Meta | undefined {
  if (meta === undefined) return undefined;
  const own = (modern ? OF_ONE_HOP : OF_ONE_LEGACY_HOP).filter((key) => Object.hasOwn(meta, key));
  const rest: Record<string, unknown> = { ...meta };
  for (const key of own) delete rest[key];
  return Object.keys(rest).length === 0 ? undefined : rest;
}
