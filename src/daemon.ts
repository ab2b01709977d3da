/** Composition root: open, migrate, wire, listen, shut down. The one place that knows every part. */
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Actor } from './actors/actor.ts';
import type { AllowlistContext } from './actors/allowlist/allowlist.state.ts';
import { CallDesk } from './actors/call/call.actor.ts';
import { callRules } from './actors/call/call.rules.ts';
import type { CallContext } from './actors/call/call.state.ts';
import { Desk } from './actors/desk.ts';
import { type Head, type Heard, step } from './actors/head.ts';
import { journalRules } from './actors/journal.ts';
import { Supervisor } from './actors/supervisor.ts';
import { sha256 } from './config/canonical.ts';
import type { EntryProblem, ResolvedEntry, ServerEntry } from './config/entry.ts';
import { makePrivateDirectory, readText } from './config/files.ts';
import { type Paths, resolvePaths } from './config/paths.ts';
import { resolveEntry } from './config/resolve.ts';
import { type LoadedSettings, loadSettings } from './config/settings.ts';
import { isTrusted } from './config/trust.ts';
import { parseVariables, readVariables } from './config/variables.ts';
import { watchFile } from './config/watch.ts';
import { callId, commandId, randomLetters } from './daemon/ids.ts';
import { createLogger } from './daemon/logger.ts';
import { endOrphans } from './daemon/orphans.ts';
import { AlreadyOwned, takeOwnership } from './daemon/owner.ts';
import { readOrMakeToken } from './daemon/token.ts';
import { warnOfFailures } from './daemon/warnings.ts';
import type { CallFact } from './events/call.events.ts';
import type { ConfigFact, DaemonFact } from './events/daemon.events.ts';
import { openLog, type SqliteLog } from './events/sqlite.ts';
import { buildApp } from './http/app.ts';
import { ListenError } from './http/listen.port.ts';
import { serve } from './http/serve.ts';
import { Allowlist } from './keeper/allowlist.ts';
import { Configuration } from './keeper/configuration.ts';
import { Directory, readList } from './keeper/directory.ts';
import { createKeeper } from './keeper/keeper.ts';
import { Metrics } from './keeper/metrics.ts';
import { testServerWith } from './keeper/test-server.ts';
import { canonicalJson } from './mcp/canonical.ts';
import { capResult } from './mcp/cap.ts';
import { sha256Hex } from './mcp/hash.ts';
import { openConnection } from './mcp/open.ts';
import { openCalls } from './projections/calls.projection.ts';
import { projector } from './projections/projection.ts';
import { readRegistry } from './projections/registry.projection.ts';
import { views } from './projections/views.ts';
import { packageRoot, packageVersion } from './root.ts';

/** How often the daemon notes that it lives, in ms: what a crash can leave unknown. */
const ALIVE_MS = 5_000;
/** A stop that takes longer than this is cut off, in ms. */
const STOP_MS = 9_800;

export interface DaemonOptions {
  readonly configFile?: string | undefined;
  readonly dataDir?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly allowRemote?: boolean | undefined;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly onReady: (facts: ReadyFacts) => void;
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
  const trusted = paths.configOrigin === 'own' || (await isTrusted(paths.configFile, homedir(), paths.dataDir));
  const loaded = await settingsOf(options, paths, trusted);
  const { settings } = loaded;
  const logger = createLogger({
    level: options.quiet ? 'error' : settings.log.level,
    terminal: process.stderr.isTTY === true,
  });

  await makePrivateDirectory(paths.dataDir);
  const ownership = own(paths.dataDir);
  const run = randomLetters(12);
  const owner = sha256(paths.dataDir).slice(0, 12);
  const runId = `${owner}:${run}`;
  const version = packageVersion();
  const startedAt = new Date().toISOString();
  let token = readOrMakeToken(paths.tokenFile);

  createPrivate(paths.databaseFile);
  const log = openLog({
    file: paths.databaseFile,
    migrations: join(packageRoot(), 'migrations'),
    durability: settings.log.durability,
    project: (db) => projector(db, views),
  });
  const stopped = deferred<number>();
  let stopping = false;
  const desk = new Desk({
    log,
    now: Date.now,
    random: Math.random,
    newId: commandId,
    onFatal: (error) => {
      logger.fatal({ err: error }, 'The daemon contradicts its own log and stops.');
      process.exitCode = 1;
      setTimeout(() => process.exit(1), 2_000).unref();
      void stop(1);
    },
    onDegraded: (error) => {
      if (error === null) logger.info('The event log takes facts again.');
      else logger.error({ err: error }, 'The event log cannot be written: commands are refused until it can.');
    },
  });
  desk.startClockAt(log.read({ after: log.lastPosition() - 1 })[0]?.at ?? 0);
  warnOfFailures(log, logger);

