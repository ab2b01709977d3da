/** What the end-to-end tests share: HTTP fakes that end with their file, entries for them, and short ways to ask. */
import { setTimeout as pause } from 'node:timers/promises';
import { type HttpFake, type HttpFakeOptions, startHttpFake } from '../fixtures/http-server.mjs';
import { atEnd } from '../support/cleanup.ts';
import type { ApiReply, Daemon } from '../support/daemon.ts';

export async function httpFake(options: HttpFakeOptions = {}): Promise<HttpFake> {
  const fake = await startHttpFake(options);
  atEnd(() => fake.close());
  return fake;
}

/** A server that is ready on its own: polled rarely, so that a test sees its own requests only. */
export const httpEntry = ({ url }: { url: string }, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  url,
  ...more,
});

/** The text of the first block. */
export const textOf = ({ body }: ApiReply): string | undefined => body.content?.[0]?.text;

/** What requests a fake received, in order: `initialize`, `tools/list`, `GET`… */
export const requestsOf = (fake: Pick<HttpFake, 'log'>, from = 0): string[] =>
  fake.log.slice(from).map(({ rpc, http }) => rpc ?? http);

/** The position of the newest fact. */
export async function positionOf(daemon: Daemon): Promise<number> {
  return (await daemon.events()).at(-1)?.position ?? 0;
}

/** Facts of one server since a position. */
export const factsOf = (daemon: Daemon, server: string, after = 0): Promise<any[]> =>
  daemon.events({ stream: `server-${server}`, after });

export const typesOf = (facts: readonly { type: string }[]): string[] => facts.map(({ type }) => type);

/** A call whose answer is awaited later; the caller goes away with `leave`. */
export function beginCall(daemon: Daemon, body: Record<string, unknown>) {
  const left = new AbortController();
  const answer = fetch(`${daemon.url}/v1/mcp/call`, {
    method: 'POST',
    headers: { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: left.signal,
  }).then(async (response) => ({ status: response.status, body: (await response.json()) as any }));
  // A caller that left does not want to hear of it.
  answer.catch(() => {});
  return { answer, leave: () => left.abort() };
}

/** The calls of the ledger, latest first. */
export async function callsOf(daemon: Daemon, query = ''): Promise<any[]> {
  return (await daemon.api('GET', `/v1/mcp/calls${query}`)).body.calls;
}

/** The one call that is held now. */
export const heldCall = (daemon: Daemon): Promise<any> =>
  daemon.waitFor(async () => {
    const held = await callsOf(daemon, '?state=held');
    return held.length === 1 ? held[0] : false;
  });

/** Lets time pass in which something must not happen. */
export const meanwhile = (ms: number): Promise<void> => pause(ms);
