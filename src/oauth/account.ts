/** What one server's login is: kept in the store, held in memory, renewed by one at a time, over all processes. */
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FileError } from '../config/files.ts';
import { withFileLock } from '../config/lock.ts';
import type { Credentials } from '../mcp/connection.ts';
import { Fault } from '../mcp/failure.ts';
import { type AddressRules, isLoopback, isOwn } from './addresses.ts';
import { type Challenge, readChallenge } from './challenge.ts';
import { checkedFetch } from './checked.fetch.ts';
import { findResource } from './discover.ts';
import { renew, revoke } from './endpoint.ts';
import { readRecord, type StoredClient, type StoredRecord, type StoredTokens, secretsOf } from './record.ts';
import type { Note } from './settings.ts';
import { type Vault, VaultError } from './store.ts';
import { dueAt, renewed } from './tokens.ts';
import { LoginError, Refused, ServerTrouble } from './trouble.ts';
import type { OpenedVault } from './vault.ts';

/** Another process that renews has this long, in ms. */
const LOCK_MS = 60_000;
/** A token that is this young, in ms, and refused all the same is not renewed once more: that would go on for ever. */
const YOUNG_MS = 30_000;
/** After an authorization server was in trouble, it is left alone for this long, in ms, while the old token still works. */
const PAUSE_MS = 30_000;

export interface AccountOptions {
  readonly name: string;
  /** Hash of the address as written. */
  readonly identity: string;
  readonly vault: () => Promise<OpenedVault>;
  readonly ownPorts: () => readonly number[];
  /** Addresses of this machine in its networks. */
  readonly ownAddresses: () => readonly string[];
  readonly note: Note;
  readonly warn: (server: string, message: string) => void;
  readonly now: () => number;
  readonly random: () => number;
}

const NONE: readonly string[] = [];
/** How many secrets are masked, the newest first: those of a few renewals. */
const MASKED = 16;
const GONE = 'there is no login any more';

export class LoginAccount implements Credentials {
  readonly name: string;
  readonly advice: string;
  /** The newest challenge of the server: what it wanted when it last refused. */
  challenge: Challenge | null = null;

  readonly #options: AccountOptions;
  readonly #account: string;
  /** Where the server is, once somebody asked on its behalf. */
  #url: string | null = null;
  #record: StoredRecord | null = null;
  #loading: Promise<void> | null = null;
  #loaded = false;
  #secrets: readonly string[] = NONE;
  #renewal: Promise<Renewal> | null = null;
  /** Spreads renewals; another one for each token. */
  #spread = 0;
  #pausedUntil = 0;
  /** The token that came from the last renewal. */
  #young: { readonly access: string; readonly at: number } | null = null;
  /** Grows with every deletion: what was begun before must not bring anything back. */
  #epoch = 0;
  /** Deletions under way: what the store still holds does not count. */
  #forgetting = 0;
  /** How often what is held in memory was replaced. */
  #taken = 0;
  /** What the store did not take, in the place of the token that was spent for it: it is tried again. */
  #unwritten: { readonly record: StoredRecord; readonly spent: string } | null = null;

  constructor(options: AccountOptions) {
    this.#options = options;
    this.name = options.name;
    this.advice = `watchkeeper login ${options.name}`;
    this.#account = accountOf(options.name, options.identity);
  }

  /** For the server at this address, placeholders replaced. What was kept for another address does not count. */
  at(url: string): this {
    this.#url = url;
    return this;
  }

  secrets(): readonly string[] {
    return this.#secrets;
  }

