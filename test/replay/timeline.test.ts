import { describe, expect, it } from 'vitest';
import { catalogue } from '../../src/events/catalogue.ts';
import { inPlainWords } from '../../src/replay/fact.words.ts';
import { timeline } from '../../src/replay/timeline.ts';
import { again, configure, connects, fails, lists, lived, start } from '../support/lives.ts';

const facts = lived([0, configure()], [10, start], [500, fails()], [900, again], [1_000, connects()], [1_050, lists()]);

describe('A timeline', () => {
  it('tells each fact in plain words, with the states around it and the time since the one before', () => {
    expect([...timeline(facts)].map(({ from, to, afterMs, text }) => [from, to, afterMs, text])).toEqual([
      ['stopped', 'stopped', null, 'its entry was read'],
      ['stopped', 'idle', 0, 'it may be started'],
      ['idle', 'connecting', 10, 'the first attempt begins'],
      ['connecting', 'backing-off', 490, 'attempt 1 failed: exit: watch: it exited with code 1, next try in 375 ms'],
      ['backing-off', 'backing-off', 400, 'the pause is over'],
      ['backing-off', 'reconnecting', 0, 'attempt 2 begins'],
      ['reconnecting', 'listing', 100, 'connected: protocol 2025-11-25, after 5 ms'],
      ['listing', 'ready', 50, 'its tools are known: 1 tool, list changed, after 3 ms'],
    ]);
  });

  it('begins at a moment, with the state it was in', () => {
    const [first] = timeline(facts, 1_000);
    expect(first).toMatchObject({ from: 'reconnecting', to: 'listing', afterMs: null, position: 7 });
  });

  it('of a piece of a stream does not say what state it began in', () => {
    expect([...timeline(facts.slice(3))][0]).toMatchObject({ from: null, to: 'backing-off' });
  });

  it('takes several streams, each with its own state', () => {
    const stop = { position: 9, stream: 'daemon', version: 1, type: 'DaemonStopped', at: 2_000, data: { run: 'r' } };
    const other = facts.map((fact) => ({ ...fact, stream: 'server-b', position: fact.position + 9, at: 3_000 }));
    const lines = [...timeline([...facts, stop, ...other])];
    expect(lines[8]).toMatchObject({ from: null, to: null, text: 'the daemon stopped' });
    expect(lines[9]).toMatchObject({ from: 'stopped', to: 'stopped', afterMs: 1_000 });
  });
});

describe('A fact in plain words', () => {
  it.each(Object.keys(catalogue))('is no name of a type: %s', (type) => {
    expect(inPlainWords({ type, data: {} })).not.toContain(type);
  });

  it('of a type that is not known here is its name', () => {
    expect(inPlainWords({ type: 'ServerPraised', data: { by: 'ann' } })).toBe('ServerPraised: by ann');
    expect(inPlainWords({ type: 'constructor', data: null })).toBe('constructor');
  });
});
