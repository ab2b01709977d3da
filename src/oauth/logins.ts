/** Every login of the daemon: who is logged in where, who is logging in, and how it ends. */
import type { Credentials } from '../mcp/connection.ts';
import { LoginAccount } from './account.ts';
import { adoptLogin } from './adopt.ts';
import { endingOf, logIn } from './flow.ts';
import { CallbackListener } from './listener.ts';
import { redirectFault, usualRedirect } from './redirect.ts';
import type { LoginServer, Note } from './settings.ts';
import { VaultError } from './store.ts';
import { LoginError } from './trouble.ts';
import { type OpenedVault, openVault, type VaultOptions } from './vault.ts';

export interface LoginsOptions extends VaultOptions {
  readonly callbackPort: number;
  /** How long a person may take, in ms. */
  readonly loginMs: number;
  readonly version: string;
  /** Where Agenvoy keeps its files. */
  readonly agenvoyDir: string;
  readonly ownPorts: () => readonly number[];
  readonly ownAddresses: () => readonly string[];
  readonly note: Note;
  readonly warn: (server: string, message: string) => void;
  /** The store was chosen, on its first use. */
  readonly onStore: (where: string, why: string | null) => void;
  /** Connects anew after a login; resolves with what was wrong, or null. */
  readonly reconnect: (name: string) => Promise<string | null>;
  readonly now?: () => number;
  readonly random?: () => number;
}

export interface LoginEnd {
  readonly ok: boolean;
  readonly error?: string;
  readonly reconnect_error?: string;
}

/** One who waits for a login. */
export interface LoginHandle {
  /** The address to open; never settles when the login ends before there is one. */
  readonly url: Promise<string>;
  readonly done: Promise<LoginEnd>;
  /** Does not wait any more; the login ends when nobody does. */
  leave(): void;
}

/** What a pasted address came to. */
export type Pasted = { readonly ok: true } | { readonly ok: false; readonly waits: boolean; readonly reason: string };

interface Running {
  readonly url: Promise<string>;
  readonly done: Promise<LoginEnd>;
  readonly abort: AbortController;
  state: string | null;
  followers: number;
}

export class Logins {
  readonly #options: LoginsOptions;
  readonly #listener = new CallbackListener();
  readonly #accounts = new Map<string, LoginAccount>();
  readonly #running = new Map<string, Running>();
  #vault: Promise<OpenedVault> | null = null;
  #opened: OpenedVault | null = null;

  constructor(options: LoginsOptions) {
    this.#options = options;
  }

  /** Which store is in use; null until one was needed. */
  get store(): { readonly kind: 'keychain' | 'file'; readonly where: string; readonly why: string | null } | null {
    return this.#opened && { kind: this.#opened.vault.kind, where: this.#opened.where, why: this.#opened.why };
  }

  /** A server people log in to is configured; what is kept for it is not looked at before somebody needs it. */
  know(server: Pick<LoginServer, 'name' | 'identity'>): void {
    this.#account(server);
  }

  /** What signs requests to a server people log in to. */
  credentialsFor(server: Pick<LoginServer, 'name' | 'identity' | 'url'>): Credentials {
    return this.#account(server).at(server.url);
  }

  /** Rejects with a VaultError. */
  hasToken(server: Pick<LoginServer, 'name' | 'identity'>): Promise<boolean> {
    return this.#account(server).hasToken();
  }

  /** The very same list until it changes. */
  secretsOf(server: Pick<LoginServer, 'name' | 'identity'>): readonly string[] {
    return this.#accounts.get(keyOf(server))?.secrets() ?? NONE;
  }

  /** Begins a login, or joins the one that waits already. */
  begin(server: LoginServer): LoginHandle {
    const running = this.#running.get(server.name) ?? this.#start(server);
    running.followers += 1;
    let left = false;
    return {
      url: running.url,
      done: running.done,
      leave: () => {
        if (left) return;
        left = true;
        running.followers -= 1;
        if (running.followers === 0) running.abort.abort(new LoginError('Nobody waits for the login any more.'));
      },
    };
  }

