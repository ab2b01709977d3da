/** What the routes of logins take and answer. */
import { z } from 'zod';

const name = z.string().min(1);

/** Frames of `GET /v1/mcp/oauth`, unnamed: first the address to open, in the end how it ended. */
export const loginFrame = z.union([
  z.object({ url: z.string().describe('To be opened in the browser of the person who logs in.') }),
  z.object({
    done: z.literal(true),
    ok: z.boolean(),
    error: z.string().optional().describe('Why the login did not succeed.'),
    reconnect_error: z.string().optional().describe('The login succeeded; the server is not ready all the same.'),
  }),
]);

export const callbackBody = z
  .strictObject({ name, url: z.string().min(1).max(16_384).describe('All of the address the browser was sent to.') })
  .meta({ examples: [{ name: 'remote', url: 'http://localhost:17988/callback?code=…&state=…' }] });

export const clientBody = z
  .strictObject({
    name,
    client_id: z.string().min(1).max(4_096),
    client_secret: z.string().min(1).max(4_096).optional(),
    redirect_uri: z
      .string()
      .min(1)
      .max(2_048)
      .optional()
      .describe('Used byte for byte; http, this machine, with a port.'),
  })
  .meta({ examples: [{ name: 'remote', client_id: 'my-client' }] });
export const clientGiven = z.object({ ok: z.literal(true), redirect_uri: z.string() });

export const adoptBody = z.strictObject({ name }).meta({ examples: [{ name: 'remote' }] });
export const adoptedLogin = z.object({ ok: z.boolean(), reconnect_error: z.string().optional() });

export const logoutBody = z
  .strictObject({
    name: name.optional(),
    server: name.optional().describe('The same as `name`.'),
    client: z.boolean().optional().describe('true: a client that was given goes too.'),
  })
  .nullish();