  const seenAt = new Map<string, number>();
  let seenVersion = 0;
  const orphansEnded = endOrphans(owner, run).then((count) => {
    if (count > 0)
      logger.warn({ count }, 'Processes of a daemon that was killed were still running; they have been ended.');
  });
  const supervisor = new Supervisor({
    log,
    parallel: settings.start.parallel,
    resolve: ({ entry, problem }) =>
      entry ? resolve(entry, paths) : (problem ?? { field: 'entry', message: 'it cannot be used' }),
    server: {
      desk,
      open: openConnection,
      read: readList,
      runId,
      version,
      after: orphansEnded,
      onWarning: (server, message) => logger.warn({ server }, message),
      onSeen: (server, at) => {
        seenAt.set(server, at);
        seenVersion += 1;
      },
    },
  });
  const directory = new Directory(
    {
      maxLength: settings.naming.maxLength,
      mountMode: settings.mount_mode,
      servers: () => supervisor.entries.map(({ name }) => name),
      visibility: (server) => {
        const entry = supervisor.entry(server)?.entry;
        return (
          supervisor.entry(server) && {
            include: [],
            exclude: [],
            toolPrefix: undefined,
            disabled: false,
            ...(entry ?? {}),
          }
        );
      },
    },
    readRegistry(log.db),
    log,
  );
  const allowlistHead = log.head('allowlist');
  const allowlist = new Allowlist({
    file: paths.allowFile,
    trusted,
    desk,
    head: allowlistHead ? { ...allowlistHead, context: allowlistHead.context as AllowlistContext } : undefined,
    seen: () => ({
      tools: directory
        .list()
        .map(({ name, server, tool }) => ({ name, server, identity: identityOf(server), definition: tool.hash })),
      servers: supervisor.entries.map(({ name }) => ({ server: name, identity: identityOf(name) })),
    }),
    warn: (message) => logger.warn(message),
  });
  const identityOf = (server: string): string => supervisor.find(server)?.actor.head.context.identity ?? '';
  const calls = new CallDesk({
    desk,
    supervisor,
    definitionOf: (server, tool) => directory.definitionOf(server, tool),
    grantsFor: (server, name) => allowlist.grantsFor(server, name),
    windowMs: settings.approval.windowMs,
    holdMs: settings.approval.holdMs,
    canonical: canonicalJson,
    hash: sha256Hex,
    cap: capResult,
    newId: callId,
    fold: (id) => foldCall(log, id),
  });
  log.committed$.subscribe((facts) => {
    const changed = facts.some(
      ({ type, data }) => type === 'ServerConfigured' || (type === 'ToolsListed' && 'tools' in data),
    );
    for (const { type, stream } of facts)
      if (type === 'ServerRemoved') void allowlist.removeServer(stream.slice('server-'.length));
    if (changed) void allowlist.bind();
  });

  const daemonJournal = journal<DaemonFact>('daemon', desk, log);
  const configJournal = journal<ConfigFact>('config', desk, log);
  const configuration = new Configuration({
    file: paths.configFile,
    journal: configJournal,
    onLoaded: async (config) => {
      await supervisor.reconcile(config);
      directory.refresh();
      await allowlist.bind();
    },
    warn: (message) => logger.warn(message),
  });

  // What a dead daemon left open is closed in the transaction that records the start, before any body exists.
  const lastAlive = log.lastAlive();
  const started = daemonJournal.report(
    { type: 'DaemonStarted', data: { run, version, pid: process.pid, lastAlive } },
    undefined,
  );
  supervisor.closeOpenEnds(lastAlive ?? desk.now());
  calls.closeOpenEnds(openCalls(log.db).map(({ id }) => id));
  await started;
  supervisor.embody();

  let ready = false;
  let port = 0;
  const metrics = new Metrics({
    log,
    version,
    states: () =>
      supervisor.entries.map(({ name }) => {
        const head = supervisor.find(name)?.actor.committedHead;
        return { name, state: head?.state ?? 'stopped', tools: head?.context.count ?? 0 };
      }),
  });
  const keeper = createKeeper({
    version,
    startedAt,
    log,
    desk,
    supervisor,
    calls,
    configuration,
    directory,
    allowlist,
    metrics,
    mountMode: settings.mount_mode,
    maxLength: settings.naming.maxLength,
    seen: { at: seenAt, version: () => seenVersion },
    ready: () => ready,
    testServer: testServerWith({ open: openConnection, resolve: (entry) => resolve(entry, paths), runId, version }),
    stop: () => void stop(0),
  });
  const app = await buildApp({
    keeper,
    token: () => token,
    port: () => port,
    allowedHosts: settings.http.allowedHosts,
    log: logger,
  });
  if (paths.socket.directory) await mkdir(paths.socket.directory, { recursive: true, mode: 0o700 });
  const served = await serve({
    app,
    host: settings.http.host,
    port: settings.http.port,
    socket: paths.socket.path,
    allowRemote: options.allowRemote ?? false,
    onError: (error) => logger.error({ err: error }, 'A connection could not be accepted.'),
  }).catch((error) => {
    log.close();
    ownership.release();
    throw error instanceof ListenError
      ? new DaemonStartError(error.message, nextAfter(error), { cause: error })
      : error;
  });
  port = served.port;

