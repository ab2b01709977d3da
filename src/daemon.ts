/** Composition root: open, migrate, wire, listen, shut down. */
import { closeSync, openSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ClientTokens } from './clients/registry.ts';
import type { ClientUse } from './clients/use.ts';
import { DirectoryError, directoryError, makeDataDirectory, makeSocketDirectory } from './config/data-directory.ts';
import { readText } from './config/files.ts';
import { homeFolder } from './config/home.ts';
import { type Paths, resolvePaths } from './config/paths.ts';
import { type LoadedSettings, loadSettings } from './config/settings.ts';
import { isTrusted } from './config/trust.ts';
import { randomLetters } from './daemon/ids.ts';
import { createLogger } from './daemon/logger.ts';
import { endOrphans } from './daemon/orphans.ts';
import { AlreadyOwned, type Ownership, takeOwnership } from './daemon/owner.ts';
import { assemble, type Parts, type PartsOptions } from './daemon/parts.ts';
import { readOrMakeToken } from './daemon/token.ts';
import { watchFiles } from './daemon/watches.ts';
import { NewerDatabase } from './events/migrate.ts';
import { chainTip } from './events/sqlite.ts';
import { sha256Hex } from './hash.ts';
import { buildApp } from './http/app.ts';
import type { KnownClients } from './http/guard.ts';
import { ListenError } from './http/listen.port.ts';
import { type Served, serve } from './http/serve.ts';
import { openCalls } from './projections/calls.projection.ts';
import { packageVersion } from './root.ts';

/** How often the daemon notes that it lives, in ms: what a crash can leave unknown. */
const ALIVE_MS = 5_000;
/** A stop that takes longer than this is cut off, in ms. */
const STOP_MS = 9_800;
/** Requests that run when the daemon stops have this long, in ms. */
const GRACE_MS = 2_000;

export interface DaemonOptions {
  readonly configFile?: string | undefined;
  readonly dataDir?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly allowRemote?: boolean | undefined;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly onReady: (facts: ReadyFacts) => void;
  /** Ends the daemon, also one that is still starting. */
  readonly signal?: AbortSignal | undefined;
}

/** What `daemon.json` holds, and what the ready line says besides. */
export interface ReadyFacts {
  readonly url: string;
  readonly socket: string;
  readonly pid: number;
  readonly port: number;
  readonly version: string;
  readonly startedAt: string;
  readonly servers: number;
  readonly configFile: string;
  readonly configExists: boolean;
}

