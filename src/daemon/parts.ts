/** Every part of the daemon, wired: who knows whom is decided here and nowhere else. Nothing is started yet. */

import { availableParallelism, networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { Actor } from '../actors/actor.ts';
import type { AllowlistContext } from '../actors/allowlist/allowlist.state.ts';
import { CallDesk } from '../actors/call/call.actor.ts';
import { callRules } from '../actors/call/call.rules.ts';
import type { CallContext } from '../actors/call/call.state.ts';
import { Desk } from '../actors/desk.ts';
import type { Head, Heard } from '../actors/head.ts';
import { journalRules } from '../actors/journal.ts';
import { Supervisor } from '../actors/supervisor.ts';
import { builtinConnection } from '../builtin/connection.ts';
import { builtinInstructions, builtinTools } from '../builtin/tools.ts';
import { canonicalJson } from '../canonical.ts';
import { ClientTokens } from '../clients/registry.ts';
import { ClientUse } from '../clients/use.ts';
import { BUILTIN, besideBuiltin, builtinEntry } from '../config/builtin.ts';
import type { ResolvedEntry } from '../config/entry.ts';
import { type Paths, resolvePaths } from '../config/paths.ts';
import type { Settings } from '../config/settings.ts';
import type { CallFact } from '../events/call.events.ts';
import type { ConfigFact, DaemonFact } from '../events/daemon.events.ts';
import { serverOf } from '../events/envelope.ts';
import type { LoginFact } from '../events/login.events.ts';
import { openLog, type SqliteLog } from '../events/sqlite.ts';
import { sha256Hex } from '../hash.ts';
import type { Keeper } from '../http/keeper.ts';
import { createHub, type Hub } from '../hub/hub.ts';
import { Allowlist } from '../keeper/allowlist.ts';
import { ClientRules } from '../keeper/client.rules.ts';
import { Configuration } from '../keeper/configuration.ts';
import { Directory, readList } from '../keeper/directory.ts';
import { createKeeper } from '../keeper/keeper.ts';
import { grantsInLog } from '../keeper/ledger.ts';
import { isLoginEntry, reconnected } from '../keeper/logins.ts';
import { Metrics } from '../keeper/metrics.ts';
import { Noises } from '../keeper/noise.ts';
import { Recordings } from '../keeper/recordings.ts';
import { remarksWith } from '../keeper/remarks.ts';
import { testServerWith } from '../keeper/test-server.ts';
import { capResult } from '../mcp/cap.ts';
import type { Credentials } from '../mcp/connection.ts';
import { openConnection } from '../mcp/open.ts';
import { Logins } from '../oauth/logins.ts';
import { projector } from '../projections/projection.ts';
import { readRegistry } from '../projections/registry.projection.ts';
import { views } from '../projections/views.ts';
import { Recorder } from '../recordings/recorder.ts';
import { foldByTable } from '../replay/fold.ts';
import { packageRoot } from '../root.ts';
import { callId, commandId } from './ids.ts';
import { resolveWith } from './variables.ts';
import { warnOfClients, warnOfFailures } from './warnings.ts';

export interface PartsOptions {
  readonly paths: Paths;
  readonly settings: Settings;
  /** Whether `allow_tool` beside the config file counts. */
  readonly trusted: boolean;
  readonly logger: Logger;
  /** Marks every child: `<data directory>:<run>`. */
  readonly runId: string;
  readonly version: string;
  readonly startedAt: string;
  /** No server is started before this. */
  readonly after: Promise<unknown>;
  readonly ready: () => boolean;
  /** Ports the daemon listens on for HTTP. */
  readonly ports: () => readonly number[];
  /** The daemon contradicts its own log. */
  readonly onFatal: (error: unknown) => void;
  readonly stop: () => void;
}

export interface Parts {
  readonly log: SqliteLog;
  readonly desk: Desk;
  readonly supervisor: Supervisor;
  readonly logins: Logins;
  readonly calls: CallDesk;
  readonly allowlist: Allowlist;
  readonly configuration: Configuration;
  readonly daemonJournal: Actor<null, DaemonFact, DaemonFact>;
  readonly recordings: Recordings;
  readonly keeper: Keeper;
  readonly hub: Hub;
  readonly clientTokens: ClientTokens;
  readonly clientUse: ClientUse;
}

export function assemble(options: PartsOptions): Parts {
  const { paths, settings, logger, version } = options;
  const log = openLog({
    file: paths.databaseFile,
    migrations: join(packageRoot(), 'migrations'),
    durability: settings.log.durability,
    project: (db) => projector(db, views),
  });
  warnOfFailures(log, logger);
  const desk = deskOn(log, options);
  const resolve = resolveWith(paths.variablesFile);
  const seen = seenServers();
  const daemonJournal = journal<DaemonFact>('daemon', desk, log);
  const recorder = new Recorder({
    folder: paths.recordingsDir,
    version,
    ...settings.recording,
    toolsOf: (server) => readRegistry(log.db).find((row) => row.server === server)?.tools ?? null,
    secretsOf: (server) => heldFor(server),
    onFailed: (server, reason) => recordings.failed(server, reason),
  });
  const heldFor = (name: string) => logins.secretsOf({ name, identity: supervisor.entry(name)?.identity ?? '' });
  const noises = new Noises();

  const credentialsOf = (entry: ResolvedEntry): Credentials | undefined => {
    const loaded = supervisor.entry(entry.name);
    if (entry.transport === 'stdio' || !isLoginEntry(loaded?.entry ?? null)) return undefined;
    return logins.credentialsFor({ name: entry.name, identity: loaded?.identity ?? '', url: entry.url });
  };
  const supervisor: Supervisor = new Supervisor({
    log,
    parallel: settings.start.parallel,
    ahead: { starts: Math.max(2, availableParallelism()), ms: 200 },
    own: settings.self ? [builtinEntry] : [],
    resolve: ({ entry, problem }) => {
      if (!entry) return problem ?? { field: 'entry', message: 'cannot be used' };
      return entry.transport === 'builtin' ? entry : resolve(entry);
    },
    server: {
      desk,
      open: async (opening) => {
        const { entry } = opening;
        if (entry.transport === 'builtin') return own();
        return openConnection({
          ...opening,
          entry,
          capabilities: OFFERED,
          credentials: credentialsOf(entry),
          tap: (of, transport) => recorder.open(of, transport),
        });
      },
      read: readList,
      runId: options.runId,
      version,
      after: options.after,
      onWarning: (server, message) => {
        noises.note(server, message, Date.now());
        logger.warn({ server }, message);
      },
      onSeen: seen.note,
    },
  });
  const logins = loginsFor(options, log, desk, (name) => reconnected(supervisor, name));
  const identityOf = (server: string): string => supervisor.find(server)?.actor.head.context.identity ?? '';
  const directory = new Directory(
    {
      maxLength: settings.naming.maxLength,
      mountMode: settings.mount_mode,
      servers: () => supervisor.entries.map(({ name }) => name),
      visibility: (server) => {
        const loaded = supervisor.entry(server);
        return loaded && { ...SHOWN, ...(loaded.entry ?? {}) };
      },
    },
    readRegistry(log.db),
    log,
  );
  const allowlist = new Allowlist({
    file: paths.allowFile,
    trusted: options.trusted,
    desk,
    // Whoever writes this file could write grants beside the log, where no chain shows it: the facts count.
    head: grantsInLog(log) ?? storedHead<AllowlistContext>(log, 'allowlist'),
    seen: () => ({
      tools: directory
        .list()
        .map(({ name, server, tool }) => ({ name, server, identity: identityOf(server), definition: tool.hash })),
      servers: supervisor.entries.map(({ name }) => ({ server: name, identity: identityOf(name) })),
    }),
    warn: (message) => logger.warn(message),
  });
  bindWhenListed(log, allowlist);

  const clientTokens = new ClientTokens(paths.dataDir, (message) => logger.warn(message));
  const clientUse = new ClientUse(paths.dataDir);
  const rules = new ClientRules({ tokens: clientTokens, now: () => performance.now() });
  const calls = new CallDesk({
    desk,
    supervisor,
    definitionOf: (server, tool) => directory.definitionOf(server, tool),
    grantsFor: (server, name) => allowlist.grantsFor(server, name),
    sees: rules.sees,
    overRate: rules.overRate,
    remarksOn: remarksWith({ db: log.db, directory, now: () => desk.now() }),
    repeats: (server) => supervisor.entry(server)?.entry?.repeatCalls ?? 'unsent',
    windowMs: settings.approval.windowMs,
    holdMs: settings.approval.holdMs,
    canonical: canonicalJson,
    hash: sha256Hex,
    cap: capResult,
    newId: callId,
    fold: (id) => foldCall(log, id),
  });
  const configuration = new Configuration({
    file: paths.configFile,
    ...(settings.self ? { beside: besideBuiltin } : {}),
    journal: journal<ConfigFact>('config', desk, log),
    onLoaded: async (config) => {
      for (const { name, identity, entry } of config.entries) if (isLoginEntry(entry)) logins.know({ name, identity });
      await supervisor.reconcile(config);
      directory.refresh();
      await allowlist.bind();
    },
    warn: (message) => logger.warn(message),
    secretsOf: (name) => secretsOf(name),
  });
  const recordings = new Recordings({
    recorder,
    folder: paths.recordingsDir,
    log,
    version,
    now: () => desk.now(),
    tell: (fact) => daemonJournal.tell(fact, undefined),
    report: (fact) => void daemonJournal.report(fact, undefined),
    known: (server) => supervisor.entry(server) !== undefined,
    names: () => supervisor.names,
    warn: (server, message) => logger.warn({ server }, message),
  });
  const states = () =>
    supervisor.entries.map(({ name }) => {
      const head = supervisor.find(name)?.actor.committedHead;
      return { name, state: head?.state ?? 'stopped', tools: head?.context.count ?? 0 };
    });
  const secretsOf = (name: string): readonly string[] => {
    const entry = supervisor.entry(name)?.entry;
    const filled = entry && entry.transport !== 'builtin' && resolve(entry);
    const held = heldFor(name);
    return filled && 'secrets' in filled ? [...filled.secrets, ...held] : held;
  };
  const keeper = createKeeper({
    version,
    startedAt: options.startedAt,
    log,
    desk,
    supervisor,
    calls,
    configuration,
    directory,
    allowlist,
    metrics: new Metrics({ log, version, states, sessions: () => hub.sessions.size }),
    clients: { tokens: clientTokens, use: clientUse },
    sees: rules.sees,
    mountMode: settings.mount_mode,
    maxLength: settings.naming.maxLength,
    seen: { at: seen.at, version: seen.version },
    ready: options.ready,
    secretsOf,
    recordings,
    resolve,
    noises,
    dataDir: paths.dataDir,
    configFile: paths.configFile,
    logins,
    testServer: testServerWith({ open: openConnection, resolve, runId: options.runId, version }),
    stop: options.stop,
  });
  const own = () =>
    builtinConnection({
      name: BUILTIN,
      version,
      instructions: builtinInstructions,
      tools: builtinTools({
        keeper,
        servers: () => supervisor.entries.map(({ name }) => name),
        serverOfTool: (name) => directory.find(name)?.server ?? directory.findOn(name)?.server,
        sees: rules.sees,
        now: () => desk.now(),
      }),
    });
  warnOfClients(directory, keeper, logger);
  const hub = createHub({
    version,
    supervisor,
    calls,
    directory,
    log,
    instructions: () => keeper.instructions().servers,
    view: rules.view,
    asksInClient: rules.asksInClient,
    holdMs: settings.approval.holdMs,
    sessions: { idleMs: settings.mcp.sessionIdleMs, most: settings.mcp.maxSessions },
  });
  return {
    clientTokens,
    clientUse,
    log,
    desk,
    supervisor,
    logins,
    calls,
    allowlist,
    configuration,
    daemonJournal,
    recordings,
    keeper,
    hub,
  };
}

/**
 * What servers may ask of their client: the hub passes it on to whoever made the call. Roots are none as long as nobody
 * calls, which leaves a server with the folders of its own arguments.
 */
const OFFERED = { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} };

