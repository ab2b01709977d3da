/** Logins as HTTP asks for them: names become servers, and what cannot be done becomes a problem. */

import { isRefusal } from '../actors/refusal.ts';
import type { Supervisor } from '../actors/supervisor.ts';
import type { EntryProblem, HttpEntry, ResolvedEntry, RunEntry, ServerEntry } from '../config/entry.ts';
import type { Keeper } from '../http/keeper.ts';
import { Problem } from '../http/problem.ts';
import { agenvoyAccounts } from '../oauth/agenvoy.ts';
import type { Logins } from '../oauth/logins.ts';
import type { LoginServer } from '../oauth/settings.ts';
import { VaultError } from '../oauth/store.ts';
import { LoginError } from '../oauth/trouble.ts';

/** How long a server has to be ready after a login, in ms. */
const RECONNECT_MS = 30_000;
/** States in which something of a server holds a token. */
const LIVE = new Set(['connecting', 'reconnecting', 'listing', 'ready', 'session-lost']);

export interface LoginParts {
  readonly logins: Logins;
  readonly supervisor: Supervisor;
  readonly resolve: (entry: ServerEntry) => ResolvedEntry | EntryProblem;
}

type LoginKeeper = Pick<Keeper, 'login' | 'pasteCallback' | 'giveClient' | 'adoptLogin' | 'logOut'> & {
  /** HTTP entries, and whether a token is kept for each. */
  loggedIn(): Promise<Record<string, boolean>>;
  /** Deletes what is kept for a server that is gone. */
  removed(name: string): Promise<void>;
};

export function loginKeeper({ logins, supervisor, resolve }: LoginParts): LoginKeeper {
  const known = (name: string): RunEntry => {
    const loaded = supervisor.entry(name);
    if (loaded) return loaded;
    const names = supervisor.names.join(', ');
    throw new Problem(
      'unknown-server',
      `There is no server "${name}". ${names === '' ? 'None is configured.' : `Configured: ${names}.`}`,
    );
  };
  /** A server to log in to, as it is configured now. */
  const loginServer = (name: string): LoginServer => {
    const loaded = known(name);
    const { entry } = loaded;
    if (!isLoginEntry(entry))
      throw new Problem(
        'oauth-not-enabled',
        `The entry of "${name}" is not one to log in to: it lacks "auth": "oauth".`,
      );
    const filled = resolve(entry);
    if (!('transport' in filled) || filled.transport === 'stdio') {
      const reason = 'message' in filled ? filled.message : 'it is no address';
      throw new Problem('oauth-not-enabled', `The entry of "${name}" cannot be used: ${reason}`);
    }
    const { identity } = loaded;
    const { url, headers } = filled;
    return { name, url, headers, identity, clientName: entry.oauthClientName, oauth: entry.oauth };
  };
  const addressOf = (entry: RunEntry['entry']): string | null => {
    const filled = isHttp(entry) ? resolve(entry) : null;
    return filled && 'url' in filled ? filled.url : null;
  };

  return {
    login: (name) => logins.begin(loginServer(name)),
    pasteCallback(name, url) {
      known(name);
      const pasted = logins.paste(name, url);
      if (pasted.ok) return;
      throw new Problem(pasted.waits ? 'invalid-request' : 'no-login-waiting', pasted.reason);
    },
    giveClient: (name, client) => answered(() => logins.giveClient(loginServer(name), client)),
    async logOut(name, client) {
      const { entry, identity } = known(name);
      await answered(() => logins.logOut({ name, identity, url: addressOf(entry) }, 'person', client));
      // The server shows at once what it is without a login.
      const actor = supervisor.find(name);
      if (isLoginEntry(entry) && actor && LIVE.has(actor.actor.head.state))
        void actor.tell({ type: 'ReconnectServer' });
    },
    async adoptLogin(name) {
      const server = loginServer(name);
      const same = supervisor.names.filter((one) => one !== name && oneToAgenvoy(one, name));
      if (same.length > 0)
        throw new Problem('invalid-request', `Agenvoy cannot tell "${name}" from "${same[0]}"; log in instead.`);
      return answered(() => logins.adopt(server));
    },
    async loggedIn() {
      const entries = supervisor.entries.flatMap(({ name, entry, identity }) =>
        isHttp(entry) ? [{ name, identity, mayHave: isLoginEntry(entry) }] : [],
      );
      const has = async ({ name, identity, mayHave }: (typeof entries)[number]): Promise<[string, boolean]> => [
        name,
        mayHave && (await logins.hasToken({ name, identity }).catch(() => false)),
      ];
      return Object.fromEntries(await Promise.all(entries.map(has)));
    },
    removed: (name) => answered(() => logins.removed(name)),
  };
}

const oneToAgenvoy = (one: string, other: string): boolean =>
  agenvoyAccounts(one).token === agenvoyAccounts(other).token;

const isHttp = (entry: RunEntry['entry']): entry is HttpEntry => entry !== null && 'url' in entry;

export const isLoginEntry = (entry: RunEntry['entry']): entry is HttpEntry => isHttp(entry) && entry.auth === 'oauth';

async function answered<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LoginError) throw new Problem('invalid-request', error.message, {}, { cause: error });
    if (error instanceof VaultError) throw new Problem('credentials-unavailable', error.message, {}, { cause: error });
    throw error;
  }
}

/** Connects anew after a login; resolves with what was wrong, or null. A server that is not to run is left alone. */
export async function reconnected(supervisor: Supervisor, name: string): Promise<string | null> {
  if (!supervisor.find(name)) return `There is no server "${name}" any more.`;
  const settled = await supervisor.reconnect(name, RECONNECT_MS);
  if (isRefusal(settled)) return settled.detail;
  if (settled.ok) return null;
  return settled.error?.message ?? `The server is ${settled.state}.`;
}
