/** Where a server's announcements come from, by era and transport. */
import type { Client } from '@modelcontextprotocol/client';
import type { Agreement } from './connection.ts';
import { classify, Fault } from './failure.ts';
import { type Honored, type Listen, listener } from './listen.ts';
import { isObject, messagesIn } from './message.ts';
import { LINE_LIMIT } from './process.ts';
import { keepPush, NoPush, type OpenPush } from './push.ts';
import { readEvents } from './sse-body.ts';
import type { StreamableChannel } from './streamable.ts';
import { codeOfFault } from './tap.http.ts';
import type { Wire } from './wire.ts';

/** Begins to watch for announcements, until the signal ends it. `report` speaks of tools; `gap`: some may have been missed. */
export type Announce = (report: (push: boolean, reason?: string) => void, gap: () => void, signal: AbortSignal) => void;

/** What a server announces, and how single resources are watched where that needs a stream. */
export interface Announcements {
  readonly announce: Announce;
  /** Null in the legacy era, where resources are subscribed to one by one. */
  readonly listen: Listen | null;
}

const UNDECLARED = 'the server does not say that it announces changes';
const NOT_TOOLS = 'the server does not announce changes of tools';

/** `streamable`: the channel when it is Streamable HTTP, else null. */
export function announcements(
  client: Client,
  { era, capabilities }: Agreement,
  wire: Wire,
  streamable: StreamableChannel | null,
): Announcements {
  const declares = (capability: string) => {
    const declared = capabilities[capability];
    return isObject(declared) && declared.listChanged === true;
  };
  if (era === 'modern') {
    const listen = listener(client);
    const filter = {
      ...(declares('tools') ? { toolsListChanged: true } : {}),
      ...(declares('prompts') ? { promptsListChanged: true } : {}),
      ...(declares('resources') ? { resourcesListChanged: true } : {}),
    };
    return { announce: lists(listen, filter), listen };
  }
  if (streamable === null)
    return { announce: (report) => (declares('tools') ? report(true) : report(false, UNDECLARED)), listen: null };
  // Servers announce changes they never declared, so the stream is worth having anyway.
  const announce: Announce = (report, gap, signal) => void keepPush(standingGet(streamable, wire), report, gap, signal);
  return { announce, listen: null };
}

/** One stream for all lists whose changes are declared. */
function lists(listen: Listen, filter: Honored): Announce {
  if (Object.keys(filter).length === 0) return (report) => report(false, UNDECLARED);
  return (report, gap, signal) => {
    let tools = false;
    const open = listen(filter, (honored) => {
      tools = honored.toolsListChanged === true;
      if (!tools && honored.promptsListChanged !== true && honored.resourcesListChanged !== true)
        throw new NoPush(filter.toolsListChanged ? NOT_TOOLS : UNDECLARED, true);
    });
    const tell = (push: boolean, reason?: string) =>
      push && !tools ? report(false, filter.toolsListChanged ? NOT_TOOLS : UNDECLARED) : report(push, reason);
    void keepPush(open, tell, gap, signal);
  };
}

/** The standing GET of Streamable HTTP in the legacy era. */
function standingGet(channel: StreamableChannel, wire: Wire): OpenPush {
  let lastEventId: string | undefined;
  return async (signal) => {
    const { answer, x } = await channel.openPush(lastEventId, signal).catch((error: unknown) => {
      if (!(error instanceof Fault)) throw error;
      const { observation } = error;
      const never = observation.seen === 'status' && (observation.status === 405 || observation.status === 501);
      throw new NoPush(never ? 'the server offers no push stream' : classify('watch', observation).message, never);
    });
    let retryMs: number | undefined;
    const ended = readEvents(answer, LINE_LIMIT, (data) => receive(wire, channel, data, x)).then((end) => {
      if (!signal.aborted) channel.tap.ear?.({ is: 'ended', x, code: codeOfFault(end.fault) });
      lastEventId = end.lastEventId ?? lastEventId;
      retryMs = end.retryMs;
      return end.fault === null
        ? 'the server closed the push stream'
        : classify('watch', end.fault.observation).message;
    });
    return { ended, retryMs: () => retryMs };
  };
}

function receive(wire: Wire, { tap }: StreamableChannel, data: string, x: number): void {
  try {
    for (const message of messagesIn(JSON.parse(data)) ?? []) {
      tap.ear?.({ is: 'in', message, x });
      wire.receive(message);
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
}
