/** Where credentials are kept: the keychain of the system, or, where none answers, a sealed file in the data directory. */
import { join } from 'node:path';
import { openKeychain } from './keychain.ts';
import { SealedFile } from './sealed.file.ts';
import { type Vault, VaultError, type VaultKind } from './store.ts';

export interface OpenedVault {
  readonly vault: Vault;
  /** In words, for status and log. */
  readonly where: string;
  /** Why not the keychain; null when it is the keychain, or the file was asked for. */
  readonly why: string | null;
  /** A file to lock while credentials of an account are changed, over all processes that share the store. */
  lockOf(account: string): string;
}

export interface VaultOptions {
  readonly prefer: 'auto' | VaultKind;
  readonly dataDir: string;
  /** A folder that all daemons of this person share. */
  readonly sharedDir: string;
}

/**
 * Asks the keychain once. `auto` falls back to the file and says why; `keychain` never does. What is still in the file is
 * found there when the keychain has come since.
 */
export async function openVault({ prefer, dataDir, sharedDir }: VaultOptions): Promise<OpenedVault> {
  const file = new SealedFile(dataDir);
  const locks = (folder: string) => (account: string) => join(folder, `login-${account}`);
  if (prefer === 'file')
    return { vault: file, where: `the encrypted file ${file.path}`, why: null, lockOf: locks(dataDir) };
  const opened = await openKeychain();
  if (opened.ok)
    return {
      vault: withRemains(opened.vault, file),
      where: opened.where,
      why: null,
      lockOf: locks(sharedDir),
    };
  if (prefer === 'keychain') throw new VaultError(`The keychain cannot be used: ${opened.reason}`);
  return { vault: file, where: `the encrypted file ${file.path}`, why: opened.reason, lockOf: locks(dataDir) };
}

/** The keychain, and behind it what an earlier run without one left in the file; it moves when it is written anew. */
function withRemains(keychain: Vault, file: SealedFile): Vault {
  return {
    kind: 'keychain',
    read: async (account) => (await keychain.read(account)) ?? (file.exists ? await file.read(account) : null),
    async write(account, text) {
      await keychain.write(account, text);
      if (file.exists) await file.erase(account);
    },
    async erase(account) {
      const there = await keychain.erase(account);
      return (file.exists && (await file.erase(account))) || there;
    },
  };
}
