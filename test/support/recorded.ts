/** A past written by hand: recorded facts in memory, and a reader of them that answers as the log does. */
import { type Head, type Heard, step } from '../../src/actors/head.ts';
import { serverRules } from '../../src/actors/server/server.rules.ts';
import type { ServerContext } from '../../src/actors/server/server.state.ts';
import type { DaemonFact } from '../../src/events/daemon.events.ts';
import type { Recorded } from '../../src/events/envelope.ts';
import type { EventLog } from '../../src/events/log.ts';
import type { ServerFact } from '../../src/events/server.events.ts';
import type { LedgerCall } from '../../src/replay/summary.ts';
import { blankHead } from './server.facts.ts';

/** Numbers from 0 to 1 that are the same for a seed (mulberry32). */
export function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export class Chronicle {
  readonly facts: Recorded[] = [];
  readonly calls: LedgerCall[] = [];
  #head: Head<ServerContext> = blankHead;
  #daemon = 0;

  constructor(readonly server = 'a') {}

  /** Facts of the server at a time (ms since the epoch), which must not be before the last one. Returns the last position. */
  tell(at: number, ...facts: readonly ServerFact[]): number {
    for (const fact of facts) {
      this.#head = step(serverRules, this.#head, { ...fact, at } as Heard<ServerFact>);
      this.#put(`server-${this.server}`, this.#head.version, at, fact, this.#head.state);
    }
    return this.facts.at(-1)?.position ?? 0;
  }

  daemonStarted(at: number, lastAlive: number | null, version = '1.0.0'): number {
    this.#daemon += 1;
    const fact: DaemonFact = { type: 'DaemonStarted', data: { run: 'r', version, pid: 1, lastAlive } };
    this.#put('daemon', this.#daemon, at, fact);
    return this.facts.at(-1)?.position ?? 0;
  }

  /** A call of a tool, sent at a time; `endedAt` null: it still runs. Calls are told in the order of their start. */
  call(at: number, endedAt: number | null, tool = 'get', answered = endedAt !== null): number {
    const position = this.#next();
    this.calls.push({ position, at, endedAt, tool, answered });
    return position;
  }

  get log(): Pick<EventLog, 'read' | 'positionAt'> {
    return {
      read: ({ after = 0, upTo = Number.POSITIVE_INFINITY, stream, type, limit, newestFirst = false }) => {
        const fitting = this.facts.filter(
          (fact) =>
            fact.position > after &&
            fact.position <= upTo &&
            (stream === undefined || fact.stream === stream) &&
            (type === undefined || fact.type === type),
        );
        return (newestFirst ? fitting.reverse() : fitting).slice(0, limit);
      },
      positionAt: (time) =>
        Math.max(0, ...[...this.facts, ...this.calls].filter(({ at }) => at <= time).map(({ position }) => position)),
    };
  }

  get sources() {
    return {
      log: this.log,
      facts: (query: { stream: string; types: readonly string[]; after: number; upTo: number }) =>
        this.facts.filter(
          ({ stream, type, version }) =>
            stream === query.stream && query.types.includes(type) && version > query.after && version <= query.upTo,
        ),
      calls: ({ after, upTo }: { after: number; upTo: number }) =>
        this.calls.filter(({ position }) => position > after && position <= upTo),
    };
  }

  #next(): number {
    return Math.max(this.facts.at(-1)?.position ?? 0, this.calls.at(-1)?.position ?? 0) + 1;
  }

  #put(stream: string, version: number, at: number, fact: ServerFact | DaemonFact, to?: string): void {
    const data = (to === undefined ? fact.data : { ...fact.data, to }) as Recorded['data'];
    this.facts.push({ position: this.#next(), stream, version, type: fact.type, schema: 1, at, cause: null, data });
  }
}
