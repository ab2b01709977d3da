/** A Keeper written by hand: it holds a small fixed world, notes what it was asked, and has a log that can grow. */
import type { Recorded } from '../../src/events/envelope.ts';
import type { CallAnswer, CallInput, Keeper } from '../../src/http/keeper.ts';
import { Problem } from '../../src/http/problem.ts';
import { wireEvent } from '../../src/http/wire.ts';

export const time = '2026-03-01T12:00:00.000Z';

const status = {
  name: 'memory',
  transport: 'stdio' as const,
  state: 'ready' as const,
  connected: true,
  since: time,
  error: null,
  attempt: 0,
  nextAttemptAt: null,
  pid: 4711,
  era: 'legacy' as const,
  protocolVersion: '2025-11-25',
  serverInfo: { name: 'memory-server', version: '1', icon: 'kept' },
  tools: 1,
  lastSeen: time,
  push: null,
};

const percentiles = { count: 1, p50: 5, p90: 5, p99: 5 };

const summary = {
  name: 'memory',
  from: time,
  to: time,
  state: 'ready',
  facts: 3,
  time: { readyMs: 90, downMs: 10, restingMs: 0, unobservedMs: 5 },
  availability: 0.9,
  losses: 1,
  starts: 1,
  failedAttempts: 0,
  listFailures: 0,
  mtbfMs: 90,
  mttrMs: 10,
  repairs: 1,
  failingSince: null,
  flapScore: 50,
  latency: { connect: percentiles, list: percentiles, call: { count: 0, p50: null, p90: null, p99: null } },
  failures: [
    {
      fingerprint: '1a2b3c4d',
      phase: 'watch' as const,
      class: 'exit' as const,
      code: 'exit 1',
      message: 'watch: the process exited with code <n>',
      example: 'watch: the process exited with code 1',
      count: 1,
      first: { at: time, position: 3 },
      last: { at: time, position: 3 },
      positions: [3],
    },
  ],
  hints: [
    {
      kind: 'after-connecting' as const,
      text: 'ends 60 min after it connected, 14 of 15 times',
      support: 14,
      of: 15,
      chance: 1e-9,
      positions: [3],
      related: [],
      fingerprint: null,
      ms: 3_600_000,
    },
  ],
};

const verdict = {
  name: 'memory',
  ok: false,
  state: 'failed',
  kind: 'command-missing',
  verdict: 'not found: command nodee is not on the PATH of the daemon; its PATH is /bin',
  confidence: 'high' as const,
  why: ['The check "command" failed.'],
  evidence: [
    { position: 3, at: time, text: 'spawn: command not found: nodee' },
    { position: null, at: null, text: 'in no row' },
  ],
  advice: [{ text: 'did you mean node?' }, { text: 'Then connect again', command: 'watchkeeper reconnect memory' }],
  also: [{ kind: 'noisy-stdout', verdict: 'prints', confidence: 'low' as const, ok: true }],
  checks: [{ name: 'command', ok: false, detail: 'not found', next: 'install it' }],
};

const tool = {
  name: 'mcp__memory__read_graph',
  description: 'Reads the graph.',
  parameters: { type: 'object', 'x-unknown': true },
  server: 'memory',
  tool: 'read_graph',
  title: null,
  annotations: null,
  outputSchema: null,
  allowed: false,
  stale: false,
  hash: 'h1',
};

const recording = { server: 'memory', on: true, since: time, error: null, files: 1, bytes: 512 };

const fixture = {
  fixture: 1 as const,
  server: 'memory',
  made: { by: 'watchkeeper 1.2.3', at: time },
  recorded: { from: time, to: time },
  lives: [{ transport: 'stdio' as const, startedAt: time, 'not-ours': 1 }],
  notes: [],
};

const call = {
  id: 'c1',
  server: 'memory',
  tool: 'read_graph',
  name: 'mcp__memory__read_graph',
  state: 'held' as const,
  outcome: null,
  mode: 'ask' as const,
  client: 'main',
  door: 'http',
  requestedAt: time,
  startedAt: null,
  settledAt: null,
  expiresAt: time,
  argsHash: 'a1',
  argsBytes: 2,
  resultBytes: null,
  truncated: null,
  reason: null,
  decidedBy: null,
  identity: 'i',
  definition: 'd',
  verdict: null,
  resultHash: null,
  tookMs: null,
  closed: null,
  arguments: { 'not-ours': { deep: [1] } },
};

const whyMemory = {
  server: 'memory',
  at: time,
  position: 9,
  state: 'ready' as const,
  since: time,
  summary: 'Ready for 3 s with 1 tool.',
  attempt: 0,
  nextAttemptAt: null,
  failure: null,
  stderr: null,
  losses: { today: 0, atLeast: false },
  chain: [{ position: 3, at: time, fact: 'ToolsListed', to: 'ready', text: 'Its tool list was read: 1 tool.' }],
  omitted: 0,
  changes: [{ kind: 'config' as const, position: 2, at: time, text: 'Its entry changed.' }],
  until: null,
  next: null,
};

