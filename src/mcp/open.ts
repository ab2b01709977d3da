/** Opens a connection: the one door to everything in this folder that touches the wire. */
import type { Client } from '@modelcontextprotocol/client';
import type { Failure, WireTransport } from '../events/shapes.ts';
import { type Connection, ConnectionError, type OpenConnection, type OpenOptions } from './connection.ts';
import { Exchanger } from './exchange.ts';
import { Fault, failureOf, meansOldTransport } from './failure.ts';
import {
  agreementOf,
  HandshakeError,
  nextPlan,
  PATIENT_PROBE_MS,
  type Plan,
  PROBE_MS,
  shakeHands,
} from './handshake.ts';
import { LegacySseChannel } from './legacy-sse.ts';
import { LiveConnection } from './live.ts';
import { ProcessChannel } from './process.ts';
import { announcements } from './push-source.ts';
import { changingRedactor, redactor } from './redact.ts';
import { StreamableChannel } from './streamable.ts';
import { Tap } from './tap.ts';
import { Wire } from './wire.ts';

type Redact = (text: string) => string;
type StdioEntry = Extract<OpenOptions['entry'], { transport: 'stdio' }>;
type HttpEntry = Exclude<OpenOptions['entry'], { transport: 'stdio' }>;

/** Opens a connection up to the end of the handshake (see `OpenConnection`). Two transports, two eras, one way in. */
export const openConnection: OpenConnection = async (options) => {
  const { entry, credentials } = options;
  const redact = credentials ? changingRedactor(entry.secrets, () => credentials.secrets()) : redactor(entry.secrets);
  try {
    return await (entry.transport === 'stdio' ? openStdio(entry, options, redact) : openHttp(entry, options, redact));
  } catch (error) {
    if (error instanceof ConnectionError) throw error;
    // Not the server's doing: a package that cannot be loaded, a fault of ours. It is said, and tried again.
    const detail = error instanceof Error ? error.message : String(error);
    throw new ConnectionError(failureOf('connect', { seen: 'daemon', detail }, redact));
  }
};

/** One try: a channel of its own, and what becomes of it. */
interface Begun {
  readonly wire: Wire;
  agreed(client: Client): Connection;
  /** What was seen, with what only the channel knows. */
  explain(error: HandshakeError): HandshakeError;
}

/** Goes through the plans that make sense, one channel after the other. */
async function follow(
  first: Plan,
  self: OpenOptions,
  redact: Redact,
  begin: (plan: Plan) => Begun,
  another: typeof nextPlan = nextPlan,
): Promise<Connection> {
  const { signal } = self;
  const tried: Plan[] = [];
  for (let plan = first; ; ) {
    tried.push(plan);
    const begun = begin(plan);
    try {
      return begun.agreed(await shakeHands(begun.wire, plan, self, signal));
    } catch (thrown) {
      await begun.wire.close();
      if (!(thrown instanceof HandshakeError)) throw thrown;
      const error = begun.explain(thrown);
      const next = signal.aborted ? null : another(plan, error, tried);
      if (next === null) throw new ConnectionError(failureOf(error.phase, error.observation, redact));
      plan = next;
    }
  }
}

/** Commands that ended at the era probe and have not connected since. Asking them each time would cost a start each time. */
const shy = new Set<string>();

function openStdio(entry: StdioEntry, options: OpenOptions, redact: Redact): Promise<Connection> {
  const { verdict, runId, onProcess, onWarning } = options;
  const key = JSON.stringify([entry.command, entry.args, entry.cwd]);
  const remembered = verdict?.era === 'legacy';
  const patient = verdict !== null || isLauncher(entry.command);
  const first: Plan =
    remembered || shy.has(key) ? { ask: false } : { ask: true, probeMs: patient ? PATIENT_PROBE_MS : PROBE_MS };
  return follow(first, options, redact, (plan) => {
    const { command, args, env, cwd } = entry;
    const tap = tapOf(options, 'stdio');
    const channel = new ProcessChannel({ command, args, env, cwd, runId, onProcess, onWarning, redact, tap });
    options.onStderr?.(() => channel.stderrTail());
    const wire = new Wire(channel, false);
    return {
      wire,
      agreed(client) {
        shy.delete(key);
        const agreement = agreementOf(client, 'stdio', remembered && !plan.ask ? 'remembered' : 'probed', false);
        tap.agreed(agreement);
        return new LiveConnection(wire, agreement, redact, announcements(client, agreement, wire, null));
      },
      explain(error) {
        if (error.at === 'discover' && error.observation.seen === 'exit') shy.add(key);
        return error.observation.seen === 'time-limit'
          ? error.with({ seen: 'time-limit', stderrTail: channel.stderrTail() })
          : error;
      },
    };
  });
}