/** What is shown of a server whose entry has an error. */
const SHOWN = { include: [], exclude: [], toolPrefix: undefined, disabled: false };

function deskOn(log: SqliteLog, { logger, onFatal }: PartsOptions): Desk {
  const desk = new Desk({
    log,
    now: Date.now,
    random: Math.random,
    newId: commandId,
    onFatal,
    onDegraded: (error) => {
      if (error === null) logger.info('The event log takes facts again.');
      else logger.error({ err: error }, 'The event log cannot be written: commands are refused until it can.');
    },
  });
  // The clock may have been set back meanwhile: no fact may stand before the one it follows, nor before the daemon's last sign of life.
  const lastAt = log.read({ after: log.lastPosition() - 1 })[0]?.at ?? 0;
  desk.startClockAt(Math.max(lastAt, log.lastAlive() ?? 0));
  return desk;
}

/** When each server last answered: shown, and not worth a fact. */
function seenServers() {
  const at = new Map<string, number>();
  let version = 0;
  return {
    at,
    version: () => version,
    note: (server: string, time: number): void => {
      at.set(server, time);
      version += 1;
    },
  };
}

/** Grants follow what is listed: bound when a tool is first seen, suspended when it changed, gone with the server. */
function bindWhenListed(log: SqliteLog, allowlist: Allowlist): void {
  log.committed$.subscribe((facts) => {
    for (const { type, stream } of facts) {
      if (type === 'ServerRemoved') void allowlist.removeServer(serverOf(stream));
    }
    if (facts.some(({ type, data }) => type === 'ServerConfigured' || (type === 'ToolsListed' && 'tools' in data))) {
      void allowlist.bind();
    }
  });
}

