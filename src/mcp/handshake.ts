/** From an unused channel to an agreed protocol version, in either era. */
import type { Client, PriorDiscovery } from '@modelcontextprotocol/client';
import type { Era, Phase, Transport } from '../events/shapes.ts';
import type { Agreement, OpenOptions } from './connection.ts';
import { meansOldTransport, type Observation, rpcErrorIn } from './failure.ts';
import { isObject, type RpcError } from './message.ts';
import { loadSdk } from './sdk.ts';
import { type Answer, type Asked, asFault, type Wire } from './wire.ts';

/** What we say of ourselves. */
export type Self = Pick<OpenOptions, 'version' | 'capabilities'>;

/** How the era is found: not asked for (legacy is known or supposed), or asked, where silence for `probeMs` means legacy. */
export type Plan = { readonly ask: false } | { readonly ask: true; readonly probeMs: number };

const MODERN = '2026-07-28';
/** Keys of `_meta` that tell a modern server who asks (specification 2026-07-28). */
const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';
const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo';
const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const UNSUPPORTED_VERSION = -32022;
/** The longest timer there is; the attempt's own signal is the limit. */
const NO_LIMIT_MS = 2 ** 31 - 1;
/** A silent legacy server costs this once, the first time it is met; one that answers costs a round trip. */
export const PROBE_MS = 2_000;
/** Over HTTP, for launchers that fetch the server first, and for servers known to be modern: silence proves less. */
export const PATIENT_PROBE_MS = 10_000;
/** How long after initialize was refused an answer to the probe may still come. */
const LATE_ANSWER_MS = 1_000;

/** Why a handshake came to nothing, with what is needed to decide whether another plan may do better. */
export class HandshakeError extends Error {
  override readonly name = 'HandshakeError';
  constructor(
    readonly phase: Phase,
    readonly observation: Observation,
    /** What the handshake had come to. */
    readonly at: 'start' | 'discover' | 'initialize',
  ) {
    super(observation.seen);
  }

  with(observation: Observation, phase: Phase = this.phase): HandshakeError {
    return new HandshakeError(phase, observation, this.at);
  }
}

