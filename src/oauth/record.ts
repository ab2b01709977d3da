/** What is kept for one server: its client, if it has one of its own, and its tokens. Pure. */
import { z } from 'zod';

const client = z.object({
  id: z.string().min(1),
  secret: z.string().nullable(),
  /** How it proves who it is at the token endpoint; null: as the endpoint likes it. */
  authMethod: z.string().nullable(),
  /** Byte for byte what is sent. */
  redirectUri: z.string(),
  /** `given` by a person, or `registered` by the daemon itself. */
  kind: z.enum(['given', 'registered']),
  /** The issuer it belongs to; null until the first login with a client that was given. */
  issuer: z.string().nullable(),
  /** ms since the epoch; null: never. */
  secretExpiresAt: z.number().nullable(),
});

const tokens = z.object({
  issuer: z.string(),
  tokenEndpoint: z.string(),
  revocationEndpoint: z.string().nullable(),
  authMethods: z.array(z.string()).nullable(),
  client: z.object({
    id: z.string(),
    secret: z.string().nullable(),
    authMethod: z.string().nullable(),
    kind: z.enum(['given', 'registered', 'document']),
  }),
  resource: z.string(),
  scope: z.string().nullable(),
  access: z.string().min(1),
  refresh: z.string().nullable(),
  /** ms since the epoch; null: the server did not say. */
  expiresAt: z.number().nullable(),
  obtainedAt: z.number(),
});

const record = z.object({
  version: z.literal(1),
  /** Hash of the address the tokens were made for: they are never sent to another one. */
  server: z.string(),
  client: client.nullable(),
  tokens: tokens.nullable(),
});

export type StoredClient = z.infer<typeof client>;
export type StoredTokens = z.infer<typeof tokens>;
export type StoredRecord = z.infer<typeof record>;

/** null for a text that is no record: it is as good as absent. */
export function readRecord(text: string | null): StoredRecord | null {
  if (text === null) return null;
  try {
    return record.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Texts of a record that must never be shown. */
export const secretsOf = ({ client: own, tokens: held }: StoredRecord): readonly string[] =>
  [held?.access, held?.refresh, held?.client.secret, own?.secret].filter(
    (text): text is string => typeof text === 'string',
  );
