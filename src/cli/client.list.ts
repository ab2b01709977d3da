/** `clients`: what is known, installed and connected, and what is wrong with it. Loaded by the command only. */
import type { Clients, Health } from '../api/client.ts';
import { DaemonUnreachable } from '../api/errors.ts';
import { type ClientWarning, checkClient } from '../clients/checks.ts';
import type { ClientFinding } from '../clients/findings.ts';
import { inspectClients } from '../clients/inspect.ts';
import { clientCalled, knownClients } from '../clients/known.ts';
import { commandsFound, thisMachine } from '../clients/machine.ts';
import { configFileOf, isInstalled } from '../clients/places.ts';
import { plannedEntries } from '../clients/plan.ts';
import { type Registry, readRegistry } from '../clients/registry.ts';
import { explained, reachOf, warningText } from './client.words.ts';
import type { Answer, Context, View } from './command.ts';
import { duration } from './duration.ts';
import { type Color, harmless } from './paint.ts';
import { type Cell, table } from './table.ts';

export type ClientState = 'in-sync' | 'drift' | 'broken' | 'unknown' | 'not-connected';

export interface Looked {
  readonly registry: Registry;
  readonly health: Health | null;
  readonly findings: readonly ClientFinding[];
  readonly warnings: readonly (ClientWarning & { readonly id: string })[];
}

/** Findings and warnings about every connected client; without a daemon only what files can tell. */
export async function lookAtClients(context: Context): Promise<Looked> {
  const registry = await explained('clients', () => readRegistry(context.files.dataDir));
  const health = Object.keys(registry).length === 0 ? null : await healthOf(context);
  const findings = await inspectClients(
    registry,
    context.env,
    health === null ? null : (id) => ({ facts: health, reach: reachOf(context, id) }),
  );
  const commands = commandsFound(context.env);
  const warnings = Object.entries(registry).flatMap(([id, connected]) => {
    const client = clientCalled(id);
    if (client === undefined) return [];
    const entries = health
      ? plannedEntries(connected, health)
      : connected.entries.map((entry) => ({ entry, server: connected.mode === 'routed' ? null : entry }));
    return checkClient({ client, entries, name: connected.name, facts: health, commands }).map((warning) => ({
      ...warning,
      id,
    }));
  });
  return { registry, health, findings, warnings };
}

async function healthOf(context: Context): Promise<Health | null> {
  try {
    const health = await context.api.health();
    return health.ready && health.servers !== undefined ? health : null;
  } catch (error) {
    if (error instanceof DaemonUnreachable) return null;
    throw error;
  }
}

export function stateOf(id: string, { registry, health, findings }: Looked): ClientState {
  if (!Object.hasOwn(registry, id)) return 'not-connected';
  const own = findings.filter(({ client, severity }) => client === id && severity !== 'info');
  if (own.some(({ kind }) => kind === 'file-broken')) return 'broken';
  if (own.length > 0) return 'drift';
  return health === null ? 'unknown' : 'in-sync';
}

export async function listed(context: Context, all: boolean): Promise<Answer> {
  const looked = await lookAtClients(context);
  const used = looked.health === null ? null : await context.api.clients().catch(() => null);
  const machine = thisMachine(context.env);
  const commands = commandsFound(context.env);
  const rows = knownClients
    .map((client) => rowOf(client, looked, used, machine, commands))
    .filter(({ installed, state }) => all || installed || state !== 'not-connected');
  const { findings, warnings } = looked;
  return {
    kind: 'answer',
    json: { clients: rows, findings, warnings },
    text: (view) =>
      rows.length === 0
        ? 'No AI client was found on this machine.\n'
        : `${clientsTable(rows, view)}${findingsText(findings.filter(isNews), view)}`,
    notes: [
      ...(rows.some(({ state }) => state === 'unknown')
        ? ['The daemon does not answer, so only files were looked at: watchkeeper up --detach']
        : []),
      ...(rows.some(({ state }) => state === 'not-connected') ? ['Connect one: watchkeeper connect <client>'] : []),
      ...(rows.length === 0 ? ['All that are known: watchkeeper clients --all'] : []),
    ],
    ...(warnings.length > 0 && !context.json ? { warning: warningText(warnings) } : {}),
  };
}

/** That a variable is not set in this shell is so of nearly every client; `doctor` and `--json` tell it. */
const isNews = ({ kind, severity }: ClientFinding): boolean => kind !== 'no-token' || severity !== 'info';

type Row = ReturnType<typeof rowOf>;

function rowOf(
  client: (typeof knownClients)[number],
  looked: Looked,
  used: Clients | null,
  machine: ReturnType<typeof thisMachine>,
  commands: ReadonlySet<string>,
) {
  const { id, name } = client;
  const connected = looked.registry[id];
  return {
    client: id,
    name,
    installed: isInstalled(client, machine, commands),
    state: stateOf(id, looked),
    file: connected?.file ?? configFileOf(client, machine),
    connect_mode: connected?.mode ?? null,
    entries: connected?.entries ?? [],
    mode: connected?.permission ?? null,
    token: connected?.tokenIn ?? null,
    lastUsedAt: used?.clients.find((one) => one.client === id)?.lastUsedAt ?? null,
  };
}

const colors: Readonly<Record<ClientState, Color>> = {
  'in-sync': 'green',
  drift: 'yellow',
  broken: 'red',
  unknown: 'dim',
  'not-connected': 'dim',
};

function clientsTable(rows: readonly Row[], view: View): string {
  return table(
    [
      { title: 'CLIENT' },
      { title: 'STATE' },
      { title: 'ENTRIES', shrinksTo: 12 },
      { title: 'KIND' },
      { title: 'MODE' },
      { title: 'LAST USED' },
      { title: 'FILE', shrinksTo: 20 },
    ],
    rows.map(({ client, state, entries, connect_mode, mode, lastUsedAt, file, installed }): Cell[] => [
      { text: client, color: 'bold' },
      { text: installed || state !== 'not-connected' ? state : 'not installed', color: colors[state] },
      { text: entries.join(', ') },
      { text: connect_mode ?? '' },
      { text: mode ?? '' },
      { text: lastUsedAt === null ? '' : `${duration(view.now - Date.parse(lastUsedAt))} ago` },
      { text: file },
    ]),
    view,
  );
}

/** What is wrong, each with the command that mends it. */
export function findingsText(findings: readonly ClientFinding[], { paint, program = 'watchkeeper' }: View): string {
  const color = { error: 'red', warning: 'yellow', info: 'dim' } as const;
  return findings
    .map(
      ({ message, severity, fix }) => `${paint(color[severity], severity)}: ${harmless(message)}; ${program} ${fix}\n`,
    )
    .join('');
}
