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
 * Asks the keychain once. `auto` falls back to the file and says why; `keychain` never does. `onOther` is told when the
 * keychain, which did answer, turns out to have no place for anything, and the file is used from then on.
 */
export async function openVault(
  { prefer, dataDir, sharedDir }: VaultOptions,
  onOther: () => void = () => {},
): Promise<OpenedVault> {
  const file = new SealedFile(dataDir);
  const fileWords = `the encrypted file ${file.path}`;
  const locks = (folder: string) => (account: string) => join(folder, `login-${account}`);
  if (prefer === 'file') return { vault: file, where: fileWords, why: null, lockOf: locks(dataDir) };
  const opened = await openKeychain();
  if (!opened.ok) {
    if (prefer === 'keychain') throw new VaultError(`The keychain cannot be used: ${opened.reason}`);
    return { vault: file, where: fileWords, why: opened.reason, lockOf: locks(dataDir) };
  }
  const both = new KeychainAndFile(opened.vault, file, prefer === 'auto', onOther);
  return {
    vault: both,
    get where() {
      return both.why === null ? opened.where : fileWords;
    },
    get why() {
      return both.why;
    },
    lockOf: locks(sharedDir),
  };
}

/**
 * The keychain, and behind it the file, with what was written while there was no keychain. What is in the file is always
 * the newer one: whatever is written into the keychain goes out of the file.
 */
export class KeychainAndFile implements Vault {
  /** Why the file is used all the same; null while it is not. */
  why: string | null = null;
  readonly #keychain: Vault;
  readonly #file: Vault & { readonly exists: boolean };
  readonly #mayUseFile: boolean;
  readonly #onOther: () => void;

  constructor(keychain: Vault, file: Vault & { readonly exists: boolean }, mayUseFile: boolean, onOther: () => void) {
    this.#keychain = keychain;
    this.#file = file;
    this.#mayUseFile = mayUseFile;
    this.#onOther = onOther;
  }

  get kind(): VaultKind {
    return this.why === null ? 'keychain' : 'file';
  }

  async read(account: string): Promise<string | null> {
    const remains = this.#file.exists ? await this.#file.read(account) : null;
    return remains ?? this.#keychain.read(account);
  }

  async write(account: string, text: string): Promise<void> {
    const kept = await this.#tryKeychain(() => this.#keychain.write(account, text));
    if (!kept) await this.#file.write(account, text);
    else if (this.#file.exists) await this.#file.erase(account);
  }

  async erase(account: string): Promise<boolean> {
    const there = await this.#keychain.erase(account);
    return (this.#file.exists && (await this.#file.erase(account))) || there;
  }

  async check(): Promise<void> {
    if (!(await this.#tryKeychain(() => this.#keychain.check()))) await this.#file.check();
  }

  /** Resolves with whether it went well; with false when there is no place in it and the file may be used. */
  async #tryKeychain(work: () => Promise<void>): Promise<boolean> {
    if (this.why !== null) return false;
    try {
      await work();
      return true;
    } catch (error) {
      if (!this.#mayUseFile || !(error instanceof VaultError) || !error.nowhere) throw error;
      this.why = error.message.replace(/^The keychain cannot be used: /, '');
      this.#onOther();
      return false;
    }
  }
}
