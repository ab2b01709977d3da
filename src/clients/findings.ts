/** What is wrong with a connected client, seen from its file and from the daemon. Pure: both are given. */
import { canonicalJson } from '../canonical.ts';
import { isObject, type RawObject } from '../config/raw.ts';
import type { ClientDescriptor } from './descriptor.ts';
import type { HubFacts } from './facts.ts';
import {
  type ConnectMode,
  filledEntry,
  literalTokenIn,
  mergedEntry,
  plannedEntries,
  type Reach,
  tokenVariable,
} from './plan.ts';

export type FindingKind =
  | 'file-missing'
  | 'file-broken'
  | 'entry-missing'
  | 'entry-obsolete'
  | 'entry-changed'
  | 'dead-address'
  | 'stale-token'
  | 'no-token'
  | 'missing-command'
  | 'wrong-mode'
  | 'other-mode';

export interface ClientFinding {
  /** Id of the client. */
  readonly client: string;
  readonly entry: string | null;
  readonly kind: FindingKind;
  /** `error`: does not work as it stands; `warning`: works, but not as it is to be; `info`: may be as it is wanted. */
  readonly severity: 'error' | 'warning' | 'info';
  readonly message: string;
  readonly file: string;
  /** The command that mends it, without `watchkeeper` in front. */
  readonly fix: string;
}

export type FileState =
  | { readonly kind: 'missing' }
  | { readonly kind: 'broken'; readonly message: string }
  | { readonly kind: 'read'; readonly entries: RawObject };

export interface Inspected {
  readonly client: ClientDescriptor;
  /** What is remembered of the connection. */
  readonly connected: {
    readonly file: string;
    readonly mode: ConnectMode;
    readonly name: string | null;
    readonly tokenHash: string | null;
    readonly tokenIn: 'variable' | 'file' | 'none';
    readonly entries: readonly string[];
  };
  readonly state: FileState;
  /** null: the daemon does not answer, so nothing is known of what there ought to be. */
  readonly daemon: { readonly facts: HubFacts; readonly reach: Reach } | null;
  /** Value of the variable that holds the token, where it was looked at; undefined: it is not set there. */
  readonly variable: string | undefined;
  readonly hash: (token: string) => string;
  /** Whether a command of an entry can be started. */
  readonly canStart: (command: string) => boolean;
}

/** Everything there is to say about one client; nothing for one that is as it is to be. */
export function inspectClient(inspected: Inspected): ClientFinding[] {
  const { client, connected, state, daemon } = inspected;
  const { file } = connected;
  const find = (
    kind: FindingKind,
    severity: ClientFinding['severity'],
    entry: string | null,
    message: string,
    fix = 'sync',
  ): ClientFinding => ({ client: client.id, entry, kind, severity, message: `${client.name}: ${message}`, file, fix });

  if (state.kind === 'missing')
    return connected.entries.length === 0 ? [] : [find('file-missing', 'error', null, `${file} is gone`)];
  if (state.kind === 'broken') return [find('file-broken', 'error', null, `${file}: ${state.message}`, 'clients')];
  const own = connected.entries.filter((name) => Object.hasOwn(state.entries, name));
  const found = own.flatMap((name) => ofEntry(inspected, name, state.entries[name], find));
  const token = ofVariable(inspected, find);
  if (daemon === null) return [...found, ...token];
  return [
    ...ofMode(inspected, daemon.facts, find),
    ...ofSet(inspected, daemon, state.entries, found, find),
    ...found,
    ...token,
  ];
}

type Find = (
  kind: FindingKind,
  severity: ClientFinding['severity'],
  entry: string | null,
  message: string,
  fix?: string,
) => ClientFinding;

