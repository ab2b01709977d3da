import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { updateAllowFile } from '../../src/config/allow-file.edit.ts';
import { addEntry, removeServer } from '../../src/config/allow-file.ts';
import { tempDir } from '../support/temp.ts';

describe('allow_tool on disk', () => {
  it('is made for its owner alone, when there is something to put in', async () => {
    const file = join(tempDir(), 'allow_tool');
    expect(await updateAllowFile(file, (text) => removeServer(text, 'a'))).toBe('');
    expect(existsSync(file)).toBe(false);
    expect(await updateAllowFile(file, (text) => addEntry(text, 'mcp__a__x'))).toBe('mcp__a__x\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('holds every entry of thirty added at once', async () => {
    const file = join(tempDir(), 'allow_tool');
    const entries = Array.from({ length: 30 }, (_, index) => `mcp__a__t${index}`);
    await Promise.all(entries.map((entry) => updateAllowFile(file, (text) => addEntry(text, entry))));
    expect(readFileSync(file, 'utf8').trim().split('\n').sort()).toEqual(entries.sort());
  });
});
