/** What keeps credentials, whatever it is. */

export type VaultKind = 'keychain' | 'file';

/** Texts by account. Every method rejects with a VaultError that names the store and the next step, and no content. */
export interface Vault {
  readonly kind: VaultKind;
  read(account: string): Promise<string | null>;
  write(account: string, text: string): Promise<void>;
  /** Resolves with whether there was anything. */
  erase(account: string): Promise<boolean>;
  /** Whether something could be written now; it may ask whoever sits at the machine to open it. */
  check(): Promise<void>;
}

/** The store cannot be read or written. `nowhere`: it answers, and has no place to put anything into. */
export class VaultError extends Error {
  override readonly name = 'VaultError';
  readonly nowhere: boolean;

  constructor(message: string, { nowhere = false } = {}) {
    super(message);
    this.nowhere = nowhere;
  }
}