const whoIsConnected = {
  client: 'codex',
  name: 'Codex',
  file: '/home/u/.codex/config.toml',
  connect_mode: 'per-server' as const,
  entries: ['memory'],
  mode: 'ask' as const,
  ceiling: 'ask' as const,
  servers: null,
  callsPerMinute: null,
  asksInClient: false,
  token: 'variable' as const,
  createdAt: time,
  lastUsedAt: null,
  warnings: [],
};

export function recorded(position: number, note = ''): Recorded {
  return {
    position,
    stream: 'server-memory',
    version: position,
    type: 'ServerEnabled',
    schema: 1,
    at: Date.parse(time) + position,
    cause: null,
    data: { note } as unknown as Recorded['data'],
  };
}

export interface FakeKeeper extends Keeper {
  /** Method and arguments, in order. */
  readonly asked: unknown[][];
  readonly log: Recorded[];
  /** Commits facts: followers hear of them. */
  commit(...events: Recorded[]): void;
  readonly followers: number;
  /** What `call` does next. */
  onCall: (input: CallInput) => Promise<CallAnswer>;
  /** Everything below is said to be pruned. */
  prunedBelow: number;
  broken: boolean;
}

export function fakeKeeper(): FakeKeeper {
  const followers = new Set<(events: Recorded[]) => void>();
  const asked: unknown[][] = [];
  const log: Recorded[] = [];
  const note = <T>(answer: T, ...what: unknown[]): T => {
    asked.push(what);
    return answer;
  };
  const matching = (query: { after: number; stream?: string | undefined; type?: string | undefined }) =>
    log.filter(
      (event) =>
        event.position > query.after &&
        (query.stream === undefined || event.stream === query.stream) &&
        (query.type === undefined || event.type === query.type),
    );

  const keeper: FakeKeeper = {
    asked,
    log,
    prunedBelow: 0,
    broken: false,
    onCall: async () => ({
      kind: 'result',
      body: { content: [{ type: 'text', text: 'done', extra: 1 }], call: 'c1', outcome: 'succeeded', odd: true },
    }),
    get followers() {
      return followers.size;
    },
    commit: (...events) => {
      log.push(...events);
      for (const follower of followers) follower(events);
    },
    version: '1.2.3',
    startedAt: time,
    health: (full) =>
      note(
        {
          status: 'ok',
          version: '1.2.3',
          ready: true,
          ...(full
            ? {
                mount_mode: 'per-server' as const,
                routed_path: '/mcp' as const,
                routed: { count: 1, longest: 18 },
                servers: [
                  {
                    name: 'memory',
                    state: 'ready' as const,
                    tool_prefix: 'memory',
                    tools: { count: 1, longest: 10, stale: false },
                  },
                ],
              }
            : {}),
        },
        'health',
        full,
      ),
    statusText: () => JSON.stringify({ servers: [status] }),
    statusAt: (at) => note({ servers: [status] }, 'statusAt', at),
    tools: (query) => {
      if (query.server === 'nobody') throw new Problem('unknown-server', 'No server is called "nobody".');
      return note({ tools: [tool] }, 'tools', query);
    },
    toolsHistory: (query) =>
      note(
        {
          changes: [
            {
              position: 3,
              at: time,
              server: 'memory',
              tool: 'read_graph',
              name: tool.name,
              change: 'added' as const,
              parts: [],
              before: null,
              after: { name: 'read_graph', unknown: 1 },
              grant: null,
            },
          ],
          difference: null,
          tools: [
            {
              server: 'memory',
              tool: 'read_graph',
              name: tool.name,
              firstSeen: { position: 3, at: time },
              lastChanged: { position: 3, at: time },
              removed: null,
            },
          ],
        },
        'toolsHistory',
        query,
      ),
    instructions: () => ({ servers: { memory: 'Be kind.' }, prompt: 'Be kind.' }),
    replay: async (query) =>
      note({ ok: true, by: 'machine' as const, facts: 1, streams: 1, heads: true }, 'replay', query),
    history: (query) =>
      note(
        {
          intervals: [
            { server: 'memory', state: 'ready' as const, from: time, to: null, cause: 'ToolsListed', position: 3 },
          ],
        },
        'history',
        query,
      ),
    bundle: async (query) => {
      if (query.name === 'nobody') throw new Problem('unknown-server', 'There is no server "nobody".');
      return note(
        { fileName: 'watchkeeper-memory-20260301T120000Z.tar.gz', bytes: Buffer.from([31, 139, 0, 255]) },
        'bundle',
        query,
      );
    },
    why: (query) => {
      if (query.name === 'nobody') throw new Problem('unknown-server', 'There is no server "nobody".');
      return note(whyMemory, 'why', query);
    },
    stderr: (name) => {
      if (name === 'nobody') throw new Problem('unknown-server', 'There is no server "nobody".');
      return note({ name, pid: 4711, text: 'ready\n', missing: null }, 'stderr', name);
    },
    summary: async (query) => note({ servers: [summary] }, 'summary', query),
    doctor: async (name) => {
      if (name === 'nobody') throw new Problem('unknown-server', 'No server is called "nobody".');
      return note(
        {
          ok: false,
          servers: [verdict],
          ...(name === undefined
            ? { daemon: { ok: true, running: true, version: '1.2.3', checks: verdict.checks } }
            : {}),
        },
        'doctor',
        name,
      );
    },
    sees: () => true,
    clients: () => note({ clients: [whoIsConnected] }, 'clients'),
    login: (name) => {
      if (name === 'nobody') throw new Problem('unknown-server', 'There is no server "nobody".');
      if (name === 'memory') throw new Problem('oauth-not-enabled', 'The entry of "memory" is not one to log in to.');
      note(undefined, 'login', name);
      return {
        url: Promise.resolve('https://as.example/authorize?state=s1'),
        done: new Promise((resolve) => setTimeout(() => resolve({ ok: true }), 20)),
        leave: () => note(undefined, 'leave', name),
      };
    },
    pasteCallback: (name, url) => {
      if (name === 'memory') throw new Problem('no-login-waiting', 'No login of "memory" waits.');
      note(undefined, 'pasteCallback', name, url);
    },
    giveClient: async (name, client) =>
      note(client.redirectUri ?? 'http://localhost:17988/callback', 'giveClient', name, client),
    adoptLogin: async (name) => note({ ok: true }, 'adoptLogin', name),
    logOut: async (name, client) => note(undefined, 'logOut', name, client),
    config: async () => ({
      servers: { memory: { command: 'memory-server', env: { KEY: '***' } } },
      oauth: { remote: false },
    }),
    configProblem: () => null,
    addServer: async (name, server) => note(undefined, 'addServer', name, server),
    removeServer: async (name) => note(undefined, 'removeServer', name),
    setDisabled: async (name, disabled) => note(undefined, 'setDisabled', name, disabled),
    testServer: async (server, name) => note({ ok: true, tools: [{ name: 'read_graph' }] }, 'testServer', server, name),
    reconnect: async (name, timeoutMs) =>
      note(
        { ok: true, servers: [{ name: 'memory', ok: true, state: 'ready' as const, error: null }] },
        'reconnect',
        name,
        timeoutMs,
      ),
    recordings: async () => note({ recordings: [recording] }, 'recordings'),
    record: async (name, on, andDelete) => note(recording, 'record', name, on, andDelete),
    fixture: async (name, from, to) => note(fixture, 'fixture', name, from, to),
    allowlist: (prefix) => note({ tool: { entries: ['mcp__memory__*'], suspended: [] } }, 'allowlist', prefix),
    replaceGrants: async (prefix, entries, caller) =>
      note({ ok: true as const, tool: { entries: [...entries] } }, 'replaceGrants', prefix, entries, caller.client),
    call: (input) => {
      asked.push(['call', input]);
      return keeper.onCall(input);
    },
    toolChanges: (query) => note({ from: 3, changes: [] }, 'toolChanges', query),
    suspensions: () => note({ suspended: [] }, 'suspensions'),
    calls: (query) => note({ calls: [call], next: null }, 'calls', query),
    callById: (id) => {
      if (id === 'c7') return { ...call, id, client: 'codex' };
      if (id !== 'c1') throw new Problem('unknown-call', `No call has the id "${id}".`);
      return call;
    },
    approve: async (id, remember, caller) => note(call, 'approve', id, remember, caller.client),
    deny: async (id, reason, caller) => note(call, 'deny', id, reason, caller.client),
    cancel: async (id) => {
      throw new Problem('call-not-held', `Call ${id} has already settled.`, { call: id });
    },
    closeCall: async (id, found, caller) => {
      if (id !== 'c1') throw new Problem('call-not-open', `Call ${id} needs no closing.`, { call: id });
      return note(call, 'closeCall', id, found, caller.client);
    },
    verifyLedger: async (expected) =>
      note(
        {
          ok: true,
          facts: 3,
          unchained: 0,
          from: 1,
          tip: { position: 3, hash: 'h', at: time },
          findings: [],
          more: 0,
          expected: null,
        },
        'verifyLedger',
        expected,
      ),
    events: (query) => {
      if (keeper.broken) throw new Error('secret-of-the-disk');
      asked.push(['events', query]);
      const found = matching(query);
      const page = found.slice(0, query.limit);
      return { events: page.map(wireEvent), next: found.length > page.length ? (page.at(-1)?.position ?? null) : null };
    },
    followEvents: (query, on) => {
      const from = query.after ?? log.at(-1)?.position ?? 0;
      if (query.after !== undefined && query.after + 1 < keeper.prunedBelow)
        on.gap(query.after + 1, keeper.prunedBelow - 1);
      const fits = (event: Recorded) => matching({ ...query, after: from }).includes(event);
      const hear = (events: Recorded[]) => on.events(events.filter(fits));
      on.events(matching({ ...query, after: from }));
      followers.add(hear);
      return () => followers.delete(hear);
    },
    rebuild: async () => ({ ok: true, facts: 3, tookMs: 0.5 }),
    metrics: async () => '# HELP up\nup 1\n',
    shutdown: () => {
      asked.push(['shutdown']);
    },
  };
  return keeper;
}
