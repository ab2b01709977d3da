/** Where a server's announcements come from, by era and transport. */
import type { Client } from '@modelcontextprotocol/client';
import type { Agreement } from './connection.ts';
import { classify, Fault } from './failure.ts';
import { isObject, messagesIn } from './message.ts';
import { LINE_LIMIT } from './process.ts';
import { keepPush, NoPush, type OpenPush } from './push.ts';
import { readEvents } from './sse-body.ts';
import type { StreamableChannel } from './streamable.ts';
import type { Wire } from './wire.ts';

/** Begins to watch for announcements, until the signal ends it. */
export type Announce = (
  report: (push: boolean, reason?: string) => void,
  changed: () => void,
  signal: AbortSignal,
) => void;

const METHOD_NOT_FOUND = -32601;
const LISTEN_MS = 30_000;
const UNDECLARED = 'the server does not say that it announces changes';

/** `streamable`: the channel when it is Streamable HTTP, else null. */
export function announcements(
  client: Client,
  { era, capabilities }: Agreement,
  wire: Wire,
  streamable: StreamableChannel | null,
): Announce {
  const declared = isObject(capabilities.tools) && capabilities.tools.listChanged === true;
  if (era === 'modern') {
    if (!declared) return (report) => report(false, UNDECLARED);
    return (report, changed, signal) => void keepPush(listening(client), report, changed, signal);
  }
  if (streamable === null) return (report) => (declared ? report(true) : report(false, UNDECLARED));
  // Servers announce changes they never declared, so the stream is worth having anyway.
  return (report, changed, signal) => void keepPush(standingGet(streamable, wire), report, changed, signal);
}

/** `subscriptions/listen` of the modern era. The SDK never listens again by itself. */
function listening(client: Client): OpenPush {
  return async (signal) => {
    const subscription = await client
      .listen({ toolsListChanged: true }, { signal, timeout: LISTEN_MS })
      .catch((error: unknown) => {
        const unknown = isUnknownMethod(error);
        throw new NoPush(unknown ? 'the server does not know subscriptions/listen' : reasonOf(error), unknown);
      });
    if (subscription.honoredFilter.toolsListChanged !== true) {
      void subscription.close();
      throw new NoPush('the server does not announce changes of tools', true);
    }
    return {
      ended: subscription.closed.then((cause) =>
        cause === 'graceful' ? 'the server ended the subscription' : 'the subscription broke off',
      ),
    };
  };
}

/** The standing GET of Streamable HTTP in the legacy era. */
function standingGet(channel: StreamableChannel, wire: Wire): OpenPush {
  let lastEventId: string | undefined;
  return async (signal) => {
    const answer = await channel.openPush(lastEventId, signal).catch((error: unknown) => {
      if (!(error instanceof Fault)) throw error;
      const { observation } = error;
      const never = observation.seen === 'status' && (observation.status === 405 || observation.status === 501);
      throw new NoPush(never ? 'the server offers no push stream' : classify('watch', observation).message, never);
    });
    let retryMs: number | undefined;
    const ended = readEvents(answer, LINE_LIMIT, (data) => receive(wire, data)).then((end) => {
      lastEventId = end.lastEventId ?? lastEventId;
      retryMs = end.retryMs;
      return end.fault === null
        ? 'the server closed the push stream'
        : classify('watch', end.fault.observation).message;
    });
    return { ended, retryMs: () => retryMs };
  };
}

function receive(wire: Wire, data: string): void {
  try {
    for (const message of messagesIn(JSON.parse(data)) ?? []) wire.receive(message);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
}

function isUnknownMethod(error: unknown): boolean {
  if (!(error instanceof Fault)) return isObject(error) && error.code === METHOD_NOT_FOUND;
  const { observation } = error;
  return observation.seen === 'status' && [404, 405, 501].includes(observation.status);
}

function reasonOf(error: unknown): string {
  if (error instanceof Fault) return classify('watch', error.observation).message;
  return error instanceof Error ? error.message : String(error);
}
