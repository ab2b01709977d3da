/** `connect`: one client, from what a person wants to what stands in its file. Loaded by the command only. */
import { type ClientWarning, checkClient } from '../clients/checks.ts';
import { type Change, connectClient, withClient } from '../clients/connection.ts';
import type { ClientDescriptor } from '../clients/descriptor.ts';
import { disconnectClient } from '../clients/disconnection.ts';
import { commandsFound, thisMachine } from '../clients/machine.ts';
import { configFileOf } from '../clients/places.ts';
import { type ConnectMode, tokenVariable } from '../clients/plan.ts';
import { aloneWithClients, type Permission, readRegistry, writeRegistry } from '../clients/registry.ts';
import { entriesOfOthers } from '../clients/shared.file.ts';
import { makePrivateDirectory } from '../config/files.ts';
import { unknownServer } from './ask.daemon.ts';
import { diffText, explained, factsOf, paintedDiff, reachOf, warningText } from './client.words.ts';
import type { Answer, Context, View } from './command.ts';
import { CommandError } from './failure.ts';

export interface Wanted {
  readonly mode: ConnectMode | undefined;
  readonly name: string | undefined;
  readonly permission: (known: Permission | undefined) => Promise<Permission>;
  /** Servers it may see; null: all; undefined: as before. */
  readonly servers?: readonly string[] | null | undefined;
  /** Calls a minute; null: as many as it likes; undefined: as before. */
  readonly callsPerMinute?: number | null | undefined;
  readonly asksInClient?: boolean | undefined;
  readonly token: 'variable' | 'file' | undefined;
  readonly renew: boolean;
  readonly replace: boolean;
  /** Entries of the user's own that go, whatever they are called. */
  readonly remove?: readonly string[];
  readonly dryRun: boolean;
  /** What to type to write what a trial run shows. */
  readonly again?: string;
}

/** What was given goes before what is known of the client, and that before what is usual. */
export async function connected(context: Context, client: ClientDescriptor, wanted: Wanted): Promise<Answer> {
  const { dataDir } = context.files;
  const facts = await factsOf(context);
  const before = (await explained('connect', () => readRegistry(dataDir)))[client.id];
  const mode = wanted.mode ?? before?.mode ?? usualMode(client, facts.mount_mode);
  if (mode === 'routed' && facts.mount_mode !== 'routed')
    throw new CommandError('One entry for all servers needs mount_mode: "routed" in watchkeeper.json.', {
      next: [`connect ${client.id} --mode per-server`, 'config path'],
    });
  const permission = await wanted.permission(before?.permission);
  const file = configFileOf(client, thisMachine(context.env));
  const wish = {
    client,
    file,
    mode,
    name: wanted.name ?? before?.name ?? null,
    permission,
    servers:
      mustBeServers(wanted.servers, facts, client.id) ?? (wanted.servers === null ? null : (before?.servers ?? null)),
    callsPerMinute: wanted.callsPerMinute === undefined ? (before?.callsPerMinute ?? null) : wanted.callsPerMinute,
    asksInClient: wanted.asksInClient ?? before?.asksInClient ?? false,
    token: wanted.token ?? (before?.tokenIn === 'file' ? ('file' as const) : ('variable' as const)),
    renew: wanted.renew,
    replace: wanted.replace,
    remove: wanted.remove ?? [],
    facts,
    reach: reachOf(context, client.id),
    now: new Date(context.now()),
  };
  await makePrivateDirectory(dataDir);
  const change = await explained(`connect ${client.id}`, () =>
    aloneWithClients(dataDir, async () => {
      const registry = await readRegistry(dataDir);
      let known = registry[client.id];
      if (known !== undefined && known.file !== file && !wanted.dryRun) {
        await disconnectClient(dataDir, client, known, { dryRun: false });
        known = undefined;
      }
      const ofOthers = await entriesOfOthers(registry, client, file);
      const made = await connectClient(dataDir, known, { ...wish, ofOthers }, { dryRun: wanted.dryRun });
      if (!wanted.dryRun) await writeRegistry(dataDir, withClient(registry, client.id, made.record));
      return made;
    }),
  );
  const warnings = checkClient({
    client,
    entries: change.entries,
    name: wish.name,
    facts,
    commands: commandsFound(context.env),
  });
  return answerOf(context, change, warnings, wanted);
}

