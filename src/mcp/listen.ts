/** `subscriptions/listen` of the modern era: one stream for what is asked. The SDK never listens again by itself. */
import type { Client } from '@modelcontextprotocol/client';
import { classify, Fault } from './failure.ts';
import { isObject } from './message.ts';
import { NoPush, type OpenPush } from './push.ts';

/** What a stream is to carry, or what the server said it will. */
export interface Honored {
  readonly toolsListChanged?: boolean | undefined;
  readonly promptsListChanged?: boolean | undefined;
  readonly resourcesListChanged?: boolean | undefined;
  readonly resourceSubscriptions?: readonly string[] | undefined;
}

/** `check` sees what the server honours each time the stream opens, and throws (`NoPush`) when that is not enough. */
export type Listen = (filter: Honored, check: (honored: Honored) => void) => OpenPush;

const METHOD_NOT_FOUND = -32601;
const LISTEN_MS = 30_000;

export function listener(client: Client): Listen {
  return (filter, check) => async (signal) => {
    const subscription = await client
      .listen(
        { ...filter, resourceSubscriptions: filter.resourceSubscriptions?.slice() },
        { signal, timeout: LISTEN_MS },
      )
      .catch((error: unknown) => {
        const unknown = isUnknownMethod(error);
        throw new NoPush(unknown ? 'the server does not know subscriptions/listen' : reasonOf(error), unknown);
      });
    try {
      check(subscription.honoredFilter);
    } catch (error) {
      void subscription.close();
      throw error;
    }
    return {
      ended: subscription.closed.then((cause) =>
        cause === 'graceful' ? 'the server ended the subscription' : 'the subscription broke off',
      ),
    };
  };
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
