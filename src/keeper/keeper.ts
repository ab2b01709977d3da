/** What the HTTP layer asks, answered by the actors and the views. It joins them and holds no rule of its own. */
import type { Database } from 'better-sqlite3';
import { prefixOf } from '../actors/allowlist/entry.ts';
import type { CallDesk, CallEnd } from '../actors/call/call.actor.ts';
import type { Desk } from '../actors/desk.ts';
import { isRefusal, type Refusal } from '../actors/refusal.ts';
import type { Settled, Supervisor } from '../actors/supervisor.ts';
import { maskEntries, maskEntry } from '../config/mask.ts';
import { isObject } from '../config/raw.ts';
import type { SqliteLog } from '../events/sqlite.ts';
import type { CallAnswer, CallInput, Keeper, Moment } from '../http/keeper.ts';
import { isProblemCode, Problem, type ProblemCode, problems } from '../http/problem.ts';
import { wireEvent } from '../http/wire.ts';
import { instructionsPrompt } from '../mcp/instructions.ts';
import { spelledName } from '../mcp/naming.ts';
import { mayBeRepeated } from '../mcp/tools.ts';
import { type CallRow, readCall, readCallsPage } from '../projections/calls.projection.ts';
import { readHistory } from '../projections/history.projection.ts';
import { readStatus, type StatusRow, statusMarks } from '../projections/status.projection.ts';
import type { Allowlist } from './allowlist.ts';
import { callAnswer, errorAnswer, intervalAnswer, isAllowed, statusAnswer, toolAnswer } from './answers.ts';
import { statusAsOf } from './as-of.ts';
import { bundleAnswer } from './bundle.ts';
import { type ClientParts, clientsAnswer } from './clients.ts';
import { type Configuration, judged } from './configuration.ts';
import type { Directory, ListedTool } from './directory.ts';
import { consult, type DoctorParts } from './doctor.ts';
import { followLog } from './follow.ts';
import { verifyLedger } from './ledger.ts';
import { type LoginParts, loginKeeper } from './logins.ts';
import type { Metrics } from './metrics.ts';
import { positionAt, upToNow } from './moment.ts';
import { namesCheck } from './names.check.ts';
import type { Noises } from './noise.ts';
import { rebuildFromLog } from './rebuild.ts';
import type { Recordings } from './recordings.ts';
import { CHANGED_LATELY_MS } from './remarks.ts';
import { answerReplay } from './replay.ts';
import { stderrAnswer } from './stderr.ts';
import { summaries } from './summary.ts';
import type { TestServer } from './test-server.ts';
import { toolsAsOf } from './tools-as-of.ts';
import { toolsHistoryOf } from './tools-history.ts';
import { suspensionsOf, toolChangesOf } from './trust.ts';
import { inTurns } from './turns.ts';
import { whyAnswer } from './why.ts';

/** What a server that does not want to go is given before it is killed, and a little more, in ms. */
const REMOVAL_MS = 9_000;

export interface KeeperParts {
  readonly version: string;
  readonly startedAt: string;
  readonly log: SqliteLog;
  readonly desk: Desk;
  readonly supervisor: Supervisor;
  readonly calls: CallDesk;
  readonly configuration: Configuration;
  readonly directory: Directory;
  readonly allowlist: Allowlist;
  readonly metrics: Metrics;
  readonly clients: ClientParts;
  /** Whether a client may see a server. */
  readonly sees: (client: string, server: string) => boolean;
  readonly mountMode: 'per-server' | 'routed';
  readonly maxLength: number;
  /** When each server last answered, ms since the epoch; `version` grows with every change. */
  readonly seen: { readonly at: ReadonlyMap<string, number>; readonly version: () => number };
  readonly ready: () => boolean;
  readonly testServer: TestServer;
  /** Values of an entry that must not be shown; none when it cannot be filled in. */
  readonly secretsOf: (server: string) => readonly string[];
  readonly recordings: Recordings;
  readonly noises: Noises;
  readonly dataDir: string;
  readonly configFile: string;
  readonly logins: LoginParts['logins'];
  readonly resolve: DoctorParts['resolve'];
  readonly stop: () => void;
}

