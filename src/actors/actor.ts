/**
 * One actor: a head (plain data, the fold of every fact decided so far) and, for some, a body (a running XState actor that
 * hears facts after their commit and owns effects and timers). The only caller of append is the desk behind it.
 */
import type { Fact } from '../events/catalogue.ts';
import { catalogue } from '../events/catalogue.ts';
import type { Recorded, Unrecorded } from '../events/envelope.ts';
import type { HeadRow } from '../events/log.ts';
import type { Clerk, Desk } from './desk.ts';
import { type Head, type Heard, type Rules, step } from './head.ts';
import { isRefusal, type Refusal, refuse } from './refusal.ts';

/** The half that owns effects. `hear` returns the state it is in afterwards. */
export interface Body<F extends Fact> {
  hear(fact: Heard<F>, position: number): string;
  stop(): void;
}

export interface ActorOptions<Context, F extends Fact, Command, World> {
  readonly stream: string;
  readonly desk: Desk;
  readonly rules: Rules<Context, F, Command, World>;
  readonly head?: Head<Context> | undefined;
  /** Whether the fold is stored in `heads`. Streams that end soon are not. */
  readonly keepHead: boolean;
}

/** The facts a command led to, in order; none when it was already so. */
export type Told<F extends Fact> = readonly Recorded<F>[];

export class Actor<Context, F extends Fact, Command, World = undefined> implements Clerk {
  readonly stream: string;
  readonly #desk: Desk;
  readonly #rules: Rules<Context, F, Command, World>;
  readonly #keepHead: boolean;
  #head: Head<Context>;
  #committed: Head<Context>;
  #taken: Head<Context>;
  #body: Body<F> | null = null;
  #heardAt: number | null = null;
  /** None, for nearly all calls. */
  #listeners: Set<(head: Head<Context>) => void> | null = null;

  constructor({ stream, desk, rules, head, keepHead }: ActorOptions<Context, F, Command, World>) {
    this.stream = stream;
    this.#desk = desk;
    this.#rules = rules;
    this.#keepHead = keepHead;
    const { state, context } = rules.initial;
    this.#head = head ?? { state, context, version: 0 };
    this.#committed = this.#head;
    this.#taken = this.#head;
  }

  /** What `decide` sees: everything decided, committed or not. */
  get head(): Head<Context> {
    return this.#head;
  }

  /** What may be shown. */
  get committedHead(): Head<Context> {
    return this.#committed;
  }

  /** A body is born at rest: in a state that owns nothing. */
  embody(body: Body<F>): void {
    this.#body = body;
  }

  /** Asks for something. Answers after the commit of what the answer stands on; refused while the log is unavailable. */
  async tell(command: Command, world: World, cause?: string): Promise<Told<F> | Refusal> {
    if (this.#desk.trouble !== null) return logUnavailable();
    try {
      return await this.#act(command, world, cause);
    } catch (error) {
      if (this.#desk.trouble !== null) return logUnavailable();
      throw error;
    }
  }

  /**
   * Says what happened in the world. Cannot be refused: while the log is unavailable it is kept and decided again.
   * Resolves with the facts once they are committed. Their cause is the fact heard last, unless another is given.
   */
  report(command: Command, world: World, cause?: string): Promise<Told<F>> {
    return new Promise((resolve) => {
      const turn = this.#desk.nextTurn();
      const decideNow = (): void => {
        if (!this.#desk.takesReports) {
          this.#desk.keep(turn, decideNow);
          return;
        }
        this.#act(command, world, cause ?? (this.#heardAt === null ? undefined : String(this.#heardAt))).then(
          (told) => resolve(isRefusal(told) ? [] : told),
          (error) => {
            if (this.#desk.trouble !== null) this.#desk.keep(turn, decideNow);
            else this.#desk.fatal(error);
          },
        );
      };
      decideNow();
    });
  }

  /** Resolves with the first committed head that `is` accepts; rejects when `signal` ends. */
  until(is: (head: Head<Context>) => boolean, signal: AbortSignal): Promise<Head<Context>> {
    if (is(this.#committed)) return Promise.resolve(this.#committed);
    return new Promise((resolve, reject) => {
      const onHead = (head: Head<Context>): void => {
        if (!is(head)) return;
        done();
        resolve(head);
      };
      const onAbort = (): void => {
        done();
        reject(signal.reason);
      };
      const done = (): void => {
        this.#listeners?.delete(onHead);
        signal.removeEventListener('abort', onAbort);
      };
      if (signal.aborted) return reject(signal.reason);
      this.#listeners ??= new Set();
      this.#listeners.add(onHead);
      signal.addEventListener('abort', onAbort);
    });
  }

  stop(): void {
    this.#body?.stop();
    this.#body = null;
  }

  #act(command: Command, world: World, cause?: string): Promise<Told<F> | Refusal> {
    const stamp = this.#desk.stamp();
    let decided: readonly F[] | Refusal;
    try {
      decided = this.#rules.decide(this.#head, command, stamp, world);
    } catch (error) {
      return Promise.reject(error);
    }
    if (isRefusal(decided)) {
      const refusal = decided;
      return this.#desk.settled().then(() => refusal);
    }
    if (decided.length === 0) return this.#desk.settled().then(() => []);

    const facts: Unrecorded[] = [];
    let head = this.#head;
    try {
      for (const fact of decided) {
        head = step(this.#rules, head, { type: fact.type, data: fact.data, at: stamp.at } as unknown as Heard<F>);
        facts.push({
          stream: this.stream,
          version: head.version,
          type: fact.type,
          schema: catalogue[fact.type].schema,
          at: stamp.at,
          cause: cause ?? stamp.id,
          // Streams without states of their own say nothing of one.
          data: (head.state === '' ? fact.data : leadingTo(fact.data, head.state)) as Recorded['data'],
        });
      }
    } catch (error) {
      return Promise.reject(error);
    }
    this.#head = head;
    return this.#desk.put(this, facts) as Promise<Told<F>>;
  }

  hear(fact: Recorded): void {
    this.#heardAt = fact.position;
    if (this.#body) {
      const { to } = fact.data;
      const state = this.#body.hear(fact as unknown as Heard<F>, fact.position);
      if (state !== to) {
        throw new Error(
          `${this.stream}: after ${fact.type} (position ${fact.position}) the log says "${to}", the machine "${state}".`,
        );
      }
    }
    if (this.#listeners !== null) for (const listener of [...this.#listeners]) listener(this.#committed);
  }

  take(): HeadRow | null {
    // Facts decided after this belong to the next batch; the head they lead to is not committed with this one.
    this.#taken = this.#head;
    if (!this.#keepHead) return null;
    const { version, state, context } = this.#head;
    return { stream: this.stream, version, state, context };
  }

  committed(): void {
    this.#committed = this.#taken;
  }

  rewind(): void {
    this.#head = this.#committed;
  }
}

/** Set afterwards and not in the literal: data is of many shapes, and V8 finds its way in a literal much later (ADR 27). */
function leadingTo(data: object, state: string): object {
  const told: Record<string, unknown> = { ...data };
  told.to = state;
  return told;
}

const logUnavailable = (): Refusal =>
  refuse(
    'log-unavailable',
    'The event log cannot be written, so nothing is done. Free disk space or mend the data directory; watchkeeper status shows when it works again.',
  );
