/**
 * What is connected, and with which token: `clients.json` in the data directory. Tokens stand in it as hashes; what the
 * files held before stands beside it.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readText, writeAtomic } from '../config/files.ts';
import { withFileLock } from '../config/lock.ts';
import { isObject } from '../config/raw.ts';
import { sha256Hex } from '../hash.ts';
import type { ConnectMode } from './plan.ts';

export type Permission = 'ask' | 'allow-all' | 'deny';

export interface Connected {
  /** The file the entries stand in. */
  readonly file: string;
  readonly mode: ConnectMode;
  /** What the entries are called after; null: each like its server. */
  readonly name: string | null;
  /** Default mode of its calls, and the most they may ask for. */
  readonly permission: Permission;
  /** Servers it may see; null or absent: all. */
  readonly servers?: readonly string[] | null;
  /** Calls it may make a minute; null or absent: as many as it likes. */
  readonly callsPerMinute?: number | null;
  /** Held calls are put to the person in the client itself (elicitation). */
  readonly asksInClient?: boolean;
  /** SHA-256 of its token; null: it uses none. */
  readonly tokenHash: string | null;
  readonly tokenIn: 'variable' | 'file' | 'none';
  readonly entries: readonly string[];
  /** Entries of the user's own that made way. */
  readonly replaced: readonly string[];
  /** ISO 8601. */
  readonly createdAt: string;
  /** SHA-256 of the text last written to the file; null while nothing was. */
  readonly written: string | null;
  /** Whether there was a file before, and its mode. */
  readonly existed: boolean;
  readonly fileMode: number | null;
  /** The key for servers was not there before. */
  readonly madeKey: boolean;
  readonly backup: string | null;
}

export type Registry = Readonly<Record<string, Connected>>;

export const registryFile = (dataDir: string): string => join(dataDir, 'clients.json');
const beforeFile = (dataDir: string, id: string): string => join(dataDir, 'clients', `${id}.before`);

/** The registry file is there but cannot be used. */
export class RegistryError extends Error {
  override readonly name = 'RegistryError';
}

/** Reads the text of the registry; null or empty: nobody is connected. Throws a RegistryError. */
export function parseRegistry(text: string | null, file: string): Registry {
  if (text === null || text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value) && value.version === 1 && isObject(value.clients)) return value.clients as unknown as Registry;
  } catch {
    // Said below.
  }
  throw new RegistryError(`${file} cannot be used; remove it and connect the clients again`);
}

export const readRegistry = async (dataDir: string): Promise<Registry> =>
  parseRegistry(await readText(registryFile(dataDir)), registryFile(dataDir));

/** Work on clients happens one at a time, over all processes. */
export const aloneWithClients = <T>(dataDir: string, work: () => Promise<T>): Promise<T> =>
  withFileLock(registryFile(dataDir), work);

/** Call it inside `aloneWithClients`. Writes nothing when nothing changed. */
export async function writeRegistry(dataDir: string, registry: Registry): Promise<void> {
  const file = registryFile(dataDir);
  const sorted = Object.fromEntries(Object.entries(registry).sort(([a], [b]) => (a < b ? -1 : 1)));
  const text = `${JSON.stringify({ version: 1, clients: sorted }, null, 2)}\n`;
  if ((await readText(file)) === text) return;
  await writeAtomic(file, text);
  await chmod(file, 0o600);
}

export const readBefore = (dataDir: string, id: string): Promise<string | null> => readText(beforeFile(dataDir, id));
export const keepBefore = async (dataDir: string, id: string, text: string): Promise<void> => {
  if ((await readBefore(dataDir, id)) !== text) await writeAtomic(beforeFile(dataDir, id), text);
};
export const forgetBefore = (dataDir: string, id: string): Promise<void> =>
  rm(beforeFile(dataDir, id), { force: true });

export const newToken = (): string => `wk_${randomBytes(32).toString('base64url')}`;
export const tokenHash = (token: string): string => sha256Hex(token);

/** One client as those who let it in see it. */
export interface TokenHolder {
  readonly id: string;
  readonly permission: Permission;
}

/**
 * Who may use the daemon as a client. The file is looked at whenever it is asked about, and read when it changed: a
 * token counts from the moment it is written, and ends with it.
 */
export class ClientTokens {
  readonly #file: string;
  #mark = '';
  #registry: Registry = {};
  readonly #warn: (message: string) => void;

  constructor(dataDir: string, warn: (message: string) => void = () => {}) {
    this.#file = registryFile(dataDir);
    this.#warn = warn;
  }

  all(): Registry {
    const mark = markOf(this.#file);
    if (mark !== this.#mark) {
      this.#mark = mark;
      try {
        this.#registry = mark === '' ? {} : parseRegistry(readFileSync(this.#file, 'utf8'), this.#file);
      } catch (error) {
        // Nobody is let in by a file that cannot be read.
        this.#registry = {};
        this.#warn(error instanceof RegistryError ? error.message : `${this.#file} cannot be read.`);
      }
    }
    return this.#registry;
  }

  byToken(token: string): TokenHolder | null {
    const hash = tokenHash(token);
    const found = Object.entries(this.all()).find(([, client]) => client.tokenHash === hash);
    return found ? { id: found[0], permission: found[1].permission } : null;
  }

  /** null for a client that is not, or no longer, connected. */
  limitsOf(id: string): Pick<Connected, 'servers' | 'callsPerMinute' | 'asksInClient'> | null {
    const registry = this.all();
    return (Object.hasOwn(registry, id) ? registry[id] : undefined) ?? null;
  }

  byName(id: string): TokenHolder | null {
    const registry = this.all();
    const client = Object.hasOwn(registry, id) ? registry[id] : undefined;
    return client ? { id, permission: client.permission } : null;
  }
}

function markOf(file: string): string {
  const info = statSync(file, { bigint: true, throwIfNoEntry: false });
  return info === undefined ? '' : [info.dev, info.ino, info.size, info.mtimeNs, info.ctimeNs].join(' ');
}
