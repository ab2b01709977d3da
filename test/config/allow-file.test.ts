import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addEntry,
  allowEntries,
  checkReplacement,
  readAllowEntry,
  removeEntry,
  removeServer,
  replacePrefix,
} from '../../src/config/allow-file.ts';

describe('a line of allow_tool', () => {
  it.each([
    ['mcp__a__x', 'a', 'x'],
    ['mcp__a__*', 'a', null],
    ['mcp__a_b__x', 'a_b', 'x'],
    ['mcp__a__b__x', 'a', 'b__x'],
    ['mcp__a___x', 'a', '_x'],
    ['mcp__my-server__read_query', 'my-server', 'read_query'],
  ])('%s grants something of server %s', (text, server, tool) => {
    expect(readAllowEntry(text)).toEqual({ text, server, tool });
  });

  it.each([
    'mcp__a__',
    'mcp__a',
    'mcp____x',
    'mcp___a__x',
    'mcp__a__x*',
    'mcp__a__*x',
    'mcp__a__**',
    'mcp__*__x',
    'mcp__a*',
    'mcp__a__x(y)',
    'mcp__a__x y',
    'mcp__a__x # why',
    'MCP__a__x',
    'run_command',
    '*',
    '',
    'mcp__a__x\nmcp__b__*',
  ])('%j grants nothing', (text) => {
    expect(readAllowEntry(text)).toBeNull();
  });

  it('may have space around it, a mark before it and any line end', () => {
    expect(allowEntries('\uFEFF  mcp__a__x \r\n#mcp__a__y\n\n\tmcp__b__*\rmcp__a__x').map(({ text }) => text)).toEqual([
      'mcp__a__x',
      'mcp__b__*',
    ]);
    expect(allowEntries('mcp__a__x\nmcp__ab__y\nmcp__a__b__z', 'a').map(({ text }) => text)).toEqual([
      'mcp__a__x',
      'mcp__a__b__z',
    ]);
  });
});

describe('replacing the entries of a prefix', () => {
  it.each<[string, string, string[], string]>([
    ['adds to an empty file', '', ['mcp__a__x'], 'mcp__a__x\n'],
    ['adds at the end', '# mine\nmcp__b__y\n', ['mcp__a__x', 'mcp__a__z'], '# mine\nmcp__b__y\nmcp__a__x\nmcp__a__z\n'],
    [
      'adds where the server stood',
      'mcp__a__old\n# rest\nmcp__b__y\n',
      ['mcp__a__x'],
      'mcp__a__x\n# rest\nmcp__b__y\n',
    ],
    [
      'keeps lines that stay',
      '  mcp__a__x\n# c\nmcp__a__y\n',
      ['mcp__a__y', 'mcp__a__x', 'mcp__a__z'],
      '  mcp__a__x\n# c\nmcp__a__y\nmcp__a__z\n',
    ],
    ['removes doubles', 'mcp__a__x\nmcp__b__x\nmcp__a__x\n', ['mcp__a__x'], 'mcp__a__x\nmcp__b__x\n'],
    ['removes all', '# c\nmcp__a__x\n\nmcp__a__*\n', [], '# c\n\n'],
    ['collapses on the whole server', 'mcp__a__x\n', ['mcp__a__y', 'mcp__a__*'], 'mcp__a__*\n'],
    ['leaves other servers alone', 'mcp__ab__x\nmcp__a_b__x\n', ['mcp__a__x'], 'mcp__ab__x\nmcp__a_b__x\nmcp__a__x\n'],
    [
      'leaves lines it does not understand',
      'mcp__a__x*\nmcp__a__x(y)\n',
      ['mcp__a__z'],
      'mcp__a__x*\nmcp__a__x(y)\nmcp__a__z\n',
    ],
    ['keeps CRLF', 'x\r\nmcp__a__y\r\n', ['mcp__a__z'], 'x\r\nmcp__a__z\r\n'],
    ['keeps a missing last line end', '# c\nmcp__b__x', ['mcp__a__y'], '# c\nmcp__b__x\nmcp__a__y'],
    ['keeps a missing last line end when removing', '# c\nmcp__a__x', [], '# c\n'],
    ['keeps the last line when it goes on', 'mcp__a__x\nmcp__b__x', ['mcp__a__y'], 'mcp__a__y\nmcp__b__x'],
    ['changes nothing that is so already', '\uFEFFmcp__a__x\r\n# c', ['mcp__a__x'], '\uFEFFmcp__a__x\r\n# c'],
  ])('%s', (_what, text, entries, expected) => {
    expect(replacePrefix(text, 'mcp__a__', entries)).toBe(expected);
  });

  it('leaves every line of others byte for byte, in order', () => {
    const line = fc.constantFrom(
      'mcp__a__x',
      'mcp__a__*',
      'mcp__b__x',
      '# c',
      '',
      '  odd ',
      'mcp__a__x(y)',
      'mcp__ab__*',
    );
    const text = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n'))).map((lines) => lines.flat().join(''));
    fc.assert(
      fc.property(text, fc.subarray(['mcp__a__x', 'mcp__a__y', 'mcp__a__*']), (before, entries) => {
        const others = (all: string): string[] =>
          (all.match(/[^\r\n]*(?:\r\n|\n)/g) ?? []).filter((one) => readAllowEntry(one.trim())?.server !== 'a');
        const after = replacePrefix(before, 'mcp__a__', entries);
        expect(others(after)).toEqual(others(before));
        const wanted = entries.includes('mcp__a__*') ? ['mcp__a__*'] : entries;
        expect(
          allowEntries(after, 'a')
            .map((entry) => entry.text)
            .sort(),
        ).toEqual([...wanted].sort());
      }),
    );
  });
});

