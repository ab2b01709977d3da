/** Which entries a client is to have, and how they differ from what its file holds. Pure. */
import { byCodeUnit, isServerName } from '../config/names.ts';
import { isObject, type RawObject } from '../config/raw.ts';
import type { ClientDescriptor, Shape } from './descriptor.ts';
import type { HubFacts } from './facts.ts';
import { type CheckedEntry, DEFAULT_NAME } from './identifier.ts';

export const connectModes = ['per-server', 'routed', 'stdio'] as const;
export type ConnectMode = (typeof connectModes)[number];

/** A name an entry may be called after. What single clients do not take of it is warned about. */
export const isEntryName = (name: string): boolean => /^[A-Za-z0-9](?:[A-Za-z0-9 ._-]{0,62}[A-Za-z0-9_-])?$/.test(name);

/** Servers a client is given: those that may run and have a name that works everywhere. Sorted. */
export const mountedServers = ({ servers = [] }: HubFacts): string[] =>
  servers
    .filter(({ name, state }) => state !== 'disabled' && isServerName(name))
    .map(({ name }) => name)
    .sort(byCodeUnit);

/** Entries by mode, name and today's servers. One server alone is called after the hub, several after themselves. */
export function plannedEntries(
  {
    mode,
    name,
    servers: visible,
  }: {
    readonly mode: ConnectMode;
    readonly name: string | null;
    /** Servers the client may see; null or absent: all. */
    readonly servers?: readonly string[] | null | undefined;
  },
  facts: HubFacts,
): readonly CheckedEntry[] {
  const all = mode === 'routed' || (mode === 'stdio' && facts.mount_mode === 'routed');
  if (all) return [{ entry: name ?? DEFAULT_NAME, server: null }];
  const servers = mountedServers(facts).filter((server) => visible?.includes(server) ?? true);
  const [only, ...more] = servers;
  if (only !== undefined && more.length === 0) return [{ entry: name ?? DEFAULT_NAME, server: only }];
  return servers.map((server) => ({ entry: name === null ? server : `${name}-${server}`, server }));
}

/** How an entry reaches the daemon. */
export interface Reach {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** The program that serves stdio, and what stands before `mcp`. */
  readonly command: string;
  readonly script: readonly string[];
  /** Options behind `mcp [server]`. */
  readonly options: readonly string[];
}

/** How the token gets to the client. */
export type TokenWay =
  | { readonly kind: 'reference'; readonly variable: string }
  | { readonly kind: 'literal'; readonly token: string };

/** Name of the variable that holds the token of a client. */
export const tokenVariable = (id: string): string => `WATCHKEEPER_TOKEN_${id.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;

/** A value of an entry that the client would run or replace; nothing may be written then. */
export class UnsafeValue extends Error {
  override readonly name = 'UnsafeValue';
}

/** The whole entry, as it is to stand in the file. Throws an UnsafeValue. */
export function filledEntry(
  client: ClientDescriptor,
  mode: ConnectMode,
  { entry, server }: CheckedEntry,
  reach: Reach,
  way: TokenWay,
): RawObject {
  const args = [...reach.script, 'mcp', ...(server === null ? [] : [server]), ...reach.options];
  const texts: Readonly<Record<string, string>> = {
    url: `${reach.url}/mcp${server === null ? '' : `/${server}`}`,
    entry,
    command: reach.command,
  };
  const forbidden = client.forbids === undefined ? null : new RegExp(client.forbids);
  for (const text of [...Object.values(texts), ...args]) {
    if (forbidden?.test(text))
      throw new UnsafeValue(`${client.name} would not take ${JSON.stringify(text)} as it is written`);
  }
  const token = way.kind === 'literal' ? way.token : (client.reference ?? '').replace('{variable}', way.variable);
  const known = { ...texts, token, variable: way.kind === 'reference' ? way.variable : '' };
  const shape = shapeOf(client, mode, way);
  return fill(shape, known, { args, commandLine: [reach.command, ...args] }) as RawObject;
}

function shapeOf({ http, stdio, name }: ClientDescriptor, mode: ConnectMode, way: TokenWay): Shape {
  if (mode === 'stdio') return stdio;
  const shape = way.kind === 'reference' ? http?.byReference : http?.literal;
  if (!shape) throw new Error(`${name} takes no such entry.`);
  return shape;
}

function fill(
  value: unknown,
  texts: Readonly<Record<string, string>>,
  lists: Readonly<Record<string, string[]>>,
): unknown {
  if (typeof value === 'string') {
    const list = /^\{(\w+)\}$/.exec(value)?.[1];
    if (list !== undefined && Object.hasOwn(lists, list)) return lists[list];
    return value.replace(/\{(\w+)\}/g, (whole, name: string) =>
      Object.hasOwn(texts, name) ? (texts[name] ?? '') : whole,
    );
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, texts, lists));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, fill(member, texts, lists)]));
}

/** Keys of an entry that are ours to set and to take away; all others belong to the client or its user. */
export const ownKeys = ({ http, stdio, alsoOurs = [] }: ClientDescriptor): ReadonlySet<string> =>
  new Set([
    ...[http?.byReference ?? {}, http?.literal ?? {}, stdio].flatMap((shape) => Object.keys(shape)),
    ...alsoOurs,
  ]);

/** Keys whose value the user may choose; ours is only the first one. */
const leftToUsers: ReadonlySet<string> = new Set(['enabled', 'tools', 'timeout', 'description']);

/** What is to stand in the file: what we say, and what client or user added to it. */
export function mergedEntry(client: ClientDescriptor, current: unknown, wanted: RawObject): RawObject {
  if (!isObject(current)) return wanted;
  const own = ownKeys(client);
  const entries = Object.entries(current).filter(([key]) => Object.hasOwn(wanted, key) || !own.has(key));
  const kept = entries.map(([key, value]): [string, unknown] => [
    key,
    Object.hasOwn(wanted, key) && !leftToUsers.has(key) ? wanted[key] : value,
  ]);
  const added = Object.entries(wanted).filter(([key]) => !Object.hasOwn(current, key));
  return Object.fromEntries([...kept, ...added]);
}

/** Whether an entry looks like one of ours, whoever wrote it: it speaks to a daemon here, or starts our bridge. */
export function looksLikeOurs(entry: unknown): boolean {
  if (!isObject(entry)) return false;
  const texts = JSON.stringify(entry);
  const http = /"https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+\/mcp(?:\/[\w-]+)?"/.test(texts);
  return (http && /WATCHKEEPER_TOKEN_|\bwk_/.test(texts)) || /"mcp"[^{}]*"--client"/.test(texts);
}

/** The token an entry holds, written out; undefined when it holds none of ours. */
export const literalTokenIn = (entry: unknown): string | undefined =>
  isObject(entry) ? /\bwk_[A-Za-z0-9_-]{20,}/.exec(JSON.stringify(entry))?.[0] : undefined;
