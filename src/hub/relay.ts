/** Requests that go on to a server as they are, and come back with its answer. */
import type { CallDesk } from '../actors/call/call.actor.ts';
import type { Supervisor } from '../actors/supervisor.ts';
import type { CancelSignal } from '../mcp/cancel.ts';
import {
  CallError,
  type CallOptions,
  type Connection,
  type RelayError,
  type RequestOptions,
} from '../mcp/connection.ts';
import { isObject } from '../mcp/message.ts';
import type { Asked } from './asked.ts';
import { Flight } from './flight.ts';
import type { ParkingLot } from './parked.ts';
import { keys } from './revisions.ts';
import { codes, type Members, metaOf, RpcFailure } from './rpc.ts';
import { isTask, withoutTasks } from './tasks.ts';
import type { Upstreams } from './upstreams.ts';

/** A server that asks for input more often than this in one request goes round in a circle. */
const MOST_ROUNDS = 16;

export interface RelayOptions {
  readonly supervisor: Supervisor;
  readonly calls: Pick<CallDesk, 'serverReady'>;
  readonly upstreams: Upstreams;
  readonly parking: ParkingLot;
}

export class Relay {
  readonly #options: RelayOptions;

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  /** Sends one request to a server and hands back what it says, asking the client for input where the server wants some. */
  run(asked: Asked, server: string, params: Members): Promise<Members> {
    const flight = this.resumed(asked);
    if (flight !== null) return this.turn(asked, flight);
    const begun = new Flight(server);
    const answer = this.turn(asked, begun);
    begun.begin(() => this.during(begun, () => this.#ask(asked, begun, params)));
    return answer;
  }

  /** Waits for what comes next: the result, or `input_required` for a modern client. */
  async turn(asked: Asked, flight: Flight): Promise<Members> {
    const turn = await flight.next(asked.peer);
    if (turn.kind === 'result') return turn.result;
    const requestState = this.#options.parking.park(flight, ownerOf(asked));
    return { resultType: 'input_required', inputRequests: turn.requests, requestState };
  }

  /** The request this one goes on with; null when it is a new one. */
  resumed(asked: Asked): Flight | null {
    const { parking } = this.#options;
    if (asked.params.requestState === undefined) return null;
    const flight = parking.take(asked.params.requestState, ownerOf(asked));
    if (flight === null) return null;
    try {
      flight.bring(asked.params.inputResponses ?? {});
    } catch (error) {
      flight.cancel(error);
      throw error;
    }
    return flight;
  }

  /** Keeps a request among those of its server while it runs. */
  async during<T>(flight: Flight, work: () => Promise<T>): Promise<T> {
    const { flights } = this.#options.upstreams.of(flight.server);
    const done = this.#options.supervisor.find(flight.server)?.use();
    const number = flights.add(flight);
    try {
      return await work();
    } finally {
      flights.delete(number);
      done?.();
    }
  }

  /** The connection to a server, waiting a little for one on its way. Throws with the reason when there is none. */
  async connectionTo(server: string, signal: CancelSignal): Promise<Connection> {
    const { calls, supervisor, upstreams } = this.#options;
    await calls.serverReady(server, signal);
    const { connection } = upstreams.of(server);
    if (connection !== null) return connection;
    const head = supervisor.find(server)?.actor.committedHead;
    const why = head?.context.error ? `: ${head.context.error.message}` : '';
    throw new RpcFailure(
      codes.internal,
      `Server "${server}" is not connected (${head?.state ?? 'not known'})${why}. See: watchkeeper status ${server}`,
    );
  }

  /** What a server declared when it connected last; null when it never did. */
  declaredBy(server: string): Members | null {
    return this.#options.upstreams.of(server).capabilities;
  }

  limitsOf(server: string): { readonly idleMs: number; readonly maxMs: number } {
    const limits = this.#options.supervisor.find(server)?.actor.head.context.limits;
    return { idleMs: limits?.callTimeoutMs ?? 60_000, maxMs: limits?.callMaxMs ?? 600_000 };
  }

  /**
   * A tool call on a connection, round after round for as long as the server wants input. Rejects with a CallError; what
   * the server said in the protocol's own terms is kept in `flight.rejection`.
   */
  async sendCall(
    asked: Asked,
    flight: Flight,
    { connection, tool, args }: { readonly connection: Connection; readonly tool: string; readonly args: Members },
    options: CallOptions,
  ): Promise<Members> {
    const began = performance.now();
    let more = ownRounds(asked.params);
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const maxMs = Math.max(1, options.maxMs - (performance.now() - began));
      const { meta, capabilities, onSent } = this.#saying(asked, flight);
      const { client, signal, idleMs, onProgress } = options;
      const raw = await connection
        .callTool(tool, args, { client, signal, idleMs, maxMs, onProgress, meta, capabilities, onSent, more })
        .catch((error: unknown) => {
          if (error instanceof CallError && error.kind === 'rejected' && error.detail.code !== undefined)
            flight.rejection = relayed(asked, { ...error.detail, code: error.detail.code, message: error.message });
          throw error;
        });
      if (isTask(raw))
        throw new CallError('lost', 'the server made a task of the call, and tasks are not carried', { sent: true });
      if (raw.resultType !== 'input_required') return raw;
      more = await this.#nextRound(flight, raw).catch((error: unknown) => {
        if (flight.signal.aborted) throw new CallError('cancelled', String(flight.signal.reason), { sent: true });
        if (error instanceof RpcFailure) flight.rejection = error;
        const message = error instanceof Error ? error.message : String(error);
        throw new CallError('rejected', message, { sent: true, code: codes.internal });
      });
    }
    throw new CallError('rejected', 'The server asked for input again and again.', {
      sent: true,
      code: codes.internal,
    });
  }

  async #ask(asked: Asked, flight: Flight, params: Members): Promise<Members> {
    let more = ownRounds(asked.params);
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const result = await this.#once(asked, flight, { ...params, ...more });
      if (result.resultType !== 'input_required') return result;
      more = await this.#nextRound(flight, result);
    }
    throw new RpcFailure(codes.internal, 'The server asked for input again and again.');
  }

  /** Reading again does no harm: what surely did not arrive is sent once more on a new connection. */
  async #once(asked: Asked, flight: Flight, params: Members): Promise<Members> {
    const { server, signal } = flight;
    const options: RequestOptions = { signal, ...this.limitsOf(server), ...this.#saying(asked, flight) };
    const withProgress = { ...options, onProgress: flight.progress.bind(flight) };
    for (let again = false; ; again = true) {
      const connection = await this.connectionTo(server, signal);
      try {
        const answer = await connection.request(asked.method, params, withProgress);
        if (answer.kind === 'error') throw relayed(asked, answer.error);
        return answer.result;
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        const missed = error.kind === 'not-sent' || error.kind === 'session-refused';
        if (!missed || again || signal.aborted)
          throw new RpcFailure(codes.internal, `Server "${server}": ${error.message}`);
      }
    }
  }

  async #nextRound(flight: Flight, result: Members): Promise<Members> {
    const wanted = isObject(result.inputRequests) ? result.inputRequests : {};
    const inputResponses = await flight.input(wanted);
    const { requestState } = result;
    return {
      ...(Object.keys(wanted).length > 0 ? { inputResponses } : {}),
      ...(requestState === undefined ? {} : { requestState }),
    };
  }

  #saying(asked: Asked, flight: Flight): Pick<RequestOptions, 'meta' | 'capabilities' | 'onSent'> {
    const level = asked.session?.logLevel ?? null;
    const meta = metaOf(asked.params);
    return {
      capabilities: withoutTasks(asked.peer.capabilities),
      onSent: (id) => void flight.sent.push(id),
      meta: level === null ? meta : { ...meta, [keys.logLevel]: level },
    };
  }
}