/** A tap of its own for each channel. */
const tapOf = ({ tap, entry }: OpenOptions, transport: WireTransport): Tap => tap?.(entry, transport) ?? new Tap();

/** Commands that may fetch the server before it runs, as the time limit for connecting knows them. */
const isLauncher = (command: string): boolean =>
  /(?:^|[\\/])(?:npx|uvx|pnpm|bunx|docker|podman)(?:\.(?:cmd|exe))?$/i.test(command);

async function openHttp(entry: HttpEntry, options: OpenOptions, redact: Redact): Promise<Connection> {
  const sse = () => openSse(entry, options, redact);
  if (entry.transport === 'sse') return sse();
  const sseFirst = options.verdict?.transport === 'sse' && !entry.explicitType;
  if (sseFirst) {
    const opened = await outcome(sse());
    if (!('failure' in opened)) return opened.connection;
    if (!refusedAsOld(opened.failure)) throw new ConnectionError(opened.failure);
  }
  const opened = await outcome(openStreamable(entry, options, redact));
  if (!('failure' in opened)) return opened.connection;
  if (entry.explicitType || sseFirst || options.signal.aborted || !refusedAsOld(opened.failure))
    throw new ConnectionError(opened.failure);
  const fallback = await outcome(sse());
  if (!('failure' in fallback)) return fallback.connection;
  throw new ConnectionError(both(opened.failure, fallback.failure));
}

function openStreamable(entry: HttpEntry, options: OpenOptions, redact: Redact): Promise<Connection> {
  const { verdict } = options;
  const remembered = verdict?.era === 'legacy' && verdict.transport === 'streamable-http';
  const first: Plan = remembered ? { ask: false } : { ask: true, probeMs: PATIENT_PROBE_MS };
  return follow(first, options, redact, (plan) => {
    const http = exchanger(entry, options, redact);
    const tap = tapOf(options, 'streamable-http');
    const channel = new StreamableChannel(http, tap);
    const wire = new Wire(channel, true);
    return {
      wire,
      agreed(client) {
        const eraFrom = remembered && !plan.ask ? 'remembered' : 'probed';
        const agreement = agreementOf(client, 'streamable-http', eraFrom, channel.sessionId !== undefined);
        tap.agreed(agreement);
        return new LiveConnection(wire, agreement, redact, announcements(client, agreement, wire, channel), () =>
          channel.forgetSession(),
        );
      },
      explain: (error) => notReached(error, http),
    };
  });
}

/** The older transport exists in the legacy era only, so there is nothing to ask. */
function openSse(entry: HttpEntry, options: OpenOptions, redact: Redact): Promise<Connection> {
  const begin = (): Begun => {
    const http = exchanger(entry, options, redact);
    const tap = tapOf(options, 'sse');
    const wire = new Wire(new LegacySseChannel(http, tap), false);
    return {
      wire,
      agreed(client) {
        const agreement = agreementOf(client, 'sse', 'declared', false);
        tap.agreed(agreement);
        return new LiveConnection(wire, agreement, redact, announcements(client, agreement, wire, null));
      },
      explain: (error) => notReached(error, http),
    };
  };
  return follow({ ask: false }, options, redact, begin, () => null);
}

/** Throws a `ConnectionError` when the URL cannot be used. */
function exchanger({ url, headers }: HttpEntry, { credentials }: OpenOptions, redact: Redact): Exchanger {
  try {
    return new Exchanger(url, headers, credentials);
  } catch (error) {
    throw error instanceof Fault ? new ConnectionError(failureOf('connect', error.observation, redact)) : error;
  }
}

/** Silence before any connection was made is no answer to initialize yet. */
function notReached(error: HandshakeError, http: Exchanger): HandshakeError {
  return error.observation.seen === 'time-limit' && !http.reached ? error.with(error.observation, 'connect') : error;
}

async function outcome(opening: Promise<Connection>): Promise<{ connection: Connection } | { failure: Failure }> {
  try {
    return { connection: await opening };
  } catch (error) {
    if (error instanceof ConnectionError) return { failure: error.failure };
    throw error;
  }
}

/** The first POST was refused the way servers of the older transport refuse it. */
const refusedAsOld = ({ class: kind, httpStatus }: Failure): boolean =>
  kind === 'http-status' && typeof httpStatus === 'number' && meansOldTransport(httpStatus);

/** Neither transport worked: both reasons, since either may be the one that matters. A login that is wanted outweighs the rest. */
function both(first: Failure, second: Failure): Failure {
  const message = `${first.message}; the older SSE transport failed too (${second.message})`;
  return second.class === 'auth' ? { ...second, message } : { ...first, message };
}
