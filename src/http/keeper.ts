/**
 * What the HTTP layer asks of the daemon. Routes hold no business rule: they check the shape, ask here, and answer.
 * Every method that refuses throws a `Problem`.
 */
import type { z } from 'zod';
import type { FileProblem } from '../config/entry.ts';
import type { CallFinding, PermissionMode } from '../events/call.events.ts';
import type { Recorded } from '../events/envelope.ts';
import type { toolsHistory } from './contract.catalog.ts';
import type { clients } from './contract.clients.ts';
import type { doctor } from './contract.doctor.ts';
import type { ledgerVerified } from './contract.ledger.ts';
import type * as recordings from './contract.recordings.ts';
import type { replayed } from './contract.replay.ts';
import type { stderr } from './contract.stderr.ts';
import type { summary } from './contract.summary.ts';
import type { suspensions, toolChanges } from './contract.trust.ts';
import type * as contract from './contract.ts';
import type { why } from './contract.why.ts';

type Shape<Schema extends z.ZodType> = z.infer<Schema>;

/** Who asks: derived from the token, or the local socket. */
export interface Caller {
  /** `main`, `socket`, or a client's name. */
  readonly client: string;
  /** `http`, `socket`, `mcp`… the door the request came through. */
  readonly door: string;
  readonly defaultMode: PermissionMode;
  readonly ceiling: PermissionMode;
}

/** A moment: a log position or a time (ms since the epoch). */
export type Moment = { readonly position: number } | { readonly time: number };

export interface CallInput {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly mode: PermissionMode;
  readonly timeoutMs: number | undefined;
  /** false: do not wait for a person. */
  readonly wait: boolean;
  readonly caller: Caller;
  /** Ends when the caller goes away. */
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: { progress: number; total?: number; message?: string }) => void;
}

/** A settled call (`result` for `succeeded` and `tool-error`) or one that is still held. */
export type CallAnswer =
  | { readonly kind: 'result'; readonly body: Shape<typeof contract.callResult> }
  | { readonly kind: 'held'; readonly body: Shape<typeof contract.callHeld> };

export interface EventQuery {
  readonly after: number;
  readonly stream: string | undefined;
  readonly type: string | undefined;
  readonly limit: number;
}

export interface Keeper {
  readonly version: string;
  readonly startedAt: string;
  /** Whether a client may see a server. */
  sees(client: string, server: string): boolean;
  health(full: boolean): Shape<typeof contract.health>;
  /** JSON text of the status answer, cached per log position. */
  statusText(): string;
  statusAt(at: Moment): Shape<typeof contract.status>;
  tools(query: { server?: string | undefined; at?: Moment | undefined }): Shape<typeof contract.tools>;
  toolsHistory(query: {
    server?: string | undefined;
    from?: Moment | undefined;
    to?: Moment | undefined;
  }): Shape<typeof toolsHistory>;
  /** Definitions that changed and tools that came to known servers, with what is different word by word. */
  toolChanges(query: { server?: string | undefined; from?: Moment | undefined }): Shape<typeof toolChanges>;
  /** Of servers that `sees` lets through. */
  instructions(sees?: (server: string) => boolean): Shape<typeof contract.instructions>;
  history(query: {
    name?: string | undefined;
    from?: number | undefined;
    to?: number | undefined;
  }): Shape<typeof contract.history>;
  /** Without a name the whole log is verified. `set`: other limits, not yet checked. */
  replay(query: {
    name: string | undefined;
    from: Moment | undefined;
    to: Moment | undefined;
    fast: boolean;
    set: Readonly<Record<string, unknown>> | undefined;
  }): Promise<Shape<typeof replayed>>;

  /** A gzipped tar archive about one server; from and to in ms since the epoch. */
  bundle(query: {
    name: string;
    from: number | undefined;
    to: number | undefined;
  }): Promise<{ readonly fileName: string; readonly bytes: Buffer }>;
  why(query: { name: string; at: Moment | undefined }): Shape<typeof why>;
  /** Of the process that runs now. */
  stderr(name: string): Shape<typeof stderr>;
  /** Of one server, or of all that are configured; times in ms since the epoch. */
  summary(query: {
    name?: string | undefined;
    from?: number | undefined;
    to?: number | undefined;
  }): Promise<Shape<typeof summary>>;

