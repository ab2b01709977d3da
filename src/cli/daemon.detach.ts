/** Starts the daemon in the background and waits until it is ready. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { Health } from '../api/client.ts';
import { type DaemonFile, readDaemonFile } from '../api/endpoint.ts';
import { type Paths, resolvePaths } from '../config/paths.ts';
import type { Context } from './command.ts';
import { CommandError } from './failure.ts';

const patienceMs = 30_000;
const tailBytes = 4096;
const tailLines = 15;

/** The last lines written to the file after `start`. */
function tailAfter(file: string, start: number): string {
  const handle = openSync(file, 'r');
  try {
    const { size } = fstatSync(handle);
    const length = Math.min(Math.max(0, size - start), tailBytes);
    const buffer = Buffer.alloc(length);
    readSync(handle, buffer, 0, length, size - length);
    return buffer.toString('utf8').trimEnd().split('\n').slice(-tailLines).join('\n');
  } finally {
    closeSync(handle);
  }
}

async function readyFacts(
  { api, files }: Context,
  pid: number | undefined,
): Promise<{ daemon: DaemonFile; health: Health } | null> {
  try {
    const daemon = readDaemonFile(files.dataDir);
    if (daemon.pid !== pid) return null;
    const health = await api.health();
    return health.ready ? { daemon, health } : null;
  } catch {
    return null;
  }
}

/** The daemon would refuse to be a second one by itself; this says so without a log to read. */
async function mustNotRun({ api, files }: Context): Promise<void> {
  const runs = await api.health().then(
    () => true,
    () => false,
  );
  if (!runs) return;
  const { pid, url } = readDaemonFile(files.dataDir);
  throw new CommandError(`A daemon runs already for ${files.dataDir} (pid ${pid}, ${url}).`, {
    next: ['status', 'down'],
  });
}

/** How a child came to its end, once it has. */
function ending(child: ChildProcess): () => string | null {
  let end: string | null = null;
  child.once('error', (error) => {
    end = error.message;
  });
  child.once('exit', (code, signal) => {
    end = signal ? `it was ended by ${signal}` : `it ended with exit code ${code}`;
  });
  return () => end;
}

async function openLog(dataDir: string, log: string): Promise<number> {
  const { DirectoryError, directoryError, makeDataDirectory } = await import('../config/data-directory.ts');
  try {
    await makeDataDirectory(dataDir);
    return openSync(log, 'a', 0o600);
  } catch (error) {
    const said = directoryError(dataDir, error);
    throw said instanceof DirectoryError ? new CommandError(said.message, { next: ['up --data <directory>'] }) : said;
  }
}

/** The options that were typed, and no others: what the daemon says names the ones it was given. */
function placeFlags({ dataDir, configFile, configOrigin }: Paths, env: Context['env']): string[] {
  const otherwise = resolvePaths({}, env);
  // A file named by a flag needs trust for its neighbours, the user's own does not: not to be mixed up here.
  const isChosen = configOrigin === 'chosen' && otherwise.configOrigin === 'own';
  return [
    ...(dataDir === otherwise.dataDir ? [] : ['--data', dataDir]),
    ...(isChosen || configFile !== otherwise.configFile ? ['--config', configFile] : []),
  ];
}

/** Why the daemon did not start: in its own words and with its own hints when it knew, else with all that it said. */
function notStarted(end: string, said: string): CommandError {
  const [, message, commands] = /(?:^|\n)watchkeeper: (.+)\n((?: {2}watchkeeper .+(?:\n|$))+)$/.exec(said) ?? [];
  if (message !== undefined && commands !== undefined)
    return new CommandError(`The daemon did not start: ${message}`, {
      next: [...commands.matchAll(/^ {2}watchkeeper (.+)$/gm)].flatMap(([, command]) => command ?? []),
    });
  return new CommandError(`The daemon did not start: ${end}.${said === '' ? '' : ` It said:\n${said}`}`, {
    next: ['up', 'status'],
  });
}

/** `flags`: what `up` was given. Throws with the end of the log when the daemon does not come up. */
export async function startDetached(
  context: Context,
  flags: readonly string[],
): Promise<{ daemon: DaemonFile; health: Health; log: string }> {
  const { files, self, env, cwd } = context;
  await mustNotRun(context);
  const log = join(files.dataDir, 'daemon.log');
  const handle = await openLog(files.dataDir, log);
  const start = fstatSync(handle).size;
  const child = spawn(self.execPath, [...self.execArgv, self.script, 'up', ...placeFlags(files, env), ...flags], {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', handle, handle],
    windowsHide: true,
  });
  closeSync(handle);
  const ended = ending(child);
  const until = Date.now() + patienceMs;
  for (;;) {
    const ready = await readyFacts(context, child.pid);
    if (ready) {
      child.unref();
      return { ...ready, log };
    }
    const end = ended() ?? (Date.now() > until ? `it was not ready after ${patienceMs / 1000} s` : null);
    if (end !== null) {
      if (ended() === null) child.kill('SIGTERM');
      throw notStarted(end, tailAfter(log, start));
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