export function createKeeper(parts: KeeperParts): Keeper {
  const { log, supervisor, calls, configuration, directory, allowlist, desk } = parts;
  const db: Database = log.db;
  const login = loginKeeper(parts);
  let statusKept: { readonly text: string; readonly position: number; readonly seen: number } | null = null;

  const stateOf = (server: string): string => supervisor.find(server)?.actor.committedHead.state ?? 'stopped';
  const identityOf = (server: string): string => supervisor.find(server)?.actor.committedHead.context.identity ?? '';
  const status = (rows: readonly StatusRow[]) => ({
    servers: rows.map((row) => ({
      ...statusAnswer(row, parts.seen.at.get(row.server), directory.warningsOf(row.server)),
      ...(parts.recordings.isOn(row.server) ? { recording: true as const } : {}),
    })),
  });
  const position = (moment: Moment): number => positionAt(log, moment, desk.now());
  const knownServer = (name: string | undefined): void => {
    if (name !== undefined && !supervisor.entry(name)) throw unknownServer(name, supervisor.names);
  };
  /** The built-in server has no entry to edit and no wire to record. */
  const notBuiltIn = (name: string): void => {
    if (supervisor.entry(name)?.transport === 'builtin')
      throw new Problem('server-built-in', `The server "${name}" is built into the daemon; no file holds its entry.`);
  };
  const nameOf = (server: string, tool: string): string =>
    directory.nameOf({ server, tool }) ?? spelledName({ server, tool });
  const memoryOf = ({ id, server, name, definition, state }: CallRow) => {
    const tool = state === 'held' ? directory.find(name)?.tool : undefined;
    const raw = state === 'held' ? configuration.raw.get(server) : undefined;
    const entry = raw === undefined ? undefined : maskEntry(raw, parts.secretsOf(server));
    return {
      ...calls.memory(id),
      ...(isObject(entry) ? { entry } : {}),
      // What is said of another definition than the one that would run says nothing of it.
      ...(tool?.hash === definition ? { description: tool.description } : {}),
    };
  };
  const trust = {
    log,
    db,
    nameOf,
    toolCalled: (name: string) => directory.names.toolOf.get(name)?.tool,
  };
  const callRow = (id: string) => {
    const row = readCall(db, id);
    if (!row) throw new Problem('unknown-call', `There is no call "${id}". See the latest: GET /v1/mcp/calls`);
    return callAnswer(row, memoryOf(row));
  };
  /** A decision about a call that is not open any more. */
  const decided = (id: string, answer: Refusal | object | 'done' | null) => {
    if (answer === null) {
      const row = callRow(id);
      throw new Problem('call-not-held', `The call "${id}" is ${row.state}; there is nothing to decide any more.`, {
        call: id,
      });
    }
    if (isRefusal(answer)) throw refused(answer, { call: id });
  };

  const serverFacts = (name: string) => {
    const state = stateOf(name);
    return {
      name,
      state: state as never,
      tool_prefix: directory.prefixOf(name),
      ...(directory.known(name) ? { tools: { ...directory.lengthsOf(name), stale: state !== 'ready' } } : {}),
    };
  };
  const hubFacts = () => ({
    mount_mode: parts.mountMode,
    routed: directory.hubLengths(),
    lengths: { ...directory.lengthCounts(), if_routed: directory.routedLengths() },
    servers: supervisor.entries.map(({ name }) => serverFacts(name)),
  });

  return {
    version: parts.version,
    startedAt: parts.startedAt,
    sees: parts.sees,

    health(full) {
      const base = {
        status: desk.trouble === null ? ('ok' as const) : ('degraded' as const),
        version: parts.version,
        ready: parts.ready(),
      };
      if (!full) return base;
      return {
        ...base,
        routed_path: '/mcp' as const,
        ...hubFacts(),
        routed: directory.hubLengths(),
        servers: supervisor.entries.map(({ name }) => {
          const state = stateOf(name);
          return {
            name,
            state: state as never,
            tool_prefix: directory.prefixOf(name),
            ...(directory.known(name) ? { tools: { ...directory.lengthsOf(name), stale: state !== 'ready' } } : {}),
          };
        }),
        ...storeAnswer(parts.logins.store),
      };
    },

    clients: () => clientsAnswer(parts.clients, hubFacts()),

    statusText() {
      const now = { position: log.lastPosition(), seen: parts.seen.version() };
      if (statusKept?.position !== now.position || statusKept.seen !== now.seen) {
        statusKept = {
          ...now,
          text: JSON.stringify(status(readStatus(db).filter(({ server }) => supervisor.entry(server)))),
        };
      }
      return statusKept.text;
    },

    statusAt: (moment) => ({
      servers: statusAsOf(log, position(moment), statusMarks(db)).map((row) => statusAnswer(row)),
    }),

    tools({ server, at }) {
      if (at === undefined) {
        knownServer(server);
        const { grants } = allowlist;
        return {
          tools: directory.list(server).map((listed) =>
            toolAnswer(listed, {
              allowed: isAllowed(grants, listed, identityOf(listed.server)),
              stale: stateOf(listed.server) !== 'ready',
            }),
          ),
        };
      }
      const then = toolsAsOf(
        { log, db, maxLength: parts.maxLength, entry: (name) => supervisor.entry(name) },
        position(at),
      );
      return {
        tools: then
          .filter((tool) => server === undefined || tool.server === server)
          .map((tool) => toolAnswer(tool, tool.judged)),
      };
    },

    toolChanges({ server, from }) {
      knownServer(server);
      const since = from === undefined ? log.positionAt(desk.now() - CHANGED_LATELY_MS) : position(from);
      return toolChangesOf(trust, { server, from: since });
    },
    suspensions: () => suspensionsOf(trust, allowlist.grants),

    toolsHistory: ({ server, from, to }) =>
      toolsHistoryOf({ log, db, nameOf }, { server, from: from && position(from), to: to && position(to) }),

    instructions(sees = () => true) {
      const declared = readStatus(db).flatMap(({ server, instructions, state }) =>
        instructions && supervisor.entry(server) && state !== 'disabled' && sees(server)
          ? [{ server, text: instructions }]
          : [],
      );
      return {
        servers: Object.fromEntries(declared.map(({ server, text }) => [server, text])),
        prompt: instructionsPrompt(declared),
      };
    },

    bundle: (query) =>
      bundleAnswer(
        {
          log,
          nameOf,
          names: () => supervisor.entries.map(({ name }) => name),
          raw: (name) => configuration.raw.get(name),
          secretsOf: parts.secretsOf,
          version: parts.version,
        },
        query,
        Date.now(),
      ),
    why(query) {
      if (query.at !== undefined) position(query.at);
      return whyAnswer({ log, names: () => supervisor.entries.map(({ name }) => name) }, query, Date.now());
    },
    stderr(name) {
      knownServer(name);
      return stderrAnswer(name, supervisor.entry(name)?.transport ?? null, supervisor.find(name)?.process() ?? null);
    },
    history(query) {
      upToNow({ from: query.from, to: query.to }, desk.now());
      if (query.name !== undefined && log.head(`server-${query.name}`) === null) knownServer(query.name);
      return { intervals: readHistory(db, query).map(intervalAnswer) };
    },
    async summary({ name, from, to }) {
      // A server that was removed still has a past.
      if (name !== undefined && log.head(`server-${name}`) === null) knownServer(name);
      const names = name === undefined ? supervisor.names : [name];
      return inTurns(summaries(log, db, { names, from, to: upToNow({ from, to }, desk.now()) }));
    },

    doctor(name) {
      knownServer(name);
      const { dataDir, configFile, resolve, noises } = parts;
      return consult(
        {
          log,
          db,
          entries: supervisor.entries,
          resolve,
          watched: true,
          whose: 'the daemon',
          now: Date.now,
          seenUntil: desk.now(),
          noiseOf: (server) => noises.of(server),
          namesCheck: (server) =>
            namesCheck(server, [...(directory.endpointNames().nameOf.get(server)?.values() ?? [])]),
          run: inTurns,
        },
        { dataDir, configFile, problem: configuration.problem, trouble: desk.trouble, log, now: Date.now },
        { name, version: parts.version },
      );
    },
    async replay(query) {
      // A server that is gone from the file still has its past.
      if (query.name !== undefined && log.head(`server-${query.name}`) === null) knownServer(query.name);
      return answerReplay(log, query, desk.now());
    },

    login: login.login,
    pasteCallback: login.pasteCallback,
    giveClient: login.giveClient,
    adoptLogin: login.adoptLogin,
    logOut: login.logOut,

    config: async () => ({
      servers: maskEntries(configuration.raw, parts.secretsOf) as Record<string, Record<string, unknown>>,
      oauth: await login.loggedIn(),
      redirect_uri: parts.logins.usualRedirect,
    }),
    configProblem: () => configuration.problem,
    addServer: (name, server) => configuration.set(name, server),
    async removeServer(name) {
      notBuiltIn(name);
      await configuration.remove(name);
      await supervisor.whenGone(name, REMOVAL_MS);
      await login.removed(name);
    },
    async setDisabled(name, disabled) {
      notBuiltIn(name);
      await configuration.setDisabled(name, disabled);
    },
    testServer: async (server, name) => {
      if (name !== undefined && !configuration.raw.has(name)) throw unknownServer(name, supervisor.names);
      const { entry } = judged(name ?? 'test', name === undefined ? server : configuration.unmasked(name, server));
      return parts.testServer(entry);
    },

    async reconnect(name, timeoutMs) {
      knownServer(name);
      const names =
        name === undefined
          ? supervisor.entries.filter(({ entry }) => !entry?.disabled).map((entry) => entry.name)
          : [name];
      const results = await Promise.all(
        names.map(async (one): Promise<Settled> => {
          const limits = supervisor.find(one)?.actor.head.context.limits;
          const patience = timeoutMs ?? (limits ? limits.connectTimeoutMs + limits.listTimeoutMs + 10_000 : 60_000);
          const settled = await supervisor.reconnect(one, patience);
          if (isRefusal(settled)) throw refused(settled);
          return settled;
        }),
      );
      const servers = results.map(({ name: one, ok, state, error }) => ({
        name: one,
        ok,
        state: state as never,
        error: errorAnswer(error),
      }));
      return { ok: servers.every(({ ok }) => ok), servers };
    },

    recordings: () => parts.recordings.list(),
    async record(name, on, andDelete) {
      notBuiltIn(name);
      return parts.recordings.switch(name, on, andDelete);
    },
    fixture: (name, from, to) => parts.recordings.fixture(name, from, to),

    allowlist(prefix) {
      const grants = allowlist.grants.filter(({ entry }) => prefix === undefined || entry.startsWith(prefix));
      const entries = (suspended: boolean): string[] =>
        grants.filter(({ state }) => (state === 'suspended') === suspended).map(({ entry }) => entry);
      return { tool: { entries: entries(false), suspended: entries(true) } };
    },
    async replaceGrants(prefix, entries, caller) {
      if (desk.trouble !== null)
        throw new Problem('log-unavailable', 'The event log cannot be written at the moment; nothing was changed.');
      return { ok: true, tool: { entries: [...(await allowlist.replace(prefix, entries, caller.client))] } };
    },

    call: (input) => answerCall(parts, input),
    calls(query) {
      const page = readCallsPage(db, query);
      if (page === null) throw new Problem('unknown-call', `There is no call "${query.before}" to page from.`);
      return {
        calls: page.rows.map((one) => callAnswer(one, one.state === 'settled' ? {} : memoryOf(one))),
        next: page.next,
      };
    },
    callById: callRow,
    async approve(id, remember, caller) {
      const approved = await calls.approve(id, caller.client, remember);
      decided(id, approved);
      if (approved !== null && !isRefusal(approved) && !approved.outdated && approved.request && remember !== 'once') {
        const { server, name, identity, definition } = approved.request;
        // What is granted is what the person was shown, whatever is there by now.
        const [entry, binding] =
          remember === 'server'
            ? [`${prefixOf(server)}*`, { identity, definition: null }]
            : [name, { identity, definition }];
        await allowlist.remember(entry, binding, caller.client).catch((error: unknown) => {
          if (!(error instanceof Problem)) throw error;
          throw new Problem(error.type, `The call is approved, but ${entry} was not granted: ${error.detail}`, {
            call: id,
          });
        });
        // The list may have changed since the call was asked for: then the grant is suspended at once.
        await allowlist.bind();
      }
      return callRow(id);
    },
    async deny(id, reason, caller) {
      decided(id, await calls.deny(id, caller.client, reason));
      return callRow(id);
    },
    async closeCall(id, found, caller) {
      const answer = await calls.close(id, caller.client, found);
      if (answer === null)
        throw new Problem('unknown-call', `There is no call "${id}". See the latest: GET /v1/mcp/calls`);
      if (isRefusal(answer)) throw refused(answer, { call: id });
      return callRow(id);
    },
    verifyLedger: (expected) => inTurns(verifyLedger(db, expected)),
    async cancel(id, caller) {
      decided(id, await calls.cancel(id, caller.client));
      return callRow(id);
    },

    events({ after, stream, type, limit }) {
      const found = log.read({ after, stream, type, limit: limit + 1 });
      const page = found.slice(0, limit);
      return { events: page.map(wireEvent), next: found.length > limit ? (page.at(-1)?.position ?? null) : null };
    },
    followEvents: (query, on) => followLog(log, query, on),
    rebuild: () => rebuildFromLog(log),
    metrics: () => parts.metrics.text(),
    shutdown: parts.stop,
  };
}

