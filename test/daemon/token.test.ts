import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readOrMakeToken, writeNewToken } from '../../src/daemon/token.ts';
import { tempDir } from '../support/temp.ts';

const newFile = (): string => join(tempDir(), 'token');
const modeOf = (file: string): number => statSync(file).mode & 0o777;
const posix = it.skipIf(process.platform === 'win32');

describe('The token', () => {
  it('is made where there is none, long enough not to be guessed, and never the same', () => {
    const file = newFile();
    const token = readOrMakeToken(file);
    expect(token).toMatch(/^wk_[A-Za-z0-9_-]{43}$/);
    expect(readFileSync(file, 'utf8')).toBe(`${token}\n`);
    expect(readOrMakeToken(newFile())).not.toBe(token);
  });

  it('is kept from then on', () => {
    const file = newFile();
    const token = readOrMakeToken(file);
    expect(readOrMakeToken(file)).toBe(token);
  });

  it('may have been written by hand, with space around it', () => {
    const file = newFile();
    writeFileSync(file, '  mine  \n\n');
    expect(readOrMakeToken(file)).toBe('mine');
    expect(readFileSync(file, 'utf8')).toBe('  mine  \n\n');
  });

  it.each(['', '\n', '  \n'])('is made anew where the file holds nothing: %j', (text) => {
    const file = newFile();
    writeFileSync(file, text);
    expect(readOrMakeToken(file)).toMatch(/^wk_/);
  });

  posix('is readable by its owner only, from its first moment and whatever the mode was', () => {
    const file = newFile();
    readOrMakeToken(file);
    expect(modeOf(file)).toBe(0o600);
    chmodSync(file, 0o644);
    readOrMakeToken(file);
    expect(modeOf(file)).toBe(0o600);
    chmodSync(file, 0o644);
    writeNewToken(file);
    expect(modeOf(file)).toBe(0o600);
  });

  it('is replaced in one step, and nothing is left beside it', () => {
    const file = newFile();
    const old = readOrMakeToken(file);
    const token = writeNewToken(file);
    expect(token).not.toBe(old);
    expect(readOrMakeToken(file)).toBe(token);
    expect(readdirSync(dirname(file))).toEqual(['token']);
  });
});