  get rules(): AddressRules {
    const host = this.#url !== null && URL.canParse(this.#url) ? new URL(this.#url).hostname : '';
    const ownAddresses = this.#options.ownAddresses();
    const local = isLoopback(host) || isOwn(host, ownAddresses);
    return { local, ownPorts: this.#options.ownPorts(), ownAddresses, server: host };
  }

  /** Whether a token is kept. Rejects with a VaultError. */
  async hasToken(): Promise<boolean> {
    await this.#load();
    return this.#record?.tokens != null;
  }

  /** What is kept for the present address; never of another one. Rejects with a VaultError. */
  async kept(): Promise<{ readonly client: StoredClient | null; readonly tokens: StoredTokens | null }> {
    await this.#load();
    return { client: this.#record?.client ?? null, tokens: this.#tokens() };
  }

  async authorization(): Promise<string | null> {
    await this.#loadOrFault();
    const tokens = this.#tokens();
    if (tokens === null) return null;
    const now = this.#options.now();
    const due = dueAt(tokens, now, this.#spread);
    if (this.#unwritten !== null && now >= this.#pausedUntil) this.#writeLater(now);
    if (due === 'no') return header(tokens);
    if (due === 'soon') {
      if (now >= this.#pausedUntil) void this.#renew('expiring');
      return header(tokens);
    }
    const renewal = await this.#renew('expiring');
    if (renewal.kind === 'trouble') throw new Fault(renewal.error.observation, false);
    if (renewal.kind === 'lost') throw new Fault({ seen: 'login', detail: renewal.reason, advice: this.advice }, false);
    const fresh = this.#tokens();
    return fresh === null ? null : header(fresh);
  }

  async refused({ status, challenge, used }: Parameters<Credentials['refused']>[0]): Promise<boolean> {
    const said = readChallenge(challenge);
    if (status === 403) {
      // Only a person can widen what a login allows; what is wanted is remembered for the next one.
      if (said?.error === 'insufficient_scope') this.challenge = said;
      return false;
    }
    if (said !== null) this.challenge = said;
    await this.#loadOrFault();
    const tokens = this.#tokens();
    if (tokens !== null && header(tokens) !== used) return true;
    if (tokens === null && used !== null) return false;
    // Somebody else, with the same store, may have logged in, out, or renewed it meanwhile.
    await this.#lookAgain();
    const found = this.#tokens();
    if (found === null || header(found) !== used) return found !== null;
    if (found.refresh === null || this.#isYoung(found)) return false;
    const renewal = await this.#renew('refused');
    if (renewal.kind === 'trouble') throw new Fault(renewal.error.observation, false);
    return renewal.kind === 'fresh';
  }

  /** Puts new tokens in the place of any old ones. */
  async keep(tokens: StoredTokens, client: StoredClient | null): Promise<void> {
    await this.#change(() => ({ ...this.#blank(), client, tokens }));
    this.challenge = null;
  }

  /** A client given by a person, or registered just now. Tokens name their own client; with a given one they begin anew. */
  async keepClient(client: StoredClient): Promise<void> {
    await this.#change(() => {
      const record = this.#blank();
      const tokens = client.kind === 'registered' ? record.tokens : null;
      return { ...record, client, tokens };
    });
  }

  /** This registration is not known any more: it goes, and its tokens with it. A newer one stays. */
  async dropClient(id: string): Promise<void> {
    await this.#change(() => {
      const record = this.#record;
      if (record === null) return null;
      const client = record.client?.id === id ? null : record.client;
      const tokens = record.tokens?.client.id === id ? null : record.tokens;
      return { ...record, client, tokens };
    });
  }

  /**
   * Deletes what is kept; the live session has no token from this moment on. Tells the authorization server where it
   * offers that. `client`: a client given by a person goes too.
   */
  async forget(by: 'person' | 'removal', client: boolean): Promise<void> {
    this.#epoch += 1;
    const held = this.#record;
    this.#take(held && { ...held, tokens: null });
    this.#forgetting += 1;
    const was = await this.#locked(async (write, stored) => {
      this.#loaded = true;
      const keeps = stored?.client?.kind === 'given' && !client;
      await write(stored !== null && keeps ? { ...stored, tokens: null } : null);
      return stored;
    }).finally(() => {
      this.#forgetting -= 1;
    });
    const tokens = was?.tokens ?? held?.tokens ?? null;
    const own = was?.client ?? null;
    const became = own === null ? 'none' : own.kind === 'given' && !client ? 'kept' : 'deleted';
    if (tokens === null && became !== 'deleted') return;
    const revoked = tokens !== null && (await this.#revoked(tokens));
    await this.#options.note({
      type: 'CredentialsDeleted',
      data: { server: this.#options.name, by, revoked, client: became },
    });
  }

