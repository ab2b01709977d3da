/** The same fake server behind each transport and era. */
import type { Connection } from '../../src/mcp/connection.ts';
import { startHttpFake } from '../fixtures/http-server.mjs';
import type { Behaviour, FakeEra } from '../support/behaviour.ts';
import { atEnd } from '../support/cleanup.ts';
import { steered } from '../support/fixtures.ts';
import { fakeEntry, httpEntry, type Opening, open } from './opening.ts';

export type Way = 'pipe' | 'http' | 'old-http';

export interface Behind {
  readonly connection: Connection;
  /** How many messages of a method came in. */
  received(method: string): number;
  /** The server says something unasked. */
  tell(method: string, params?: Record<string, unknown>): void;
  set(patch: Behaviour): void;
  /** Breaks open streams, over HTTP. */
  cutStreams(): void;
}

export async function behind(
  way: Way,
  era: FakeEra,
  behaviour: Behaviour = {},
  opening: Opening = {},
): Promise<Behind> {
  if (way === 'pipe') {
    const fake = steered({ era, behaviour });
    const { connection } = await open(fakeEntry(fake.options), opening);
    let orders = 0;
    return {
      connection,
      received: (method) => fake.counted(method),
      tell: (method, params = {}) => {
        orders += 1;
        fake.set({ orders: [{ id: `tell-${orders}`, do: 'tell', method, params }] });
      },
      set: fake.set,
      cutStreams: () => {},
    };
  }
  const old = way === 'old-http';
  const fake = await startHttpFake({ era, behaviour: old ? { ...behaviour, transport: 'sse' } : behaviour });
  atEnd(() => fake.close());
  const { connection } = await open(httpEntry(fake.url, old ? { transport: 'sse' } : {}), opening);
  return {
    connection,
    received: (method) => fake.received(method),
    tell: fake.control.tell,
    set: fake.control.set,
    cutStreams: fake.control.cutStreams,
  };
}

export const ways = [
  ['pipe', 'legacy'],
  ['pipe', 'modern'],
  ['http', 'legacy'],
  ['http', 'modern'],
] as const;

export const legacyWays = [['pipe'], ['http'], ['old-http']] as const;
