/** What Agenvoy keeps of logins: names and shapes of its entries, read only when a person asks for it. Pure. */
import { z } from 'zod';
import type { ServerMetadata } from './metadata.ts';
import type { StoredClient, StoredTokens } from './record.ts';
import { tokensOf } from './tokens.ts';

/** The service under which its entries are in a keychain. */
export const AGENVOY = 'agenvoy';
/** The file it keeps them in where it finds no keychain, beside `mcp.json`. */
export const AGENVOY_FILE = '.secrets';

/** Its names for the entries of a server. Names that differ only in case or signs are one to it. */
export function agenvoyAccounts(server: string): { readonly token: string; readonly client: string } {
  const name = server
    .trim()
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '_');
  return { token: `MCP_OAUTH_${name}`, client: `MCP_OAUTH_CLIENT_${name}` };
}

/** A value of the file, one `KEY=VALUE` a line; the first one counts. */
export function agenvoyValue(text: string, key: string): string | null {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return lines.find((line) => line.startsWith(`${key}=`))?.slice(key.length + 1) || null;
}

const tokenEntry = z.object({
  client_id: z.string().min(1),
  client_secret: z.string().optional(),
  token_url: z.string().min(1),
  access_token: z.string().min(1),
  refresh_token: z.string().optional(),
  expiry: z.string().optional(),
});
const clientEntry = z.object({
  client_id: z.string().min(1),
  client_secret: z.string().optional(),
  redirect_uri: z.string().optional(),
  dynamic: z.boolean().optional(),
});

export interface AgenvoyLogin {
  readonly token: z.infer<typeof tokenEntry>;
  readonly client: z.infer<typeof clientEntry> | null;
}

/** null when the token is missing or cannot be read. */
export function readAgenvoy(token: string | null, client: string | null): AgenvoyLogin | null {
  const parsed = <Shape extends z.ZodType>(shape: Shape, text: string | null): z.infer<Shape> | null => {
    try {
      return text === null ? null : shape.parse(JSON.parse(text));
    } catch {
      return null;
    }
  };
  const read = parsed(tokenEntry, token);
  return read === null ? null : { token: read, client: parsed(clientEntry, client) };
}

/**
 * The login as it is kept here. Agenvoy keeps no issuer: its token counts only for the token endpoint it came from.
 * null when that is another one than the server's.
 */
export function adopted(
  { token, client }: AgenvoyLogin,
  of: {
    readonly metadata: ServerMetadata;
    readonly resource: string;
    readonly redirectUri: string;
    readonly now: number;
  },
): { readonly tokens: StoredTokens; readonly client: StoredClient | null } | null {
  const { metadata, resource, redirectUri, now } = of;
  if (token.token_url !== metadata.tokenEndpoint) return null;
  const end = Date.parse(token.expiry ?? '');
  const kind = client !== null && client.dynamic !== true ? 'given' : 'registered';
  const id = { id: token.client_id, secret: token.client_secret ?? null, authMethod: null };
  const answer = { access_token: token.access_token, token_type: 'Bearer', refresh_token: token.refresh_token };
  const tokens = tokensOf(answer, { metadata, client: { ...id, kind }, resource, asked: null }, now);
  const own: StoredClient | null =
    client?.client_id === token.client_id
      ? { ...id, redirectUri: client.redirect_uri ?? redirectUri, kind, issuer: metadata.issuer, secretExpiresAt: null }
      : null;
  // The zero time of its language means: never.
  return { tokens: { ...tokens, expiresAt: end > 0 ? end : null }, client: own };
}
