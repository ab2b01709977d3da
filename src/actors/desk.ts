/**
 * Where the facts of one tick become one transaction. One desk a process.
 *
 * command → decide(head) → facts → head moves, batch → commit (facts + rows + heads) → body hears → effect → report → command
 *
 * If the commit fails, every head in the batch goes back to its last committed value and no body hears. Commands are
 * refused from then on; reports cannot be (the world has already changed), so they are kept and decided again.
 */
import type { Recorded, Unrecorded } from '../events/envelope.ts';
import { type EventLog, type HeadRow, VersionConflict } from '../events/log.ts';

/** An actor as the desk sees it. */
export interface Clerk {
  readonly stream: string;
  /** Its batch is about to be written: the head as it stands, to be stored with it; null where the fold is not kept. */
  take(): HeadRow | null;
  /** What was taken is committed. */
  committed(): void;
  /** After the commit: the facts of this actor, in order. */
  hear(fact: Recorded): void;
  /** Back to the last committed head. */
  rewind(): void;
}

interface Batch {
  readonly facts: Unrecorded[];
  readonly owners: Clerk[];
  readonly clerks: Set<Clerk>;
  readonly done: Promise<readonly Recorded[]>;
  readonly resolve: (recorded: readonly Recorded[]) => void;
  readonly reject: (error: unknown) => void;
}

/** A report that has to be decided again, and its place among all reports. */
interface Kept {
  readonly turn: number;
  readonly decideAgain: () => void;
}

export interface DeskOptions {
  readonly log: EventLog;
  /** Wall clock, ms since the epoch. */
  readonly now: () => number;
  readonly random: () => number;
  readonly newId: () => string;
  /** The product contradicts itself: the daemon stops loudly rather than write a history that is not true. */
  readonly onFatal: (error: unknown) => void;
  /** The log stopped or started taking facts. */
  readonly onDegraded?: (error: unknown | null) => void;
  /** Pause before kept reports are decided again, in ms. */
  readonly retryMs?: number;
}

export class LogUnavailable extends Error {
  override readonly name = 'LogUnavailable';
  constructor(cause: unknown) {
    super('The event log cannot be written; nothing is done until it can.', { cause });
  }
}

export class Desk {
  readonly #options: DeskOptions;
  #batch: Batch | null = null;
  #writing: Promise<unknown> | null = null;
  #last = 0;
  #trouble: unknown | null = null;
  #kept: Kept[] = [];
  #turns = 0;
  #retry: NodeJS.Timeout | null = null;
  #probing = false;
  #closed = false;

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  /** Milliseconds since the epoch; never goes back, so that time and position agree. */
  now(): number {
    this.#last = Math.max(this.#last, this.#options.now());
    return this.#last;
  }

  /** The newest time in the log when the daemon starts. */
  startClockAt(time: number): void {
    this.#last = Math.max(this.#last, time);
  }

