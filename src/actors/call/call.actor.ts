/**
 * The shell of tool calls: asks the gate, waits for people, sends, and settles. Whatever it learns becomes a fact before it
 * becomes an answer; a call is sent only after its start has been committed.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { CallFact, CallFinding, CallRequest, Outcome, PermissionMode } from '../../events/call.events.ts';
import type { Limits } from '../../events/shapes.ts';
import { anyOf, Cancel, type CancelSignal, NotWanted } from '../../mcp/cancel.ts';
import { CallError, type CallOptions, type Connection, type RawResult } from '../../mcp/connection.ts';
import { Roster } from '../../roster.ts';
import { Actor } from '../actor.ts';
import type { Grant } from '../allowlist/allowlist.state.ts';
import { bodyOf } from '../body.ts';
import type { Desk } from '../desk.ts';
import type { Head } from '../head.ts';
import { isRefusal, type Refusal } from '../refusal.ts';
import type { ServerActor } from '../server/server.actor.ts';
import type { ServerContext } from '../server/server.state.ts';
import type { Supervisor } from '../supervisor.ts';
import type { CallCommand, CallReport, CallWorld, Settlement } from './call.commands.ts';
import { callMachine } from './call.machine.ts';
import { callRules } from './call.rules.ts';
import type { CallContext } from './call.state.ts';
import { askGate, questionOf } from './gate.ts';
import { Turnstile } from './turnstile.ts';

/** How long the result of a held call can be fetched, and how much of such results is kept at once. */
const RESULT_KEPT_MS = 600_000;
const RESULTS_KEPT_BYTES = 64 * 1024 * 1024;
/** How many calls of one caller may wait for people at once, and how much memory their arguments may take. */
const MOST_HELD = 1_000;
const MOST_HELD_BYTES = 64 * 1024 * 1024;
/** How long the end of open calls may hold up the end of the daemon, in ms. */
const ABANDON_MS = 2_000;
/** How long a call waits for a server that is on its way, in ms; one that starts on first use has the call's own limit. */
const ON_THE_WAY_MS = 10_000;

/** The tool a call is about, as it is listed now. */
export interface Target {
  readonly server: string;
  /** The server's own spelling. */
  readonly tool: string;
  readonly name: string;
  readonly definition: string;
  readonly hasOutputSchema: boolean;
  /** The server says that a second call does no more than the first (`readOnlyHint`, `idempotentHint`). */
  readonly idempotent?: boolean;
}

/**
 * What may be sent again on a new connection: nothing, what surely never left, or also what was lost on the way and may be
 * repeated by the word of its server.
 */
export type RepeatPolicy = 'never' | 'unsent' | 'idempotent';

export interface HeldCall {
  readonly id: string;
  readonly name: string;
  readonly expiresAt: number;
}

export interface CallInput {
  readonly target: Target;
  readonly args: Readonly<Record<string, unknown>>;
  readonly mode: PermissionMode;
  readonly client: string;
  readonly door: string;
  /** Limit in all, in ms; undefined: the server's own. */
  readonly timeoutMs: number | undefined;
  readonly wait: boolean;
  readonly signal: CancelSignal;
  readonly onProgress?: CallOptions['onProgress'];
  /** A person has to decide; the caller waits. */
  readonly onHeld?: (held: HeldCall) => void;
  /** How long this caller waits for a person, in ms; undefined: as long as all do. */
  readonly windowMs?: number | undefined;
  /** The signal ends the call also when it began to run after a person let it; else it runs on for whoever reads its result. */
  readonly cancelsAll?: boolean;
  /** How the call is sent, for a caller that takes part in it while it runs. Rejects with a CallError and nothing else. */
  readonly send?: (connection: Connection, options: CallOptions) => Promise<RawResult>;
}

export type CallEnd =
  | {
      readonly kind: 'result';
      readonly id: string;
      readonly outcome: 'succeeded' | 'tool-error';
      readonly result: RawResult;
    }
  | { readonly kind: 'held'; readonly id: string; readonly expiresAt: number; readonly name: string }
  | {
      readonly kind: 'ended';
      readonly id: string;
      readonly outcome: Exclude<Outcome, 'succeeded' | 'tool-error'>;
      readonly reason: string;
      /** Why the outcome is unknown or the call failed. */
      readonly because: Because;
    };