function storedHead<Context>(log: SqliteLog, stream: string): Head<Context> | undefined {
  const row = log.head(stream);
  return row ? { state: row.state, version: row.version, context: row.context as Context } : undefined;
}

/** Logins, with what they need of everything else. */
function loginsFor(
  { paths, settings, version, logger, ports }: PartsOptions,
  log: SqliteLog,
  desk: Desk,
  reconnect: (name: string) => Promise<string | null>,
): Logins {
  const facts = journal<LoginFact>('logins', desk, log);
  const logins = new Logins({
    prefer: settings.oauth.store,
    dataDir: paths.dataDir,
    sharedDir: join(resolvePaths({}, { ...process.env, WATCHKEEPER_DATA: undefined }).dataDir, 'locks'),
    callbackPort: settings.oauth.callbackPort,
    loginMs: settings.oauth.loginMs,
    version,
    agenvoyDir: dirname(paths.configFile),
    ownPorts: () => [...ports(), settings.oauth.callbackPort],
    ownAddresses: () =>
      Object.values(networkInterfaces()).flatMap((found) => found?.map(({ address }) => address) ?? []),
    note: (fact) => facts.report(fact, undefined),
    warn: (server, message) => logger.warn({ server }, message),
    onStore: (where, why) => {
      if (why === null) logger.info(`Tokens of logins are kept in ${where}.`);
      else logger.warn(`Tokens of logins are kept in ${where}, because no keychain can be used: ${why}.`);
    },
    reconnect,
  });
  log.committed$.subscribe((committed) => {
    for (const { type, stream } of committed) {
      if (type !== 'ServerRemoved') continue;
      const server = serverOf(stream);
      logins.removed(server, loggedInAt(log, stream, server)).catch((error) => logger.warn({ server }, String(error)));
    }
  });
  return logins;
}

/**
 * Identities of the addresses under which a server may have a login, also of those it had before this daemon ran: an entry
 * may be gone from the file since. None for a server nobody ever logged in to.
 */
function loggedInAt(log: SqliteLog, stream: string, server: string): string[] {
  const ended = log.read({ stream: 'logins', type: 'LoginEnded' });
  if (!ended.some(({ data }) => 'ok' in data && data.ok === true && data.server === server)) return [];
  const entries = log.read({ stream, type: 'ServerConfigured' });
  const identities = entries.flatMap(({ data }) =>
    'transport' in data && 'identity' in data && data.transport !== 'stdio' ? [data.identity] : [],
  );
  return [...new Set(identities)];
}

function journal<F extends DaemonFact | ConfigFact | LoginFact>(
  stream: 'daemon' | 'config' | 'logins',
  desk: Desk,
  log: SqliteLog,
): Actor<null, F, F> {
  return new Actor({ stream, desk, rules: journalRules<F>(), head: storedHead<null>(log, stream), keepHead: true });
}

const foldCall = (log: SqliteLog, id: string): Head<CallContext> =>
  foldByTable(callRules, log.read({ stream: `call-${id}` }) as unknown as Heard<CallFact>[]);
