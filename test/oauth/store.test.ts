import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type KeychainEntry, keychainVault, openKeychain } from '../../src/oauth/keychain.ts';
import { SealedFile } from '../../src/oauth/sealed.file.ts';
import { openVault } from '../../src/oauth/vault.ts';
import { tempDir } from '../support/temp.ts';

describe('The sealed file', () => {
  it('gives back what was put in, and holds none of it in clear', async () => {
    const folder = tempDir();
    const file = new SealedFile(folder);
    expect(await file.read('a.1')).toBeNull();
    expect(await file.erase('a.1')).toBe(false);
    expect(existsSync(join(folder, 'credentials'))).toBe(false);
    await file.write('a.1', 'the secret of a');
    await file.write('b.1', 'the secret of b');
    const other = new SealedFile(folder);
    expect([await other.read('a.1'), await other.read('b.1')]).toEqual(['the secret of a', 'the secret of b']);
    for (const name of ['credentials', 'credentials.key']) {
      expect(readFileSync(join(folder, name), 'latin1')).not.toContain('secret');
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    }
    expect(await other.erase('a.1')).toBe(true);
    expect([await file.read('a.1'), await file.read('b.1')]).toEqual([null, 'the secret of b']);
    expect(await file.read('__proto__')).toBeNull();
  });

  it('loses nothing of what many write at once', async () => {
    const folder = tempDir();
    const files = Array.from({ length: 10 }, () => new SealedFile(folder));
    await Promise.all(files.map((file, n) => file.write(`s.${n}`, `value ${n}`)));
    const read = await Promise.all(files.map((file, n) => file.read(`s.${n}`)));
    expect(read).toEqual(files.map((_, n) => `value ${n}`));
  });

  it.each([
    ['was changed', (folder: string) => flip(join(folder, 'credentials'))],
    ['lost its key', (folder: string) => rmSync(join(folder, 'credentials.key'))],
    [
      'got another key',
      (folder: string) => writeFileSync(join(folder, 'credentials.key'), randomBytes(32).toString('base64')),
    ],
    ['got a key that is none', (folder: string) => writeFileSync(join(folder, 'credentials.key'), 'x')],
    ['was cut', (folder: string) => writeFileSync(join(folder, 'credentials'), 'AAAA')],
  ])('that %s says so, and is not overwritten', async (_what, harm) => {
    const folder = tempDir();
    const file = new SealedFile(folder);
    await file.write('a.1', 'the secret of a');
    harm(folder);
    const before = readFileSync(join(folder, 'credentials'));
    await expect(file.read('a.1')).rejects.toThrow(/credentials/);
    await expect(file.write('b.1', 'x')).rejects.toThrow(/credentials/);
    expect(readFileSync(join(folder, 'credentials'))).toEqual(before);
  });
});

function flip(file: string): void {
  const bytes = Buffer.from(readFileSync(file, 'utf8'), 'base64');
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  writeFileSync(file, bytes.toString('base64'));
}

/** A keychain as systems have it, entries of limited length. */
function keychain(longest = Number.POSITIVE_INFINITY) {
  const entries = new Map<string, string>();
  const open = (account: string): KeychainEntry => ({
    getPassword: async () => entries.get(account) ?? null,
    setPassword: async (text) => {
      if (text.length > longest) throw new Error('too long');
      entries.set(account, text);
    },
    deletePassword: async () => entries.delete(account),
  });
  return { entries, open };
}

describe('A keychain', () => {
  it('that keeps short texts only keeps long ones in parts, and leaves no part behind', async () => {
    const { entries, open } = keychain(20);
    const vault = keychainVault(open, 20);
    const long = 'x'.repeat(15) + 'y'.repeat(40);
    await vault.write('a.1', long);
    expect(await vault.read('a.1')).toBe(long);
    expect(entries.size).toBe(4);
    await vault.write('a.1', 'short');
    expect([...entries]).toEqual([['a.1', 'short']]);
    await vault.write('a.1', long);
    expect(await vault.erase('a.1')).toBe(true);
    expect(entries.size).toBe(0);
    expect(await vault.read('a.1')).toBeNull();
  });

  it('that lost a part has nothing', async () => {
    const { entries, open } = keychain(20);
    const vault = keychainVault(open, 20);
    await vault.write('a.1', 'z'.repeat(50));
    entries.delete('a.1#1');
    expect(await vault.read('a.1')).toBeNull();
  });

  it('that fails says so without the text', async () => {
    const vault = keychainVault(keychain(3).open);
    await expect(vault.write('a.1', 'the secret')).rejects.toThrow(/^The keychain cannot be used: too long$/);
  });
});

describe.skipIf(process.platform !== 'linux')('Where no keychain answers', () => {
  const without = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent/bus' };

  it('the file is used, and why is said', async () => {
    const before = process.env.DBUS_SESSION_BUS_ADDRESS;
    process.env.DBUS_SESSION_BUS_ADDRESS = without.DBUS_SESSION_BUS_ADDRESS;
    try {
      expect(await openKeychain()).toMatchObject({ ok: false });
      const dataDir = tempDir();
      const opened = await openVault({ prefer: 'auto', dataDir, sharedDir: tempDir() });
      expect([opened.vault.kind, opened.why]).toEqual(['file', expect.stringMatching(/\S/)]);
      await expect(openVault({ prefer: 'keychain', dataDir, sharedDir: tempDir() })).rejects.toThrow(/keychain/);
    } finally {
      if (before === undefined) delete process.env.DBUS_SESSION_BUS_ADDRESS;
      else process.env.DBUS_SESSION_BUS_ADDRESS = before;
    }
  });
});