/**
 * `rejected`: the server's protocol layer did not take the call. `cancelled`: somebody no longer wanted it. `barred`: the
 * caller has called too often.
 */
type Because = 'limit' | 'lost' | 'rejected' | 'cancelled' | 'barred' | 'other';

/** `request`: what the person was shown and said yes to; whoever came again with the same call may have meant another definition. */
export interface Approved {
  readonly request: CallRequest | null;
  /** Approved, and refused all the same: what was asked for is no longer what would run. */
  readonly outdated: boolean;
}

export interface CallDeskOptions {
  readonly desk: Desk;
  readonly supervisor: Supervisor;
  /** The tool as it is listed now; null for one that is not there, or hidden. */
  readonly definitionOf: (server: string, tool: string) => string | null;
  /** Whether a caller may see a server at all. */
  readonly sees?: (client: string, server: string) => boolean;
  /** Counts a call of a caller; answers why it is one too many, or null. */
  readonly overRate?: (client: string) => string | null;
  /** What else is worth a look before a call is approved; asked only for calls that are held. */
  readonly remarksOn?: (target: Target) => readonly string[];
  readonly repeats?: (server: string) => RepeatPolicy;
  /** Grants that could cover the tool. */
  readonly grantsFor: (server: string, name: string) => readonly Grant[];
  readonly windowMs: number;
  readonly holdMs: number;
  /** Canonical text of arguments: equal for equal JSON values, whatever the order of keys. */
  readonly canonical: (args: unknown) => string;
  readonly hash: (text: string) => string;
  readonly cap: (
    result: RawResult,
    options: { hasOutputSchema: boolean },
  ) => { result: RawResult; total: number; truncated: boolean };
  readonly newId: () => string;
  readonly fold: (id: string) => Head<CallContext>;
}

type CallActor = Actor<CallContext, CallFact, CallCommand, CallWorld>;

/** A call that has not ended, or ended lately after having been held. */
interface Open {
  readonly id: string;
  /** Among all that are open; 0: not yet. */
  number: number;
  readonly actor: CallActor;
  /** Of the caller that came last. */
  input: CallInput;
  /** Same token, server, tool and arguments. */
  readonly key: string;
  readonly argsBytes: number;
  readonly cancel: Cancel;
  readonly end: Promise<CallEnd>;
  readonly finish: (end: CallEnd) => void;
  wasHeld: boolean;
  /** The caller has called too often. */
  barred: boolean;
  /** How many wait for a held call. */
  waiting: number;
}

export class CallDesk {
  readonly #options: CallDeskOptions;
  readonly #open = new Roster<Open>();
  readonly #results = new Map<string, { result: RawResult; bytes: number; until: number }>();
  #resultBytes = 0;
  readonly #turnstile = new Turnstile();
  /** Calls of the past that are being closed by a person: one actor each, so that two persons are heard in turn. */
  readonly #closing = new Map<string, { readonly actor: CallActor; users: number }>();

  constructor(options: CallDeskOptions) {
    this.#options = options;
  }

  /** Ends what a dead daemon left open. Part of the transaction that records the start. */
  closeOpenEnds(ids: readonly string[]): void {
    for (const id of ids) {
      const actor = this.#actor(id, this.#options.fold(id));
      void actor.report({ type: 'CloseOpenEnd' }, NO_WORLD);
    }
  }

