import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { modeWarning, parseVariables, readVariables } from '../../src/config/variables.ts';
import { tempDir } from '../support/temp.ts';

describe('a line of watchkeeper.env', () => {
  it.each([
    ['A=1', '1'],
    ['export A=1', '1'],
    ['  A = 1  ', '1'],
    ['A=', ''],
    ['A=a b', 'a b'],
    ['A=a=b', 'a=b'],
    ['A=a#b', 'a#b'],
    ['A=a # note', 'a'],
    ['A= # note', ''],
    ["A='a # b'", 'a # b'],
    ["A='a\\nb' # note", 'a\\nb'],
    ['A="a # b"', 'a # b'],
    ['A="a\\nb\\t\\"c\\" \\\\ \\$x \\q"', 'a\nb\t"c" \\ $x \\q'],
    ['A=$B', '$B'],
    ['A=${B}', '${B}'],
    ['\uFEFFA=1\r', '1'],
  ])('%j sets A to %j', (line, value) => {
    expect(parseVariables(line)).toEqual({ values: { A: value }, warnings: [] });
  });

  it.each(['', '# A=1', '   ', '  # x'])('%j says nothing', (line) => {
    expect(parseVariables(line)).toEqual({ values: {}, warnings: [] });
  });

  it.each(['secret', '1A=secret', 'A-B=secret', 'A="secret', "A='secret' more", 'A="secret" more', '=secret'])(
    '%j is ignored aloud, without its text',
    (line) => {
      expect(parseVariables(`X=1\n${line}`)).toEqual({
        values: { X: '1' },
        warnings: ['line 2 is not KEY=VALUE and is ignored'],
      });
    },
  );

  it('that sets a name again wins, aloud', () => {
    expect(parseVariables('A=1\nA=2')).toEqual({
      values: { A: '2' },
      warnings: ['line 2 sets A again; the last one counts'],
    });
  });

  it('may set odd names without harm', () => {
    expect(Object.entries(parseVariables('__proto__=x\nconstructor=y').values)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
  });
});

describe('watchkeeper.env', () => {
  it.each([
    [0o600, 'linux', null],
    [0o400, 'linux', null],
    [0o644, 'linux', 'f can be read or written by others (mode 0644); run: chmod 600 f'],
    [0o660, 'darwin', 'f can be read or written by others (mode 0660); run: chmod 600 f'],
    [0o666, 'win32', null],
  ])('with mode %o on %s', (mode, platform, warning) => {
    expect(modeWarning('f', mode, platform)).toBe(warning);
  });

  it('that is not there holds nothing', async () => {
    expect(await readVariables(join(tempDir(), 'none'))).toEqual({ values: {}, warnings: [] });
  });

  it('is read with its warnings', async () => {
    const file = join(tempDir(), 'watchkeeper.env');
    writeFileSync(file, 'A=1\noops');
    chmodSync(file, 0o644);
    const { values, warnings } = await readVariables(file);
    expect(values).toEqual({ A: '1' });
    expect(warnings).toEqual([expect.stringContaining('chmod 600'), expect.stringContaining('line 2')]);
  });
});
