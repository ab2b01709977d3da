/** Revisions of the protocol the endpoint speaks, and the keys of the modern envelope. */

export const MODERN = '2026-07-28';
/** Newest first; with `initialize` and sessions. */
export const LEGACY: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];
export const LATEST_LEGACY = '2025-11-25';
/** The revision a request without the header is taken for (2025-06-18, transports). */
export const UNSAID = '2025-03-26';

export const keys = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const;

/** The revision a session runs with: the one asked for if it is known, else the newest with sessions. */
export const agreedRevision = (asked: unknown): string =>
  typeof asked === 'string' && LEGACY.includes(asked) ? asked : LATEST_LEGACY;
