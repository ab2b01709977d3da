/** All sessions of the legacy era; those that nobody uses any more are forgotten. */
import { randomBytes } from 'node:crypto';
import { Session, type SessionOptions } from './session.ts';

export interface SessionLimits {
  /** A session without a request or a listener for this long is forgotten, in ms. */
  readonly idleMs: number;
  /** With more than this, the one that was unused longest goes. */
  readonly most: number;
}

/** A session that was used within this time is not given up for another, in ms. */
const FRESH_MS = 10_000;

export class Sessions {
  readonly #limits: SessionLimits;
  readonly #all = new Map<string, Session>();
  readonly #sweeper: NodeJS.Timeout;
  readonly #now: () => number;
  readonly #onEnd: (session: Session) => void;

  constructor(limits: SessionLimits, now: () => number, onEnd: (session: Session) => void) {
    this.#limits = limits;
    this.#now = now;
    this.#onEnd = onEnd;
    const everyMs = Math.min(60_000, Math.max(100, limits.idleMs / 4));
    this.#sweeper = setInterval(() => this.sweep(), everyMs).unref();
  }

  get size(): number {
    return this.#all.size;
  }

  [Symbol.iterator](): IterableIterator<Session> {
    return this.#all.values();
  }

  open(options: Omit<SessionOptions, 'id' | 'now'>): Session {
    if (this.#all.size >= this.#limits.most) this.#makeRoom();
    const session = new Session({ ...options, id: randomBytes(16).toString('hex'), now: this.#now });
    this.#all.set(session.id, session);
    return session;
  }

  /** The session with this id, if it belongs to this client and endpoint. */
  find(id: string, client: string, server: string | undefined): Session | undefined {
    const session = this.#all.get(id);
    return session?.client === client && session.server === server ? session : undefined;
  }

  end(session: Session, reason: Error): void {
    if (!this.#all.delete(session.id)) return;
    session.end(reason);
    this.#onEnd(session);
  }

  sweep(): void {
    const before = this.#now() - this.#limits.idleMs;
    for (const session of this.#all.values())
      if (session.lastUsed < before) this.end(session, new Error('The session was not used for a long time.'));
  }

  close(): void {
    clearInterval(this.#sweeper);
    for (const session of [...this.#all.values()]) this.end(session, new Error('The daemon stops.'));
  }

  #makeRoom(): void {
    let oldest: Session | null = null;
    for (const session of this.#all.values())
      if (oldest === null || session.lastUsed < oldest.lastUsed) oldest = session;
    if (oldest !== null && oldest.lastUsed < this.#now() - FRESH_MS)
      this.end(oldest, new Error('Too many sessions are open.'));
  }
}
