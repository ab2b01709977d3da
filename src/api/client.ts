/** The contract as functions: what the command line and other programs of ours ask the daemon with. */
import type { z } from 'zod';
import type * as catalogContract from '../http/contract.catalog.ts';
import type * as clientsContract from '../http/contract.clients.ts';
import type * as doctorContract from '../http/contract.doctor.ts';
import type * as ledgerContract from '../http/contract.ledger.ts';
import type * as oauthContract from '../http/contract.oauth.ts';
import type * as recordings from '../http/contract.recordings.ts';
import type { replayed } from '../http/contract.replay.ts';
import type * as stderrContract from '../http/contract.stderr.ts';
import type * as summaryContract from '../http/contract.summary.ts';
import type * as trustContract from '../http/contract.trust.ts';
import type * as contract from '../http/contract.ts';
import type * as whyContract from '../http/contract.why.ts';
import { type Followed, followLog } from './follow.ts';
import { type LoginFrame, readLogin } from './login.ts';
import { type Ask, readBytes, readText, send } from './request.ts';

type Shape<Schema extends z.ZodType> = z.infer<Schema>;

export type Health = Shape<typeof contract.health>;
export type Config = Shape<typeof contract.config>;
export type TestResult = Shape<typeof contract.testResult>;
export type Status = Shape<typeof contract.status>;
export type ServerStatus = Shape<typeof contract.serverStatus>;
export type Reconnected = Shape<typeof contract.reconnect>;
export type Tools = Shape<typeof contract.tools>;
export type Tool = Shape<typeof contract.tool>;
export type ToolsHistory = Shape<typeof catalogContract.toolsHistory>;
export type Instructions = Shape<typeof contract.instructions>;
export type History = Shape<typeof contract.history>;
export type Why = Shape<typeof whyContract.why>;
export type Recording = Shape<typeof recordings.recording>;
export type Recordings = Shape<typeof recordings.recordings>;
export type Recorded = Shape<typeof recordings.recordAnswer>;
export type Fixture = Shape<typeof recordings.fixtureAnswer>;
export type Stderr = Shape<typeof stderrContract.stderr>;
export type Summary = Shape<typeof summaryContract.summary>;
export type Doctor = Shape<typeof doctorContract.doctor>;
export type Replayed = Shape<typeof replayed>;
export type Clients = Shape<typeof clientsContract.clients>;
export type Allowlist = Shape<typeof contract.allowlist>;
export type AllowlistReplaced = Shape<typeof contract.allowlistReplaced>;
export type CallResult = Shape<typeof contract.callResult>;
export type CallHeld = Shape<typeof contract.callHeld>;
export type Call = Shape<typeof contract.call>;
export type Calls = Shape<typeof contract.calls>;
export type LedgerVerified = Shape<typeof ledgerContract.ledgerVerified>;
export type CallFinding = Shape<typeof ledgerContract.closeBody>['finding'];
export type ToolChanges = Shape<typeof trustContract.toolChanges>;
export type Suspensions = Shape<typeof trustContract.suspensions>;
export type Events = Shape<typeof contract.events>;
export type Rebuilt = Shape<typeof contract.rebuild>;
export type AdoptedLogin = Shape<typeof oauthContract.adoptedLogin>;
export type ClientGiven = Shape<typeof oauthContract.clientGiven>;
export type Done = Shape<typeof contract.done>;
export type PermissionMode = NonNullable<Shape<typeof contract.callBody>['permission_mode']>;

export interface CallRequest {
  readonly tool: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly mode?: PermissionMode | undefined;
  readonly timeoutMs?: number | undefined;
  /** false: answer at once when the call is held for a person. */
  readonly wait?: boolean | undefined;
}

/** A moment is a log position or a time in ISO 8601. */
type At = string | number;

/**
 * Every method throws ApiError if the daemon refuses, DaemonUnreachable if nobody answers, and the signal's reason if
 * that ended it.
 */
