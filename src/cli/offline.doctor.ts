/** What is wrong with servers, out of files and log, for when no daemon runs. Loads much: import it only when needed. */
import type { Doctor } from '../api/client.ts';
import { lookupIn } from '../config/expand.ts';
import { loadConfig } from '../config/load.ts';
import type { Paths } from '../config/paths.ts';
import { resolveEntry } from '../config/resolve.ts';
import { readVariables } from '../config/variables.ts';
import { consult } from '../keeper/doctor.ts';
import { atOnce } from '../replay/unhurried.ts';
import { unknownServer } from './ask.daemon.ts';
import { fromDatabase } from './offline.log.ts';

/** In the shape of the API. Programs and variables are those of whoever asks. Throws `why` when there is no log. */
export async function offlineDoctor(
  paths: Paths,
  env: Readonly<Record<string, string | undefined>>,
  name: string | undefined,
  why: unknown,
): Promise<Doctor> {
  return fromDatabase(paths.databaseFile, why, async ({ db, log }) => {
    const reading = await loadConfig(paths.configFile);
    const entries = reading.kind === 'loaded' ? reading.config.entries : [];
    const problem = reading.kind === 'broken' ? reading.problem : null;
    const names = entries.map((entry) => entry.name);
    if (name !== undefined && !names.includes(name)) throw unknownServer(name, names, 'doctor');
    const { values } = await readVariables(paths.variablesFile).catch(() => ({ values: {} }));
    const sources = { lookup: lookupIn(env, values), environment: env, platform: process.platform };
    return await consult(
      {
        log,
        db,
        entries,
        resolve: (entry) => {
          const resolution = resolveEntry(entry, sources);
          return resolution.ok ? resolution.entry : resolution.problem;
        },
        watched: false,
        whose: 'this shell',
        now: Date.now,
        seenUntil: log.lastAlive() ?? 0,
        noiseOf: () => [],
        namesCheck: () => null,
        run: async (steps) => atOnce(steps),
      },
      {
        dataDir: paths.dataDir,
        configFile: paths.configFile,
        problem,
        trouble: undefined,
        log,
        now: Date.now,
      },
      { name, version: null },
    );
  });
}
