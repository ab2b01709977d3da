/**
 * How long the identifiers get that a client makes of an entry and its tools, and what to do where they get too long.
 * Pure: what differs between clients stands in their descriptors. Without facts nothing is computed.
 */
import type { IdentifierRule, OverflowEffect } from './descriptor.ts';
import type { HubFacts, NameFacts } from './facts.ts';

/** An entry as it stands, or will stand, in a client's file. */
export interface CheckedEntry {
  readonly entry: string;
  /** The server it leads to; null: all of them, through `/mcp`. */
  readonly server: string | null;
}

export interface Checked {
  /** Name for people. */
  readonly client: string;
  readonly rule: IdentifierRule;
  readonly entries: readonly CheckedEntry[];
  /** What the entries are called after; null when each is called like its server. */
  readonly name: string | null;
}

/** `longest`: how long the thing may at most be; null when even the shortest is too long. `length`: what that gives. */
export interface Remedy {
  readonly longest: number | null;
  readonly length: number;
  readonly fits: boolean;
}

export interface TooLong {
  readonly kind: 'identifier-too-long';
  readonly client: string;
  readonly entry: string;
  readonly server: string | null;
  readonly length: number;
  readonly limit: number;
  readonly effect: OverflowEffect;
  /** `exact: false`: at least so many. */
  readonly lost: { readonly count: number; readonly exact: boolean; readonly of: number };
  readonly remedies: {
    /** null where the prefix plays no part. */
    readonly tool_prefix: Remedy | null;
    readonly mount_mode: { readonly value: 'routed'; readonly length: number; readonly fits: boolean } | null;
    readonly name: Remedy | null;
  };
  readonly message: string;
}

export interface WrongCharacters {
  readonly kind: 'identifier-characters';
  readonly client: string;
  readonly entry: string;
  readonly characters: readonly string[];
  readonly message: string;
}

/** Separates a prefix from the tool. */
const SEPARATOR = 2;

/** What an entry is called when no name was given and one is needed. */
export const DEFAULT_NAME = 'watchkeeper';

export const characters = (text: string): number => [...text].length;

/** Effects that deserve a warning: the tool is gone, or the session is. */
const harms = (effect: OverflowEffect): boolean => effect === 'drop' || effect === 'reject';

/** Characters of an identifier without the tool's own name: what stands around it, and what is left of the entry. */
export function overhead(rule: IdentifierRule, entry: string): number {
  const around = rule.counts === 'whole' ? characters(rule.before) + characters(rule.between) : 0;
  if (rule.server === 'none') return around;
  return around + Math.min(characters(entry), rule.serverMax ?? Number.POSITIVE_INFINITY);
}

/** Length of the identifier of a tool: what is around it, the prefix with its separator if there is one, its name. */
export const identifierLength = (rule: IdentifierRule, entry: string, prefix: string, tool: number): number =>
  overhead(rule, entry) + prefixLength(prefix) + tool;

const prefixLength = (prefix: string): number => (prefix === '' ? 0 : characters(prefix) + SEPARATOR);

/** Every entry whose longest identifier passes the limit, or whose name holds characters the client does not take. */
export function checkIdentifiers(checked: Checked, facts: HubFacts | null): (TooLong | WrongCharacters)[] {
  const { rule, entries } = checked;
  if (!harms(rule.effect)) return [];
  return entries.flatMap((entry) => {
    const tooLong = facts === null ? null : checkLength(checked, entry, facts);
    const wrong = checkCharacters(checked, entry);
    return [...(wrong ? [wrong] : []), ...(tooLong ? [tooLong] : [])];
  });
}

function checkLength(
  { client, rule, name }: Checked,
  { entry, server }: CheckedEntry,
  facts: HubFacts,
): TooLong | null {
  const seen = server === null ? routedFacts(facts) : serverFacts(facts, server);
  if (seen === null || rule.limit === null || seen.names.count === 0) return null;
  const { names, prefix } = seen;
  const length = identifierLength(rule, entry, prefix, names.longest);
  if (length <= rule.limit) return null;
  const { limit, effect } = rule;
  const counts = server === null ? facts.lengths?.routed : facts.lengths?.servers[server];
  const lost = lostOf(names, counts, limit - (length - names.longest));
  const remedies = {
    tool_prefix: server === null ? null : prefixRemedy(length, limit, prefix),
    mount_mode: routedRemedy(rule, limit, { server, name }, facts),
    name: nameRemedy(rule, length, limit, entry, name),
  };
  const finding = { client, entry, server, length, limit, effect, lost, remedies };
  return { kind: 'identifier-too-long', ...finding, message: tooLongMessage(finding, prefix) };
}

function serverFacts({ servers = [] }: HubFacts, server: string): { names: NameFacts; prefix: string } | null {
  const found = servers.find(({ name }) => name === server);
  // A prefix nobody told of is not "none".
  return found?.tools === undefined || found.tool_prefix === undefined
    ? null
    : { names: found.tools, prefix: found.tool_prefix };
}

