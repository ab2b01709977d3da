/** The keys of one server entry and what each may hold. Every message is the end of a sentence that begins with the key. */
import { z } from 'zod';

/** Longest delay a timer can wait for; a longer one would fire at once. */
export const maxMs = 2_147_483_647;

const text = z.string({ error: 'must be text in double quotes' });
const flag = z.boolean({ error: 'must be true or false' });
const words = (what: string) =>
  z.array(text.min(1, { error: 'must not be empty' }), { error: `must be a list of ${what}, such as ["a", "b"]` });
const whole = (unit: string) => {
  const error = `must be a whole number${unit} from 1 to ${maxMs}`;
  return z.int({ error }).min(1, { error }).max(maxMs, { error });
};
const milliseconds = whole(' of milliseconds');
const table = (what: string, keyPattern: RegExp, keyRule: string) =>
  z
    .record(z.string(), text, { error: `must be an object of ${what}, such as {"NAME": "value"}` })
    .superRefine((value, context) => {
      for (const key of Object.keys(value)) {
        if (!keyPattern.test(key)) context.addIssue({ code: 'custom', path: [key], message: keyRule });
      }
    });
const environmentNames = z.array(text.regex(/^[^=\0]+$/, { error: 'must be the name of an environment variable' }), {
  error: 'must be true, false or a list of names',
});

export const entrySchema = z.looseObject({
  command: text.optional(),
  args: z.array(text, { error: 'must be a list of texts, such as ["-y", "package"]' }).optional(),
  env: table('texts', /^[^=\0]+$/, 'is not a name an environment variable can have').optional(),
  cwd: text.min(1, { error: 'must not be empty' }).optional(),
  inheritEnv: z.union([z.boolean(), environmentNames], { error: 'must be true, false or a list of names' }).optional(),
  url: text.optional(),
  headers: table('texts', /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is not a name a header can have').optional(),
  type: z
    .enum(['stdio', 'http', 'streamable-http', 'sse'], { error: 'must be `stdio`, `http`, `streamable-http` or `sse`' })
    .optional(),
  auth: text.optional(),
  oauth_client_name: text.optional(),
  oauth: z
    .looseObject(
      {
        clientId: text.min(1, { error: 'must not be empty' }).optional(),
        scopes: words('scopes').optional(),
        clientMetadataUrl: text.regex(/^https?:\/\//, { error: 'must be a web address' }).optional(),
      },
      { error: 'must be an object with `clientId`, `scopes` or `clientMetadataUrl`' },
    )
    .optional(),
  rawAuthorization: flag.optional(),
  disabled: flag.optional(),
  lazy: flag.optional(),
  connectTimeoutMs: milliseconds.optional(),
  listTimeoutMs: milliseconds.optional(),
  callTimeoutMs: milliseconds.optional(),
  callMaxMs: milliseconds.optional(),
  pollIntervalMs: milliseconds.optional(),
  idleStopMs: milliseconds.optional(),
  stableMs: milliseconds.optional(),
  maxConcurrency: whole('').optional(),
  repeatCalls: z
    .enum(['never', 'unsent', 'idempotent'], { error: 'must be `never`, `unsent` or `idempotent`' })
    .optional(),
  include: words('tool name patterns').optional(),
  exclude: words('tool name patterns').optional(),
  tool_prefix: text.regex(/^[A-Za-z0-9_-]{0,26}$/, { error: 'must be 0 to 26 letters, digits, `_` or `-`' }).optional(),
});
export type EntryAsWritten = z.infer<typeof entrySchema>;

export const entryKeys: readonly string[] = Object.keys(entrySchema.shape);
export const oauthKeys: readonly string[] = ['clientId', 'scopes', 'clientMetadataUrl'];

/** Keys that mean something only for a command, and only for an address. */
export const stdioKeys: readonly string[] = ['args', 'env', 'cwd', 'inheritEnv'];
export const httpKeys: readonly string[] = ['headers', 'auth', 'oauth_client_name', 'oauth', 'rawAuthorization'];

/** What other programs call our keys, in lower case. */
export const otherNames: Readonly<Record<string, string>> = {
  environment: 'env',
  enviroment: 'env',
  environments: 'env',
  cmd: 'command',
  arguments: 'args',
  serverurl: 'url',
  httpurl: 'url',
  endpoint: 'url',
  uri: 'url',
  transport: 'type',
  transporttype: 'type',
  workingdirectory: 'cwd',
  workingdir: 'cwd',
  enabled: 'disabled',
  httpheaders: 'headers',
  timeout: 'callTimeoutMs',
  startup_timeout: 'connectTimeoutMs',
  allowedtools: 'include',
  includetools: 'include',
  disabledtools: 'exclude',
  excludetools: 'exclude',
  toolprefix: 'tool_prefix',
  prefix: 'tool_prefix',
};

/** `env.TOKEN`, `args[1]`: a path of keys as people write it. */
export const fieldOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (field, key) =>
      typeof key === 'number' ? `${field}[${key}]` : field === '' ? String(key) : `${field}.${String(key)}`,
    '',
  );