/** Starts the wire and agrees on a version. Rejects with a `HandshakeError`; the wire is still to be closed then. */
export async function shakeHands(wire: Wire, plan: Plan, self: Self, signal: AbortSignal): Promise<Client> {
  if (signal.aborted) throw new HandshakeError('connect', { seen: 'time-limit' }, 'start');
  const stop = () => void wire.close().catch(() => {});
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await new Handshake(wire, self).run(plan);
  } catch (error) {
    // The channel's own end and the limit explain whatever followed from them.
    if (error instanceof HandshakeError && signal.aborted) {
      throw new HandshakeError(error.at === 'start' ? 'connect' : 'initialize', { seen: 'time-limit' }, error.at);
    }
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

class Handshake {
  readonly #wire: Wire;
  readonly #self: Self;
  #at: HandshakeError['at'] = 'start';

  constructor(wire: Wire, self: Self) {
    this.#wire = wire;
    this.#self = self;
  }

  async run(plan: Plan): Promise<Client> {
    await this.#wire.start().catch((error: unknown) => {
      const { observation } = asFault(error);
      throw this.#failed(phaseOf(observation), observation);
    });
    if (!plan.ask) return this.#initialize();
    this.#at = 'discover';
    const asked = this.#wire.ask('server/discover', { _meta: this.#envelope() });
    // Loaded while the server thinks; if that fails, it is said where it is needed.
    void loadSdk().catch(() => {});
    const answer = await within(plan.probeMs, asked.answer);
    if (answer !== null) {
      const found = this.#read(answer);
      return found === null ? this.#initialize() : this.#adopt(found);
    }
    return this.#initializeUnlessAnswered(asked);
  }

  /** The server said nothing in time: it is taken for legacy, unless it refuses that and answers after all. */
  async #initializeUnlessAnswered(asked: Asked): Promise<Client> {
    try {
      return await this.#initialize();
    } catch (error) {
      if (!(error instanceof HandshakeError) || !refusesInitialize(error.observation)) throw error;
      const late = await within(LATE_ANSWER_MS, asked.answer);
      const found = late === null || late.kind === 'fault' ? null : this.#read(late);
      if (found === null) throw error;
      return this.#adopt(found);
    } finally {
      asked.abandon();
    }
  }

  async #initialize(): Promise<Client> {
    this.#at = 'initialize';
    return this.#connect({ kind: 'legacy' });
  }

  async #adopt(discover: Record<string, unknown>): Promise<Client> {
    const client = await this.#connect({ kind: 'modern', discover: discover as never });
    this.#wire.envelope = this.#envelope();
    return client;
  }

  async #connect(prior: PriorDiscovery): Promise<Client> {
    const { Client, ProtocolError } = await loadSdk();
    const side = this.#wire.side();
    const client = new Client(
      { name: 'watchkeeper', version: this.#self.version },
      {
        capabilities: { ...this.#self.capabilities },
        // Nothing is validated: results are passed on as they come.
        jsonSchemaValidator: {
          getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
        },
      },
    );
    client.onerror = () => {};
    try {
      await client.connect(side, { timeout: NO_LIMIT_MS, prior });
    } catch (error) {
      if (this.#wire.ended !== null) throw this.#failed('initialize', this.#wire.ended);
      if (side.fault !== null) throw this.#failed(phaseOf(side.fault.observation), side.fault.observation);
      if (error instanceof ProtocolError)
        throw this.#failed('initialize', { seen: 'rpc-error', code: error.code, message: error.message });
      throw this.#failed('initialize', {
        seen: 'handshake',
        detail: error instanceof Error ? error.message : 'the handshake failed',
      });
    }
    if (this.#wire.ended !== null) throw this.#failed('initialize', this.#wire.ended);
    return client;
  }

  /** What a modern server told of itself, or null for a legacy one. Throws where neither can be said. */
  #read(answer: Answer): Record<string, unknown> | null {
    if (answer.kind === 'result') return isModern(answer.result) ? answer.result : null;
    if (answer.kind === 'error') return this.#readError(answer.error);
    const { observation } = answer;
    if (this.#wire.ended !== null) throw this.#failed('initialize', this.#wire.ended);
    if (observation.seen === 'stream-ended') return null;
    if (observation.seen === 'status') {
      const { status, text } = observation;
      const error = meansOldTransport(status) ? rpcErrorIn(text) : null;
      if (error !== null) return this.#readError(error);
      // Some servers break at a request they do not know; whether it was that, initialize will tell.
      if (meansOldTransport(status) || status === 500 || status === 501) return null;
    }
    throw this.#failed(phaseOf(observation), observation);
  }

  /** Any error but this one means a server that does not know the request. */
  #readError({ code, data }: RpcError): null {
    const supported =
      isObject(data) && Array.isArray(data.supported) ? data.supported.filter((item) => typeof item === 'string') : [];
    if (code !== UNSUPPORTED_VERSION || supported.length === 0 || supported.some((item) => item < MODERN)) return null;
    const detail = `the server speaks only protocol versions that are not known here: ${supported.join(', ')}`;
    throw this.#failed('initialize', { seen: 'handshake', detail });
  }

  #envelope(): Readonly<Record<string, unknown>> {
    return {
      [PROTOCOL_VERSION]: MODERN,
      [CLIENT_INFO]: { name: 'watchkeeper', version: this.#self.version },
      [CLIENT_CAPABILITIES]: this.#self.capabilities ?? {},
    };
  }

  #failed(phase: Phase, observation: Observation): HandshakeError {
    return new HandshakeError(phase, observation, this.#at);
  }
}

/** What was agreed. */
export function agreementOf(
  client: Client,
  transport: Transport,
  eraFrom: Agreement['eraFrom'],
  session: boolean,
): Agreement {
  const era: Era = client.getProtocolEra() ?? 'legacy';
  return {
    transport,
    era,
    eraFrom,
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    serverInfo: client.getServerVersion() ?? null,
    capabilities: { ...client.getServerCapabilities() },
    instructions: client.getInstructions() ?? null,
    session,
  };
}

/**
 * The plan to try next in the same attempt, on a new channel; null when the failure stands. `tried`: plans so far.
 * - a process that ended at the probe may be a server that cannot stand unknown requests: it is started again and not asked;
 * - a server supposed to be legacy that refuses initialize may have been replaced by a modern one: it is asked.
 */
export function nextPlan(plan: Plan, error: HandshakeError, tried: readonly Plan[]): Plan | null {
  if (tried.some(({ ask }) => ask !== plan.ask)) return null;
  const { observation, at } = error;
  if (plan.ask) {
    const left = observation.seen === 'exit' || observation.seen === 'pipe-closed';
    return at === 'discover' && left ? { ask: false } : null;
  }
  return at === 'initialize' && refusesInitialize(observation) ? { ask: true, probeMs: PATIENT_PROBE_MS } : null;
}

function refusesInitialize(observation: Observation): boolean {
  if (observation.seen === 'rpc-error' || observation.seen === 'handshake') return true;
  return observation.seen === 'status' && meansOldTransport(observation.status);
}

const isModern = (result: unknown): result is Record<string, unknown> =>
  isObject(result) && Array.isArray(result.supportedVersions) && result.supportedVersions.includes(MODERN);

function phaseOf({ seen }: Observation): Phase {
  if (seen === 'spawn-error' || seen === 'daemon') return 'spawn';
  return seen === 'network' || seen === 'status' || seen === 'stream-ended' ? 'connect' : 'initialize';
}

/** Null when it takes longer. */
function within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), ms);
    void promise.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}