export interface Client {
  health(options?: { signal?: AbortSignal }): Promise<Health>;
  config(): Promise<Config>;
  addServer(name: string, server: Readonly<Record<string, unknown>>): Promise<Done>;
  removeServer(name: string): Promise<Done>;
  enableServer(name: string): Promise<Done>;
  disableServer(name: string): Promise<Done>;
  /** `name`: a configured server, whose stored values stand where the entry says `***`. */
  testServer(server: Readonly<Record<string, unknown>>, name?: string): Promise<TestResult>;
  status(query?: { at?: At | undefined }): Promise<Status>;
  reconnect(query?: { name?: string | undefined; timeoutMs?: number | undefined }): Promise<Reconnected>;
  /** The address to open, then how the login ended. Going away ends it. */
  login(name: string, options?: { signal?: AbortSignal | undefined }): AsyncGenerator<LoginFrame, void>;
  pasteCallback(name: string, url: string): Promise<Done>;
  giveClient(
    name: string,
    client: { id: string; secret?: string | undefined; redirectUri?: string | undefined },
  ): Promise<ClientGiven>;
  /** Takes over a login that Agenvoy has. */
  adoptLogin(name: string): Promise<AdoptedLogin>;
  logOut(name: string, query?: { client?: boolean | undefined }): Promise<Done>;
  tools(query?: { server?: string | undefined; at?: At | undefined }): Promise<Tools>;
  toolsHistory(query?: {
    server?: string | undefined;
    from?: At | undefined;
    to?: At | undefined;
  }): Promise<ToolsHistory>;
  /** Definitions that changed lately; since `from`, or in the last seven days. */
  toolChanges(query?: { server?: string | undefined; from?: At | undefined }): Promise<ToolChanges>;
  instructions(): Promise<Instructions>;
  history(query?: { name?: string | undefined; from?: string | undefined; to?: string | undefined }): Promise<History>;
  why(query: { name: string; at?: At | undefined }): Promise<Why>;
  /** What the process that runs now wrote to stderr last. */
  stderr(name: string): Promise<Stderr>;
  /** A gzipped tar archive, and how its file is called. */
  bundle(query: {
    name: string;
    from?: string | undefined;
    to?: string | undefined;
  }): Promise<{ readonly fileName: string; readonly bytes: Buffer }>;
  recordings(): Promise<Recordings>;
  record(name: string, on: boolean, options?: { delete?: boolean | undefined }): Promise<Recorded>;
  fixture(query: { name: string; from?: string | undefined; to?: string | undefined }): Promise<Fixture>;
  summary(query?: { name?: string | undefined; from?: string | undefined; to?: string | undefined }): Promise<Summary>;
  doctor(name?: string): Promise<Doctor>;
  /** Without a name the whole log is verified. `set`: other limits in milliseconds; {}: as they were. */
  replay(query: {
    name?: string | undefined;
    from?: At | undefined;
    to?: At | undefined;
    fast?: boolean | undefined;
    set?: Readonly<Record<string, number>> | undefined;
  }): Promise<Replayed>;
  clients(): Promise<Clients>;
  allowlist(prefix?: string): Promise<Allowlist>;
  suspensions(): Promise<Suspensions>;
  replaceGrants(prefix: string, entries: readonly string[]): Promise<AllowlistReplaced>;
  call(request: CallRequest, options?: { signal?: AbortSignal | undefined }): Promise<CallResult | CallHeld>;
  calls(query?: {
    state?: string | undefined;
    server?: string | undefined;
    outcome?: string | undefined;
    client?: string | undefined;
    /** Only calls of which nobody knows whether they ran, and that nobody closed. */
    open?: boolean | undefined;
    limit?: number | undefined;
    before?: string | undefined;
  }): Promise<Calls>;
  callById(id: string): Promise<Call>;
  approve(id: string, remember?: 'once' | 'tool' | 'server'): Promise<Call>;
  deny(id: string, reason?: string): Promise<Call>;
  cancel(id: string): Promise<Call>;
  /** What a person found out about a call whose outcome is unknown. */
  closeCall(id: string, finding: CallFinding, note?: string): Promise<Call>;
  /** Whether log and ledger are what was written; `expect`: a hash noted earlier. */
  verifyLedger(query?: { expect?: string | undefined }): Promise<LedgerVerified>;
  events(query?: {
    after?: number | undefined;
    stream?: string | undefined;
    type?: string | undefined;
    limit?: number | undefined;
  }): Promise<Events>;
  /** Facts as they come, from `after` on if given; goes on over broken connections and restarts of the daemon. */
  followEvents(query?: {
    after?: number | undefined;
    stream?: string | undefined;
    type?: string | undefined;
    signal?: AbortSignal | undefined;
  }): AsyncGenerator<Followed, void>;
  rebuild(): Promise<Rebuilt>;
  metrics(): Promise<string>;
  shutdown(): Promise<Done>;
}

/** Whether a call still waits for a person. */
export const isHeld = (answer: CallResult | CallHeld): answer is CallHeld =>
  'state' in answer && answer.state === 'held';