describe('what may stand for a prefix', () => {
  it.each([
    '',
    'mcp__',
    'mcp__a',
    'mcp__a_',
    'mcp____',
    'a__',
    'mcp__a__b__',
    'mcp__a b__',
    'mcp__a__x',
    'mcp___a__',
    'mcp__a___',
    'mcp__a__\n',
  ])('%j is no prefix', (prefix) => {
    expect(checkReplacement(prefix, [])).toMatchObject({ ok: false, message: expect.stringContaining('prefix') });
  });

  it.each([
    'mcp__b__x',
    'mcp__ab__x',
    'mcp__a__',
    'mcp__a__x(y)',
    'mcp__a__x*',
    'mcp__a__x\nmcp__b__*',
    'mcp__a__x ',
    '# x',
    '',
  ])('the entry %j refuses all', (entry) => {
    expect(checkReplacement('mcp__a__', ['mcp__a__ok', entry])).toMatchObject({
      ok: false,
      message: expect.stringContaining('every entry'),
    });
  });

  it.each([
    [
      ['mcp__a__y', 'mcp__a__x', 'mcp__a__y'],
      ['mcp__a__x', 'mcp__a__y'],
    ],
    [['mcp__a__y', 'mcp__a__*'], ['mcp__a__*']],
    [[], []],
    [['mcp__a__b__c'], ['mcp__a__b__c']],
  ])('%j becomes %j', (entries, result) => {
    expect(checkReplacement('mcp__a__', entries)).toEqual({ ok: true, server: 'a', entries: result });
  });
});

describe('single entries', () => {
  it.each([
    ['', 'mcp__a__x', 'mcp__a__x\n'],
    ['mcp__a__x\n# c\n', 'mcp__a__y', 'mcp__a__x\nmcp__a__y\n# c\n'],
    ['mcp__a__x\n', 'mcp__a__x', 'mcp__a__x\n'],
    ['mcp__a__*\n', 'mcp__a__x', 'mcp__a__*\n'],
    ['mcp__a__x\nmcp__b__x\n', 'mcp__a__*', 'mcp__a__*\nmcp__b__x\n'],
    ['x\n', 'not an entry', 'x\n'],
  ])('%j with %s added is %j', (text, entry, expected) => {
    expect(addEntry(text, entry)).toBe(expected);
  });

  it('are removed one by one or with their server', () => {
    const text = 'mcp__a__x\nmcp__a__y\nmcp__ab__x\n';
    expect(removeEntry(text, 'mcp__a__x')).toBe('mcp__a__y\nmcp__ab__x\n');
    expect(removeEntry(text, 'mcp__a__*')).toBe(text);
    expect(removeServer(text, 'a')).toBe('mcp__ab__x\n');
  });
});