  stamp(): { at: number; id: string; random: number } {
    return { at: this.now(), id: this.#options.newId(), random: this.#options.random() };
  }

  /** Why facts cannot be written at the moment; null when they can. */
  get trouble(): unknown | null {
    return this.#trouble;
  }

  /** Puts decided facts into the batch of this tick. Resolves after their commit, when the actor has heard them. */
  put(clerk: Clerk, facts: readonly Unrecorded[]): Promise<readonly Recorded[]> {
    this.#batch ??= this.#open();
    const batch = this.#batch;
    const from = batch.facts.length;
    for (const fact of facts) {
      batch.facts.push(fact);
      batch.owners.push(clerk);
    }
    batch.clerks.add(clerk);
    return batch.done.then((recorded) => recorded.slice(from, from + facts.length));
  }

  /** Resolves when everything decided so far is committed: an answer must not stand on less. */
  settled(): Promise<unknown> {
    return this.#batch?.done ?? this.#writing ?? Promise.resolve();
  }

  /** The place of a report among all reports; it keeps it however often it is decided. */
  nextTurn(): number {
    this.#turns += 1;
    return this.#turns;
  }

  /** A report to be decided again once the log takes facts. */
  keep(turn: number, decideAgain: () => void): void {
    this.#kept.push({ turn, decideAgain });
    this.#scheduleRetry();
  }

  fatal(error: unknown): void {
    this.#options.onFatal(error);
  }

  /** Waits for what is under way and takes nothing more: commands are refused from then on, and reports come to nothing. */
  async close(): Promise<void> {
    while (this.#batch || this.#writing) await this.settled().catch(() => {});
    this.#closed = true;
    this.#trouble ??= new LogUnavailable(new Error('The log has been closed.'));
    if (this.#retry) clearTimeout(this.#retry);
  }

  #open(): Batch {
    let resolve!: Batch['resolve'];
    let reject!: Batch['reject'];
    const done = new Promise<readonly Recorded[]>((ok, no) => {
      resolve = ok;
      reject = no;
    });
    done.catch(() => {});
    setImmediate(() => void this.#flush());
    return { facts: [], owners: [], clerks: new Set(), done, resolve, reject };
  }

  async #flush(): Promise<void> {
    // One write at a time: the facts of the next batch stand on this one.
    if (this.#writing || !this.#batch || this.#closed) return;
    const batch = this.#batch;
    this.#batch = null;
    this.#writing = batch.done;
    try {
      const heads = [...batch.clerks].map((clerk) => clerk.take()).filter((row) => row !== null);
      const recorded = await this.#options.log.append(batch.facts, heads);
      for (const clerk of batch.clerks) clerk.committed();
      this.#recovered();
      this.#hear(batch, recorded);
      batch.resolve(recorded);
    } catch (error) {
      this.#failed(batch, error);
    }
    this.#writing = null;
    // What was reported while the log was tried waits behind what it was tried with; it need not wait for the next try.
    if (this.#trouble === null) this.#decideKept();
    if (this.#batch) setImmediate(() => void this.#flush());
  }

  #hear(batch: Batch, recorded: readonly Recorded[]): void {
    try {
      recorded.forEach((fact, index) => {
        batch.owners[index]?.hear(fact);
      });
    } catch (error) {
      this.fatal(error);
    }
  }

  #failed(batch: Batch, error: unknown): void {
    const trouble = new LogUnavailable(error);
    // Another actor of the same stream: no waiting helps.
    if (error instanceof VersionConflict) this.fatal(error);
    // Whatever was decided meanwhile stands on heads that are no longer true.
    const later = this.#batch;
    this.#batch = null;
    if (this.#trouble === null) this.#options.onDegraded?.(error);
    this.#trouble = trouble;
    for (const lost of later ? [batch, later] : [batch]) {
      for (const clerk of lost.clerks) clerk.rewind();
    }
    batch.reject(trouble);
    later?.reject(trouble);
    this.#scheduleRetry();
  }

  #recovered(): void {
    if (this.#trouble === null) return;
    this.#trouble = null;
    this.#options.onDegraded?.(null);
  }

  #scheduleRetry(): void {
    if (this.#retry || this.#closed) return;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      // Reports are decided while the log may still be in trouble: their batch is the probe.
      this.#decideKept();
      if (!this.#batch && this.#trouble !== null) this.#probe();
    }, this.#options.retryMs ?? 250);
  }

  #decideKept(): void {
    const kept = this.#kept.sort((a, b) => a.turn - b.turn);
    this.#kept = [];
    this.#probing = true;
    for (const { decideAgain } of kept) decideAgain();
    this.#probing = false;
  }

  /** Whether a report may be decided now: not while the log is in trouble, and not before those that wait. */
  get takesReports(): boolean {
    return this.#probing || (this.#trouble === null && this.#kept.length === 0);
  }

  /** Nothing waits to be written: ask the log itself whether it takes writes again. */
  #probe(): void {
    try {
      this.#options.log.touch(this.now());
      this.#recovered();
    } catch {
      this.#scheduleRetry();
    }
  }
}
