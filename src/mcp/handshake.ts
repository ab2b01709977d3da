/** From an unused channel to an agreed protocol version, in either era. The exchange itself is the SDK's. */
import type { Client } from '@modelcontextprotocol/client';
import type { Era, Phase, Transport } from '../events/shapes.ts';
import type { Agreement } from './connection.ts';
import type { Observation } from './failure.ts';
import type { loadSdk } from './sdk.ts';
import type { Wire } from './wire.ts';

export type Sdk = Awaited<ReturnType<typeof loadSdk>>;

/** How the era is found: not asked for, or asked with `server/discover`, where silence for `probeMs` means legacy on a pipe. */
export type Plan = { readonly ask: false } | { readonly ask: true; readonly probeMs: number };

/** The longest timer there is; the attempt's own signal is the limit. */
const NO_LIMIT_MS = 2 ** 31 - 1;

/** Why a handshake came to nothing, with what is needed to decide whether another plan may do better. */
export class HandshakeError extends Error {
  override readonly name = 'HandshakeError';
  constructor(
    readonly phase: Phase,
    readonly observation: Observation,
    /** The request the handshake had come to; undefined: none was sent. */
    readonly at: string | undefined,
    readonly probeAnswered: boolean,
  ) {
    super(observation.seen);
  }

  with(observation: Observation, phase: Phase = this.phase): HandshakeError {
    return new HandshakeError(phase, observation, this.at, this.probeAnswered);
  }
}

/** Starts the wire and agrees on a version. Rejects with a `HandshakeError`; the wire is still to be closed then. */
export async function shakeHands(
  sdk: Sdk,
  wire: Wire,
  plan: Plan,
  version: string,
  signal: AbortSignal,
): Promise<Client> {
  const client = new sdk.Client(
    { name: 'watchkeeper', version },
    {
      capabilities: {},
      versionNegotiation: plan.ask ? { mode: 'auto', probe: { timeoutMs: plan.probeMs } } : { mode: 'legacy' },
      // Nothing is validated: results are passed on as they come.
      jsonSchemaValidator: {
        getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
      },
    },
  );
  client.onerror = () => {};
  const stop = () => void wire.close().catch(() => {});
  if (signal.aborted) throw new HandshakeError('connect', { seen: 'time-limit' }, undefined, false);
  signal.addEventListener('abort', stop, { once: true });
  try {
    await client.connect(wire, { timeout: NO_LIMIT_MS, ...(plan.ask ? {} : { prior: { kind: 'legacy' } }) });
  } catch (error) {
    throw explained(sdk, wire, signal, error);
  } finally {
    signal.removeEventListener('abort', stop);
  }
  if (signal.aborted) throw explained(sdk, wire, signal, signal.reason);
  if (wire.ended !== null) throw explained(sdk, wire, signal, undefined);
  if (client.getProtocolEra() === 'modern') wire.envelope = envelope(sdk, client, version);
  return client;
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

function envelope(sdk: Sdk, client: Client, version: string): Readonly<Record<string, unknown>> {
  return {
    [sdk.PROTOCOL_VERSION_META_KEY]: client.getNegotiatedProtocolVersion(),
    [sdk.CLIENT_INFO_META_KEY]: { name: 'watchkeeper', version },
    [sdk.CLIENT_CAPABILITIES_META_KEY]: {},
  };
}

function explained(sdk: Sdk, wire: Wire, signal: AbortSignal, error: unknown): HandshakeError {
  const because = (phase: Phase, observation: Observation) =>
    new HandshakeError(phase, observation, wire.lastMethod, wire.probeAnswered);
  if (signal.aborted) return because(wire.lastMethod === undefined ? 'connect' : 'initialize', { seen: 'time-limit' });
  if (wire.ended !== null) return because('initialize', wire.ended);
  const observation = wire.lastFault?.observation;
  if (observation !== undefined) return because(phaseOf(observation), observation);
  if (error instanceof sdk.ProtocolError)
    return because('initialize', { seen: 'rpc-error', code: error.code, message: error.message });
  if (error instanceof sdk.SdkError && error.code === sdk.SdkErrorCode.RequestTimeout)
    return because('initialize', { seen: 'time-limit' });
  return because('initialize', {
    seen: 'handshake',
    detail: error instanceof Error ? error.message : 'the handshake failed',
  });
}

function phaseOf({ seen }: Observation): Phase {
  if (seen === 'spawn-error' || seen === 'daemon') return 'spawn';
  return seen === 'network' || seen === 'status' || seen === 'stream-ended' ? 'connect' : 'initialize';
}

/** A silent legacy server costs this once, the first time it is met; one that answers costs a round trip. */
export const PROBE_MS = 2_000;
/** Over HTTP silence proves nothing, so it is waited out longer. */
export const HTTP_PROBE_MS = 10_000;
/** For servers known to be modern, or that would not take initialize. */
export const PATIENT_PROBE_MS = 30_000;

/** The plan to try next in the same attempt, on a new channel; null when the failure stands. Each way is tried once. */
export function nextPlan(plan: Plan, error: HandshakeError, overPipe: boolean, tried: readonly Plan[]): Plan | null {
  const { observation, at, probeAnswered } = error;
  const asked = tried.some(({ ask }) => ask);
  if (plan.ask) {
    const unasked = tried.some(({ ask }) => !ask);
    if (at === 'server/discover' && !unasked && endedByProbe(observation, overPipe)) return { ask: false };
    // It may only have been slow to start: a modern server is asked once more, with patience.
    const impatient = overPipe && at === 'initialize' && !probeAnswered && plan.probeMs < PATIENT_PROBE_MS;
    if (impatient && observation.seen === 'rpc-error') return { ask: true, probeMs: PATIENT_PROBE_MS };
    return null;
  }
  const refused =
    observation.seen === 'rpc-error' ||
    observation.seen === 'handshake' ||
    (observation.seen === 'status' &&
      observation.status >= 400 &&
      observation.status < 500 &&
      ![401, 403, 408, 429].includes(observation.status));
  return at === 'initialize' && refused && !asked
    ? { ask: true, probeMs: overPipe ? PATIENT_PROBE_MS : HTTP_PROBE_MS }
    : null;
}

/** Servers that cannot stand an unknown first request: they leave (pipe), break (500) or say nothing (HTTP). */
function endedByProbe(observation: Observation, overPipe: boolean): boolean {
  if (overPipe) return observation.seen === 'exit' || observation.seen === 'pipe-closed';
  return (
    observation.seen === 'time-limit' ||
    (observation.seen === 'status' && (observation.status === 500 || observation.status === 501))
  );
}