  /** On one server, or on all and the daemon. */
  doctor(name: string | undefined): Promise<Shape<typeof doctor>>;

  clients(): Shape<typeof clients>;

  /** Begins a login or joins the one that waits; refuses before that, later it only ends. */
  login(name: string): {
    /** Never settles when there is none. */
    readonly url: Promise<string>;
    readonly done: Promise<{ readonly ok: boolean; readonly error?: string; readonly reconnect_error?: string }>;
    leave(): void;
  };
  pasteCallback(name: string, url: string): void;
  /** Resolves with the redirect address that will be used. */
  giveClient(
    name: string,
    client: { readonly id: string; readonly secret: string | null; readonly redirectUri: string | undefined },
  ): Promise<string>;
  /** Takes over what Agenvoy keeps of a login. */
  adoptLogin(name: string): Promise<{ readonly ok: boolean; readonly reconnect_error?: string }>;
  logOut(name: string, client: boolean): Promise<void>;

  config(): Promise<Shape<typeof contract.config>>;
  /** The file cannot be parsed at the moment; the running set stays. */
  configProblem(): FileProblem | null;
  addServer(name: string, server: Readonly<Record<string, unknown>>): Promise<void>;
  removeServer(name: string): Promise<void>;
  setDisabled(name: string, disabled: boolean): Promise<void>;
  /** `name`: of which server the values are taken that the entry holds as `***`. */
  testServer(
    server: Readonly<Record<string, unknown>>,
    name: string | undefined,
  ): Promise<Shape<typeof contract.testResult>>;
  reconnect(name: string | undefined, timeoutMs: number | undefined): Promise<Shape<typeof contract.reconnect>>;

  /** Servers that are recorded or of which something is kept. */
  recordings(): Promise<Shape<typeof recordings.recordings>>;
  record(name: string, on: boolean, andDelete: boolean): Promise<Shape<typeof recordings.recording>>;
  /** `from`, `to`: ms since the epoch. */
  fixture(
    name: string,
    from: number | undefined,
    to: number | undefined,
  ): Promise<Shape<typeof recordings.fixtureAnswer>>;

  allowlist(prefix: string | undefined): Shape<typeof contract.allowlist>;
  replaceGrants(
    prefix: string,
    entries: readonly string[],
    caller: Caller,
  ): Promise<Shape<typeof contract.allowlistReplaced>>;

  /** Grants that count no more, with what they were given for and what is there now. */
  suspensions(): Shape<typeof suspensions>;

  call(input: CallInput): Promise<CallAnswer>;
  calls(query: {
    state?: string | undefined;
    server?: string | undefined;
    outcome?: string | undefined;
    client?: string | undefined;
    open?: boolean | undefined;
    limit: number;
    before?: string | undefined;
  }): Shape<typeof contract.calls>;
  callById(id: string): Shape<typeof contract.call>;
  approve(id: string, remember: 'once' | 'tool' | 'server', caller: Caller): Promise<Shape<typeof contract.call>>;
  deny(id: string, reason: string | undefined, caller: Caller): Promise<Shape<typeof contract.call>>;
  cancel(id: string, caller: Caller): Promise<Shape<typeof contract.call>>;
  /** What a person found out about a call whose outcome is unknown. */
  closeCall(
    id: string,
    found: { readonly finding: CallFinding; readonly note: string | undefined },
    caller: Caller,
  ): Promise<Shape<typeof contract.call>>;
  /** Whether log and ledger are what was written. */
  verifyLedger(expected: string | undefined): Promise<Shape<typeof ledgerVerified>>;

  /** Ascending, at most `limit`. */
  events(query: EventQuery): Shape<typeof contract.events>;
  /** Follows the log from `after` on; calls `onEvents` in order, first what is there, then what comes. Returns the end. */
  followEvents(
    query: { after: number | undefined; stream: string | undefined; type: string | undefined },
    on: { events: (events: readonly Recorded[]) => void; gap: (from: number, to: number) => void },
  ): () => void;
  rebuild(): Promise<{ ok: true; facts: number; tookMs: number }>;
  metrics(): Promise<string>;
  /** Ends the daemon in good order after the answer has been sent. */
  shutdown(): void;
}
