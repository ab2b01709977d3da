/** One line of `allow_tool`: `mcp__<server>__<tool>` in its registered form, or `mcp__<server>__*`. */

export interface ParsedEntry {
  readonly server: string;
  /** The registered name, or `*` for a whole server. */
  readonly tool: string;
}

const SERVER = /^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/;
const TOOL = /^[A-Za-z0-9_-]+$/;

/**
 * Takes an entry apart; null when it is none, and then it grants nothing. Matching is literal: apart from a final `*`
 * alone there are no patterns. Names of servers hold no `__` and do not end with `_`, so the first `__` ends the name.
 */
export function parseEntry(entry: string): ParsedEntry | null {
  const server = entry.startsWith('mcp__') ? (entry.slice(5).split('__', 1)[0] ?? '') : '';
  if (!SERVER.test(server)) return null;
  const tool = entry.slice(prefixOf(server).length);
  if (!entry.startsWith(prefixOf(server)) || !(tool === '*' || TOOL.test(tool))) return null;
  return { server, tool: tool === '*' ? '*' : entry };
}

/** `mcp__<server>__`: what every entry of a server starts with. */
export function prefixOf(server: string): string {
  return `mcp__${server}__`;
}

/** The server a prefix is about; null unless it is `mcp__<server>__` and nothing else. */
export function serverOfPrefix(prefix: string): string | null {
  return parseEntry(`${prefix}*`)?.server ?? null;
}