  await allowlist.load();
  await configuration.load();
  ready = true;
  for (const warning of loaded.warnings) logger.warn(`${paths.settingsFile}: ${warning}`);
  for (const { message, source } of loaded.problems) logger.warn(`Setting from ${source}: ${message}; it is not used.`);
  if (!trusted && (await readText(paths.settingsFile).catch(() => null)) !== null) {
    logger.warn(
      `${paths.settingsFile} does not count, because it lies outside your home folder. Read it, then: watchkeeper config trust`,
    );
  }

  configuration.watch();
  allowlist.watch();
  const variables = watchFile(paths.variablesFile, { settleMs: 150 }).subscribe(() => {
    readVariables(paths.variablesFile).then(
      ({ warnings }) => {
        for (const warning of warnings) logger.warn(warning);
      },
      (error) => logger.warn(String(error)),
    );
    void supervisor.retryConfigErrors();
  });
  // A token made anew by hand or by `token --rotate` counts at once.
  const tokens = watchFile(paths.tokenFile, { known: { kind: 'text', text: `${token}\n` }, settleMs: 20 }).subscribe(
    (content) => {
      if (content.kind === 'text' && content.text.trim() !== '') token = content.text.trim();
    },
  );
  const alive = setInterval(() => {
    try {
      log.touch(desk.now());
    } catch {
      // The log is in trouble; the desk says so as soon as a fact is to be written.
    }
  }, ALIVE_MS);
  alive.unref();

  const facts = { pid: process.pid, port, url: served.url, socket: paths.socket.path, version, startedAt };
  await writeFile(paths.daemonFile, `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600 });
  const onSignal = (signal: NodeJS.Signals): void => {
    logger.info({ signal }, 'Stopping.');
    void stop(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal);
  if (process.stderr.isTTY) {
    logger.info(`Ask it: curl -H "Authorization: Bearer $(cat ${paths.tokenFile})" ${served.url}/v1/mcp/status`);
  }
  options.onReady({
    ...facts,
    servers: configuration.config.entries.length,
    configFile: paths.configFile,
    configExists: configuration.exists,
  });
  return stopped.promise;

  /** Once: closes what is open, in order, and cuts off what takes too long. */
  async function stop(code: number): Promise<void> {
    if (stopping) return;
    stopping = true;
    const force = setTimeout(() => stopped.resolve(code === 0 ? 1 : code), STOP_MS);
    clearInterval(alive);
    variables.unsubscribe();
    tokens.unsubscribe();
    configuration.unwatch();
    allowlist.unwatch();
    try {
      await calls.abandon();
      await Promise.all([supervisor.stop(), served.close(2_000)]);
      await daemonJournal.tell({ type: 'DaemonStopped', data: { run } }, undefined);
      await desk.close();
      log.close();
    } catch (error) {
      logger.error({ err: error }, 'The daemon did not stop in good order.');
    }
    rmSync(paths.daemonFile, { force: true });
    if (process.platform !== 'win32') rmSync(paths.socket.path, { force: true });
    ownership.release();
    clearTimeout(force);
    stopped.resolve(code);
  }
}

async function settingsOf(options: DaemonOptions, paths: Paths, trusted: boolean): Promise<LoadedSettings> {
  const text = trusted ? await readText(paths.settingsFile).catch(() => null) : null;
  return loadSettings({ flags: { 'http.host': options.host, 'http.port': options.port }, env: process.env, text });
}

function own(dataDir: string): ReturnType<typeof takeOwnership> {
  try {
    return takeOwnership(dataDir);
  } catch (error) {
    if (error instanceof AlreadyOwned) throw new DaemonStartError(error.message, ['status', 'down'], { cause: error });
    throw error;
  }
}

const nextAfter = ({ code }: ListenError): string[] =>
  code === 'remote-host' ? ['up', 'up --allow-remote --host <address>'] : ['up --port 0'];

/** SQLite gives its side files the mode of the database. */
function createPrivate(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
}

/** Placeholders are looked up at each start of an entry: in the environment, then in `watchkeeper.env` as it is now. */
function resolve(entry: ServerEntry, paths: Paths): ResolvedEntry | EntryProblem {
  const { values } = parseVariables(textOf(paths.variablesFile));
  const lookup = (name: string): string | undefined =>
    process.env[name] ?? (Object.hasOwn(values, name) ? values[name] : undefined);
  const resolution = resolveEntry(entry, { lookup, environment: process.env, platform: process.platform });
  return resolution.ok ? resolution.entry : resolution.problem;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function journal<F extends DaemonFact | ConfigFact>(
  stream: 'daemon' | 'config',
  desk: Desk,
  log: SqliteLog,
): Actor<null, F, F> {
  const row = log.head(stream);
  return new Actor({
    stream,
    desk,
    rules: journalRules<F>(),
    head: row ? { state: row.state, context: null, version: row.version } : undefined,
    keepHead: true,
  });
}

function foldCall(log: SqliteLog, id: string): Head<CallContext> {
  return log
    .read({ stream: `call-${id}` })
    .reduce<Head<CallContext>>((head, fact) => step(callRules, head, fact as unknown as Heard<CallFact>), {
      ...callRules.initial,
      version: 0,
    });
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((ok) => {
    resolve = ok;
  });
  return { promise, resolve };
}
