import { describe, expect, it } from 'vitest';
import { parseEntry, prefixOf, serverOfPrefix } from '../../../src/actors/allowlist/entry.ts';

describe('an entry of the allowlist', () => {
  it.each([
    ['mcp__github__create_issue', 'github', 'mcp__github__create_issue'],
    ['mcp__github__*', 'github', '*'],
    ['mcp__a__b__c', 'a', 'mcp__a__b__c'],
    ['mcp__a___b', 'a', 'mcp__a___b'],
    ['mcp__a_b-c__d', 'a_b-c', 'mcp__a_b-c__d'],
    ['mcp__constructor____proto__', 'constructor', 'mcp__constructor____proto__'],
    [`mcp__${'s'.repeat(40)}__t`, 's'.repeat(40), `mcp__${'s'.repeat(40)}__t`],
  ])('%s is about server %s', (entry, server, tool) => {
    expect(parseEntry(entry)).toEqual({ server, tool });
  });

  it.each([
    '',
    '*',
    'mcp__*',
    'mcp__a',
    'mcp__a__',
    'mcp____x',
    'mcp___a__x',
    'mcp__-a__x',
    'mcp__a.b__x',
    'mcp__a__x*',
    'mcp__a__**',
    'mcp__a__?',
    'mcp__a__x y',
    'mcp__a__x(y)',
    'mcp__a__x\nmcp__b__*',
    ' mcp__a__x',
    'MCP__a__x',
    'read_file',
    `mcp__${'s'.repeat(41)}__t`,
  ])('%j is none and grants nothing', (entry) => {
    expect(parseEntry(entry)).toBeNull();
  });
});

describe('a prefix', () => {
  it.each([
    ['mcp__a__', 'a'],
    ['mcp__a_b__', 'a_b'],
    ['mcp__a___', null],
    ['mcp__a', null],
    ['mcp__a_', null],
    ['mcp__', null],
    ['', null],
    ['mcp__a__b', null],
    ['mcp__a__b__', null],
    ['mcp__a__*', null],
    ['read_', null],
  ])('%j is of server %s', (prefix, server) => {
    expect(serverOfPrefix(prefix)).toBe(server);
    if (server !== null) expect(prefixOf(server)).toBe(prefix);
  });
});
