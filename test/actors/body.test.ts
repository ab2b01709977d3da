import { describe, expect, it } from 'vitest';
import { bodyOf, type Effect } from '../../src/actors/body.ts';
import { type Heard, step } from '../../src/actors/head.ts';
import { type OfConnection, serverMachine } from '../../src/actors/server/server.machine.ts';
import { serverRules } from '../../src/actors/server/server.rules.ts';
import type { ServerFact } from '../../src/events/server.events.ts';
import * as fact from '../support/server.facts.ts';

/** A body born stopped, whose effects write down what they do. */
function embodied(effects: Partial<Record<string, Effect<OfConnection>>> = {}) {
  const done: string[] = [];
  const thrown: unknown[] = [];
  const noting =
    (name: string): Effect<OfConnection> =>
    ({ connection }) => {
      done.push(`${name} ${connection}`);
      return () => void done.push(`end of ${name} ${connection}`);
    };
  const names = ['connection', 'list', 'watch', 'close'];
  const body = bodyOf<ServerFact, OfConnection>({
    machine: serverMachine,
    head: fact.blankHead,
    effects: { ...Object.fromEntries(names.map((name) => [name, noting(name)])), ...(effects as object) },
    issue: () => {},
    onThrow: (error) => thrown.push(error),
  });
  const hear = (...facts: readonly ServerFact[]): string =>
    facts.reduce((_, one) => body.hear({ ...one, at: 1 } as Heard<ServerFact>, 0), '');
  return { body, hear, done, thrown };
}

const listing = [fact.configured(), fact.enabled, fact.connecting(1), fact.connected(1)];

describe('the effects of a body', () => {
  it('begin when their state is entered, a moment later, and know their connection', async () => {
    const { hear, done } = embodied();
    hear(fact.configured(), fact.enabled, fact.connecting(7));
    expect(done).toEqual([]);
    await Promise.resolve();
    expect(done).toEqual(['connection 7']);
  });

  it('last as long as their state: a connection through listing and watching, its list only until it was read', async () => {
    const { hear, done } = embodied();
    hear(...listing);
    await Promise.resolve();
    hear(fact.listed(1));
    await Promise.resolve();
    expect(done).toEqual(['connection 1', 'list 1', 'end of list 1', 'watch 1']);
    hear(fact.lost(1), fact.reconnecting(2, 2));
    await Promise.resolve();
    expect(done.slice(4).sort()).toEqual(['connection 2', 'end of connection 1', 'end of watch 1']);
  });

  it('do not begin at all when their state was left by then', async () => {
    const { hear, done } = embodied();
    hear(...listing, fact.stopRequested('reconnect'), fact.stopped('reconnect'));
    await Promise.resolve();
    expect(done).toEqual([]);
  });

  it('end with the body', async () => {
    const { body, hear, done } = embodied();
    hear(...listing);
    await Promise.resolve();
    body.stop();
    expect(done.slice(2).sort()).toEqual(['end of connection 1', 'end of list 1']);
  });

  it('that throw are reported, and the body goes on hearing', async () => {
    const { hear, thrown } = embodied({
      connection: () => {
        throw new Error('at the beginning');
      },
      list: () => () => {
        throw new Error('at the end');
      },
    });
    hear(...listing);
    await Promise.resolve();
    expect(thrown.map(String)).toEqual(['Error: at the beginning']);
    expect(hear(fact.listed(1))).toBe('ready');
    expect(thrown.map(String)).toEqual(['Error: at the beginning', 'Error: at the end']);
    expect(hear(fact.stopRequested('disabled'))).toBe('stopping');
  });
});

it('a fact that is not heard is told from one that moves nothing: it never gets that far', () => {
  expect(() => step(serverRules, fact.blankHead, { ...fact.listed(1), at: 1 } as Heard<ServerFact>)).toThrow(
    'ToolsListed is not heard in state "stopped".',
  );
});
