/** Takes over a login that Agenvoy has. Its own entries stay as they are. */
import { join } from 'node:path';
import { readText } from '../config/files.ts';
import type { LoginAccount } from './account.ts';
import { AGENVOY, AGENVOY_FILE, adopted, agenvoyAccounts, agenvoyValue, readAgenvoy } from './agenvoy.ts';
import { checkedFetch } from './checked.fetch.ts';
import { discover } from './discover.ts';
import { readEntry } from './keychain.ts';
import { usualRedirect } from './redirect.ts';
import type { LoginServer } from './settings.ts';
import { LoginError } from './trouble.ts';

/** Resolves when the login is kept. Throws a LoginError that says why there is none to take over. */
export async function adoptLogin(
  server: LoginServer,
  account: LoginAccount,
  of: { readonly folder: string; readonly callbackPort: number; readonly now: number },
): Promise<void> {
  const names = agenvoyAccounts(server.name);
  const text = (await readText(join(of.folder, AGENVOY_FILE)).catch(() => null)) ?? '';
  const kept = async (name: string) => (await readEntry(AGENVOY, name)) ?? agenvoyValue(text, name);
  const login = readAgenvoy(await kept(names.token), await kept(names.client));
  if (login === null) throw new LoginError(`Agenvoy keeps no login of "${server.name}" (${names.token}).`);
  const url = new URL(server.url);
  const found = await discover(url, undefined, true, account.rules, checkedFetch(account.rules));
  const resource = found.resource?.resource ?? server.url.replace(/[?#].*$/, '');
  const redirectUri = usualRedirect(of.callbackPort);
  const taken = adopted(login, { metadata: found.server, resource, redirectUri, now: of.now });
  if (taken === null)
    throw new LoginError(
      `The login that Agenvoy keeps of "${server.name}" is one with another authorization server than ${found.server.issuer}.`,
    );
  await account.keep(taken.tokens, taken.client);
}