/** Where tokens are kept, once that was asked. */
const storeAnswer = (store: KeeperParts['logins']['store']) =>
  store === null ? {} : { credentials: { store: store.kind, where: store.where, why: store.why } };

async function answerCall(parts: KeeperParts, input: CallInput): Promise<CallAnswer> {
  const { calls, directory, supervisor } = parts;
  const sees = (name: string): boolean => parts.sees(input.caller.client, name);
  const listed = directory.find(input.tool) ?? (await firstListed(parts, input));
  if (!listed || !sees(listed.server)) throw unknownTool(input.tool, directory, supervisor, sees);
  const { server, tool, name } = listed;
  const ended = await calls.call({
    target: {
      server,
      tool: tool.name,
      name,
      definition: tool.hash,
      hasOutputSchema: tool.definition.outputSchema !== undefined,
      idempotent: mayBeRepeated(tool.annotations),
    },
    args: input.arguments,
    mode: input.mode,
    client: input.caller.client,
    door: input.caller.door,
    timeoutMs: input.timeoutMs,
    wait: input.wait,
    signal: input.signal,
    ...(input.onProgress ? { onProgress: input.onProgress } : {}),
  });
  if (isRefusal(ended)) throw refused(ended);
  switch (ended.kind) {
    case 'result':
      return {
        kind: 'result',
        body: { content: [], ...ended.result, call: ended.id, outcome: ended.outcome } as Extract<
          CallAnswer,
          { kind: 'result' }
        >['body'],
      };
    case 'held':
      return {
        kind: 'held',
        body: {
          call: ended.id,
          state: 'held',
          expiresAt: new Date(ended.expiresAt).toISOString(),
          detail: `The call of ${ended.name} waits for a person. Approve it: watchkeeper approve ${ended.id}`,
        },
      };
    case 'ended':
      throw problemFor(ended);
  }
}