/** The names given, if the daemon knows them all; undefined when none were given. */
function mustBeServers(
  given: readonly string[] | null | undefined,
  { servers = [] }: Awaited<ReturnType<typeof factsOf>>,
  client: string,
): readonly string[] | undefined {
  const names = servers.map(({ name }) => name);
  const strange = given?.find((name) => !names.includes(name));
  if (strange !== undefined) throw unknownServer(strange, names, `connect ${client} --servers`);
  return given ?? undefined;
}

const usualMode = ({ http }: ClientDescriptor, mountMode: string | undefined): ConnectMode =>
  http === null ? 'stdio' : mountMode === 'routed' ? 'routed' : 'per-server';

/** What `--json` prints of one change. Tokens are shown once, to whoever made them, and only there. */
export async function changeJson(change: Change, warnings: readonly ClientWarning[], dryRun: boolean) {
  const { client, file, record, before, after } = change;
  return {
    client: client.id,
    file,
    connect_mode: record.mode,
    mode: record.permission,
    servers: record.servers ?? null,
    callsPerMinute: record.callsPerMinute ?? null,
    asksInClient: record.asksInClient ?? false,
    entries: change.entries,
    added: change.added,
    changed: change.changed,
    removed: change.removed,
    written: !dryRun && before !== after,
    dryRun,
    backup: change.backup,
    diff: await diffText(file, before, after),
    token: { in: record.tokenIn, variable: record.tokenIn === 'variable' ? tokenVariable(client.id) : null },
    warnings,
  };
}

async function answerOf(
  context: Context,
  change: Change,
  warnings: readonly ClientWarning[],
  { dryRun, again }: Wanted,
): Promise<Answer> {
  const { client, token } = change;
  const json = await changeJson(change, warnings, dryRun);
  const secret = token !== null && !dryRun && token.variable !== null ? token : null;
  return {
    kind: 'answer',
    json: secret ? { ...json, token: { ...json.token, value: secret.value } } : json,
    text: (view) =>
      `${changeText(change, json.diff, dryRun, view)}${secret ? tokenText(change, secret.value, view) : ''}`,
    notes: dryRun
      ? [`To write it: watchkeeper ${again ?? `connect ${client.id}`}`]
      : [...(json.written ? [client.afterwards] : []), ...(change.entries.length === 0 ? nothingYet : [])],
    ...(warnings.length > 0 && !context.json ? { warning: warningText(warnings) } : {}),
  };
}

const nothingYet = ['No server is configured: entries come with watchkeeper add, then watchkeeper sync'];

function tokenText({ client }: Change, token: string, { paint }: View): string {
  const variable = tokenVariable(client.id);
  return `${client.name} finds its token in a variable, shown only now. Where you start it:\n  ${paint('bold', `export ${variable}=${token}`)}\n`;
}

/** One line on what was done, or what would be, and for a dry run the change itself. */
export function changeText(change: Change, diff: string, dryRun: boolean, { paint }: View): string {
  const { client, file, added, changed, removed, entries } = change;
  if (diff === '')
    return `${client.name}: ${file} is as it is to be (${`${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}`}).\n`;
  const what = [
    added.length > 0 ? `${dryRun ? 'would add' : 'added'} ${added.join(', ')}` : '',
    changed.length > 0 ? `${dryRun ? 'would change' : 'changed'} ${changed.join(', ')}` : '',
    removed.length > 0 ? `${dryRun ? 'would remove' : 'removed'} ${removed.join(', ')}` : '',
  ].filter((words) => words !== '');
  const head = `${client.name}: ${what.join('; ')} in ${file}\n`;
  const kept = change.backup === null ? '' : `  before: ${change.backup}\n`;
  return dryRun ? `${head}${paintedDiff(diff, paint)}` : `${head}${kept}`;
}