  async #revoked(tokens: StoredTokens): Promise<boolean> {
    const fetch = checkedFetch(this.rules, AbortSignal.timeout(10_000));
    // A refresh token takes its access tokens with it, though not with every server.
    const refresh = await revoke(tokens, 'refresh_token', fetch);
    return (await revoke(tokens, 'access_token', fetch)) || refresh;
  }

  /** Whoever comes while a renewal runs gets its outcome. */
  #renew(because: 'expiring' | 'refused'): Promise<Renewal> {
    this.#renewal ??= this.#renewOnce(because).finally(() => {
      this.#renewal = null;
    });
    return this.#renewal;
  }

  async #renewOnce(because: 'expiring' | 'refused'): Promise<Renewal> {
    const epoch = this.#epoch;
    const mine = this.#tokens();
    if (mine === null) return { kind: 'lost', reason: GONE };
    if (because === 'refused' && !(await this.#sameIssuer(mine)))
      return { kind: 'lost', reason: 'the server has moved to another authorization server' };
    try {
      return await this.#locked(async (write, stored) => {
        // Another process may have been faster: its token counts, and ours is spent.
        const theirs = stored?.server === this.#serverHash() ? stored.tokens : null;
        if (epoch !== this.#epoch || theirs === null) {
          this.#take(stored);
          return { kind: 'lost', reason: GONE };
        }
        if (theirs.access !== mine.access) {
          this.#take(stored);
          return { kind: 'fresh' };
        }
        return this.#askForTokens(theirs, stored as StoredRecord, because, epoch, write);
      });
    } catch (error) {
      this.#pausedUntil = this.#options.now() + PAUSE_MS;
      return { kind: 'trouble', error: troubleOf(error) };
    }
  }

  async #askForTokens(
    tokens: StoredTokens,
    stored: StoredRecord,
    because: 'expiring' | 'refused',
    epoch: number,
    write: Write,
  ): Promise<Renewal> {
    const { name, now } = this.#options;
    const { refresh, issuer } = tokens;
    const ended = async (reason: string, client: StoredClient | null): Promise<Renewal> => {
      await write(client === null ? null : { ...stored, client, tokens: null });
      void this.#options.note({ type: 'LoginLost', data: { server: name, issuer, reason } });
      return { kind: 'lost', reason };
    };
    if (refresh === null) return ended('the login has ended, and it cannot be renewed', stored.client);
    try {
      const answer = await renew({ ...tokens, refresh }, checkedFetch(this.rules));
      const fresh = renewed(tokens, answer, now());
      await this.#writeOrHold({ ...stored, tokens: fresh }, tokens.access, epoch, write);
      this.#young = { access: fresh.access, at: now() };
      void this.#options.note({
        type: 'TokenRefreshed',
        data: { server: name, issuer, because, expiresAt: fresh.expiresAt },
      });
      return { kind: 'fresh' };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const forgotten = error.code === 'invalid_client' || error.code === 'unauthorized_client';
      const same = stored.client?.kind === 'registered' && stored.client.id === tokens.client.id;
      const client = forgotten && same ? null : stored.client;
      const why = forgotten ? 'the authorization server does not know the client any more' : 'the login has ended';
      return ended(`${why} (${error.message})`, client);
    }
  }

  /**
   * The old refresh token is spent: a store that does not take the new one must not cost the login. It counts in memory, and
   * is written as soon as that can be done.
   */
  async #writeOrHold(record: StoredRecord, spent: string, epoch: number, write: Write): Promise<void> {
    try {
      await write(record, epoch);
    } catch (error) {
      if (epoch !== this.#epoch) throw error;
      this.#unwritten = { record, spent };
      this.#take(record);
      this.#pausedUntil = this.#options.now() + PAUSE_MS;
      this.#options.warn(this.#options.name, `A renewed login could not be kept yet: ${troubleOf(error).message}`);
    }
  }

  #writeLater(now: number): void {
    this.#pausedUntil = now + PAUSE_MS;
    this.#locked(async () => {}).catch(() => {});
  }

  /** Tries again to write what the store did not take; what somebody else has put there meanwhile stays. */
  async #settled(vault: Vault): Promise<StoredRecord | null> {
    const stored = readRecord(await vault.read(this.#account));
    const held = this.#unwritten;
    if (held === null) return stored;
    if (stored?.tokens?.access !== held.spent) {
      this.#unwritten = null;
      return stored;
    }
    await vault.write(this.#account, JSON.stringify(held.record));
    this.#unwritten = null;
    return held.record;
  }

  /**
   * A server that refuses a token may have moved to another authorization server, and the old one must not be asked then.
   * What cannot be found out changes nothing.
   */
  async #sameIssuer({ issuer }: StoredTokens): Promise<boolean> {
    const url = this.#url;
    if (url === null) return true;
    try {
      const fetch = checkedFetch(this.rules, AbortSignal.timeout(10_000));
      const found = await findResource(new URL(url), this.challenge?.resourceMetadata, this.rules, fetch);
      if (found === null || found.authorizationServers.length === 0) return true;
      return found.authorizationServers.some((one) => one === issuer || one === `${issuer}/`);
    } catch {
      return true;
    }
  }

  /** Reads the store once more, unless it is being written just now. */
  async #lookAgain(): Promise<void> {
    if (this.#forgetting > 0 || this.#renewal !== null || this.#unwritten !== null) return;
    this.#loaded = false;
    await this.#loadOrFault();
  }

  #isYoung({ access }: StoredTokens): boolean {
    // A clock that was set back must not keep a token young for hours.
    return this.#young?.access === access && Math.abs(this.#options.now() - this.#young.at) < YOUNG_MS;
  }

  /** The tokens that may be sent to the present address. */
  #tokens(): StoredTokens | null {
    const record = this.#record;
    return record !== null && record.server === this.#serverHash() ? record.tokens : null;
  }

  #serverHash(): string {
    return this.#url === null ? '' : hashOf(this.#url);
  }

  #blank(): StoredRecord {
    const server = this.#serverHash();
    const record = this.#record;
    if (record === null) return { version: 1, server, client: null, tokens: null };
    return record.server === server ? record : { ...record, server, tokens: null };
  }

  async #load(): Promise<void> {
    if (this.#loaded) return;
    this.#loading ??= (async () => {
      const taken = this.#taken;
      const { vault } = await this.#options.vault();
      const record = readRecord(await vault.read(this.#account));
      // What was read may be older than what came meanwhile.
      if (taken === this.#taken && this.#forgetting === 0) this.#take(record);
      this.#loaded = true;
    })().finally(() => {
      this.#loading = null;
    });
    await this.#loading;
  }

  async #loadOrFault(): Promise<void> {
    try {
      await this.#load();
    } catch (error) {
      if (!(error instanceof VaultError)) throw error;
      throw new Fault({ seen: 'daemon', detail: error.message }, false);
    }
  }

  #take(record: StoredRecord | null): void {
    this.#taken += 1;
    if (record?.tokens?.access !== this.#record?.tokens?.access) this.#spread = this.#options.random();
    this.#record = record;
    // Those that are gone are masked on: a server may quote what it was sent before.
    const secrets = [...new Set([...(record === null ? NONE : secretsOf(record)), ...this.#secrets])];
    if (secrets.some((secret, n) => secret !== this.#secrets[n])) this.#secrets = secrets.slice(0, MASKED);
  }

  /** Changes what is kept, whatever another process made of it meanwhile. */
  #change(change: () => StoredRecord | null): Promise<void> {
    return this.#locked(async (write, stored) => {
      this.#take(stored);
      this.#loaded = true;
      await write(change());
    });
  }

  /** Runs work that reads and writes the store while nobody else does so for this account. */
  async #locked<T>(work: (write: Write, stored: StoredRecord | null) => Promise<T>): Promise<T> {
    const { vault, lockOf } = await this.#options.vault();
    const lock = lockOf(this.#account);
    await mkdir(dirname(lock), { recursive: true, mode: 0o700 });
    const write: Write = async (record, epoch = this.#epoch) => {
      if (record === null || (record.client === null && record.tokens === null)) await vault.erase(this.#account);
      else await vault.write(this.#account, JSON.stringify(record));
      if (epoch === this.#epoch) this.#take(record);
    };
    return withFileLock(lock, async () => work(write, await this.#settled(vault)), LOCK_MS);
  }
}

type Write = (record: StoredRecord | null, epoch?: number) => Promise<void>;

type Renewal =
  | { readonly kind: 'fresh' }
  | { readonly kind: 'lost'; readonly reason: string }
  | { readonly kind: 'trouble'; readonly error: ServerTrouble };

const header = ({ access }: StoredTokens): string => `Bearer ${access}`;
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

/**
 * Names hold letters, digits, `_` and `-` alone, so that a dot keeps name and address apart. Some keychains and file
 * systems take no notice of case: a name with capitals carries a mark of its own.
 */
export const accountOf = (name: string, identity: string): string => {
  const account = `${name}.${identity.slice(0, 16)}`;
  return name === name.toLowerCase() ? account : `${account}.${hashOf(name).slice(0, 8)}`;
};

function troubleOf(error: unknown): ServerTrouble {
  if (error instanceof ServerTrouble) return error;
  const known = error instanceof LoginError || error instanceof VaultError || error instanceof FileError;
  const detail = known ? error.message : 'the login could not be renewed';
  return new ServerTrouble(detail, { seen: 'daemon', detail });
}
