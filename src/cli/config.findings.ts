/** What is to be said about the configuration and the files beside it. Loads the schemas: import it only when needed. */
import { readAllowEntry } from '../config/allow-file.ts';
import { besideBuiltin } from '../config/builtin.ts';
import type { LoadedEntry } from '../config/entry.ts';
import { lookupIn } from '../config/expand.ts';
import { FileError, readText, writableByOthers } from '../config/files.ts';
import { homeFolder } from '../config/home.ts';
import { withoutMark } from '../config/jsonc.ts';
import { loadConfig } from '../config/load.ts';
import type { Paths } from '../config/paths.ts';
import { resolveEntry } from '../config/resolve.ts';
import { loadSettings, type Settings } from '../config/settings.ts';
import { isTrusted } from '../config/trust.ts';
import { readVariables } from '../config/variables.ts';

export interface Finding {
  readonly file: string;
  /** The server it is about, if it is about one. */
  readonly server?: string;
  readonly level: 'error' | 'warning';
  readonly message: string;
}

export interface Findings {
  readonly exists: boolean;
  /** Names of all servers in the file, also of those that cannot be used. */
  readonly servers: readonly string[];
  readonly findings: readonly Finding[];
}

const ofEntry = (file: string, { name, problem, warnings }: LoadedEntry): Finding[] => [
  ...(problem ? [{ file, server: name, level: 'error' as const, message: problem.message }] : []),
  ...warnings.map((message) => ({ file, server: name, level: 'warning' as const, message })),
];

async function ofConfig(file: string, builtin: boolean): Promise<Findings> {
  const reading = await loadConfig(file);
  if (reading.kind === 'broken') {
    return { exists: true, servers: [], findings: [{ file, level: 'error', message: reading.problem.message }] };
  }
  const { entries, warnings } = reading.config;
  return {
    exists: reading.exists,
    servers: entries.map(({ name }) => name),
    findings: [
      ...warnings.map((message) => ({ file, level: 'warning' as const, message })),
      ...entries.flatMap((entry) => ofEntry(file, builtin ? besideBuiltin(entry) : entry)),
    ],
  };
}

/** A file that cannot be read is one finding about that file. */
async function reading(file: string, read: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return [{ file, level: 'error', message: error.message }];
  }
}

const ofSettings = (file: string, env: Readonly<Record<string, string | undefined>>): Promise<Finding[]> =>
  reading(file, async () => {
    const { problems, warnings } = loadSettings({ env, text: await readText(file) });
    return [
      ...problems.map(({ source, message }) => ({
        file: source === 'file' ? file : 'environment',
        level: 'error' as const,
        message,
      })),
      ...warnings.map((message) => ({ file, level: 'warning' as const, message })),
    ];
  });

const ofVariables = (file: string): Promise<Finding[]> =>
  reading(file, async () => {
    const { warnings } = await readVariables(file);
    return warnings.map((message) => ({ file, level: 'warning' as const, message }));
  });

/** Lines that grant nothing, or nothing that could run. */
const ofAllowlist = (paths: Paths, servers: readonly string[]): Promise<Finding[]> =>
  reading(paths.allowFile, async () => {
    const text = (await readText(paths.allowFile)) ?? '';
    const seen = new Set<string>();
    return withoutMark(text)
      .split(/\r?\n/)
      .flatMap((line, index): Finding[] => {
        const word = line.trim();
        if (word === '' || word.startsWith('#')) return [];
        const say = (message: string): Finding[] => [
          { file: paths.allowFile, level: 'warning', message: `line ${index + 1}: ${message}` },
        ];
        const entry = readAllowEntry(word);
        if (entry === null)
          return say('grants nothing; an entry is mcp__<server>__<tool>, its name as registered, or mcp__<server>__*');
        if (seen.has(word)) return say('stands here a second time');
        seen.add(word);
        return servers.includes(entry.server) ? [] : say(`there is no server "${entry.server}"`);
      });
  });

/** What would keep an entry from starting here and now: a variable that is not set, a value that cannot be used. */
const ofPlaceholders = (paths: Paths, env: Readonly<Record<string, string | undefined>>): Promise<Finding[]> =>
  reading(paths.configFile, async () => {
    const config = await loadConfig(paths.configFile);
    if (config.kind === 'broken') return [];
    const { values } = await readVariables(paths.variablesFile).catch(() => ({ values: {} }));
    const sources = { lookup: lookupIn(env, values), environment: env, platform: process.platform };
    return config.config.entries.flatMap(({ name, entry }): Finding[] => {
      const resolution = entry && !entry.disabled ? resolveEntry(entry, sources) : null;
      if (resolution === null || resolution.ok) return [];
      return [{ file: paths.configFile, server: name, level: 'error', message: resolution.problem.message }];
    });
  });

async function ofTrust(paths: Paths, home: string): Promise<Finding[]> {
  if (paths.configOrigin === 'own' || (await isTrusted(paths.configFile, home, paths.dataDir))) return [];
  const found = [];
  for (const file of [paths.allowFile, paths.settingsFile]) {
    if ((await readText(file).catch(() => '')) === null) continue;
    found.push({ file, level: 'warning' as const, message: 'does not count until `watchkeeper config trust`' });
  }
  return found;
}

/** Whoever may write one of these files decides what runs in your name. */
async function ofModes(paths: Paths): Promise<Finding[]> {
  const files = [paths.configFile, paths.allowFile, paths.settingsFile, paths.variablesFile];
  const faults = await Promise.all(files.map(async (file) => ({ file, message: await writableByOthers(file) })));
  return faults.flatMap(({ file, message }) => (message === null ? [] : [{ file, level: 'error' as const, message }]));
}

/** The settings a daemon started now would have; a file that is not trusted does not count. */
export async function settingsOf(paths: Paths, env: Readonly<Record<string, string | undefined>>): Promise<Settings> {
  const counts = (await ofTrust(paths, homeFolder(env))).length === 0;
  const text = counts ? await readText(paths.settingsFile).catch(() => null) : null;
  return loadSettings({ env, text }).settings;
}

/** Checks every file; throws nothing for what a person can get wrong. */
export async function findingsOf(paths: Paths, env: Readonly<Record<string, string | undefined>>): Promise<Findings> {
  const config = await ofConfig(paths.configFile, (await settingsOf(paths, env)).self);
  const rest = await Promise.all([
    ofSettings(paths.settingsFile, env),
    ofVariables(paths.variablesFile),
    ofPlaceholders(paths, env),
    ofAllowlist(paths, config.servers),
    ofTrust(paths, homeFolder(env)),
    ofModes(paths),
  ]);
  return { ...config, findings: [...config.findings, ...rest.flat()] };
}