const routedFacts = ({ routed }: HubFacts): { names: NameFacts; prefix: string } | null =>
  routed === undefined ? null : { names: routed, prefix: '' };

/** `room`: characters a tool's name may have. */
function lostOf(
  { count }: NameFacts,
  counts: Readonly<Record<string, number>> | undefined,
  room: number,
): TooLong['lost'] {
  if (counts === undefined) return { count: 1, exact: count === 1, of: count };
  const over = Object.entries(counts).reduce((sum, [length, many]) => sum + (Number(length) > room ? many : 0), 0);
  return { count: over, exact: true, of: count };
}

function prefixRemedy(length: number, limit: number, prefix: string): Remedy {
  const bare = length - prefixLength(prefix);
  const longest = limit - bare - SEPARATOR;
  if (prefix !== '' && longest >= 1) return { longest, length: limit, fits: true };
  return { longest: bare <= limit ? 0 : null, length: bare, fits: bare <= limit };
}

/** What the one entry of all servers would reach. Names that two servers share get longer there, where that is known. */
function routedRemedy(
  rule: IdentifierRule,
  limit: number,
  { server, name }: { server: string | null; name: string | null },
  facts: HubFacts,
): TooLong['remedies']['mount_mode'] {
  if (server === null && facts.mount_mode === 'routed') return null;
  const known = facts.lengths?.if_routed ?? (facts.mount_mode === 'routed' ? facts.routed : undefined);
  const longest = known?.longest ?? Math.max(0, ...(facts.servers ?? []).map(({ tools }) => tools?.longest ?? 0));
  const length = overhead(rule, name ?? DEFAULT_NAME) + longest;
  return { value: 'routed', length, fits: length <= limit };
}

function nameRemedy(
  rule: IdentifierRule,
  length: number,
  limit: number,
  entry: string,
  name: string | null,
): Remedy | null {
  const own = name ?? (entry === DEFAULT_NAME ? DEFAULT_NAME : null);
  if (own === null || rule.server === 'none' || rule.serverMax !== null) return null;
  const longest = characters(own) - (length - limit);
  return longest >= 1 ? { longest, length: limit, fits: true } : null;
}

function tooLongMessage(
  { client, entry, length, limit, effect, lost, remedies }: Omit<TooLong, 'kind' | 'message'>,
  prefix: string,
): string {
  const count = `${lost.exact ? '' : 'at least '}${lost.count} of ${lost.of} ${lost.of === 1 ? 'tool' : 'tools'}`;
  const what = effect === 'drop' ? `${count} will be missing there` : `${count} can make its sessions fail`;
  return `${client}: entry "${entry}" makes identifiers of ${length} characters, the limit is ${limit}; ${what}. Use ${remedyWords(remedies, prefix)}.`;
}

const upTo = (count: number): string => `${count} ${count === 1 ? 'character' : 'characters'}`;

function remedyWords({ tool_prefix, mount_mode, name }: TooLong['remedies'], prefix: string): string {
  const gives = ({ length, fits }: { length: number; fits: boolean }): string =>
    `(gives ${length}${fits ? '' : ', still too long'})`;
  const words: string[] = [];
  if (tool_prefix === null) words.push('a shorter tool_prefix only without this entry (it plays no part on /mcp)');
  else if (prefix === '') words.push(`a shorter tool_prefix (there is none; stays ${tool_prefix.length})`);
  else if (tool_prefix.longest === null || tool_prefix.longest === 0)
    words.push(`a shorter tool_prefix, "" at best ${gives(tool_prefix)}`);
  else words.push(`a shorter tool_prefix, at most ${upTo(tool_prefix.longest)} ${gives(tool_prefix)}`);
  words.push(mount_mode === null ? 'mount_mode: "routed" (is set)' : `mount_mode: "routed" ${gives(mount_mode)}`);
  if (name) words.push(`a shorter --name, at most ${upTo(name.longest ?? 0)} ${gives(name)}`);
  return words.join(', or ');
}

function checkCharacters({ client, rule }: Checked, { entry }: CheckedEntry): WrongCharacters | null {
  if (rule.allowed === null || rule.cleans || rule.server === 'none') return null;
  const allowed = new RegExp(rule.allowed, 'u');
  const wrong = [...new Set([...entry].filter((character) => !allowed.test(character)))];
  if (wrong.length === 0) return null;
  const shown = wrong.map((character) => JSON.stringify(character)).join(', ');
  const what = rule.effect === 'drop' ? 'every tool of it will be missing there' : 'its sessions can fail';
  const message = `${client}: entry "${entry}" holds characters that it does not take (${shown}); ${what}. Choose another --name.`;
  return { kind: 'identifier-characters', client, entry, characters: wrong, message };
}
