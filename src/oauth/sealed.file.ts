/**
 * Credentials in a file: AES-256-GCM under a key that lies beside it, both 0600. It keeps them out of backups of one file,
 * searches and screens; it keeps nothing from programs that run as the same person.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, FileError, readText, writeAtomic } from '../config/files.ts';
import { withFileLock } from '../config/lock.ts';
import { type Vault, VaultError } from './store.ts';

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

type Accounts = Readonly<Record<string, string>>;

export class SealedFile implements Vault {
  readonly kind = 'file';
  readonly path: string;
  readonly #keyFile: string;

  /** `folder` is the data directory, which only its owner may enter. */
  constructor(folder: string) {
    this.path = join(folder, 'credentials');
    this.#keyFile = join(folder, 'credentials.key');
  }

  get exists(): boolean {
    return existsSync(this.path);
  }

  async read(account: string): Promise<string | null> {
    const accounts = await this.#open();
    return Object.hasOwn(accounts, account) ? (accounts[account] ?? null) : null;
  }

  async check(): Promise<void> {
    await this.#open();
  }

  write(account: string, text: string): Promise<void> {
    return this.#change((accounts) => ({ ...accounts, [account]: text }));
  }

  async erase(account: string): Promise<boolean> {
    let there = false;
    if (!this.exists) return false;
    await this.#change(({ [account]: erased, ...rest }) => {
      there = erased !== undefined;
      return rest;
    });
    return there;
  }

  #change(change: (accounts: Accounts) => Accounts): Promise<void> {
    return guarded(() =>
      withFileLock(this.path, async () => {
        const changed = JSON.stringify(change(await this.#open()));
        const iv = randomBytes(IV_BYTES);
        const cipher = createCipheriv('aes-256-gcm', this.#key(), iv);
        const sealed = Buffer.concat([cipher.update(changed, 'utf8'), cipher.final()]);
        await writeAtomic(this.path, `${Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')}\n`);
      }),
    );
  }

  async #open(): Promise<Accounts> {
    const text = await guarded(() => readText(this.path));
    if (text === null) return {};
    const bytes = Buffer.from(text, 'base64');
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key(), bytes.subarray(0, IV_BYTES));
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      const plain = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
      return JSON.parse(plain.toString('utf8')) as Accounts;
    } catch {
      throw new VaultError(
        `${this.path} cannot be opened with ${this.#keyFile}: one of them was changed or replaced. Put both back, or remove both and log in again.`,
      );
    }
  }

  /** Made with the first credential; two processes that make it at once end with the same one. */
  #key(): Buffer {
    if (this.exists && !existsSync(this.#keyFile)) throw new VaultError(`${this.#keyFile} is missing; put it back.`);
    try {
      const file = openSync(this.#keyFile, 'wx', 0o600);
      writeSync(file, `${randomBytes(KEY_BYTES).toString('base64')}\n`);
      closeSync(file);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST')
        throw new VaultError(`${this.#keyFile} cannot be made: ${codeOf(error) ?? 'unknown error'}`);
    }
    const key = Buffer.from(readFileSync(this.#keyFile, 'utf8').trim(), 'base64');
    if (key.length !== KEY_BYTES) throw new VaultError(`${this.#keyFile} is not a key; put the right one back.`);
    return key;
  }
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof FileError ? new VaultError(error.message) : error;
  }
}
