/**
 * The text of `allow_tool`: one entry a line, `#` comments, registered names matched literally. Pure.
 * A line that is not an entry is kept as it is and grants nothing.
 */
import { byCodeUnit, isServerName, nameFault } from './names.ts';

/** A line that grants something. */
export interface AllowEntry {
  /** `mcp__<server>__<tool>` or `mcp__<server>__*`, without space around it. */
  readonly text: string;
  readonly server: string;
  /** Tool part of the registered name; null: the whole server. */
  readonly tool: string | null;
}

/**
 * Reads an entry; null when it grants nothing. A server name holds no `__` and ends with none, so the first `__`
 * after `mcp__` always ends it: server `a` never covers `ab`, nor a tool of `a_b`.
 */
export function readAllowEntry(text: string): AllowEntry | null {
  const [, server, tool] = /^mcp__(.+?)__([A-Za-z0-9_-]+|\*)$/.exec(text) ?? [];
  if (server === undefined || tool === undefined || !isServerName(server)) return null;
  return { text, server, tool: tool === '*' ? null : tool };
}

/** Entries of a text in its order, each once; of one server if given. */
export function allowEntries(text: string, server?: string): readonly AllowEntry[] {
  const found = new Map<string, AllowEntry>();
  for (const { entry } of linesOf(text)) {
    if (entry !== null && (server === undefined || entry.server === server)) found.set(entry.text, entry);
  }
  return [...found.values()];
}

export type Replacement =
  | { readonly ok: true; readonly server: string; readonly entries: readonly string[] }
  | { readonly ok: false; readonly message: string };

/** Checks what is to stand for a prefix; all or nothing. The entries come back sorted, each once, `prefix*` alone if it is among them. */
export function checkReplacement(prefix: string, entries: readonly string[]): Replacement {
  const [, server] = /^mcp__(.*)__$/s.exec(prefix) ?? [];
  if (server === undefined || nameFault(server) !== null) {
    return { ok: false, message: 'the prefix must be `mcp__<server>__` with the name of one server' };
  }
  for (const entry of entries) {
    if (!entry.startsWith(prefix)) return { ok: false, message: `every entry must begin with ${prefix}` };
    if (readAllowEntry(entry)?.server !== server) {
      return {
        ok: false,
        message: `every entry must be ${prefix} followed by the name of a tool as it is registered, or by *`,
      };
    }
  }
  const all = `${prefix}*`;
  return { ok: true, server, entries: entries.includes(all) ? [all] : [...new Set(entries)].sort(byCodeUnit) };
}

/**
 * Makes `entries` (checked) the only ones of a server. Entries that stay keep their line, new ones stand where the
 * server's entries ended, or at the end; every other line keeps its bytes, and a missing line break at the end stays missing.
 */
export function replacePrefix(text: string, prefix: string, entries: readonly string[]): string {
  const wanted = new Set(entries.includes(`${prefix}*`) ? [`${prefix}*`] : entries);
  const server = prefix.slice('mcp__'.length, -'__'.length);
  const lines = linesOf(text);
  const kept: Line[] = [];
  let place: number | null = null;
  for (const line of lines) {
    if (line.entry?.server === server) {
      if (wanted.delete(line.entry.text)) kept.push(line);
      place = kept.length;
    } else kept.push(line);
  }
  const eol = lines.find((line) => line.eol !== '')?.eol ?? '\n';
  const added = [...wanted].map((entry): Line => ({ text: entry, eol: '', entry: readAllowEntry(entry) }));
  const isEnded = lines.length === 0 || lines.at(-1)?.eol !== '';
  const result = kept.toSpliced(place ?? kept.length, 0, ...added);
  return result
    .map((line, index) => {
      const isLast = index === result.length - 1;
      return line.text + (line.eol || (!isLast || (isEnded && added.includes(line)) ? eol : ''));
    })
    .join('');
}

/** Adds one entry if it is not there, nor already covered by its server's `*`. An entry for a whole server takes the place of its single ones. */
export function addEntry(text: string, entry: string): string {
  const read = readAllowEntry(entry);
  if (read === null) return text;
  const present = allowEntries(text, read.server);
  if (present.some((other) => other.text === entry || other.tool === null)) return text;
  return replacePrefix(text, `mcp__${read.server}__`, [...present.map((other) => other.text), entry]);
}

export function removeEntry(text: string, entry: string): string {
  const read = readAllowEntry(entry);
  if (read === null) return text;
  const rest = allowEntries(text, read.server).filter((other) => other.text !== entry);
  return replacePrefix(
    text,
    `mcp__${read.server}__`,
    rest.map((other) => other.text),
  );
}

/** Removes every entry of a server. */
export const removeServer = (text: string, server: string): string => replacePrefix(text, `mcp__${server}__`, []);

interface Line {
  readonly text: string;
  readonly eol: string;
  readonly entry: AllowEntry | null;
}

function linesOf(text: string): readonly Line[] {
  return [...text.matchAll(/([^\r\n]*)(\r\n|\n|\r|$)/g)]
    .filter(([whole]) => whole !== '')
    .map(([, line = '', eol = '']) => ({ text: line, eol, entry: readAllowEntry(line.replace(/^\uFEFF/, '').trim()) }));
}
