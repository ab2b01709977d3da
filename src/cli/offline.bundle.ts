/** The bundle of a server out of the files, for when no daemon runs. */
import type { DaemonUnreachable } from '../api/errors.ts';
import { unknownServer } from './ask.daemon.ts';
import type { Context } from './command.ts';
import { fromDatabase, serversIn } from './offline.log.ts';

/** Times in milliseconds. Throws `why` when there is nothing to read. */
export async function offlineBundle(
  { files, env, version, now }: Pick<Context, 'files' | 'env' | 'version' | 'now'>,
  { name, from, to }: { readonly name: string; readonly from: number | undefined; readonly to: number | undefined },
  why: DaemonUnreachable,
): Promise<{ readonly fileName: string; readonly bytes: Buffer }> {
  const { readCatalog } = await import('../projections/catalog.projection.ts');
  const { bundleOf } = await import('../replay/bundle.make.ts');
  const { packBundle, thisMachine } = await import('../replay/bundle.pack.ts');
  const { scrubber } = await import('../replay/bundle.scrub.ts');
  const { spelledName } = await import('../mcp/naming.ts');
  const { entry, secrets } = await entryIn(files, env, name);
  const machine = thisMachine(env);
  return fromDatabase(files.databaseFile, why, async ({ db, log }) => {
    const made = bundleOf(
      {
        log,
        lists: readCatalog(db, name),
        nameOf: (server, tool) => spelledName({ server, tool }),
        entry,
        versions: { watchkeeper: version, ...machine.versions },
        scrub: scrubber({ ...machine.private, secrets }),
        dayStart: (time) => new Date(time).setHours(0, 0, 0, 0),
        deadSince: log.lastAlive(),
      },
      { server: name, from, to, now: now() },
    );
    if (made) return await packBundle(made.manifest, made.files);
    throw unknownServer(name, serversIn(log), 'bundle');
  });
}

/** The entry as it may be shown, and the values in it that may not; neither when the file does not have it. */
async function entryIn(
  files: Context['files'],
  env: Context['env'],
  name: string,
): Promise<{ entry: unknown; secrets: readonly string[] }> {
  const { loadConfig } = await import('../config/load.ts');
  const { maskEntry } = await import('../config/mask.ts');
  const { lookupIn } = await import('../config/expand.ts');
  const { resolveEntry } = await import('../config/resolve.ts');
  const { readVariables } = await import('../config/variables.ts');
  const reading = await loadConfig(files.configFile);
  const raw = reading.kind === 'loaded' ? reading.raw.get(name) : undefined;
  if (reading.kind !== 'loaded' || raw === undefined) return { entry: undefined, secrets: [] };
  const loaded = reading.config.entries.find((entry) => entry.name === name)?.entry;
  const { values } = await readVariables(files.variablesFile).catch(() => ({ values: {} }));
  const filled =
    loaded && resolveEntry(loaded, { lookup: lookupIn(env, values), environment: env, platform: process.platform });
  return { entry: maskEntry(raw), secrets: filled?.ok ? filled.entry.secrets : [] };
}