/** What can be seen in an entry by itself. */
function ofEntry(
  { client, connected, daemon, hash, canStart }: Inspected,
  name: string,
  entry: unknown,
  find: Find,
): ClientFinding[] {
  if (!isObject(entry)) return [find('entry-changed', 'error', name, `entry "${name}" is not an object any more`)];
  const found: ClientFinding[] = [];
  const address = addressIn(entry);
  if (daemon !== null && address !== undefined && new URL(address).origin !== new URL(daemon.reach.url).origin)
    found.push(
      find(
        'dead-address',
        'error',
        name,
        `entry "${name}" leads to ${new URL(address).origin}, the daemon is at ${daemon.reach.url}`,
      ),
    );
  const token = literalTokenIn(entry);
  if (connected.tokenIn === 'file' && token !== undefined && hash(token) !== connected.tokenHash)
    found.push(find('stale-token', 'error', name, `entry "${name}" holds a token that has ended`));
  if (address !== undefined && connected.tokenIn !== 'none' && token === undefined && !namesVariable(entry, client.id))
    found.push(find('no-token', 'error', name, `entry "${name}" holds no token any more`));
  if (connected.mode !== 'stdio' && commandIn(entry) !== undefined && address === undefined)
    found.push(find('wrong-mode', 'warning', name, `entry "${name}" starts a command, but is to be an address`));
  if (connected.mode === 'stdio' && address !== undefined)
    found.push(find('wrong-mode', 'warning', name, `entry "${name}" is an address, but is to start a command`));
  const command = commandIn(entry);
  if (command !== undefined && !canStart(command))
    found.push(find('missing-command', 'error', name, `entry "${name}" starts ${command}, which is not there`));
  return found.map((finding) => ({ ...finding, client: client.id }));
}

function ofVariable({ client, connected, variable, hash }: Inspected, find: Find): ClientFinding[] {
  if (connected.tokenIn !== 'variable') return [];
  const name = tokenVariable(client.id);
  const fix = `connect ${client.id} --new-token`;
  if (variable === undefined)
    // What starts the client may know it all the same: nothing is said to be wrong.
    return [find('no-token', 'info', null, `${name} is not set here; where it is not, the client is not let in`, fix)];
  return hash(variable) === connected.tokenHash
    ? []
    : [
        find(
          'stale-token',
          'error',
          null,
          `${name} is set here to a token that is not the one of this connection`,
          fix,
        ),
      ];
}

function ofMode({ client, connected }: Inspected, { mount_mode }: HubFacts, find: Find): ClientFinding[] {
  if (connected.mode === 'routed' && mount_mode !== 'routed')
    return [
      find(
        'wrong-mode',
        'error',
        null,
        'is connected to all servers at once, but mount_mode is "per-server"',
        `connect ${client.id} --mode per-server`,
      ),
    ];
  if (connected.mode === 'per-server' && mount_mode === 'routed')
    return [
      find(
        'other-mode',
        'info',
        null,
        'has an entry for each server although mount_mode is "routed"',
        `connect ${client.id} --mode routed`,
      ),
    ];
  return [];
}

/** Entries there are and ought not to be, and the other way round. */
function ofSet(
  { client, connected }: Inspected,
  { facts, reach }: NonNullable<Inspected['daemon']>,
  entries: RawObject,
  seen: readonly ClientFinding[],
  find: Find,
): ClientFinding[] {
  const planned = plannedEntries(connected, facts);
  const names = new Set(planned.map(({ entry }) => entry));
  const obsolete = connected.entries.filter((name) => !names.has(name) && Object.hasOwn(entries, name));
  const missing = planned.filter(({ entry }) => !Object.hasOwn(entries, entry));
  const changed = planned.filter(({ entry, server }) => {
    const current = entries[entry];
    if (!isObject(current) || seen.some((finding) => finding.entry === entry)) return false;
    const way =
      connected.tokenIn === 'file'
        ? { kind: 'literal' as const, token: literalTokenIn(current) ?? '' }
        : { kind: 'reference' as const, variable: tokenVariable(client.id) };
    const wanted = mergedEntry(client, current, filledEntry(client, connected.mode, { entry, server }, reach, way));
    return canonicalJson(wanted) !== canonicalJson(current);
  });
  return [
    ...missing.map(({ entry }) => find('entry-missing', 'error', entry, `entry "${entry}" is missing`)),
    ...obsolete.map((entry) =>
      find('entry-obsolete', 'warning', entry, `entry "${entry}" is for a server that is gone or is called otherwise`),
    ),
    ...changed.map(({ entry }) => find('entry-changed', 'warning', entry, `entry "${entry}" is not as it was written`)),
  ];
}

const namesVariable = (entry: RawObject, id: string): boolean => JSON.stringify(entry).includes(tokenVariable(id));

/** The address of ours an entry holds, under whatever key. */
const addressIn = (entry: RawObject): string | undefined =>
  Object.values(entry).find(
    (value): value is string => typeof value === 'string' && /^https?:\/\/[^/]+\/mcp(?:\/|$)/.test(value),
  );

function commandIn({ command, cmd }: RawObject): string | undefined {
  const value = Array.isArray(command) ? command[0] : (command ?? cmd);
  return typeof value === 'string' ? value : undefined;
}
