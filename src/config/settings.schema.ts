/** The shape of `watchkeeper.json`. The published JSON schema is generated from here. */
import { z } from 'zod';
import { maxMs } from './schema.ts';

const port = (rule: string) => z.int({ error: rule }).min(0, { error: rule }).max(65_535, { error: rule });
const delay = (from: number) => {
  const error = `must be a whole number of milliseconds from ${from} to ${maxMs}`;
  return z.int({ error }).min(from, { error }).max(maxMs, { error });
};
const size = (from: number, to: number) => {
  const error = `must be a whole number of bytes from ${from} to ${to}`;
  return z.int({ error }).min(from, { error }).max(to, { error });
};
const choice = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, { error: `must be one of ${values.map((value) => `\`${value}\``).join(', ')}` });

const nameLengthRule = 'must be 0 (no limit) or a whole number from 16 to 1024';
const hostsRule = 'must be a list of host names, such as ["box.local", "box.local:17987"]';
const sessionsRule = 'must be a whole number from 1 to 100000';
const parallelRule = 'must be a whole number from 1 to 1000';
const anyPort = 'must be a port from 0 (any free one) to 65535';
const fixedPort = 'must be a port from 1 to 65535';

/** Every setting by its dotted name: what it may hold, its default, what it means. */
export const settingDefinitions = {
  mount_mode: choice(['per-server', 'routed'])
    .default('per-server')
    .describe('`per-server`: /mcp lists every tool with a prefix; `routed`: without, where names allow it'),
  self: z
    .boolean({ error: 'must be true or false' })
    .default(false)
    .describe('Whether the daemon itself is a server, `watchkeeper`, whose tools tell how the others are'),
  'naming.maxLength': z
    .union(
      [
        z.literal(0),
        z.int({ error: nameLengthRule }).min(16, { error: nameLengthRule }).max(1024, { error: nameLengthRule }),
      ],
      { error: nameLengthRule },
    )
    .default(64)
    .describe('Longest registered tool name in characters; 0: no limit'),
  'approval.windowMs': delay(0).default(50_000).describe('How long a caller waits for a person, in milliseconds'),
  'approval.holdMs': delay(1).default(600_000).describe('How long a held call stays open, in milliseconds'),
  'http.host': z
    .string({ error: 'must be an address or host name' })
    .min(1, { error: 'must be an address or host name' })
    .default('127.0.0.1')
    .describe('Address to listen on; one that is not loopback also needs --allow-remote'),
  'http.port': port(anyPort).default(17_987).describe('Port to listen on; 0: any free one'),
  'http.allowedHosts': z
    .array(z.string({ error: hostsRule }).regex(/^[^\s/@*]+$/, { error: hostsRule }), { error: hostsRule })
    .default([])
    .describe('Hosts, besides loopback, that requests may name in Host and Origin'),
  'mcp.sessionIdleMs': delay(100)
    .default(1_800_000)
    .describe(
      'After this long without a request or a listener a session of the MCP endpoint is forgotten, in milliseconds',
    ),
  'mcp.maxSessions': z
    .int({ error: sessionsRule })
    .min(1, { error: sessionsRule })
    .max(100_000, { error: sessionsRule })
    .default(2_000)
    .describe('How many sessions the MCP endpoint keeps; for one more the one unused longest is forgotten'),
  'oauth.callbackPort': port(fixedPort)
    .min(1, { error: fixedPort })
    .default(17_988)
    .describe('Port that logins in the browser come back to'),
  'oauth.loginMs': delay(1_000).default(600_000).describe('How long a person may take to log in, in milliseconds'),
  'oauth.store': choice(['auto', 'keychain', 'file'])
    .default('auto')
    .describe(
      'Where tokens are kept: the keychain of the system, an encrypted file, or the file where no keychain answers',
    ),
  'log.durability': choice(['process', 'power'])
    .default('process')
    .describe('What a committed fact survives: a crash of the daemon, or a loss of power too (slower)'),
  'log.level': choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('Least severe line of the daemon log that is written'),
  'start.parallel': z
    .int({ error: parallelRule })
    .min(1, { error: parallelRule })
    .max(1000, { error: parallelRule })
    .default(4)
    .describe('How many servers start at the same time'),
  'recording.maxBytes': size(65_536, 1_099_511_627_776)
    .default(67_108_864)
    .describe('Bytes kept of the recording of one server; the oldest are dropped first'),
  'recording.maxMessageBytes': size(1024, 67_108_864)
    .default(4_194_304)
    .describe('Bytes of one recorded message; of a larger one only its kind is kept'),
} as const;

type Definitions = typeof settingDefinitions;
export type SettingName = keyof Definitions;
export const settingNames = Object.keys(settingDefinitions) as readonly SettingName[];

const { shape } = z.object(settingDefinitions);

/** The file as a whole. Keys it does not know are allowed (and warned about when it is read). */
export const settingsSchema = z
  .looseObject({
    $schema: z.string().optional().describe('Where an editor finds this schema'),
    mount_mode: shape.mount_mode,
    self: shape.self,
    naming: z.looseObject({ maxLength: shape['naming.maxLength'] }).prefault({}),
    approval: z.looseObject({ windowMs: shape['approval.windowMs'], holdMs: shape['approval.holdMs'] }).prefault({}),
    http: z
      .looseObject({ host: shape['http.host'], port: shape['http.port'], allowedHosts: shape['http.allowedHosts'] })
      .prefault({}),
    mcp: z
      .looseObject({ sessionIdleMs: shape['mcp.sessionIdleMs'], maxSessions: shape['mcp.maxSessions'] })
      .prefault({}),
    oauth: z
      .looseObject({
        callbackPort: shape['oauth.callbackPort'],
        loginMs: shape['oauth.loginMs'],
        store: shape['oauth.store'],
      })
      .prefault({}),
    log: z.looseObject({ durability: shape['log.durability'], level: shape['log.level'] }).prefault({}),
    start: z.looseObject({ parallel: shape['start.parallel'] }).prefault({}),
    recording: z
      .looseObject({ maxBytes: shape['recording.maxBytes'], maxMessageBytes: shape['recording.maxMessageBytes'] })
      .prefault({}),
  })
  .describe('Settings of Watchkeeper: watchkeeper.json beside mcp.json');

/** The JSON schema that is published as `schema/watchkeeper.schema.json`. */
export function settingsJsonSchema(): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(settingsSchema, { io: 'input' });
  return { $schema, title: 'watchkeeper.json', ...rest };
}
