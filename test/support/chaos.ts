/** Faults by the dozen, drawn from a seed, for servers that do as they are told. */
import { setTimeout as pause } from 'node:timers/promises';
import type { CallEnd } from '../../src/actors/call/call.actor.ts';
import { isRefusal, type Refusal } from '../../src/actors/refusal.ts';
import type { PermissionMode } from '../../src/events/call.events.ts';
import { failureClass, type Limits } from '../../src/events/shapes.ts';
import { nativeSignal } from '../../src/mcp/cancel.ts';
import { CallError } from '../../src/mcp/connection.ts';
import { readCall, readCalls } from '../../src/projections/calls.projection.ts';
import { type Crew, type EntryOptions, entryOf, failureOf, toolOf } from './actors.ts';

/** In [0, 1), the same for the same seed (mulberry32). */
export function dice(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** So short that every limit is met often. */
const tiny: Partial<Limits> = {
  connectTimeoutMs: 150,
  listTimeoutMs: 150,
  callTimeoutMs: 100,
  callMaxMs: 200,
  pollIntervalMs: 50,
  stableMs: 30,
};

/** A call as it was answered, and whether that was true in the ledger at that moment. */
export interface Answered {
  readonly n: number;
  readonly answer: CallEnd | Refusal;
  readonly inLedger: boolean;
}

export class Chaos {
  readonly answers: Answered[] = [];
  readonly #made: Crew;
  readonly #seed: number;
  readonly #entries = new Map<string, EntryOptions | null>();
  #work: Promise<void> = Promise.resolve();
  #over = false;
  #kinds = 0;
  #calls: number;
  readonly #open = new Set<Promise<void>>();

  /** `firstCall` numbers the calls, so that two lives of one log share no number. */
  constructor(made: Crew, names: readonly string[], seed: number, firstCall: number) {
    this.#made = made;
    this.#seed = seed;
    this.#calls = firstCall;
    for (const [index, name] of names.entries()) {
      const more: Partial<Limits> = {
        ...(index % 5 === 1 ? { maxConcurrency: 2 } : {}),
        ...(index % 5 === 2 ? { idleStopMs: 60 } : {}),
      };
      this.#entries.set(name, {
        limits: { ...tiny, ...more },
        ...(index % 4 === 3 ? { transport: 'streamable-http' } : {}),
      });
    }
  }

  /** Faults that were really met so far: by servers, and by commits. */
  get faults(): number {
    const met = [...this.#made.servers.values()].reduce((sum, server) => sum + server.faults, 0);
    return met + this.#made.log.refused;
  }

  /** Disturbs until there was enough of it. */
  async rage(enough: () => boolean): Promise<void> {
    await this.#configure();
    const all = [
      ...[...this.#entries.keys()].map((name, index) => this.#disturb(name, dice(this.#seed + 1_000 + index))),
      ...[1, 2, 3, 4].map((index) => this.#caller(dice(this.#seed + 2_000 + index))),
      this.#approver(dice(this.#seed + 3_000)),
      this.#saboteur(dice(this.#seed + 4_000)),
    ];
    const limit = performance.now() + 120_000;
    while (!enough() && performance.now() < limit) await pause(10);
    this.#over = true;
    await Promise.all(all);
  }

  /** The end of every disturbance: each server is to run, and nothing fails any more. */
  async calm(): Promise<void> {
    this.#made.log.mend();
    for (const server of this.#made.servers.values()) {
      server.openings.length = 0;
      server.lists.length = 0;
      server.onCall = async () => ({ content: [] });
    }
    for (const name of this.#entries.keys()) this.#entries.set(name, { limits: tiny, edition: -1 });
    await this.#configure();
    await Promise.all(this.#open);
  }

  /** One change of the file after the other, as the daemon takes them. */
  #configure(): Promise<void> {
    this.#work = this.#work.then(() => {
      const wanted = [...this.#entries].flatMap(([name, options]) =>
        options === null ? [] : [entryOf(name, options)],
      );
      return this.#made.configure(...wanted);
    });
    return this.#work;
  }

  #change(name: string, change: EntryOptions | null): void {
    const before = this.#entries.get(name) ?? { limits: tiny };
    this.#entries.set(name, change === null ? null : { ...before, ...change });
    void this.#configure();
  }

  /** Every class in turn. */
  #failure(random: () => number) {
    this.#kinds += 1;
    const kind = failureClass.options[this.#kinds % failureClass.options.length] ?? 'exit';
    const asks = random() < 0.1 ? { retryAfterMs: Math.floor(random() * 40) } : {};
    return failureOf(kind, `connect: ${kind} ${Math.floor(random() * 3)}`, asks);
  }

  async #disturb(name: string, random: () => number): Promise<void> {
    const server = this.#made.server(name);
    const again = (): void => void this.#made.supervisor.reconnect(name, 200);
    let edition = 0;
    server.onCall = async ({ options }) => {
      const what = random();
      if (what < 0.1) return new Promise(() => {});
      if (what < 0.2) throw new CallError('rejected', 'call: no', { sent: true, code: -32602 });
      if (what < 0.4) await pause(random() * 40, undefined, { signal: nativeSignal(options.signal) }).catch(() => {});
      return { content: [{ type: 'text', text: 'done' }], ...(what > 0.9 ? { isError: true } : {}) };
    };
    const forget = (): void => {
      server.forgetSession();
      for (let n = 0; n < 3; n += 1) this.#ask(name, 'allow-all', random);
    };
    const deeds: (() => void)[] = [
      () => server.lose(this.#failure(random)),
      () => server.lose(this.#failure(random)),
      forget,
      forget,
      () => {
        server.openings.push(this.#failure(random));
        again();
      },
      () => {
        server.openings.push(this.#failure(random), this.#failure(random));
        server.lose(this.#failure(random));
      },
      () => {
        server.openings.push(random() < 0.3 ? 'hang' : Math.floor(random() * 50));
        again();
      },
      () => {
        server.lists.push(random() < 0.3 ? 'hang' : this.#failure(random));
        if (random() < 0.5) server.announce();
        else again();
      },
      () => {
        server.tools = [{ name: 'get' }, ...(random() < 0.5 ? [{ name: `tool-${Math.floor(random() * 5)}` }] : [])];
        if (random() < 0.5) for (let n = 0; n < 5; n += 1) server.announce();
      },
      () => {
        server.closeMs = Math.floor(random() * 15);
        edition += 1;
        this.#change(name, { edition });
      },
      () => this.#change(name, { disabled: random() < 0.5 }),
      () => this.#change(name, { lazy: random() < 0.3, disabled: false }),
      () =>
        this.#change(name, random() < 0.3 ? { problem: { field: 'url', message: 'url is wrong' } } : { edition: 0 }),
      () => {
        this.#change(name, null);
        if (random() < 0.5) this.#change(name, { edition });
      },
      again,
      again,
    ];
    while (!this.#over) {
      await pause(random() * 60);
      const entry = this.#entries.get(name);
      // What is off or broken comes back before long: there is little to disturb in it.
      if (entry === null || entry?.disabled || entry?.problem) {
        if (random() < 0.3) this.#entries.set(name, { limits: entry?.limits ?? tiny, edition });
        void this.#configure();
      } else deeds[Math.floor(random() * deeds.length)]?.();
    }
  }

  async #caller(random: () => number): Promise<void> {
    const names = [...this.#entries.keys()];
    const modes: PermissionMode[] = ['allow-all', 'allow-all', 'allow-all', 'ask', 'deny'];
    while (!this.#over) {
      const name = names[Math.floor(random() * names.length)] ?? '';
      this.#ask(name, modes[Math.floor(random() * modes.length)] ?? 'ask', random);
      await pause(random() * 25);
    }
  }

  #ask(name: string, mode: PermissionMode, random: () => number): void {
    const target = toolOf(name);
    this.#calls += 1;
    const n = this.#calls;
    const leave = new AbortController();
    if (random() < 0.1) setTimeout(() => leave.abort(), random() * 30);
    const more = { args: { n }, mode, wait: random() < 0.8, signal: leave.signal };
    const once = this.#made.call(target, more).then(async (answer) => {
      this.#answered(n, answer);
      // The same call again, as one does who was told to.
      if (isRefusal(answer) || answer.kind !== 'held' || random() < 0.5) return;
      await pause(random() * 60);
      this.#answered(n, await this.#made.call(target, more));
    });
    const open = once.finally(() => void this.#open.delete(open));
    this.#open.add(open);
  }

  #answered(n: number, answer: CallEnd | Refusal): void {
    this.answers.push({ n, answer, inLedger: isRefusal(answer) || this.#isInLedger(answer) });
  }

  #isInLedger(answer: CallEnd): boolean {
    // A call that never came out of its queue has no entry.
    if (answer.id === '') return true;
    const row = readCall(this.#made.log.real.db, answer.id);
    if (answer.kind === 'held') return row !== null;
    return row?.state === 'settled' && row.outcome === answer.outcome;
  }

  async #approver(random: () => number): Promise<void> {
    while (!this.#over) {
      await pause(random() * 20);
      for (const { id } of readCalls(this.#made.log.real.db, { state: 'held', limit: 5 })) {
        const what = random();
        if (what < 0.5) await this.#made.calls.approve(id, 'ann', 'once');
        else if (what < 0.7) await this.#made.calls.deny(id, 'ann', undefined);
        else if (what < 0.8) await this.#made.calls.cancel(id, 'ann');
      }
    }
  }

  async #saboteur(random: () => number): Promise<void> {
    while (!this.#over) {
      await pause(80 + random() * 400);
      this.#made.log.fail(1 + Math.floor(random() * 3));
    }
  }
}