  /** Held calls end with the daemon: nobody could approve them any more. Takes no longer than `ABANDON_MS`. */
  async abandon(): Promise<void> {
    const ended = Promise.all(
      this.#open.values().map(async (call) => {
        if (waits(call.actor.head)) {
          await this.#report(call, {
            type: 'ReportSettled',
            settlement: { outcome: 'abandoned', reason: 'The daemon stopped while the call waited for a person.' },
          });
          this.#settled(call);
        } else call.cancel.abort(new Error('The daemon stops.'));
        await call.end;
      }),
    );
    // A log that takes nothing must not keep the daemon from stopping; the next start closes what stayed open.
    const limit = new AbortController();
    await Promise.race([ended, pause(ABANDON_MS, undefined, { signal: limit.signal }).catch(() => {})]);
    limit.abort();
  }

  /** Arguments of a held call, and what may still be shown of one that ended. */
  memory(id: string): { arguments?: Readonly<Record<string, unknown>>; result?: RawResult } {
    const call = this.#find(id);
    const held = call !== undefined && waits(call.actor.committedHead);
    const kept = this.#results.get(id);
    return {
      ...(held ? { arguments: call.input.args } : {}),
      ...(kept && kept.until > this.#options.desk.now() ? { result: kept.result } : {}),
    };
  }

  get running(): number {
    return this.#open.size;
  }

  /** Runs, holds or refuses a call. Answers a refusal only when nothing could be recorded. */
  async call(input: CallInput): Promise<CallEnd | Refusal> {
    const { target, client } = input;
    const canonical = this.#options.canonical(input.args);
    const key = `${client}\n${target.server}\n${target.tool}\n${canonical}`;
    const request = this.#requestOf(input, canonical);
    const barred = this.#options.overRate?.(client) ?? null;
    if (barred !== null) return this.#request(input, request, key, barred);
    const verdict = (): string =>
      askGate(questionOf(request, this.#options.grantsFor(target.server, target.name))).kind;
    const first = verdict();
    // A call that needs nobody, or may not wait for anybody, does not join the one that waits.
    const same = first === 'hold' ? this.#waitingLike(key) : undefined;
    if (same) return this.#rejoin(same, input);
    const crowd = first === 'hold' ? this.#crowded(client, request.argsBytes) : null;
    if (crowd !== null) return this.#request(input, request, key, crowd);

    if (first === 'run') await this.serverReady(target.server, input.signal);
    const limit = this.#limit(target);
    if (limit === null || verdict() !== 'run') return this.#request(input, request, key);

    const leave = await this.#turnstile.enter(target.server, limit, input.signal).catch(() => null);
    if (leave === null) return cancelledUnsent();
    try {
      // Much may have happened to the server while others were served.
      await this.serverReady(target.server, input.signal);
      return await this.#request(input, request, key);
    } finally {
      leave();
    }
  }

  async approve(id: string, by: string, remember: 'once' | 'tool' | 'server'): Promise<Refusal | Approved | null> {
    const call = this.#find(id);
    if (!call) return null;
    const inTurn = this.#limit(call.input.target) !== null;
    const told = await call.actor.tell({ type: 'ApproveCall', by, remember, inTurn }, this.#world(call.input));
    if (isRefusal(told)) return told;
    const started = told.some(({ type }) => type === 'CallStarted');
    if (started) void this.#run(call);
    else if (call.actor.committedHead.state === 'approved' && call.actor.committedHead.context.caller !== 'gone')
      void this.#startApproved(call, call.input.signal);
    this.#settled(call);
    const { request } = call.actor.head.context;
    return { request, outdated: told.some(({ type }) => type === 'CallSettled') };
  }

  async deny(id: string, by: string, reason: string | undefined): Promise<Refusal | 'done' | null> {
    const call = this.#find(id);
    if (!call) return null;
    const told = await call.actor.tell({ type: 'DenyCall', by, reason }, NO_WORLD);
    if (isRefusal(told)) return told;
    this.#settled(call);
    return 'done';
  }

  async cancel(id: string, by: string): Promise<Refusal | 'done' | null> {
    const call = this.#find(id);
    if (!call) return null;
    const told = await call.actor.tell({ type: 'CancelCall', by }, NO_WORLD);
    if (isRefusal(told)) return told;
    if (call.actor.committedHead.state === 'running') {
      call.cancel.abort(new Error(`cancelled by ${by}`));
      await call.end;
    }
    this.#settled(call);
    return 'done';
  }

  /** A person says what came of a call whose outcome is unknown. Null: there is no such call. */
  async close(
    id: string,
    by: string,
    { finding, note }: { readonly finding: CallFinding; readonly note: string | undefined },
  ): Promise<Refusal | 'done' | null> {
    const closing = this.#closing.get(id) ?? { actor: this.#find(id)?.actor ?? this.#folded(id), users: 0 };
    if (closing.actor.head.version === 0) return null;
    this.#closing.set(id, closing);
    closing.users += 1;
    try {
      const told = await closing.actor.tell({ type: 'CloseCall', by, finding, note }, NO_WORLD);
      return isRefusal(told) ? told : 'done';
    } finally {
      closing.users -= 1;
      if (closing.users === 0) this.#closing.delete(id);
    }
  }

  async #request(
    input: CallInput,
    request: CallRequest,
    key: string,
    barred: string | null = null,
  ): Promise<CallEnd | Refusal> {
    const id = this.#options.newId();
    const call = this.#begin(id, input, key, request.argsBytes);
    call.barred = barred !== null;
    const world = this.#world(input);
    // Only waiting has a timer: a call that will not be held needs no body.
    const held =
      barred === null && request.mode === 'ask' && askGate(questionOf(request, world.grants)).kind === 'hold';
    if (held) this.#embody(call);
    const remarks = held ? (this.#options.remarksOn?.(input.target) ?? []) : [];
    const told = await call.actor.tell(
      { type: 'RequestCall', request, wait: input.wait, holdMs: this.#options.holdMs, remarks, barred },
      world,
    );
    if (isRefusal(told)) {
      this.#open.delete(call.number);
      call.actor.stop();
      return told;
    }
    switch (call.actor.committedHead.state) {
      case 'running':
        input.signal.addEventListener('abort', () => call.cancel.abort(input.signal.reason), { once: true });
        if (input.signal.aborted) call.cancel.abort(input.signal.reason);
        await this.#run(call);
        return call.end;
      case 'held':
        call.wasHeld = true;
        return this.#wait(call, input);
      default:
        this.#settled(call);
        return call.end;
    }
  }

  /**
   * Waits for a person as long as the caller's window lasts; the call stays open after that, unless its caller said that
   * it is not wanted any more.
   */
  async #wait(call: Open, input: CallInput): Promise<CallEnd> {
    const { expiresAt } = call.actor.committedHead.context;
    const held: CallEnd = { kind: 'held', id: call.id, expiresAt: expiresAt ?? 0, name: input.target.name };
    if (!input.wait) return held;
    call.waiting += 1;
    input.onHeld?.(held);
    const window = new AbortController();
    const timer = setTimeout(() => window.abort(), input.windowMs ?? this.#options.windowMs);
    const left = anyOf(window.signal, input.signal);
    const over = new Promise<'over'>((resolve) => {
      if (left.aborted) resolve('over');
      left.addEventListener('abort', () => resolve('over'), { once: true });
    });
    const first = await Promise.race([call.end, over]);
    clearTimeout(timer);
    if (first !== 'over') return first;
    call.waiting -= 1;
    const isUnwanted = input.signal.aborted && input.signal.reason instanceof NotWanted && call.waiting === 0;
    if (isUnwanted && waits(call.actor.committedHead)) {
      await this.cancel(call.id, input.client);
      return call.end;
    }
    if (call.waiting === 0) await this.#report(call, { type: 'ReportCallerLeft' });
    // Approved in the last moment: it runs for this caller, who then waits for the result.
    const { state } = call.actor.committedHead;
    if (state === 'running' && input.signal.aborted && input.cancelsAll) call.cancel.abort(input.signal.reason);
    if (state === 'running' && (!input.signal.aborted || input.cancelsAll)) return call.end;
    return state === 'settled' ? call.end : held;
  }

  /** The same call again: it joins the one that waits. */
  async #rejoin(call: Open, input: CallInput): Promise<CallEnd | Refusal> {
    // Whoever waits now hears how it goes on.
    if (input.wait) call.input = input;
    // Counted as waiting before anything else happens, so that nobody takes the call for left.
    const end = this.#wait(call, input);
    if (input.wait) await this.#report(call, { type: 'ReportCallerReturned' });
    if (call.actor.committedHead.state !== 'approved') return end;
    if (input.cancelsAll) {
      input.signal.addEventListener('abort', () => call.cancel.abort(input.signal.reason), { once: true });
    }
    return (await this.#startApproved(call, input.signal)) ?? call.end;
  }

  /** Answers a refusal when the start could not be written; the approval stays. */
  async #startApproved(call: Open, signal: CancelSignal): Promise<Refusal | null> {
    const { target } = call.input;
    // Whoever does not wait for it leaves it to us to see it through.
    const wanted = call.waiting > 0 ? signal : call.cancel.signal;
    const leave = await this.#turnstile.enter(target.server, this.#limit(target), wanted).catch(() => null);
    // Nobody waits for it any more; the approval stays for the one who comes again.
    if (leave === null) return null;
    try {
      await this.serverReady(target.server, signal);
      const told = await call.actor.tell({ type: 'StartApproved' }, this.#world(call.input));
      if (isRefusal(told)) return told;
      if (told.some(({ type }) => type === 'CallStarted')) await this.#run(call);
      this.#settled(call);
      return null;
    } finally {
      leave();
    }
  }

  /** How many calls its server takes at once; null: as many as come. */
  #limit({ server }: Target): number | null {
    return this.#limits(server)?.maxConcurrency ?? null;
  }

  async #run(call: Open): Promise<void> {
    const done = this.#options.supervisor.find(call.input.target.server)?.use();
    try {
      await this.#send(call);
    } finally {
      done?.();
    }
  }

  async #send(call: Open): Promise<void> {
    const { target, args, client, timeoutMs, onProgress, send } = call.input;
    const server = this.#options.supervisor.find(target.server);
    const limits = this.#limits(target.server);
    const callMaxMs = limits?.callMaxMs ?? 600_000;
    const maxMs = Math.min(callMaxMs, timeoutMs ?? callMaxMs);
    const began = performance.now();

    for (let resent = false; ; resent = true) {
      const number = call.actor.head.context.connection ?? 0;
      const connection = server?.connection(number);
      try {
        if (!connection)
          throw new CallError('not-sent', `Server "${target.server}" is no longer connected; nothing was sent.`, {
            sent: false,
          });
        const rest = Math.max(1, Math.round(maxMs - (performance.now() - began)));
        const options: CallOptions = {
          client,
          signal: call.cancel.signal,
          idleMs: limits?.callTimeoutMs ?? 60_000,
          maxMs: rest,
          onProgress,
        };
        const raw = await (send ? send(connection, options) : connection.callTool(target.tool, args, options));
        return await this.#succeed(call, raw);
      } catch (error) {
        if (!(error instanceof CallError)) {
          return await this.#fail(call, { outcome: 'unknown', reason: `The daemon failed: ${String(error)}` }, 'other');
        }
        const because = resent ? null : this.#repeatable(call, error);
        if (because !== null && server && (await this.#renewed(call, server, number, because))) continue;
        return await this.#failed(call, error);
      }
    }
  }

  /** Why a call may be sent once more, in words; null when it may not. */
  #repeatable({ input: { target } }: Open, { kind }: CallError): string | null {
    const policy = this.#options.repeats?.(target.server) ?? 'unsent';
    if (policy === 'never') return null;
    if (kind === 'session-refused' || kind === 'not-sent')
      return 'The server did not take the call: its session was gone.';
    if (policy === 'idempotent' && kind === 'lost' && target.idempotent === true)
      return 'The connection ended before the answer; the server says that the tool may be repeated, and its entry allows it.';
    return null;
  }

  /** The session is renewed once for all who noticed; true when the call may be sent on the new connection. */
  async #renewed(call: Open, server: ServerActor, number: number, reason: string): Promise<boolean> {
    const signal = anyOf(call.cancel, AbortSignal.timeout(ON_THE_WAY_MS));
    const over = ({ state, context }: Head<ServerContext>): boolean =>
      (state === 'ready' && context.connection > number) || GIVEN_UP.has(state);
    const head = await server.actor.until(over, signal).catch(() => null);
    if (head?.state !== 'ready') return false;
    await this.#report(call, {
      type: 'ReportResent',
      connection: head.context.connection,
      reason,
    });
    return true;
  }

  async #succeed(call: Open, raw: RawResult): Promise<void> {
    const { result, total, truncated } = this.#options.cap(raw, { hasOutputSchema: call.input.target.hasOutputSchema });
    const outcome = raw.isError === true ? 'tool-error' : 'succeeded';
    await this.#report(call, {
      type: 'ReportSettled',
      settlement: { outcome, resultBytes: total, resultHash: this.#options.hash(JSON.stringify(raw)), truncated },
    });
    this.#finish(call, { kind: 'result', id: call.id, outcome, result }, total);
  }

  async #failed(call: Open, error: CallError): Promise<void> {
    switch (error.kind) {
      case 'rejected': {
        // Without a code it was refused by HTTP already, before any tool was looked at.
        const { code } = error.detail;
        if (code === undefined || NOT_REACHED.has(code)) {
          return this.#fail(call, { outcome: 'failed', reason: error.message }, 'rejected');
        }
        // The server answered, with an error of the protocol instead of a result: the model can read it.
        const result: RawResult = { content: [{ type: 'text', text: error.message }], isError: true };
        await this.#report(call, {
          type: 'ReportSettled',
          settlement: { outcome: 'tool-error', reason: error.message },
        });
        return this.#finish(call, { kind: 'result', id: call.id, outcome: 'tool-error', result }, 0);
      }
      case 'not-sent':
      case 'session-refused':
        return this.#fail(call, { outcome: 'failed', reason: error.message }, 'other');
      case 'cancelled':
        return error.detail.sent
          ? this.#fail(
              call,
              { outcome: 'unknown', reason: 'Cancelled after it had been sent: it may have run.' },
              'cancelled',
            )
          : this.#fail(call, { outcome: 'cancelled', reason: 'Cancelled before it was sent.' }, 'other');
      case 'timeout': {
        const words = error.detail.limit === 'callMaxMs' ? this.#totalLimit(call) : error.message;
        return error.detail.sent
          ? this.#fail(call, { outcome: 'unknown', reason: `${words}; it may have run.` }, 'limit')
          : this.#fail(call, { outcome: 'failed', reason: `${words}; it was not sent.` }, 'limit');
      }
      case 'lost':
        return this.#fail(call, { outcome: 'unknown', reason: `${error.message}; it may have run.` }, 'lost');
    }
  }

  /** Whose limit it was that ended the call: the caller's or the entry's. */
  #totalLimit({ input: { target, timeoutMs } }: Open): string {
    const callMaxMs = this.#limits(target.server)?.callMaxMs ?? 600_000;
    return timeoutMs !== undefined && timeoutMs <= callMaxMs
      ? `not finished within ${timeoutMs} ms in all (timeout_ms)`
      : `not finished within ${callMaxMs} ms in all (callMaxMs)`;
  }

  async #fail(
    call: Open,
    settlement: Settlement & { outcome: Exclude<Outcome, 'succeeded' | 'tool-error'> },
    because: Because,
  ): Promise<void> {
    await this.#report(call, { type: 'ReportSettled', settlement });
    this.#finish(call, {
      kind: 'ended',
      id: call.id,
      outcome: settlement.outcome,
      reason: settlement.reason ?? '',
      because,
    });
  }

  /** Ends a call that a decision settled: refused, denied, expired, cancelled, failed before it was sent. */
  #settled(call: Open): void {
    const { state, context } = call.actor.committedHead;
    if (state !== 'settled' || this.#open.get(call.number) !== call) return;
    const { outcome } = context;
    if (outcome === null || outcome === 'succeeded' || outcome === 'tool-error') return;
    const because = call.barred ? 'barred' : 'other';
    this.#finish(call, { kind: 'ended', id: call.id, outcome, reason: context.reason ?? '', because });
  }

  #finish(call: Open, end: CallEnd, bytes = 0): void {
    this.#open.delete(call.number);
    if (end.kind === 'result' && call.wasHeld) this.#keep(call.id, end.result, bytes);
    call.finish(end);
    call.actor.stop();
  }

  #keep(id: string, result: RawResult, bytes: number): void {
    const now = this.#options.desk.now();
    this.#results.set(id, { result, bytes, until: now + RESULT_KEPT_MS });
    this.#resultBytes += bytes;
    for (const [oldest, kept] of this.#results) {
      if (kept.until > now && this.#resultBytes <= RESULTS_KEPT_BYTES) break;
      this.#results.delete(oldest);
      this.#resultBytes -= kept.bytes;
    }
  }

  #begin(id: string, input: CallInput, key: string, argsBytes: number): Open {
    let finish!: (end: CallEnd) => void;
    const end = new Promise<CallEnd>((resolve) => {
      finish = resolve;
    });
    const call: Open = {
      id,
      number: 0,
      actor: this.#actor(id),
      input,
      key,
      argsBytes,
      cancel: new Cancel(),
      end,
      finish,
      wasHeld: false,
      barred: false,
      waiting: 0,
    };
    call.number = this.#open.add(call);
    return call;
  }

  #folded(id: string): CallActor {
    return this.#actor(id, this.#options.fold(id));
  }

  #actor(id: string, head?: Head<CallContext>): CallActor {
    return new Actor({ stream: `call-${id}`, desk: this.#options.desk, rules: callRules, head, keepHead: false });
  }

  #embody(call: Open): void {
    call.actor.embody(
      bodyOf<CallFact, never>({
        machine: callMachine,
        head: call.actor.head,
        effects: {},
        issue: (report: CallReport) => void this.#report(call, report).then(() => this.#settled(call)),
        onThrow: (error) => this.#options.desk.fatal(error),
      }),
    );
  }

  async #report(call: Open, report: CallReport): Promise<void> {
    await call.actor.report(report, NO_WORLD);
  }

  /** Why no more calls of a caller can be held, or null. What waits is kept in memory, and people have to look at it. */
  #crowded(client: string, more: number): string | null {
    let [held, bytes] = [0, more];
    for (const { actor, input, argsBytes } of this.#open.values()) {
      if (input.client !== client || !waits(actor.head)) continue;
      held += 1;
      bytes += argsBytes;
    }
    if (held < MOST_HELD && bytes <= MOST_HELD_BYTES) return null;
    return `${held} calls of "${client}" wait for a person already, which is as many as can be kept. Decide about them first: watchkeeper approvals`;
  }

  /** Asked by people, and so seldom that looking at all of them is quick enough. */
  #find(id: string): Open | undefined {
    return this.#open.find((call) => call.id === id);
  }

  #waitingLike(key: string): Open | undefined {
    return this.#open.values().find((call) => call.key === key && waits(call.actor.head));
  }

  #requestOf({ target, mode, client, door }: CallInput, canonical: string): CallRequest {
    const { server, tool, name, definition } = target;
    return {
      server,
      tool,
      name,
      mode,
      client,
      door,
      argsHash: this.#options.hash(canonical),
      // The order of keys changes no length.
      argsBytes: Buffer.byteLength(canonical),
      identity: this.#options.supervisor.find(server)?.actor.head.context.identity ?? '',
      definition,
    };
  }

  #world({ client, target: { server, tool, name } }: CallInput): CallWorld {
    const seen = this.#options.sees?.(client, server) ?? true;
    const actor = this.#options.supervisor.find(server);
    const head = actor?.actor.head;
    return {
      grants: this.#options.grantsFor(server, name),
      server: head ? { state: head.state, connection: head.context.connection, identity: head.context.identity } : null,
      // What a caller cannot see it cannot call, by whatever way it came to the name.
      definition: seen ? this.#options.definitionOf(server, tool) : null,
    };
  }

  /** A server on its way is waited for a little; one that backs off or failed is not. */
  async serverReady(server: string, signal: CancelSignal): Promise<void> {
    const state = this.#options.supervisor.find(server)?.actor.head.state;
    if (state === undefined || state === 'ready' || GIVEN_UP.has(state)) return;
    const patience = state === 'idle' ? (this.#limits(server)?.callTimeoutMs ?? ON_THE_WAY_MS) : ON_THE_WAY_MS;
    await this.#options.supervisor.whenReady(server, anyOf(signal, AbortSignal.timeout(patience)));
  }

  #limits(server: string): Limits | undefined {
    return this.#options.supervisor.find(server)?.actor.head.context.limits;
  }
}

/** A person has to decide, or the caller to come back for what was approved. */
const waits = ({ state }: { readonly state: string }): boolean => state === 'held' || state === 'approved';

const GIVEN_UP: ReadonlySet<string> = new Set([
  'backing-off',
  'auth-required',
  'failed',
  'disabled',
  'stopped',
  'stopping',
]);
/** JSON-RPC errors that say the tool was never reached: parse error, invalid request, method not found. */
const NOT_REACHED: ReadonlySet<number> = new Set([-32700, -32600, -32601]);
const NO_WORLD: CallWorld = { grants: [], server: null, definition: null };

const cancelledUnsent = (): CallEnd => ({
  kind: 'ended',
  id: '',
  outcome: 'cancelled',
  reason: 'The caller left before the call was sent.',
  because: 'other',
});
