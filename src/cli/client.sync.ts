/** `sync`: every connected client. Without facts of the daemon nothing is written. Loaded by the command only. */
import { DaemonUnreachable } from '../api/errors.ts';
import { type ClientWarning, checkClient } from '../clients/checks.ts';
import { type Change, connectClient, withClient } from '../clients/connection.ts';
import { clientCalled } from '../clients/known.ts';
import { commandsFound } from '../clients/machine.ts';
import { aloneWithClients, type Connected, type Registry, readRegistry, writeRegistry } from '../clients/registry.ts';
import { entriesOfOthers } from '../clients/shared.file.ts';
import { changeJson, changeText } from './client.connect.ts';
import { asSentence, explained, factsOf, reachOf, warningText } from './client.words.ts';
import type { Answer, Context } from './command.ts';
import { CommandError, exitCode } from './failure.ts';

export async function synced(context: Context, { dryRun }: { readonly dryRun: boolean }): Promise<Answer> {
  const { dataDir } = context.files;
  const known = await explained('sync', () => readRegistry(dataDir));
  const facts = await factsOf(context).catch((error: unknown) => {
    if (!(error instanceof DaemonUnreachable)) throw error;
    // What two entries do to each other is so whether anybody answers or not.
    const flat = warningsWithout(known, context);
    if (flat.length === 0 || context.json) throw error;
    throw new CommandError(`${error.message}\n${warningText(flat).trimEnd()}`, {
      exit: exitCode.notReachable,
      next: ['up --detach'],
    });
  });
  const commands = commandsFound(context.env);
  const changes: Change[] = [];
  const warnings: ClientWarning[] = [];
  const failures: { readonly client: string; readonly message: string }[] = [];
  const one = async (id: string, record: Connected): Promise<Connected> => {
    const client = clientCalled(id);
    if (client === undefined) return record;
    if (record.mode === 'routed' && facts.mount_mode !== 'routed') {
      const message = `${client.name} is connected to all servers at once, but mount_mode is "per-server" now; its file was left alone: watchkeeper connect ${id} --mode per-server`;
      failures.push({ client: id, message });
      return record;
    }
    try {
      const wish = {
        client,
        file: record.file,
        mode: record.mode,
        name: record.name,
        permission: record.permission,
        servers: record.servers ?? null,
        callsPerMinute: record.callsPerMinute ?? null,
        asksInClient: record.asksInClient ?? false,
        token: record.tokenIn === 'file' ? ('file' as const) : ('variable' as const),
        ofOthers: await entriesOfOthers(known, client, record.file),
        facts,
        reach: reachOf(context, id),
        now: new Date(context.now()),
      };
      const change = await connectClient(dataDir, record, wish, { dryRun });
      changes.push(change);
      warnings.push(...checkClient({ client, entries: change.entries, name: record.name, facts, commands }));
      return change.record;
    } catch (error) {
      if (!(error instanceof Error) || !['ConnectError', 'FileError', 'FormatError'].includes(error.name)) throw error;
      failures.push({ client: id, message: error.message });
      return record;
    }
  };
  if (Object.keys(known).length > 0)
    await explained('sync', () =>
      aloneWithClients(dataDir, async () => {
        let registry: Registry = await readRegistry(dataDir);
        for (const [id, record] of Object.entries(registry)) {
          registry = withClient(registry, id, await one(id, record));
          // Each client's way back is kept before the next file is touched.
          if (!dryRun) await writeRegistry(dataDir, registry);
        }
      }),
    );
  const shown = await Promise.all(changes.map((change) => changeJson(change, [], dryRun)));
  const restart = changes.filter((_, index) => shown[index]?.written).map(({ client }) => client.afterwards);
  const lines = [
    ...warnings.map(({ message }) => `warning: ${message}\n`),
    ...failures.map(({ message }) => `error: ${asSentence(message)}\n`),
  ];
  return {
    kind: 'answer',
    json: { clients: shown, warnings, failures },
    text: (view) =>
      Object.keys(known).length === 0
        ? 'No client is connected.\n'
        : changes.map((change, index) => changeText(change, shown[index]?.diff ?? '', dryRun, view)).join(''),
    notes:
      Object.keys(known).length === 0
        ? ['Connect one: watchkeeper connect <client>; see watchkeeper clients']
        : restart,
    ...(lines.length > 0 && !context.json ? { warning: lines.join('') } : {}),
    ...(failures.length > 0 ? { exit: exitCode.failed } : {}),
  };
}

function warningsWithout(known: Registry, context: Context): ClientWarning[] {
  const commands = commandsFound(context.env);
  return Object.entries(known).flatMap(([id, { entries, name, mode }]) => {
    const client = clientCalled(id);
    const checked = entries.map((entry) => ({ entry, server: mode === 'routed' ? null : entry }));
    return client ? checkClient({ client, entries: checked, name, facts: null, commands }) : [];
  });
}