/** A client of the daemon that keeps this data directory. Nothing is read or sent before a method is called. */
export function connectTo({ dataDir }: { readonly dataDir: string }): Client {
  const ask = async <Answer>(request: Ask): Promise<Answer> =>
    JSON.parse(await readText(await send(dataDir, request))) as Answer;
  const get = <Answer>(path: string, query: Query = {}, signal?: AbortSignal): Promise<Answer> =>
    ask({ method: 'GET', path: path + queryText(query), signal });
  const post = <Answer>(path: string, body: unknown = {}, signal?: AbortSignal): Promise<Answer> =>
    ask({ method: 'POST', path, body, signal });
  const ofCall = (id: string): string => `/v1/mcp/calls/${encodeURIComponent(id)}`;

  return {
    health: (options) => get('/health', {}, options?.signal),
    config: () => get('/v1/mcp'),
    addServer: (name, server) => post('/v1/mcp', { name, server }),
    removeServer: (name) => post('/v1/mcp/remove', { name }),
    enableServer: (name) => post('/v1/mcp/enable', { name }),
    disableServer: (name) => post('/v1/mcp/disable', { name }),
    testServer: (server, name) => post('/v1/mcp/test', { server, name }),
    status: (query) => get('/v1/mcp/status', query),
    reconnect: (query) => post('/v1/mcp/reconnect', { name: query?.name, timeout_ms: query?.timeoutMs }),
    async *login(name, options) {
      const path = `/v1/mcp/oauth${queryText({ name })}`;
      yield* readLogin(await send(dataDir, { method: 'GET', path, signal: options?.signal }));
    },
    pasteCallback: (name, url) => post('/v1/mcp/oauth/callback', { name, url }),
    giveClient: (name, { id, secret, redirectUri }) =>
      post('/v1/mcp/oauth/client', { name, client_id: id, client_secret: secret, redirect_uri: redirectUri }),
    adoptLogin: (name) => post('/v1/mcp/oauth/adopt', { name }),
    logOut: (name, query) =>
      ask({ method: 'DELETE', path: '/v1/mcp/oauth', body: { name, client: query?.client ?? false } }),
    tools: (query) => get('/v1/mcp/tools', query),
    toolsHistory: (query) => get('/v1/mcp/tools/history', query),
    toolChanges: (query) => get('/v1/mcp/tools/changes', query),
    instructions: () => get('/v1/mcp/instructions'),
    history: (query) => get('/v1/mcp/history', query),
    why: (query) => get('/v1/mcp/why', query),
    stderr: (name) => get('/v1/mcp/stderr', { name }),
    bundle: async (query) => {
      const answer = await send(dataDir, { method: 'GET', path: `/v1/mcp/bundle${queryText(query)}` });
      const [, fileName = 'watchkeeper-bundle.tar.gz'] =
        /filename="([\w.-]+)"/.exec(answer.headers['content-disposition'] ?? '') ?? [];
      return { fileName, bytes: await readBytes(answer) };
    },
    recordings: () => get('/v1/mcp/record'),
    record: (name, on, options) => post('/v1/mcp/record', { name, on, delete: options?.delete }),
    fixture: (query) => post('/v1/mcp/fixture', query),
    summary: (query) => get('/v1/mcp/history/summary', query),
    doctor: (name) => get('/v1/mcp/doctor', { name }),
    replay: (query) => post('/v1/mcp/replay', query),
    clients: () => get('/v1/clients'),
    allowlist: (prefix) => get('/v1/allowlist', { prefix }),
    suspensions: () => get('/v1/allowlist/suspended'),
    replaceGrants: (prefix, entries) => post('/v1/allowlist', { tool: { prefix, entries } }),
    call: ({ tool, arguments: args, mode, timeoutMs, wait }, options) =>
      post(
        '/v1/mcp/call',
        { tool, arguments: args, permission_mode: mode, timeout_ms: timeoutMs, wait },
        options?.signal,
      ),
    calls: (query) =>
      get('/v1/mcp/calls', { ...query, open: query?.open === undefined ? undefined : String(query.open) }),
    callById: (id) => get(ofCall(id)),
    approve: (id, remember) => post(`${ofCall(id)}/approve`, { remember }),
    deny: (id, reason) => post(`${ofCall(id)}/deny`, { reason }),
    cancel: (id) => post(`${ofCall(id)}/cancel`),
    closeCall: (id, finding, note) => post(`${ofCall(id)}/close`, { finding, note }),
    verifyLedger: (query) => get('/v1/ledger/verify', query),
    events: (query) => get('/v1/events', query),
    followEvents: ({ after, stream, type, signal } = {}) => {
      const open = (from: number | undefined) =>
        send(dataDir, {
          method: 'GET',
          path: `/v1/events${queryText({ after: from, stream, type })}`,
          headers: { accept: 'text/event-stream' },
          signal,
        });
      return followLog(open, after, signal);
    },
    rebuild: () => post('/v1/rebuild'),
    metrics: async () => readText(await send(dataDir, { method: 'GET', path: '/metrics' })),
    shutdown: () => post('/v1/shutdown'),
  };
}

type Query = Readonly<Record<string, string | number | undefined>>;

function queryText(query: Query): string {
  const given = Object.entries(query).filter((pair): pair is [string, string | number] => pair[1] !== undefined);
  const text = new URLSearchParams(given.map(([key, value]): [string, string] => [key, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}