/** The daemon can not start here; the message names the thing and `next` the commands to type. */
export class DaemonStartError extends Error {
  override readonly name = 'DaemonStartError';
  constructor(
    message: string,
    readonly next: readonly string[] = ['status'],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Runs the daemon until it is told to stop. Resolves with the exit code; throws `DaemonStartError`. */
export async function runDaemon(options: DaemonOptions): Promise<number> {
  const paths = resolvePaths({ config: options.configFile, data: options.dataDir }, process.env);
  const trusted =
    paths.configOrigin === 'own' || (await isTrusted(paths.configFile, homeFolder(process.env), paths.dataDir));
  const loaded = await settingsOf(options, paths, trusted);
  const { settings } = loaded;
  const level = options.quiet ? 'error' : settings.log.level;
  const logger = createLogger({ level, terminal: process.stderr.isTTY === true });

  await usable(paths, () => makeDataDirectory(paths.dataDir));
  const ownership = await usable(paths, () => own(paths.dataDir));
  const owner = sha256Hex(paths.dataDir).slice(0, 12);
  const run = randomLetters(12);
  const version = packageVersion();
  const startedAt = new Date().toISOString();
  const token = { current: await usable(paths, () => readOrMakeToken(paths.tokenFile)) };

  const shutdown = new Shutdown(logger, options.signal);
  let ready = false;
  await usable(paths, () => createPrivate(paths.databaseFile));
  let port: number | null = null;
  const parts = await usable(paths, () =>
    assembled(ownership, {
      paths,
      settings,
      trusted,
      logger,
      runId: `${owner}:${run}`,
      version,
      startedAt,
      after: orphansEnded(owner, run, logger),
      ready: () => ready,
      ports: () => (port === null ? [] : [port]),
      onFatal: (error) => shutdown.afterContradiction(error),
      stop: () => void shutdown.begin(0),
    }),
  );
  // A large log takes a while to open; a signal that came meanwhile is heard only now.
  await new Promise(setImmediate);
  if (shutdown.asked) {
    parts.log.close();
    ownership.release();
    return 0;
  }
  noteChain(parts, logger);
  await recordStart(parts, { run, version });
  const served = await listen(options, paths, loaded, parts, token, logger).catch((error) => {
    parts.log.close();
    ownership.release();
    throw error instanceof ListenError
      ? new DaemonStartError(error.message, nextAfter(error, settings.http.host), { cause: error })
      : error;
  });

  await parts.recordings.restore();
  port = served.port;
  await parts.allowlist.load();
  if (!shutdown.asked) {
    await parts.configuration.load();
    await parts.supervisor.offerOwn();
  }
  ready = !shutdown.asked;
  await warnOfSettings(loaded, paths, trusted, logger);
  const unwatch = watchFiles({ ...parts, paths, logger, token });
  const alive = setInterval(() => noteAlive(parts), ALIVE_MS).unref();

  const facts = { pid: process.pid, port: served.port, url: served.url, socket: paths.socket.path, version, startedAt };
  await writeFile(paths.daemonFile, `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600 });
  shutdown.arm(async () => {
    clearInterval(alive);
    unwatch();
    try {
      await close(parts, served, run, logger);
    } finally {
      removeTraces(paths, ownership);
    }
  });
  if (process.stderr.isTTY) {
    logger.info(`Ask it: curl -H "Authorization: Bearer $(cat ${paths.tokenFile})" ${served.url}/v1/mcp/status`);
  }
  const { configuration } = parts;
  const servers = parts.supervisor.entries.length;
  if (ready) options.onReady({ ...facts, servers, configFile: paths.configFile, configExists: configuration.exists });
  return shutdown.done;
}

/** What keeps the data directory from being used becomes an error that says what to type. */
async function usable<T>({ dataDir }: Paths, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const said = directoryError(dataDir, error);
    throw said instanceof DirectoryError
      ? new DaemonStartError(said.message, ['up --data <directory>'], { cause: said })
      : said;
  }
}

function assembled(ownership: Ownership, options: PartsOptions): Parts {
  try {
    return assemble(options);
  } catch (error) {
    ownership.release();
    if (error instanceof NewerDatabase) throw new DaemonStartError(error.message, ['version'], { cause: error });
    throw error;
  }
}

/** The one way down, however it was asked for. What is asked before everything runs is done as soon as it does. */
class Shutdown {
  readonly done: Promise<number>;
  readonly #logger: Logger;
  #resolve: (code: number) => void = () => {};
  #close: (() => Promise<void>) | null = null;
  #code: number | null = null;

  constructor(logger: Logger, signal: AbortSignal | undefined) {
    this.#logger = logger;
    this.done = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.on(signal, () => {
        logger.info({ signal }, 'Stopping.');
        void this.begin(0);
      });
    }
    if (signal?.aborted) void this.begin(0);
    else signal?.addEventListener('abort', () => void this.begin(0), { once: true });
  }

  /** Whether the daemon has been told to stop. */
  get asked(): boolean {
    return this.#code !== null;
  }

  arm(close: () => Promise<void>): void {
    this.#close = close;
    if (this.#code !== null) void this.#run(this.#code);
  }

  async begin(code: number): Promise<void> {
    if (this.#code !== null) return;
    this.#code = code;
    if (this.#close) await this.#run(code);
  }

  /** The log and a machine disagree: nothing that is written from here on would be true. */
  afterContradiction(error: unknown): void {
    this.#logger.fatal({ err: error }, 'The daemon contradicts its own log and stops.');
    // Closing in good order may need the very part that is broken; servers that are left are ended at the next start.
    setTimeout(() => process.exit(1), GRACE_MS).unref();
    void this.begin(1);
  }

  async #run(code: number): Promise<void> {
    const cutOff = setTimeout(() => this.#resolve(1), STOP_MS);
    try {
      await this.#close?.();
    } catch (error) {
      this.#logger.error({ err: error }, 'The daemon did not stop in good order.');
    }
    clearTimeout(cutOff);
    this.#resolve(code);
  }
}

/** What a dead daemon left open is closed in the transaction that records the start, before any body exists. */
async function recordStart(
  { log, desk, supervisor, calls, daemonJournal }: Parts,
  { run, version }: { run: string; version: string },
): Promise<void> {
  const lastAlive = log.lastAlive();
  const data = { run, version, pid: process.pid, lastAlive };
  const started = daemonJournal.report({ type: 'DaemonStarted', data }, undefined);
  supervisor.closeOpenEnds(lastAlive ?? desk.now());
  calls.closeOpenEnds(openCalls(log.db).map(({ id }) => id));
  await started;
  supervisor.embody();
}

async function listen(
  { allowRemote = false }: DaemonOptions,
  paths: Paths,
  { settings }: LoadedSettings,
  { keeper, hub, clientTokens, clientUse }: Parts,
  token: { readonly current: string },
  logger: Logger,
): Promise<Served> {
  let port = 0;
  const app = await buildApp({
    keeper,
    mcp: hub,
    token: () => token.current,
    clients: knownClients(clientTokens, clientUse),
    port: () => port,
    allowedHosts: settings.http.allowedHosts,
    log: logger,
  });
  if (paths.socket.directory) await makeSocketDirectory(paths.socket.directory);
  const served = await serve({
    app,
    host: settings.http.host,
    port: settings.http.port,
    socket: paths.socket.path,
    allowRemote,
    onError: (error) => logger.error({ err: error }, 'A connection could not be accepted.'),
  });
  port = served.port;
  return served;
}

/** Clients by what they bring along; that they came is noted. */
function knownClients(tokens: ClientTokens, use: ClientUse): KnownClients {
  const noted = (client: ReturnType<ClientTokens['byName']>) => {
    if (client) use.note(client.id, Date.now());
    return client;
  };
  return {
    byToken: (token) => noted(tokens.byToken(token)),
    byName: (name) => noted(tokens.byName(name)),
  };
}

async function close(
  { log, desk, supervisor, logins, calls, daemonJournal, hub, recordings, clientUse }: Parts,
  served: Served,
  run: string,
  logger: Logger,
): Promise<void> {
  await calls.abandon();
  // Those who waited hear of it before their sessions end.
  await nextTurn();
  logins.close();
  hub.close();
  await Promise.all([supervisor.stop(), served.close(GRACE_MS)]);
  await recordings.close();
  await clientUse.save();
  await daemonJournal.tell({ type: 'DaemonStopped', data: { run } }, undefined);
  await desk.close();
  noteChain({ log }, logger);
  log.close();
}

/** A witness outside the database: whoever cuts the log, or makes it anew, does not reach what a journal has kept. */
function noteChain({ log }: Pick<Parts, 'log'>, logger: Logger): void {
  const tip = chainTip(log.db);
  if (tip !== null) logger.info(tip, 'The log ends here; `watchkeeper ledger verify --expect <hash>` finds it again.');
}

function removeTraces(paths: Paths, ownership: Ownership): void {
  rmSync(paths.daemonFile, { force: true });
  if (process.platform !== 'win32') rmSync(paths.socket.path, { force: true });
  ownership.release();
}

function noteAlive({ log, desk }: Parts): void {
  try {
    log.touch(desk.now());
  } catch {
    // The log is in trouble; the desk says so as soon as a fact is to be written.
  }
}

async function orphansEnded(owner: string, run: string, logger: Logger): Promise<void> {
  const count = await endOrphans(owner, run);
  if (count > 0)
    logger.warn({ count }, 'Processes of a daemon that was killed were still running; they have been ended.');
}

async function settingsOf(options: DaemonOptions, paths: Paths, trusted: boolean): Promise<LoadedSettings> {
  const text = trusted ? await readText(paths.settingsFile).catch(() => null) : null;
  return loadSettings({ flags: { 'http.host': options.host, 'http.port': options.port }, env: process.env, text });
}

async function warnOfSettings(
  { warnings, problems }: LoadedSettings,
  { settingsFile }: Paths,
  trusted: boolean,
  logger: Logger,
): Promise<void> {
  for (const warning of warnings) logger.warn(`${settingsFile}: ${warning}`);
  for (const { message, source } of problems) logger.warn(`Setting from ${source}: ${message}; it is not used.`);
  if (!trusted && (await readText(settingsFile).catch(() => null)) !== null) {
    logger.warn(
      `${settingsFile} does not count, because it lies outside your home folder. Read it, then: watchkeeper config trust`,
    );
  }
}

function own(dataDir: string): Ownership {
  try {
    return takeOwnership(dataDir);
  } catch (error) {
    if (error instanceof AlreadyOwned) throw new DaemonStartError(error.message, ['status', 'down'], { cause: error });
    throw error;
  }
}

function nextAfter({ code }: ListenError, host: string): string[] {
  if (code === 'remote-host') return ['up', `up --allow-remote --host ${host}`];
  if (code === 'host-unknown') return ['up', 'up --host 127.0.0.1'];
  return code === 'socket-in-use' ? ['status', 'up --data <directory>'] : ['up --port 0'];
}

/** SQLite gives its side files the mode of the database. */
function createPrivate(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
}
