import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { tempDir } from '../support/temp.ts';

describe('loading the config file', () => {
  it('that is not there gives no servers', async () => {
    expect(await loadConfig(join(tempDir(), 'no/mcp.json'))).toMatchObject({
      kind: 'loaded',
      exists: false,
      config: { entries: [] },
    });
  });

  it('never writes, however odd the file is', async () => {
    const dir = tempDir();
    const file = join(dir, 'mcp.json');
    const text = '\uFEFF{"servers":{"a/b":{"command":"x",},"a/b":{}, "c":{"command":"y","url":"z"}}}\r\n';
    writeFileSync(file, text);
    const before = statSync(file, { bigint: true });
    expect(await loadConfig(file)).toMatchObject({ kind: 'loaded', exists: true });
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(statSync(file, { bigint: true }).mtimeNs).toBe(before.mtimeNs);
    expect(readdirSync(dir)).toEqual(['mcp.json']);
  });

  it.each<[string, (file: string) => void, RegExp]>([
    ['is broken', (file) => writeFileSync(file, '{"servers": {'), /line 1, column 14/],
    ['is a directory', (file) => mkdirSync(file), /is a directory/],
    ['is a pipe', (file) => void execFileSync('mkfifo', [file]), /not a regular file/],
    ['is UTF-16', (file) => writeFileSync(file, Buffer.from('\uFEFF{}', 'utf16le')), /not UTF-8/],
  ])('that %s names the problem', async (_what, make, message) => {
    const file = join(tempDir(), 'mcp.json');
    make(file);
    expect(await loadConfig(file)).toMatchObject({
      kind: 'broken',
      problem: { message: expect.stringMatching(message) },
    });
  });
});
