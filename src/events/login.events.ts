import { z } from 'zod';
import { type FactOf, fact } from './define.ts';

const stream = 'logins' as const;
const server = z.string().describe('Name of the server.');
const issuer = z.string().describe('The authorization server, as it names itself.');
const scope = z.string().nullable().describe('Separated by blanks; null: none in particular.');
const expiresAt = z.number().nullable().describe('When the token ends (ms since the epoch); null: it is not known.');

/** Logins of all servers. No fact holds a token, a code or a secret. */
export const loginFacts = {
  LoginStarted: fact({
    stream,
    schema: 1,
    about: 'Somebody wants to log in and was given the address to open.',
    data: z.object({
      server,
      issuer,
      client: z
        .enum(['given', 'document', 'registered'])
        .describe('As which client: one given by a person, a metadata document, or one the daemon registered.'),
      scope: scope.describe('Scopes asked for, separated by blanks; null: none in particular.'),
    }),
  }),
  LoginEnded: fact({
    stream,
    schema: 1,
    about: 'A login that was wanted came to its end.',
    data: z.object({
      server,
      ok: z.boolean(),
      reason: z.string().nullable().describe('Why it did not succeed, for a person; null when it did.'),
      scope: scope.describe('Scopes given; null when there are none, or it did not succeed.'),
      expiresAt,
    }),
  }),
  TokenRefreshed: fact({
    stream,
    schema: 1,
    about: 'A token was renewed without a person.',
    data: z.object({
      server,
      issuer,
      because: z.enum(['expiring', 'refused']).describe('It was about to end, or the server no longer took it.'),
      expiresAt,
    }),
  }),
  LoginLost: fact({
    stream,
    schema: 1,
    about: 'What was kept of a login no longer counts and was deleted; a person has to log in again.',
    data: z.object({ server, issuer, reason: z.string().describe('For a person.') }),
  }),
  CredentialsDeleted: fact({
    stream,
    schema: 1,
    about: 'What was kept of a login was deleted because it was wanted so.',
    data: z.object({
      server,
      by: z.enum(['person', 'removal']).describe('Asked for, or the server was removed.'),
      revoked: z.boolean().describe('The authorization server was told and took note.'),
      client: z.enum(['none', 'kept', 'deleted']).describe('What became of the client that was kept.'),
    }),
  }),
};

export type LoginFact = FactOf<typeof loginFacts>;