function problemFor(ended: Extract<CallEnd, { kind: 'ended' }>): Problem {
  const code = problemOf(ended);
  return new Problem(code, ended.reason || `${problems[code].title}.`, { call: ended.id, outcome: ended.outcome });
}

/** The tools of a server are not known before its first list: one that is on its way, or waits for its first use, is given time. */
async function firstListed(
  { calls, directory, supervisor, sees }: KeeperParts,
  { tool, signal, caller }: CallInput,
): Promise<ListedTool | undefined> {
  const server = supervisor.entries.find(({ name }) => tool.startsWith(prefixOf(name)));
  if (!server?.entry || server.entry.disabled || directory.known(server.name)) return undefined;
  if (!sees(caller.client, server.name)) return undefined;
  await calls.serverReady(server.name, signal);
  return directory.find(tool);
}

function problemOf({ outcome, because, reason }: Extract<CallEnd, { kind: 'ended' }>): ProblemCode {
  switch (outcome) {
    case 'refused':
      return 'call-refused';
    case 'denied':
      return 'call-denied';
    case 'expired':
      return 'call-expired';
    case 'failed':
      if (because === 'limit') return 'call-timeout';
      // Nothing is wrong with a call that only wants a login, and it may be repeated after it.
      return because === 'rejected' && !/it wants a login; log in: /.test(reason ?? '')
        ? 'call-rejected'
        : 'server-not-connected';
    case 'cancelled':
      return 'call-cancelled';
    case 'abandoned':
      return 'shutting-down';
    case 'unknown':
      if (because === 'cancelled') return 'call-cancelled';
      return because === 'limit' ? 'call-timeout' : 'server-lost';
  }
}

const refused = ({ refused: code, detail }: Refusal, members = {}): Problem =>
  new Problem(isProblemCode(code) ? code : 'internal', detail, members);

function unknownServer(name: string, known: readonly string[]): Problem {
  return new Problem('unknown-server', `There is no server "${name}". Configured: ${known.join(', ') || 'none'}.`);
}

function unknownTool(
  name: string,
  directory: Directory,
  supervisor: Supervisor,
  sees: (server: string) => boolean,
): Problem {
  const server = supervisor.entries.find((entry) => sees(entry.name) && name.startsWith(prefixOf(entry.name)));
  if (server?.entry?.disabled) {
    return new Problem(
      'unknown-tool',
      `Server "${server.name}" is disabled and offers no tools. Enable it: watchkeeper enable ${server.name}`,
    );
  }
  if (server && !directory.known(server.name)) {
    const state = supervisor.find(server.name)?.actor.committedHead.state ?? 'not known';
    return new Problem(
      'unknown-tool',
      `No tools of server "${server.name}" are known yet (${state}). See why: watchkeeper status ${server.name}`,
    );
  }
  return new Problem('unknown-tool', `There is no tool "${name.slice(0, 200)}". See the names: watchkeeper tools`);
}