/** What a modern client brings for a round of which the hub knows nothing: the server's business. */
function ownRounds({ inputResponses, requestState }: Members): Members | undefined {
  if (inputResponses === undefined && requestState === undefined) return undefined;
  return {
    ...(inputResponses === undefined ? {} : { inputResponses }),
    ...(requestState === undefined ? {} : { requestState }),
  };
}

/** Nobody else can go on with a request: same token, endpoint, method and name. */
const ownerOf = ({ client, server, method, params }: Asked): string =>
  JSON.stringify([client, server ?? null, method, params.name ?? params.uri ?? null]);

/** Codes that speak of one hop: between the hub and the server they say nothing about the client. */
const OF_ONE_HOP: ReadonlySet<number> = new Set([codes.headerMismatch, codes.unsupportedVersion]);
const LEGACY_NOT_FOUND = -32002;

/** An error of a server as the client may take it. */
export function relayed({ peer, method, params }: Asked, { code, message, data }: RelayError): RpcFailure {
  if (OF_ONE_HOP.has(code) || (code === codes.missingCapability && peer.era === 'legacy'))
    return new RpcFailure(codes.internal, message);
  if (
    method === 'resources/read' &&
    peer.era === 'modern' &&
    (code === LEGACY_NOT_FOUND || code === codes.invalidParams)
  )
    return new RpcFailure(codes.invalidParams, message, { ...(isObject(data) ? data : {}), uri: params.uri });
  return new RpcFailure(code, message, data);
}
