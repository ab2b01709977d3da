/** The keychain of the system: Secret Service on Linux, Keychain on macOS, Credential Manager on Windows. */
import { askSecretTool } from './secret.tool.ts';
import { type Vault, VaultError } from './store.ts';

const SERVICE = 'watchkeeper';
/** An unlocked keychain answers at once; one that asks somebody for a password must not hold a daemon up. */
const FIRST_ANSWER_MS = 5_000;
const ANSWER_MS = 30_000;
/** Windows keeps at most 2,560 bytes of UTF-16 an entry, and tokens are longer. */
const WINDOWS_LENGTH = 1_200;

/** What is used of one entry of the keychain. */
export interface KeychainEntry {
  getPassword(signal: AbortSignal): Promise<string | null | undefined>;
  setPassword(text: string, signal: AbortSignal): Promise<void>;
  deletePassword(signal: AbortSignal): Promise<boolean>;
}
export type OpenEntry = (account: string) => KeychainEntry;

export type OpenedKeychain =
  | { readonly ok: true; readonly vault: Vault; readonly where: string }
  | { readonly ok: false; readonly reason: string };

const names: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'the keychain of macOS',
  win32: 'the Credential Manager of Windows',
};

/** Loads the binding and asks for an entry that is never there. Never rejects. */
export async function openKeychain(): Promise<OpenedKeychain> {
  const where = names[process.platform] ?? 'the Secret Service of this desktop session';
  if (process.platform === 'linux' && !process.env.DBUS_SESSION_BUS_ADDRESS && !process.env.XDG_RUNTIME_DIR)
    return { ok: false, reason: 'no desktop session offers one (there is no D-Bus session)' };
  try {
    const { AsyncEntry } = await import('@napi-rs/keyring');
    // Without saying so the binding would use a part of the kernel that forgets everything at a restart.
    const open: OpenEntry = (account) => new AsyncEntry(SERVICE, account, { linux: { store: 'secret-service' } });
    await within(FIRST_ANSWER_MS, (signal) => open('probe').getPassword(signal));
    return { ok: true, vault: keychainVault(open), where };
  } catch (error) {
    return { ok: false, reason: reasonOf(error) };
  }
}

/**
 * An entry of another program; null when it is not there or no keychain answers. On Linux the binding looks for entries by
 * `username` alone, and such programs name them otherwise: so the tool they use is asked.
 */
export async function readEntry(service: string, account: string): Promise<string | null> {
  try {
    if (process.platform === 'linux') return await askSecretTool(service, account, FIRST_ANSWER_MS);
    const { AsyncEntry } = await import('@napi-rs/keyring');
    const entry = new AsyncEntry(service, account);
    return (await within(FIRST_ANSWER_MS, (signal) => entry.getPassword(signal))) ?? null;
  } catch {
    return null;
  }
}

/** A vault on any keychain; a text longer than `length` is kept in several entries. */
export function keychainVault(
  open: OpenEntry,
  length: number = process.platform === 'win32' ? WINDOWS_LENGTH : Number.POSITIVE_INFINITY,
): Vault {
  const get = (account: string) => within(ANSWER_MS, (signal) => open(account).getPassword(signal));
  const put = (account: string, text: string) => within(ANSWER_MS, (signal) => open(account).setPassword(text, signal));
  const drop = (account: string) => within(ANSWER_MS, (signal) => open(account).deletePassword(signal));
  const partOf = (account: string, part: number): string => `${account}#${part}`;
  const partsIn = (text: string | null | undefined): number => Number(/^parts:(\d{1,3})$/.exec(text ?? '')?.[1] ?? 0);
  const dropParts = async (account: string, from: number, to: number) => {
    for (let part = from; part < to; part += 1) await drop(partOf(account, part));
  };
  return {
    kind: 'keychain',
    async read(account) {
      const text = (await get(account)) ?? null;
      const parts = partsIn(text);
      if (parts === 0) return text;
      const texts = await Promise.all(Array.from({ length: parts }, (_, part) => get(partOf(account, part))));
      return texts.every((one) => typeof one === 'string') ? texts.join('') : null;
    },
    async write(account, text) {
      const before = partsIn(await get(account));
      const parts = text.length > length ? Math.ceil(text.length / length) : 0;
      for (let part = 0; part < parts; part += 1)
        await put(partOf(account, part), text.slice(part * length, (part + 1) * length));
      await put(account, parts === 0 ? text : `parts:${parts}`);
      await dropParts(account, parts, before);
    },
    async erase(account) {
      await dropParts(account, 0, partsIn(await get(account)));
      return drop(account);
    },
    async check() {
      await put('probe', 'probe');
      await drop('probe');
    },
  };
}

async function within<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = AbortSignal.timeout(ms);
  // The binding gives up waiting in its own time only.
  const late = new Promise<never>((_, reject) => {
    limit.addEventListener('abort', () => reject(new Error('it does not answer; it may be locked')), { once: true });
  });
  try {
    return await Promise.race([work(limit), late]);
  } catch (error) {
    const reason = reasonOf(error);
    throw new VaultError(`The keychain cannot be used: ${reason}`, { nowhere: reason === NOWHERE });
  }
}

const NOWHERE = 'it has no keyring to put anything into';

/** Of the binding's words the first line: it names the service and never an entry's content. */
function reasonOf(error: unknown): string {
  const words = (error instanceof Error ? error.message : String(error)).replace(/^The keychain cannot be used: /, '');
  if (/Cannot find (?:module|package|native binding)|ERR_MODULE_NOT_FOUND|dlopen/i.test(words))
    return 'the binding to it is not installed for this system';
  if (/prompt was dismissed|is locked/i.test(words)) return 'it is locked; unlock it and try again';
  // Of a service that answers although nobody has ever opened it, as on machines without a desktop.
  if (/Secret Service: no result found/i.test(words)) return NOWHERE;
  if (/not provided by any \.service files|Failed to connect to socket|Did not receive a reply/i.test(words))
    return 'no Secret Service answers in this desktop session';
  return (words.split('\n', 1)[0] ?? '').slice(0, 160) || 'it does not answer';
}
