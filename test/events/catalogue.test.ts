import { describe, expect, it } from 'vitest';
import { allowlistFacts } from '../../src/events/allowlist.events.ts';
import { callFacts } from '../../src/events/call.events.ts';
import { catalogue, definitionOf } from '../../src/events/catalogue.ts';
import { configFacts, daemonFacts } from '../../src/events/daemon.events.ts';
import type { FactDefinitions } from '../../src/events/define.ts';
import { loginFacts } from '../../src/events/login.events.ts';
import { serverFacts } from '../../src/events/server.events.ts';

const sources = {
  server: serverFacts,
  call: callFacts,
  allowlist: allowlistFacts,
  config: configFacts,
  daemon: daemonFacts,
  logins: loginFacts,
} satisfies Record<string, FactDefinitions>;
const facts = Object.entries(catalogue);

/** How participles end that do not end like the others. */
const irregular = ['Bound', 'Held', 'Left', 'Lost', 'Resent', 'edDown'];

describe('The catalogue', () => {
  it('holds every fact of every stream, each name once', () => {
    const names = Object.values(sources).flatMap((source) => Object.keys(source));
    expect(new Set(names).size).toBe(names.length);
    expect(Object.keys(catalogue).sort()).toEqual(names.sort());
  });

  it('files each fact under its own stream', () => {
    const misplaced = Object.entries(sources).flatMap(([stream, source]) =>
      Object.entries<FactDefinitions[string]>(source)
        .filter(([, definition]) => definition.stream !== stream)
        .map(([type]) => type),
    );
    expect(misplaced).toEqual([]);
  });

  it.each(facts)('%s is named after what has happened', (type) => {
    expect(type).toMatch(new RegExp(`^[A-Z][A-Za-z]*(ed|${irregular.join('|')})$`));
  });

  it.each(facts)('%s has a sentence and a schema number', (_type, { about, schema }) => {
    expect(about).toMatch(/^[A-Z].*[.]$/s);
    expect(schema).toBeGreaterThanOrEqual(1);
    expect(Number.isInteger(schema)).toBe(true);
  });

  it.each(facts)('%s says nothing of `to`, which the envelope of an actor adds', (_type, { data }) => {
    expect(Object.keys(data.shape)).not.toContain('to');
  });

  it('is found by name, and nothing else is', () => {
    expect(definitionOf('ServerEnabled')).toBe(serverFacts.ServerEnabled);
    expect(definitionOf('toString')).toBeUndefined();
    expect(definitionOf('serverEnabled')).toBeUndefined();
  });
});