  /** The whole address the browser was sent to, by hand. */
  paste(name: string, address: string): Pasted {
    const running = this.#running.get(name);
    if (!running) return { ok: false, waits: false, reason: `No login of "${name}" waits.` };
    const wrong = (reason: string): Pasted => ({ ok: false, waits: true, reason });
    if (!URL.canParse(address)) return wrong('That is not an address; paste all of what stands in the address bar.');
    const query = new URL(address).searchParams;
    const state = query.get('state');
    if (!state) return wrong('The address carries no `state`; paste all of what stands in the address bar.');
    if (state !== running.state || !this.#listener.knows(state))
      return wrong('The address belongs to another login (`state`); the one that waits goes on waiting.');
    const { verdict, ended } = this.#listener.hit(query);
    void ended;
    if (verdict.kind === 'stray') return wrong(`The address cannot be used: ${verdict.why}.`);
    if (verdict.kind === 'code') return { ok: true };
    return wrong(endingOf(verdict));
  }

  /** Where logins come back to, unless a client that was given says otherwise. */
  get usualRedirect(): string {
    return usualRedirect(this.#options.callbackPort);
  }

  /** Keeps a client that a person registered. Resolves with its redirect address; throws a LoginError when that cannot be one. */
  async giveClient(
    server: LoginServer,
    client: { readonly id: string; readonly secret: string | null; readonly redirectUri: string | undefined },
  ): Promise<string> {
    const redirectUri = client.redirectUri ?? this.usualRedirect;
    const fault = redirectFault(redirectUri);
    if (fault !== null) throw new LoginError(`redirect_uri ${fault}.`);
    const { id, secret } = client;
    await this.#account(server)
      .at(server.url)
      .keepClient({ id, secret, authMethod: null, redirectUri, kind: 'given', issuer: null, secretExpiresAt: null });
    return redirectUri;
  }

  /** Takes over what Agenvoy keeps, and connects. Throws a LoginError when there is nothing to take over. */
  async adopt(server: LoginServer): Promise<LoginEnd> {
    const { agenvoyDir, callbackPort, note, reconnect, now = Date.now } = this.#options;
    const account = this.#account(server).at(server.url);
    await adoptLogin(server, account, { folder: agenvoyDir, callbackPort, now: now() });
    const { tokens } = await account.kept();
    const expiresAt = tokens?.expiresAt ?? null;
    await note({ type: 'LoginEnded', data: { server: server.name, ok: true, reason: null, scope: null, expiresAt } });
    const wrong = await reconnect(server.name);
    return wrong === null ? { ok: true } : { ok: true, reconnect_error: wrong };
  }

  /** Deletes what is kept of a login; a login that waits ends. `client`: one given by a person goes too. */
  async logOut(
    server: Pick<LoginServer, 'name' | 'identity'> & { readonly url: string | null },
    by: 'person' | 'removal',
    client: boolean,
  ): Promise<void> {
    this.#running.get(server.name)?.abort.abort(new LoginError('The server was logged out.'));
    const account = this.#account(server);
    await (server.url === null ? account : account.at(server.url)).forget(by, client);
  }

  /**
   * The server is gone: so is everything that was kept under its name, whatever its address was. `identities`: those it is
   * known to have had.
   */
  async removed(name: string, identities: readonly string[] = []): Promise<void> {
    for (const identity of identities) this.#account({ name, identity });
    this.#running.get(name)?.abort.abort(new LoginError('The server was removed.'));
    for (const [key, account] of this.#accounts) {
      if (account.name !== name) continue;
      await account.forget('removal', true);
      this.#accounts.delete(key);
    }
  }

  /** Ends what waits. */
  close(): void {
    for (const { abort } of this.#running.values()) abort.abort(new LoginError('The daemon is ending.'));
  }

  #account(server: Pick<LoginServer, 'name' | 'identity'>): LoginAccount {
    const key = keyOf(server);
    const known = this.#accounts.get(key);
    if (known) return known;
    const { ownPorts, ownAddresses, note, warn, now = Date.now, random = Math.random } = this.#options;
    const account = new LoginAccount({
      name: server.name,
      identity: server.identity,
      vault: () => this.#openVault(),
      ownPorts,
      ownAddresses,
      note,
      warn,
      now,
      random,
    });
    this.#accounts.set(key, account);
    return account;
  }

  /** A store that could not be opened is asked again by whoever needs it next. */
  #openVault(): Promise<OpenedVault> {
    const told = () => {
      if (this.#opened) this.#options.onStore(this.#opened.where, this.#opened.why);
    };
    this.#vault ??= openVault(this.#options, told).then(
      (opened) => {
        this.#opened = opened;
        told();
        return opened;
      },
      (error: unknown) => {
        this.#vault = null;
        throw error;
      },
    );
    return this.#vault;
  }

  #start(server: LoginServer): Running {
    const { callbackPort, version, note, loginMs, now = Date.now } = this.#options;
    const account = this.#account(server).at(server.url);
    const abort = new AbortController();
    let show: (url: string) => void = () => {};
    const url = new Promise<string>((resolve) => {
      show = resolve;
    });
    const late = setTimeout(
      () =>
        abort.abort(
          new LoginError(
            `Nobody came back from the browser within ${inWords(loginMs)}. If the page there did not know the client: watchkeeper logout ${server.name}, then log in again`,
          ),
        ),
      loginMs,
    );
    // Before anything is shown: a login that could not be kept is none.
    const storable = this.#openVault().then(({ vault }) => vault.check());
    const flow = storable.then(() =>
      logIn({
        server,
        account,
        listener: this.#listener,
        callbackPort,
        version,
        note,
        now,
        signal: abort.signal,
        onUrl: (address, state) => {
          running.state = state;
          show(address);
        },
      }),
    );
    const done = flow
      .then(
        async ({ scope, expiresAt }): Promise<string | null> => {
          await note({ type: 'LoginEnded', data: { server: server.name, ok: true, reason: null, scope, expiresAt } });
          return null;
        },
        async (error: unknown): Promise<string | null> => {
          const reason = sentence(wordsOf(error));
          await note({
            type: 'LoginEnded',
            data: { server: server.name, ok: false, reason, scope: null, expiresAt: null },
          });
          return reason;
        },
      )
      .finally(() => {
        clearTimeout(late);
        if (this.#running.get(server.name) === running) this.#running.delete(server.name);
      })
      .then(async (error): Promise<LoginEnd> => {
        if (error !== null) return { ok: false, error };
        const wrong = await this.#options.reconnect(server.name);
        return wrong === null ? { ok: true } : { ok: true, reconnect_error: wrong };
      });
    const running: Running = { url, done, abort, state: null, followers: 0 };
    this.#running.set(server.name, running);
    return running;
  }
}

const NONE: readonly string[] = [];

const keyOf = ({ name, identity }: Pick<LoginServer, 'name' | 'identity'>): string => `${name}.${identity}`;

/** Words of ours; those of anything else may hold what must not be shown. */
const wordsOf = (error: unknown): string =>
  error instanceof LoginError || error instanceof VaultError
    ? error.message
    : 'The login failed for a reason of this program itself.';

const inWords = (ms: number): string =>
  ms < 120_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`;

function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?)]$/.test(begun) ? begun : `${begun}.`;
}
